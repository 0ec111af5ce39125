"""First lines of the cards of a run: what the terminal shows after a run, and the front page of the report."""

from pathlib import Path
from typing import NamedTuple

from rubric_order.cards import limits, summary


class FirstLines(NamedTuple):
    """First lines of a card.

    Attributes:
        name: of the card, see `limits.name`; of a card of criteria with the criterion.
        finding: the verdict with its size in points and in decisions, or with its first reason.
        advice: what to do.
    """

    name: str
    finding: str
    advice: str


def first_lines(path: str | Path) -> list[FirstLines]:
    """First lines of each card of a `summary.json`, those of criteria last; notes on judges without a score are first.

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
