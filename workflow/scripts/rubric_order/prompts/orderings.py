"""The orderings in which a strategy shows the options of a prompt, see `strategies`."""

from __future__ import annotations

import numpy as np

from rubric_order import strategies
from rubric_order.base.errors import UnfitError
from rubric_order.strategies import (
    Wanted,
    all_orderings,
    balanced,
    balanced_williams,
    fixed,
    random_orderings,
    repeated_rotations,
    rotations,
)

__all__ = [
    "CANDIDATES",
    "STRATEGIES",
    "all_orderings",
    "balanced",
    "balanced_williams",
    "choose",
    "choose_candidates",
    "fixed",
    "levels_beside",
    "random_orderings",
    "repeated_rotations",
    "rotations",
]


def _of(*probes: str) -> tuple[str, ...]:
    return strategies.names(lambda strategy: strategy.orderings and {*probes} & {*strategy.probes})


STRATEGIES = _of("score_order", "criterion_order")
CANDIDATES = _of("pair_order", "list_order")


def choose(strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None) -> np.ndarray:
    """The orderings in which one item is read, shape (reads, n), n from 2 to 11.

    `budget`, by default 2n, is for `random`, `fixed` and `repeated_rotations`.
    """
    if strategy not in STRATEGIES:
        raise UnfitError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    return _orderings(strategy, Wanted(n, budget, rng=rng))


def choose_candidates(
    strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None
) -> np.ndarray:
    """The candidate at each position, in the orderings of one pair or list, shape (reads, n), n from 2 to 9; UnfitError
    if n or reads do not fit.

    Orderings repeat up to `budget` (not of `all`); by default each is read once, n times with `random` or `fixed`.
    """
    if strategy not in CANDIDATES:
        raise UnfitError(f"unknown strategy {strategy!r} of comparisons")
    return _orderings(strategy, Wanted(n, budget, candidates=True, rng=rng))


def _orderings(strategy: str, wanted: Wanted) -> np.ndarray:
    make = strategies.STRATEGIES[strategy].orderings
    assert make is not None  # all strategies listed above have this function
    return make(wanted)


def levels_beside(strategy: str, reads: int, n: int, *, start: int, rng: np.random.Generator) -> np.ndarray:
    """Orderings of the score levels for the reads of one unit in a crossed design, shape (reads, n).

    Drawn with `random`, canonical with `fixed` and `single`; else read i has row ``start + i`` of `balanced`, in turn:
    over 2n units with `start` 0, 1, 2, ... all pairs of orderings are met equally often.
    """
    record = strategies.STRATEGIES.get(strategy)  # None for a strategy of another package's probe
    match record.crossed if record else "balanced":
        case "drawn":
            return random_orderings(n, reads, rng=rng)
        case "canonical":
            return fixed(n, reads)
    return balanced(n)[(start + np.arange(reads)) % (2 * n)]
