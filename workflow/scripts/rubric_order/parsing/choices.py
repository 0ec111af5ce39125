"""Result of parsing an answer to one question: a label, or a failure with a reason."""

from collections.abc import Sequence
from typing import NamedTuple

EMPTY = "empty"  # nothing but blank space
UNFINISHED_THINKING = "unfinished_thinking"  # a thinking block that never ends
TRUNCATED = "truncated"  # cut off before a score
ECHO = "echo"  # repeats the prompt's instructions instead of following them
NO_SCORE = "no_score"
NOT_INTEGER = "not_integer"  # such as 3.5
OUT_OF_RANGE = "out_of_range"  # off the scale, or on another scale
CONFLICTING = "conflicting"  # several different scores
UNREADABLE = "unreadable"  # the parser fails at it, which is a defect of the parser
REASONS = (EMPTY, UNFINISHED_THINKING, TRUNCATED, ECHO, NO_SCORE, NOT_INTEGER, OUT_OF_RANGE, CONFLICTING, UNREADABLE)


class Choice(NamedTuple):
    """Choice of an answer under one question: one of its labels, or None with a reason (`REASONS`, or of `decisions`).

    `pattern` is the form of writing that decided; `first` the letter of a comparison's first `[[A]]` or `Choice: A`.
    """

    label: str | None
    pattern: str | None = None
    reason: str | None = None
    first: str | None = None


class Scale(NamedTuple):
    """Whole numbers in which scores are written, from 0 or 1."""

    lowest: int
    highest: int

    @classmethod
    def of(cls, labels: Sequence[str]) -> "Scale | None":
        """The scale whose numbers are the labels, in any order; None if the labels are no such numbers."""
        for lowest in (1, 0):
            if set(labels) == set(numbers(len(labels), lowest)):
                return cls(lowest, lowest + len(labels) - 1)
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """The numbers as labels, the lowest first."""
        return numbers(self.highest - self.lowest + 1, self.lowest)


def numbers(n: int, lowest: int = 1) -> tuple[str, ...]:
    """The labels of n scores that are written as numbers from `lowest` on."""
    return tuple(str(score) for score in range(lowest, lowest + n))


def are_numbers(labels: Sequence[str]) -> bool:
    """True where labels are the numbers 1..n or 0..n-1, in any order."""
    return Scale.of(labels) is not None
