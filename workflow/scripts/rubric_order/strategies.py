"""Strategies: the ways to choose the orderings in which the options of a prompt are shown, each with a record.

An ordering is a permutation of 1..n, option by position, one a row. Functions import Numpy when called: checks of a
config and each start of Snakemake read only the records.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from rubric_order.base.errors import UnfitError

if TYPE_CHECKING:
    import numpy as np

MAX_ORDERINGS = 5040  # 7!; a config that asks for more orderings by `all` is taken for a mistake
RECORDED = "recorded"


def check_all(n: int) -> None:
    """Check that strategy `all` has at most ``MAX_ORDERINGS`` orderings of n options, or raise UnfitError."""
    if math.factorial(n) > MAX_ORDERINGS:
        raise UnfitError(f"strategy 'all' with {n} options has {math.factorial(n)} orderings; use 'random' instead")


def rotations(n: int) -> np.ndarray:
    """Cyclic rotations of the canonical ordering, (n, n): every option once in every position."""
    import numpy as np

    if n < 2:
        raise UnfitError(f"an ordering needs at least 2 options, got {n}")
    return (np.arange(n)[:, None] + np.arange(n)) % n + 1


def balanced(n: int) -> np.ndarray:
    """Forward rotations, then rotations of the reversed ordering, (2n, n): every option twice in every position; equal
    halves for n = 2.

    Source: Xu et al. (2026), Section 3.1, in the order given there.
    """
    import numpy as np

    return np.vstack([rotations(n), n + 1 - rotations(n)])


def balanced_williams(n: int) -> np.ndarray:
    """A Williams design, (2n, n): every option twice in every position, and twice right after every other.

    For even n the halves are different squares (equal for n = 2). Source: Williams (1949), Section 2: rotations of 1,
    2, n, 3, n - 1, ... and of its mirror image.
    """
    import numpy as np

    if n < 2:
        raise UnfitError(f"an ordering needs at least 2 options, got {n}")
    # 0, 1, -1, 2, -2, ...: neighbours differ by 1, -2, 3, -4, ..., and in the mirror image by -1, 2, -3, 4, ...
    zigzag = np.array([(place + 1) // 2 * (1 if place % 2 else -1) for place in range(n)])
    turns = np.arange(n)[:, None]
    return np.vstack([(turns + zigzag) % n, (turns - zigzag) % n]) + 1


def random_orderings(n: int, reads: int, *, rng: np.random.Generator) -> np.ndarray:
    """Independent uniform draws, so that an ordering can come twice. Shape (reads, n)."""
    import numpy as np

    return rng.permuted(np.tile(np.arange(1, n + 1), (reads, 1)), axis=1)


def fixed(n: int, reads: int) -> np.ndarray:
    """The canonical ordering ``[1, ..., n]`` in every row. Shape (reads, n)."""
    import numpy as np

    return np.tile(np.arange(1, n + 1), (reads, 1))


def repeated_rotations(n: int, reads: int) -> np.ndarray:
    """Each rotation ``reads / n`` times, at least twice, so that repetition is seen under every ordering, (reads,
    n).
    """
    import numpy as np

    if reads % n or reads < 2 * n:
        wanted = f"at least {2 * n}, in steps of {n}"
        raise UnfitError(f"strategy repeated_rotations reads {n} options in {n} orderings: {wanted}; got {reads}")
    return np.tile(rotations(n), (reads // n, 1))


def swap(n: int, reads: int) -> np.ndarray:
    """The two orders of a pair in turn, an even number of times, (reads, 2)."""
    import numpy as np

    if n != 2 or reads % 2:
        raise UnfitError(f"strategy swap reads 2 options an even number of times; got {n} options and {reads} reads")
    return np.tile([[1, 2], [2, 1]], (reads // 2, 1))


def cyclic(n: int, reads: int) -> np.ndarray:
    """The rotations of the canonical ordering, over and over, (reads, n): positions are balanced."""
    import numpy as np

    return np.tile(rotations(n), (_rounds("cyclic", n, reads), 1))


def latin(n: int, reads: int, *, rng: np.random.Generator) -> np.ndarray:
    """Rows of random Latin squares (cyclic, options and columns shuffled), (reads, n): positions are balanced, and the
    option before varies.
    """
    import numpy as np

    squares = [
        rng.permutation(n)[(rotations(n) - 1)[:, rng.permutation(n)]] + 1 for _ in range(_rounds("latin", n, reads))
    ]
    return np.vstack(squares)


def _rounds(strategy: str, n: int, reads: int) -> int:
    if reads % n or not reads:
        raise UnfitError(f"strategy {strategy} reads {n} options in steps of {n} reads; got {reads}")
    return reads // n


def all_orderings(n: int) -> np.ndarray:
    """Every permutation in lexicographic order, (n!, n), see `check_all`."""
    import numpy as np

    check_all(n)
    return np.array(list(itertools.permutations(range(1, n + 1))))


def _given(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise ValueError("orderings that are drawn need a generator")
    return rng


class Wanted(NamedTuple):
    """Orderings that a strategy has to make, of n options (2 to 11), which may be `candidates`; `budget` None is the
    usual number of reads.
    """

    n: int
    budget: int | None = None
    candidates: bool = False
    rng: np.random.Generator | None = None

    @property
    def reads(self) -> int:
        """Number of reads: the budget, by default n for candidates and, as in `balanced`, 2n for other options."""
        usual = self.n if self.candidates else 2 * self.n
        return usual if self.budget is None else self.budget


# Results that can show a strategy.
Fit: TypeAlias = Literal["levels", "one_set", "repeats", "compared", "budget_curve", "by_dataset", "deviation"]
Line: TypeAlias = "str | tuple[float, tuple[float, ...]]"


class Head(NamedTuple):
    """Head of a strategy's column in table `criteria_agreement`, and its place among the heads."""

    place: int
    text: str


