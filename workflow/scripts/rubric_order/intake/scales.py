"""Scales of score levels: forms in which levels are written, orderings that name levels, and the level of a score."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.parsing import one_label, one_score
from rubric_order.parsing.choices import NO_SCORE, Choice, are_numbers, numbers

FEWEST, MOST = 2, 11
NUMBER = re.compile(r"-?(?:[0-9]+(?:[.,][0-9]+)?|[.][0-9]+)")
ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi")
LETTERS = "ABCDEFGHIJK"
ASCENDING = {"ascending", "asc", "canonical", "usual", "standard", "forward", "increasing", "low_to_high", "original"}
DESCENDING = {"descending", "desc", "reversed", "reverse", "backward", "decreasing", "high_to_low"}
SAME = 1e-9  # numbers that differ by less count as the same
# Matches a score, alone or with words that belong to it. It is for levels that begin neither at 0 nor at 1, or that go
# by halves.
_SCORE = re.compile(
    r"\W*(?:\[?(?:final |overall )?(?:score|rating|grade|result|answer)\]?\s*(?:is|of|:|=|-)?\s*)?\W*?"
    r"(?P<number>-?[0-9]+(?:[.,][0-9]+)?)\s*(?:(?:/|out of)\s*(?P<most>[0-9]+(?:[.,][0-9]+)?))?"
    r"\s*(?:stars?|points?)?\W*",
    re.IGNORECASE,
)


class Scale(NamedTuple):
    """Score levels as they are written, the lowest first; numeric ones are numbers that are equally far apart."""

    labels: tuple[str, ...]
    numeric: bool = True

    @property
    def n(self) -> int:
        """Number of levels."""
        return len(self.labels)

    @property
    def low(self) -> float:
        """Number of the lowest level."""
        return number(self.labels[0]) if self.numeric else 1.0

    @property
    def step(self) -> float:
        """Difference between neighbouring levels, as they are written."""
        return number(self.labels[1]) - self.low if self.numeric else 1.0

    @property
    def first(self) -> int:
        """Number of the lowest level of a scale that goes by ones, such as 0; 1 for any other scale."""
        return int(self.low) if self.step == 1 and self.low.is_integer() and abs(self.low) < 100 else 1

    @property
    def usual(self) -> bool:
        """True if the levels are the numbers 1 to n."""
        return self.labels == numbers(self.n)

    @property
    def words(self) -> str:
        """The levels as people read them: ``0, 1, ..., 10``."""
        if self.n < 5:
            return ", ".join(self.labels)
        return f"{self.labels[0]}, {self.labels[1]}, ..., {self.labels[-1]}"

    def level(self, value: np.ndarray) -> np.ndarray:
        """Level, from 1, of each written number; for a number that is no level, no whole number from 1 to n."""
        levels = (value - self.low) / self.step + 1
        whole = np.round(levels)
        return np.where(np.abs(levels - whole) < 1e-6, whole, levels)

    def place(self, label: str) -> int | None:
        """Level, from 1, of a label in upper or lower case; None if no level has this label."""
        return self.places([label])[0]

    def places(self, labels: Sequence[str]) -> list[int | None]:
        """Levels of several labels, see `place`."""
        if self.numeric:
            values = [number(label) if NUMBER.fullmatch(label) else np.nan for label in labels]
            levels = self.level(np.array(values)).tolist()
            return [int(level) if 1 <= level <= self.n and level.is_integer() else None for level in levels]
        folded = [name.casefold() for name in self.labels]
        return [folded.index(name) + 1 if (name := label.casefold()) in folded else None for label in labels]

    def parse(self, text: str) -> Choice:
        """The label of the score that an answer gives, or the reason why it gives none; see `one_score.parse_score`.

        Levels that begin neither at 0 nor at 1, or go by halves, must be the whole answer, as in ``Score: 3.5``.
        """
        if not self.numeric or are_numbers(self.labels):
            choice = one_score.parse_score(text, self.labels)
            if choice.label is None and not self.numeric:
                whole = one_label.find_label(one_score.normalise(text), self.labels)
                return whole if whole.label else choice
            return choice
        match = _SCORE.fullmatch(text)
        if match is None or (match["most"] and abs(number(match["most"]) - number(self.labels[-1])) > SAME):
            return Choice(None, reason=NO_SCORE)
        place = self.place(match["number"])
        return Choice(None, reason=NO_SCORE) if place is None else Choice(self.labels[place - 1])


def number(text: str) -> float:
    """A number, with a point or a comma before its fraction."""
    return float(text.replace(",", "."))


def written(value: float) -> str:
    """A number as a label."""
    return f"{value:g}"


def parse(text: str) -> Scale:
    """A scale from a text: ``5``, ``0-10``, ``1-5:0.5`` (from, to, step) or its levels, lowest first: ``E,D,C,B,A``.

    >>> parse("1-3:0.5").labels
    ('1', '1.5', '2', '2.5', '3')
    """
    expected = "expected such as 5, 0-10, 1-5:0.5, or the levels, lowest first, such as E,D,C,B,A"
    text = text.strip()
    try:
        if re.fullmatch("[0-9]{1,2}", text):
            return _checked(Scale(numbers(int(text))))
        if match := re.fullmatch(r"([0-9.]+)\s*(?:-|to|\.\.)\s*([0-9.]+)(?:\s*(?::|by)\s*([0-9.]+))?", text):
            low, high, step = (float(part or 1) for part in match.groups())
            if not 0 < (high - low) / step < MOST:
                raise ValueError
            count = round((high - low) / step) + 1
            if abs(low + (count - 1) * step - high) > SAME:
                raise ValueError
            return _checked(Scale(tuple(written(low + k * step) for k in range(count))))
        labels = tuple(part.strip() for part in text.split(","))
        if not all(labels):
            raise ValueError
        if all(NUMBER.fullmatch(label) for label in labels):
            scale = scale_of(labels)
            if scale is None or scale.labels != tuple(written(number(label)) for label in labels):
                raise ValueError
            return scale
        if len({label.casefold() for label in labels}) < len(labels):
            raise ValueError
        return _checked(Scale(labels, numeric=False))
    except ValueError:
        raise InputError(f"scale: {expected}, found {text!r:.60}; {FEWEST} to {MOST} levels") from None


def _checked(scale: Scale) -> Scale:
    if not FEWEST <= scale.n <= MOST:
        raise ValueError
    return scale


def scale_of(labels: Sequence[str]) -> Scale | None:
    """The scale of levels in any order, None if they form none; ``A`` is the highest letter, ``i`` the lowest numeral.

    >>> scale_of(["10", "0", "5"]).labels, scale_of(["A", "C", "B"]).labels
    (('0', '5', '10'), ('C', 'B', 'A'))
    """
    if not FEWEST <= len(labels) <= MOST:
        return None
    if all(NUMBER.fullmatch(label) for label in labels):
        values = np.sort([number(label) for label in labels])
        steps = np.diff(values)
        if steps[0] < SAME or np.abs(steps - steps[0]).max() > SAME:
            return None
        return Scale(tuple(written(value) for value in values))
    upper = {label.upper() for label in labels}
    if len(upper) == len(labels) and upper == set(LETTERS[: len(labels)]):
        return Scale(tuple(LETTERS[: len(labels)][::-1]), numeric=False)
    lower = {label.lower() for label in labels}
    if len(lower) == len(labels) and lower == set(ROMANS[: len(labels)]):
        return Scale(ROMANS[: len(labels)], numeric=False)
    return None


def tokens(text: str) -> list[str] | None:
    """Labels that a text lists: ``1 2 3``, ``[3, 2, 1]``, ``C > B > A``, ``321``, ``CBA``; None if it lists none."""
    text = text.strip()
    if re.fullmatch("[0-9]{2,9}", text) or (
        re.fullmatch("[A-K]{2,11}", text) and set(text) == set(LETTERS[: len(text)])
    ):
        return [*text]
    if text[:1] in "[(" and text[-1:] in "])":
        text = text[1:-1]
    text = re.sub(r"\s+-\s+", " ", text.strip())
    separator = r"\s*[,;>|/]\s*" if re.search("[,;>|/]", text) else r"\s+" if re.search(r"\s", text) else "-"
    parts = [part.strip().strip("\"'") for part in re.split(separator, text)]
    return parts if len(parts) > 1 and all(parts) else None


class Ordering(NamedTuple):
    """An ordering of a scale's levels: the level at each position, from 1."""

    scale: Scale
    levels: tuple[int, ...]


def ordering(text: str, scale: Scale | None = None) -> Ordering | None:
    """The ordering that a text (see `tokens`) names, by default of the scale that it lists; None if it is no
    permutation.

    >>> ordering("0 2 1").levels
    (1, 3, 2)
    """
    labels = tokens(text)
    if labels is None:
        return None
    levels_scale = scale_of(labels) if scale is None else scale
    if levels_scale is None or levels_scale.n != len(labels):
        return None
    places = levels_scale.places(labels)
    if any(place is None for place in places) or len({*places}) < len(places):
        return None
    return Ordering(levels_scale, tuple(place for place in places if place is not None))


def direction(text: str) -> int:
    """Direction that a word such as ``descending`` names: 1, -1, or 0 if it names none."""
    word = re.sub(r"[\s-]+", "_", text.strip().lower())
    return 1 if word in ASCENDING else -1 if word in DESCENDING else 0
