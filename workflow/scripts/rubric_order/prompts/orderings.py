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
    """Names of the strategies that choose orderings for some probes."""
    return strategies.names(lambda strategy: strategy.orderings and {*probes} & {*strategy.probes})


STRATEGIES = _of("score_order", "criterion_order")
CANDIDATES = _of("pair_order", "list_order")


def choose(strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None) -> np.ndarray:
    """The orderings in which one item is read.

    Args:
        strategy: one of ``STRATEGIES``.
        n: number of options, 2 to 11.
        budget: number of reads per item, for `random`, `fixed` and `repeated_rotations`; by default 2n, the budget of
            `balanced`. The other strategies set their own budget.
        rng: generator from which `random` draws.

    Returns:
        Shape (reads, n).
    """
    if strategy not in STRATEGIES:
        raise UnfitError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    return _orderings(strategy, Wanted(n, budget, rng=rng))


def choose_candidates(
    strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None
) -> np.ndarray:
    """The orderings in which the candidates of one pair or list are shown.

    Args:
        strategy: `swap` (pairs), `cyclic` or `latin` (lists), `all`, `random`, `fixed` or `single`.
        n: number of candidates, 2 to 9.
        budget: number of reads per unit; `all` ignores it. If the strategy has fewer orderings than this number, they
            are repeated. By default each ordering is read once, `random` draws n orderings, and `fixed` repeats its
            ordering n times.
        rng: generator from which `random` and `latin` draw.

    Returns:
        Shape (reads, n): the candidate at each position.

    Raises:
        UnfitError: the strategy does not fit this number of candidates or reads.
    """
    if strategy not in CANDIDATES:
        raise UnfitError(f"unknown strategy {strategy!r} of comparisons")
    return _orderings(strategy, Wanted(n, budget, candidates=True, rng=rng))


def _orderings(strategy: str, wanted: Wanted) -> np.ndarray:
    make = strategies.STRATEGIES[strategy].orderings
    assert make is not None  # all strategies listed above have this function
    return make(wanted)


def levels_beside(strategy: str, reads: int, n: int, *, start: int, rng: np.random.Generator) -> np.ndarray:
    """Orderings of the score levels in a crossed design, for the reads of one unit.

    Args:
        strategy: strategy that chose the orderings of the options. With `random`, the orderings of the levels are also
            drawn. With `fixed` and `single`, the levels stay canonical. With other strategies, read i has row
            ``start + i`` of `balanced`, where the first row follows the last. So over 2n units with `start` 0, 1, 2,
            ... each ordering of the options meets each ordering of the levels equally often.
        reads: number of reads of the unit.
        n: number of score levels.
        start: index of the row of `balanced` for the first read, from 0.
        rng: generator from which `random` draws.

    Returns:
        Shape (reads, n).
    """
    record = strategies.STRATEGIES.get(strategy)  # None for a strategy of another package's probe
    match record.crossed if record else "balanced":
        case "drawn":
            return random_orderings(n, reads, rng=rng)
        case "canonical":
            return fixed(n, reads)
    return balanced(n)[(start + np.arange(reads)) % (2 * n)]
