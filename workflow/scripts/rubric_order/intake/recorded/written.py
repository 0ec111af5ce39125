"""Letters for the choices in recorded comparisons. A choice names a position or a candidate, or is a label of a map."""

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from rubric_order.base.errors import InputError
from rubric_order.parsing import verdict

TIE, NONE = "tie", "none"
TIES = (TIE, "draw", "tie (bothbad)", "both bad", "equal")
NOTHING = ("", NONE, "error", "null", "nan")
TURNS = ("first", "second", "third")
PLACE = re.compile(r"(?:(?:model|answer|assistant|response|output|candidate)[ _-]?)?([a-i1-9])", re.IGNORECASE)


def letters(shown: Sequence[str], tie: bool) -> list[str]:
    """Letters of the candidates in the order shown, and then of a tie if it was offered.

    >>> letters(["gpt-4", "llama"], True)
    ['A', 'B', 'C']
    """
    return [*ascii_uppercase[: len(shown) + tie]]


def letter(word: str, shown: Sequence[str], own: Sequence[str]) -> str | None:
    """Letter that a word means: empty for no choice, None if the word has no known meaning.

    Args:
        word: the name of a candidate, a position (``A``, ``2``, ``model_b``, ``first``), ``tie`` or ``none``.
        shown: names of the candidates, in the order in which they were shown.
        own: letters of the candidates, and of a tie if it was offered.

    Example:
        >>> shown = ["gpt-4", "llama"]
        >>> [letter(word, shown, ["A", "B", "C"]) for word in ("llama", "model_a", "tie", "none", "maybe")]
        ['B', 'A', 'C', '', None]
    """
    folded = word.strip().casefold()
    candidates = [name.casefold() for name in shown]
    if folded in candidates:
        return own[candidates.index(folded)]
    if folded in NOTHING:
        return ""
    if folded in TIES:
        return own[len(shown)] if len(own) > len(shown) else None
    place = TURNS.index(folded) if folded in TURNS else None
    if match := PLACE.fullmatch(folded):
        place = ascii_uppercase.index(match[1].upper()) if match[1].isalpha() else int(match[1]) - 1
    return own[place] if place is not None and place < len(shown) else None


def mapped(text: str, labels: Mapping[str, str], shown: Sequence[str], own: Sequence[str]) -> str | None:
    """Letter of a written choice, through a map from labels; None if the text says none of the labels.

    If all labels are single capital letters, a longer text is read like a verdict.

    Args:
        text: the text that was written.
        labels: dictionary from each label to a position, ``tie``, ``none`` or the name of a candidate.
        shown, own: see `letter`.
    """
    by_label = {str(label).strip().casefold(): option for label, option in labels.items()}
    option = by_label.get(text.strip().casefold())
    if option is None and all(len(label) == 1 and label.isupper() for label in map(str, labels)):
        parsed = verdict.parse_verdict(text, [str(label) for label in labels])
        option = None if parsed.label is None else by_label[parsed.label.casefold()]
    return None if option is None else letter(option, shown, own)


def check(labels: Mapping[str, str], shown: Sequence[str], own: Sequence[str]) -> None:
    """Check that the option of each label has a known meaning.

    Raises:
        InputError: an option has no known meaning. The message names the label, but no place in a file.
    """
    for label, option in labels.items():
        if letter(option, shown, own) is None:
            expected = f"A, B, first, second, tie, none, {', '.join(shown):.120}"
            raise InputError(f"label {label!r:.60}: expected one of {expected:.200}, found {option!r:.60}")
