"""First lines of the cards of a run, for the terminal after a run and for the front page of the report."""

from pathlib import Path
from typing import NamedTuple

from rubric_order.cards import limits, summary


class FirstLines(NamedTuple):
    """First lines of a card.

    Attributes:
        name: name of the card, see `limits.name`; for a card of criteria, with the criterion.
        finding: the verdict with its size in points and in decisions, or with its first reason.
        advice: what to do.
    """

    name: str
    finding: str
    advice: str


def first_lines(path: str | Path) -> list[FirstLines]:
    """First lines of a `summary.json`: of the notes on judges without a score, of the cards, and of the criteria.

    Raises:
        InputError: the file is no summary.
    """
    whole = summary.read_whole(path)
    lines = [FirstLines(limits.name(note), note["sentence"], note["advice"]) for note in whole.get("notes", [])]
    lines += [
        FirstLines(
            limits.name(card), card.get("headline") or f"{card['verdict'].capitalize()}.", card.get("advice", "")
        )
        for card in whole["cards"]
    ]
    return lines + [
        FirstLines(
            f"{limits.name(card)}, criterion {card['criterion']}",
            " ".join([f"{card['verdict'].capitalize()}.", *card["reasons"][:1]]),
            card.get("advice", ""),
        )
        for card in whole.get("criteria", [])
    ]
