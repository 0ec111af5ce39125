"""A card as a row of a table of cards, on the page of a run and in lists of runs."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from rubric_order.base import gold
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.cards import headline
from rubric_order.cards.numbers import written
from rubric_order.cards.record import CardRecord
from rubric_order.cards.verdict import VERDICTS

AGREEMENT, COST = "r with people", "cost of 1,000 items"
UNKNOWN_COST = "unknown"
LABELS = ("verdict", "points", "scores that change", AGREEMENT, COST, "reads")


class Cell(NamedTuple):
    """Heading, value as people read it, and number to sort by; empty and NaN if nothing is known."""

    label: str
    text: str
    sort: float

    @property
    def sort_text(self) -> str:
        """Text of `sort` for a page; empty if nothing is known."""
        return "" if math.isnan(self.sort) else f"{self.sort:.6g}"


def cells(card: CardRecord) -> list[Cell]:
    """Cells of a card: verdict, shift by the usual order, scores that change, agreement with people, cost, reads."""
    agreement = card.get("agreement") or {}
    intervals = {
        "points": (_interval(card, "usual_minus_balanced"), "+z.2f"),
        "scores that change": (_interval(card.get("single_items") or {}, "scores_changed"), ".0%"),
        AGREEMENT: (_interval(agreement, "mean"), ".2f"),
    }
    of_whom = dict.fromkeys(intervals, "")
    if agreement.get("gold") == gold.INTENDED:
        of_whom[AGREEMENT] = ", of intended levels"
    reads = card.get("n_reads", 0) + card.get("n_failed", 0)
    verdict = card["verdict"]
    return [
        Cell("verdict", headline.WORDS[verdict], VERDICTS.index(verdict)),
        *(
            Cell(label, written(value, form) + of_whom[label] if value.known else "", value.estimate)
            for label, (value, form) in intervals.items()
        ),
        _cost(card.get("cost")),
        Cell("reads", f"{reads:,}", reads),
    ]


def _cost(cost: Mapping[str, Any] | None) -> Cell:
    """Cost of 1,000 items."""
    if cost is None:
        return Cell(COST, UNKNOWN_COST, math.nan)
    amount = cost["per_1000_items"]
    digits = 2 if amount >= 1 or amount == 0 else 1 - math.floor(math.log10(amount))
    return Cell(COST, f"{amount:,.{digits}f} {cost['currency']}", amount)


def points(card: CardRecord) -> Interval:
    """Shift of the mean score by the usual order, with its interval."""
    return _interval(card, "usual_minus_balanced")


def _interval(values: Mapping[str, Any], name: str) -> Interval:
    numbers = [values.get(f"{name}{end}") for end in ("", "_low", "_high")]
    if numbers[0] is None:
        return UNKNOWN
    return Interval(*(math.nan if number is None else number for number in numbers))
