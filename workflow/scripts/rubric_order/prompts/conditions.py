"""Conditions of probe `score_order`: variations of a prompt beside the order of its score levels.

A name joins parts by ``+``, at most one for IDs, reference answer and neutral edit: ``letter+reference_5``; with
``together``, one request asks about all orderings. Checks of a config read this module, so it imports nothing slow.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from rubric_order.base.conditions import split
from rubric_order.base.errors import UnfitError
from rubric_order.base.keys import BASELINE

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi")
_LETTERS = "ABCDEFGHIJK"
MOST_LEVELS = 11
# From the name of a style to the IDs of n levels, lowest level first.
_STYLES = {
    "letter": lambda n: tuple(reversed(_LETTERS[:n])),
    "letter_a_lowest": lambda n: tuple(_LETTERS[:n]),
    "roman": lambda n: _ROMAN[:n],
    "roman_i_highest": lambda n: tuple(reversed(_ROMAN[:n])),
    "arabic_1_highest": lambda n: tuple(reversed(_numbers(n))),
}
_OWN = re.compile(r"ids\((?P<ids>[^()]*)\)")
_REFERENCE = re.compile(r"reference_(?P<text>\d{1,2})(?:_as_(?P<shown>\d{1,2}))?")
TOGETHER = "together"
NEUTRAL = ("neutral_1", "neutral_2", "neutral_3")
LONGEST_ID = 20  # characters
# Examples for messages. `Offered` also accepts other conditions.
EXAMPLES = (
    BASELINE,
    *_STYLES,
    "ids(bad,fair,good)",
    "reference_none",
    "reference_5",
    "reference_5_as_1",
    *NEUTRAL,
    TOGETHER,
)


class Condition(NamedTuple):
    """Settings of a condition at a number of levels, counted from 1.

    `ids` None are the rubric's numbers; `reference` is 0 without one, and None for the item's own, of the highest
    level; `id_level` is that whose ID it gets; `neutral` an edit without meaning, or 0.
    """

    ids: tuple[str, ...] | None
    reference: int | None
    id_level: int
    neutral: int
    together: bool = False

    def labels(self, n: int, lowest: int = 1) -> tuple[str, ...]:
        """Labels that an answer may write for the levels, lowest first."""
        return self.ids or _numbers(n, lowest)


def _numbers(n: int, lowest: int = 1) -> tuple[str, ...]:
    return tuple(str(score) for score in range(lowest, lowest + n))


@cache
def read(name: str, n: int) -> Condition:
    """Read the name of a condition at n levels, or raise UnfitError."""
    by_kind: dict[str, Any] = {}
    for part in [] if name == BASELINE else split(name):
        key, value = _part(part, n)
        if key in by_kind:
            raise UnfitError(f"{name!r} has two parts of one kind; expected at most one of {key}")
        by_kind[key] = value
    text, level = by_kind.get("a reference answer", (None, n))
    neutral, together = by_kind.get("an edit without meaning", 0), "a request of all orderings" in by_kind
    return Condition(by_kind.get("score IDs"), text, level, neutral, together)


def _part(part: str, n: int) -> tuple[str, object]:
    """Kind of a part, and the part's value."""
    if part in _STYLES:
        return "score IDs", _STYLES[part](n)
    if ids := _OWN.fullmatch(part):
        return "score IDs", _own_ids(ids["ids"], n)
    if part in NEUTRAL:
        return "an edit without meaning", NEUTRAL.index(part) + 1
    if part == TOGETHER:
        return "a request of all orderings", True
    if part == "reference_none":
        return "a reference answer", (0, n)
    if reference := _REFERENCE.fullmatch(part):
        text, level = int(reference["text"]), int(reference["shown"] or reference["text"])
        if not (1 <= text <= n and 1 <= level <= n):
            raise UnfitError(f"{part!r}: expected levels from 1 to {n}")
        return "a reference answer", (text, level)
    raise UnfitError(f"{part!r} is no condition; expected parts such as {', '.join(EXAMPLES)}, joined by +")


def _own_ids(written: str, n: int) -> tuple[str, ...]:
    """A user's IDs, lowest level first."""
    ids = tuple(own_id.strip() for own_id in written.split(","))
    if len(ids) != n:
        raise UnfitError(f"'ids({written})' has {len(ids)} IDs; expected {n}, the lowest level first")
    if len({own_id.casefold() for own_id in ids}) < n:
        raise UnfitError(f"'ids({written})': expected IDs that differ in more than capitals")
    if wrong := [
        own_id for own_id in ids if not re.fullmatch(r"\w(?:[\w +*/-]*[\w+*])?", own_id) or len(own_id) > LONGEST_ID
    ]:
        raise UnfitError(
            f"'ids({written})': {wrong[0]!r}: expected up to {LONGEST_ID} letters, digits, spaces, +, *, / or -, with a"
            " letter or digit first"
        )
    return ids


class Offered(tuple[Any, ...]):
    """Conditions that the probe offers: the elements are examples, ``in`` is true for all of some scale."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(_fits(name, n) for n in range(2, MOST_LEVELS + 1))


def _fits(name: str, n: int) -> bool:
    try:
        read(name, n)
    except ValueError:
        return False
    return True
