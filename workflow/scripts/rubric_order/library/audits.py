"""Audits of files: cards of the scores or of the choices that a file has."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels
from rubric_order.cards import summary
from rubric_order.cards.card import Card
from rubric_order.library import choice_cards, choices, estimates, logs, results, sources
from rubric_order.library import columns as column_names
from rubric_order.library import reads as reads_table
from rubric_order.library.choice_cards import ChoiceCard
from rubric_order.library.columns import Columns
from rubric_order.pages import page as pages

SCORES, CHOICES = "reads that score", "reads that choose"


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
    """Cards of a file, see `reads.read_file`; effects below the margins (points, log-odds) count as none.

    With `nominal`, the orderings list candidates in place of levels; `labels` are meanings of written choices.
    """
    mapping = Columns(dict(columns or {}))
    table = reads_table.read_file(file, packed=True)
    if not mapping.names and (without := logs.without_order(table)):
        raise InputError(f"{file}: {without}: {sources.ONE_ORDER}")
    form, log = form_of(table, file, mapping, nominal=nominal or bool(labels and labels.options))
    if form == SCORES:
        card = results.bias_card(
            table,
            where=file,
            columns=columns,
            scale=scale,
            margin_points=margin_points,
            margin_log_odds=margin_log_odds,
        )
        return Audit(form, tuple(card), ())
    notes = log.notes if log else ()
    cards = choice_cards.choice_cards(
        log.choices if log else table,
        file,
        columns=None if log else mapping,
        labels=labels,
        margin_log_odds=margin_log_odds,
        notes=notes,
    )
    return Audit(form, (), tuple(cards))


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


def form_of(
    table: pd.DataFrame, where: str | Path, names: Columns, *, nominal: bool = False
) -> tuple[str, logs.Log | None]:
    if not names.names and (log := logs.recognised(table, where)) is not None:
        return log.form, log
    named = column_names.named(table, names, where)
    return (CHOICES if nominal or column_names.of_choices(named) else SCORES), None
