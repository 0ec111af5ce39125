"""Audits of files: cards of the scores or of the choices that a file has."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels
from rubric_order.cards import summary
from rubric_order.cards.card import Card
from rubric_order.intake import choices, forms, score_tables
from rubric_order.intake.columns import Columns
from rubric_order.intake.forms import SCORES, Log
from rubric_order.library import choice_cards, estimates, results
from rubric_order.library.choice_cards import ChoiceCard
from rubric_order.pages import page as pages


class Audit(NamedTuple):
    """Cards of a file of scores or of choices; `form` is `SCORES`, `CHOICES`, or the form of a log."""

    form: str
    cards: tuple[Card, ...]
    choices: tuple[ChoiceCard, ...]

    @property
    def all(self) -> tuple[Card | ChoiceCard, ...]:
        return (*self.cards, *self.choices)


def audit(
    file: Path,
    *,
    columns: Mapping[str, str] | None = None,
    scale: str | None = None,
    nominal: bool = False,
    labels: choices.Labels | None = None,
    margin_points: float = estimates.POINTS,
    margin_log_odds: float = estimates.LOG_ODDS,
) -> Audit:
    """Cards of a file, see `score_tables.read_file`; effects below the margins (points, log-odds) count as none.

    With `nominal`, the orderings list candidates in place of levels; `labels` are meanings of written choices.
    """
    log = read_form(file, columns, nominal=nominal, labels=labels)
    if not log.ordered:
        raise InputError(f"{file}: {log.form}: {score_tables.ONE_ORDER}")
    if log.form == SCORES:
        margins = {"margin_points": margin_points, "margin_log_odds": margin_log_odds}
        card = results.bias_card(log.table, where=file, columns=columns, scale=scale, **margins)
        return Audit(log.form, tuple(card), ())
    cards = choice_cards.choice_cards(
        log.table, file, columns=log.columns, labels=labels, margin_log_odds=margin_log_odds, notes=log.notes
    )
    return Audit(log.form, (), tuple(cards))


def read_form(file: Path, columns: Mapping[str, str] | None, *, nominal: bool, labels: choices.Labels | None) -> Log:
    """The rows of a file in their form, see `forms.recognise`."""
    table = score_tables.read_file(file, packed=True)
    nominal = nominal or bool(labels and labels.options)
    return forms.recognise(table, file, Columns(dict(columns or {})), nominal=nominal)


def page(found: Audit, file: Path, used: Mapping[str, object]) -> str:
    """Page of an audit, one file that loads nothing else: it shows the name of `file`, not its folder, and options
    `used`.
    """
    run = {"file": file.name, "form": found.form, **{name: value for name, value in used.items() if value}}
    if found.cards:
        judges = {card.judge: card.judge for card in found.cards}
        labels = Labels(judges=judges, datasets={"reads": file.name})
        content = summary.content(found.cards, run)
        return summary.page(
            [*found.cards], content, tables=[], figures=[], labels=labels, reads={}, template="audit.html.jinja"
        )
    cards = [
        {
            "judge": card.judge,
            "verdict": card.verdict,
            "reasons": card.reasons,
            "advice": card.advice,
            "notes": card.notes,
            "places": card.evidence.places,
            "scale": max([place.estimate for place in card.evidence.places if place.known], default=1.0),
            "facts": choice_cards.facts(card.evidence)[1:],  # shares are the bars
        }
        for card in found.choices
    ]
    return pages.render("choices.html.jinja", cards=cards, versions=summary.versions(), run=run)