@dataclass(frozen=True)
class Strategy:
    """One way to choose the orderings of a unit's options.

    Attributes:
        name, words: in the settings of a study, and in the text of methods.
        probes: those that offer it.
        orderings: makes them, shape (reads, n); None where they exist already.
        colour, marker, line: look in every figure, in the terms of Matplotlib.
        compared: place in the order of comparisons, each with every later one; None for none.
        every_position: every level or criterion is in every position; False for candidates alone.
        drawn: orderings are drawn anew for each unit.
        crossed: order of the score levels in a crossed design.
        one_ordering: all reads are in the canonical ordering.
        one_ordering_a_read: the k-th reads of all items share one ordering, which varies with k.
        rounds: least number of reads in each of n orderings, if the budget must be a multiple of n; else 0.
        in_turn: each unit is read in one ordering, the next unit in the next.
        fits: further results that can show it, beside all with `every_position`: `levels` (by position), `one_set`
            (orderings that items share), `repeats`, `compared` (two strategies' rankings), `deviation` (within items),
            `budget_curve`, `by_dataset` (position selection).
        head: of its column in table `criteria_agreement`; None without one.
    """

    name: str
    words: str
    probes: tuple[str, ...]
    orderings: Callable[[Wanted], np.ndarray] | None
    colour: str
    marker: str
    line: Line = "-"
    compared: int | None = None
    every_position: bool = False
    drawn: bool = False
    crossed: Literal["balanced", "drawn", "canonical"] = "balanced"
    one_ordering: bool = False
    one_ordering_a_read: bool = False
    rounds: int = 0
    in_turn: bool = False
    fits: frozenset[Fit] = field(default_factory=frozenset)
    head: Head | None = None

    @property
    def look(self) -> dict[str, Any]:
        """Keywords of Matplotlib for a line."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


def _fits(*results: Fit) -> frozenset[Fit]:
    return frozenset(results)


_ITEMS = ("score_order", "criterion_order")

# In the order in which they are listed to users.
_EVERY = (
    Strategy(
        "balanced",
        "all rotations of the usual ordering and of its reverse (each option in each position equally often)",
        _ITEMS,
        lambda wanted: balanced(wanted.n),
        colour="#0072b2",
        marker="o",
        compared=1,
        every_position=True,
        one_ordering_a_read=True,
        fits=_fits("levels", "one_set", "repeats", "compared", "budget_curve", "by_dataset", "deviation"),
        head=Head(1, "Bal"),
    ),
    Strategy(
        "swap",
        "both orders of a pair",
        ("pair_order",),
        lambda wanted: swap(wanted.n, wanted.reads),
        colour="#003a5c",
        marker="h",
        compared=4,
        rounds=1,
    ),
    Strategy(
        "cyclic",
        "all rotations of a list",
        ("list_order",),
        lambda wanted: cyclic(wanted.n, wanted.reads),
        colour="#00523c",
        marker=">",
        compared=5,
        rounds=1,
    ),
    Strategy(
        "latin",
        "a Latin square of orderings",
        ("list_order",),
        lambda wanted: latin(wanted.n, wanted.reads, rng=_given(wanted.rng)),
        colour="#73345a",
        marker="*",
        compared=6,
        drawn=True,
        rounds=1,
    ),
    Strategy(
        "random",
        "orderings drawn at random for each item",
        (*_ITEMS, "pair_order", "list_order"),
        lambda wanted: random_orderings(wanted.n, wanted.reads, rng=_given(wanted.rng)),
        colour="#e69f00",
        marker="s",
        compared=8,
        every_position=True,
        drawn=True,
        crossed="drawn",
        fits=_fits("levels", "compared", "budget_curve", "by_dataset", "deviation"),
        head=Head(2, "Rnd"),
    ),
    Strategy(
        "all",
        "all orderings",
        (*_ITEMS, "list_order"),
        lambda wanted: all_orderings(wanted.n),
        colour="#009e73",
        marker="^",
        compared=3,
        every_position=True,
        one_ordering_a_read=True,
        fits=_fits("levels", "one_set", "repeats", "compared", "budget_curve", "by_dataset", "deviation"),
        head=Head(6, "All"),
    ),
    Strategy(
        "balanced_williams",
        "a Williams design, which balances which option comes before which",
        _ITEMS,
        lambda wanted: balanced_williams(wanted.n),
        colour="#56b4e9",
        marker="P",
        compared=2,
        every_position=True,
        one_ordering_a_read=True,
        head=Head(4, "Williams"),
    ),
    Strategy(
        "repeated_rotations",
        "the rotations of the usual ordering, repeated",
        ("score_order",),
        lambda wanted: repeated_rotations(wanted.n, wanted.reads),
        colour="#808080",
        marker="p",
        line=(0, (3, 1, 1, 1)),
        compared=7,
        every_position=True,
        one_ordering_a_read=True,
        rounds=2,
        fits=_fits("levels", "repeats", "compared", "deviation"),
    ),
    Strategy(
        "fixed",
        "the usual ordering, repeated",
        (*_ITEMS, "pair_order", "list_order"),
        lambda wanted: fixed(wanted.n, wanted.reads),
        colour="#333333",
        marker="D",
        line=(0, (1, 1.2)),
        compared=9,
        crossed="canonical",
        one_ordering=True,
        fits=_fits("compared", "budget_curve", "deviation"),
        head=Head(3, "Fix"),
    ),
    Strategy(
        "single",
        "the usual ordering once",
        (*_ITEMS, "pair_order", "list_order"),
        lambda wanted: fixed(wanted.n, wanted.reads if wanted.candidates and wanted.budget is not None else 1),
        colour="#cc79a7",
        marker="v",
        line=(0, (4, 1.5)),
        compared=10,
        crossed="canonical",
        one_ordering=True,
        fits=_fits("compared"),
        head=Head(5, "Single"),
    ),
    Strategy(
        "descending",
        "the reverse of the usual ordering",
        ("score_order",),
        lambda wanted: fixed(wanted.n, 1)[:, ::-1],
        colour="#6e3000",
        marker="<",
        line=(0, (2, 1)),
        compared=11,
        fits=_fits("compared"),
    ),
    Strategy(
        "rotated",
        "one ordering of `balanced` for each item, the next one for the next item (over items, each option in each"
        " position equally often)",
        ("score_order",),
        lambda wanted: balanced(wanted.n),
        colour="#7f3c8d",
        marker="d",
        line=(0, (5, 1, 1, 1, 1, 1)),
        compared=12,
        in_turn=True,
        fits=_fits("compared"),
    ),
    Strategy(
        RECORDED,
        "the orderings in which answers had been recorded",
        ("score_order", "pair_order", "list_order"),
        None,
        colour="#d55e00",
        marker="X",
        fits=_fits("by_dataset"),
    ),
)

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({strategy.name: strategy for strategy in _EVERY})


def names(chosen: Callable[[Strategy], object]) -> tuple[str, ...]:
    """Names of the strategies for which `chosen` is true, in the order of the list."""
    return tuple(name for name, strategy in STRATEGIES.items() if chosen(strategy))


def offered(probe: str) -> tuple[str, ...]:
    """Names of the strategies that a probe of ours offers."""
    return names(lambda strategy: probe in strategy.probes)


def fitting(result: Fit) -> tuple[str, ...]:
    """Names of the strategies that a result can show."""
    return names(lambda strategy: result in strategy.fits)


# In the order in which they are compared and shown.
COMPARED = tuple(sorted(names(lambda strategy: strategy.compared), key=lambda name: STRATEGIES[name].compared or 0))
EVERY_POSITION = names(lambda strategy: strategy.every_position)
