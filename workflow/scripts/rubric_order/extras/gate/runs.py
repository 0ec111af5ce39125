"""Runs side by side: the cards of several summaries, and the history of each judge over them."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.cards import record, row, spread, summary
from rubric_order.cards.record import CardRecord
from rubric_order.extras.gate import drift
from rubric_order.extras.gate.gate import Pair, anchors_of
from rubric_order.pages import page as pages

SUMMARIES = ("summary.json", "results/summary.json")  # in the folder of a run
WIDTH, HEIGHT, EDGE = 640.0, 160.0, 16.0  # of a drawing, in its own units
LEAST = 0.05  # smallest number of points that a drawing covers above 0 and below 0


class Run(NamedTuple):
    """A card of one run, and its name, see `record.name`."""

    run: str
    name: str
    card: CardRecord


class History(NamedTuple):
    """Cards of one name in several runs, as given; `change` of the mean score from first to last, or why it is not
    known.
    """

    name: str
    runs: tuple[Run, ...]
    change: str


def read(paths: Iterable[Path], judge: str | None = None) -> list[Run]:
    """Cards of summaries, outputs of ``rubric-order audit --json``, or folders of runs, in order of time, perhaps of
    one judge.
    """
    paths = list(paths)
    files = [_file(path) for path in paths]
    run_names = _names(paths)
    runs = [
        Run(name, record.name(card), card)
        for name, file in zip(run_names, files, strict=True)
        for card in summary.read(file)
        if judge in (None, card["judge"])
    ]
    if not runs:
        whose = f" of judge {judge!r:.60}" if judge else ""
        raise InputError(f"{', '.join(map(str, files)):.200}: no card{whose}")
    return runs


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in SUMMARIES:
        if (path / name).is_file():
            return path / name
    raise InputError(f"{path}: expected {' or '.join(SUMMARIES)} in this folder")


def _names(paths: Sequence[Path]) -> list[str]:
    """Names of their folders or files, or whole paths if two are equal."""
    run_names = [path.resolve().name if path.is_dir() else path.stem for path in paths]
    for generic in ("summary", "results"):
        run_names = [
            path.resolve().parent.name if name == generic else name for path, name in zip(paths, run_names, strict=True)
        ]
    return run_names if len(set(run_names)) == len(run_names) else [str(path) for path in paths]


def histories(runs: Iterable[Run]) -> list[History]:
    """Histories of cards, in the order in which each card first appears."""
    by_name: dict[str, list[Run]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    return [History(name, tuple(part), _change(part)) for name, part in by_name.items()]


def _change(runs: Sequence[Run]) -> str:
    """Change of the mean score from the first to the last run of a card, in words, see `History`."""
    if len(runs) < 2:
        return ""
    first, last = runs[0], runs[-1]
    if not ("anchors" in first.card and "anchors" in last.card):
        return "a summary without anchors, of an earlier version, cannot be compared"
    pair = Pair(last.card, first.card, *(anchors_of(run.card, run.run) for run in (last, first)))
    if pair.anchors.suite != pair.earlier.suite:
        return "the suites differ, so that their mean scores are not compared"
    return "; ".join(
        f"{change.label} {change.size}, {change.p_words}" for change in pair.changes() if change.quantity == drift.SCORE
    )


def content(found: Iterable[History]) -> list[dict[str, Any]]:
    """Histories as JSON has them: for each run, the row of the table as numbers. None stands for an unknown number."""
    return [
        {
            "card": history.name,
            "change": history.change,
            "runs": [
                {
                    "run": run.run,
                    "suite": run.card.get("anchors", {}).get("suite"),
                    "verdict": run.card["verdict"],
                    "points": spread.number(row.points(run.card).estimate),
                    "points_low": spread.number(row.points(run.card).low),
                    "points_high": spread.number(row.points(run.card).high),
                    **{
                        cell.label.replace(" ", "_"): spread.number(cell.sort)
                        for cell in row.cells(run.card)
                        if cell.label not in ("verdict", "points", row.COST)
                    },
                    "cost": run.card.get("cost"),
                }
                for run in history.runs
            ],
        }
        for history in found
    ]


def page(found: Sequence[History]) -> str:
    """A page of runs: a table of all runs and, for each card with several runs, its shifts by the usual order drawn."""
    rows = [
        {"title": f"{run.run}: {run.name}", "link": "", "card": "", "cells": row.cells(run.card)}
        for history in found
        for run in history.runs
    ]
    drawings = [{"history": history, "points": _drawn(history.runs)} for history in found if len(history.runs) > 1]
    return pages.render("runs.html.jinja", heads=["run", *row.LABELS], rows=rows, shown=drawings)


def _drawn(runs: Sequence[Run]) -> dict[str, Any]:
    """Places of the shifts with their intervals in a drawing of `WIDTH` by `HEIGHT`; 0 is in the middle."""
    shifts = [row.points(run.card) for run in runs]
    ends = [abs(end) for shift in shifts for end in shift if not math.isnan(end)]
    reach = max([1.1 * end for end in ends] + [LEAST])
    step = (WIDTH - 2 * EDGE) / (len(runs) - 1)

    def height(value: float) -> float:
        return round(HEIGHT / 2 * (1 - value / reach), 1)

    marks = [
        {
            "x": round(EDGE + place * step, 1),
            "y": height(shift.estimate),
            "low": height(shift.low) if shift.bounded else None,
            "high": height(shift.high) if shift.bounded else None,
            "text": f"{run.run}: {row.cells(run.card)[1].text}",
        }
        for place, (run, shift) in enumerate(zip(runs, shifts, strict=True))
        if shift.known
    ]
    return {"marks": marks, "reach": f"{reach:.2f}", "width": WIDTH, "height": HEIGHT}
