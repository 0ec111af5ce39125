"""First lines of the cards of a run, for the terminal after a run and for the front page of the report."""

from pathlib import Path
from typing import NamedTuple

from rubric_order.cards import summary
from rubric_order.cards.record import name


class FirstLines(NamedTuple):
    """Name of a card, see `record.name`; its verdict with sizes, or with the first reason; advice to a user of the
    judge.
    """

    name: str
    finding: str
    advice: str


def first_lines(path: str | Path) -> list[FirstLines]:
    """First lines of a `summary.json`: of notes on judges without a score, of cards, and of cards of criteria."""
    whole = summary.read_whole(path)
    lines = [FirstLines(name(note), note["sentence"], note["advice"]) for note in whole.get("notes", [])]
    lines += [
        FirstLines(name(card), card.get("headline") or f"{card['verdict'].capitalize()}.", card.get("advice", ""))
        for card in whole["cards"]
    ]
    return lines + [
        FirstLines(
            f"{name(card)}, criterion {card['criterion']}",
            " ".join([f"{card['verdict'].capitalize()}.", *card["reasons"][:1]]),
            card.get("advice", ""),
        )
        for card in whole.get("criteria", [])
    ]
