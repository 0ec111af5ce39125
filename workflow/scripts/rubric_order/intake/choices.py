"""Meaning of a written choice: a position, the name of a candidate, a tie, or a label of a map."""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.parsing import verdict
from rubric_order.parsing.choices import EMPTY

TIE, NONE = "tie", "none"
TIES = {TIE, "draw", "equal", "both", "neither", "same", "even", "tied", "a=b", "="}
TIES |= {"tie (bothbad)", "both_bad", "both bad"}
MISSING = {"", "nan", NONE, "null", "na", "n/a", "<na>"}  # texts for a missing value; case does not count
FEWEST, MOST = 2, 9  # candidates of a comparison
LETTERS = string.ascii_uppercase
NAMED = re.compile(
    r"(?:the\s+)?(?:model|response|answer|assistant|output|candidate|option|system|summary|text)?[\s_#-]*\(?"
    r"(?P<place>[a-i]|[1-9])\)?",
    re.IGNORECASE,
)
TURNS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class Labels:
    """Meanings of written labels.

    Attributes:
        options: dictionary from each label to its meaning: a position (``A`` is the first), ``tie``, ``none``, or the
            name of a candidate.

    Examples:
        >>> Labels.parse(["1=A,2=B,0=tie"]).options["0"]
        'tie'
    """

    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "Labels":
        """Options from texts such as ``1=A,2=B,0=tie``."""
        options: dict[str, str] = {}
        for part in (part for text in texts for part in text.split(",")):
            label, sign, option = (word.strip() for word in part.rpartition("="))
            if not (label and sign and option):
                raise InputError(f"--map: expected parts such as 1=A or C=tie, found {part!r:.60}")
            if options.setdefault(label.casefold(), option) != option:
                raise InputError(f"--map: {label!r:.60} stands twice; expected once")
        return cls(options)


class Meaning(NamedTuple):
    """Position of the chosen candidate, from 1 (0: a tie; None: no choice), and the reason why there is no choice."""

    place: int | None
    reason: str | None = None


def candidates(text: str) -> list[str]:
    """The candidates that a text lists: ``gpt-4, llama``, ``["a", "b"]``, ``A > B``, ``A B``.

    >>> candidates("[gpt-4, llama 2]")
    ['gpt-4', 'llama 2']
    """
    text = text.strip()
    if "\n" in text:
        return [part.strip() for part in text.split("\n")]
    if text[:1] in "[(" and text[-1:] in "])":
        text = text[1:-1]
    separator = r"[,;>|]" if re.search("[,;>|]", text) else r"\s+"
    if separator == r"\s+" and re.fullmatch("[A-I]{2,9}", text):
        return [*text]
    return [part for part in (part.strip().strip("\"'").strip() for part in re.split(separator, text)) if part]


def meaning(text: str, names: Sequence[str], labels: Labels, *, answers: bool = True) -> Meaning | None:
    """Meaning of a written choice among candidates; None if it has none. Only with `answers` is an answer of words
    read.

    A candidate's name goes before a position, but a letter in upper case is a position if only a lower-case name is
    alike.
    """
    word = text.casefold()
    if word in labels.options:
        option = labels.options[word]
        if option.casefold() == NONE:
            return Meaning(None, EMPTY)
        return meaning(option, names, Labels(), answers=False)
    if word in MISSING:
        return Meaning(None, EMPTY)
    if (index := named(text, names)) is not None:
        return Meaning(index + 1)
    if word in TIES:
        return Meaning(0)
    if word in TURNS[: len(names)]:
        return Meaning(TURNS.index(word) + 1)
    if match := NAMED.fullmatch(text):
        mark = match["place"].upper()
        place = int(mark) if mark.isdigit() else LETTERS.index(mark) + 1
        if 1 <= place <= len(names):
            return Meaning(place)
        if answers and mark == LETTERS[len(names)]:  # as in prompts that end with `C` for a tie
            return Meaning(0)
    if not answers:
        return None
    letters = LETTERS[: len(names) + 1]
    choice = verdict.parse_verdict(text, letters, tie=True)
    if choice.label is not None:
        place = letters.index(choice.label) + 1
        return Meaning(0 if place > len(names) else place)
    return Meaning(None, choice.reason) if len(text.split()) > 1 else None


def named(text: str, names: Sequence[str]) -> int | None:
    """Index, from 0, of the candidate that a text names, if possible in the same case; None if it names none."""
    folded = [name.casefold() for name in names]
    if text in names:
        return [*names].index(text)
    return None if text in [*LETTERS[: len(names)]] or text.casefold() not in folded else folded.index(text.casefold())


def option_of(text: str, labels: Mapping[str, str]) -> str | None:
    """Option of the label that a text has, or, if all labels are single capitals, that its verdict has; None if it has
    none.
    """
    by_label = {str(label).strip().casefold(): option for label, option in labels.items()}
    option = by_label.get(text.strip().casefold())
    if option is None and all(len(label) == 1 and label.isupper() for label in map(str, labels)):
        choice = verdict.parse_verdict(text, [*map(str, labels)])
        option = None if choice.label is None else by_label[choice.label.casefold()]
    return option


def letter(word: str, names: Sequence[str], letters: Sequence[str]) -> str | None:
    """Letter that a word means: empty for no choice, None for no meaning; `letters` has one more than `names` for a
    tie.

    >>> [letter(word, ["gpt-4", "llama"], "ABC") for word in ("llama", "model_a", "tie", "none", "maybe")]
    ['B', 'A', 'C', '', None]
    """
    choice = meaning("" if word.strip().casefold() == "error" else word.strip(), names, Labels(), answers=False)
    if choice is None or (choice.place == 0 and len(letters) == len(names)):
        return None
    return "" if choice.place is None else letters[choice.place - 1 if choice.place else len(names)]
