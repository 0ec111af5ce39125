"""Items that are all read in the same orderings: each ordering's agreement with human scores, rank, and Bias Cost."""

from typing import NamedTuple

import numpy as np

from rubric_order import strategies
from rubric_order.methods.position.blocks import Block

# Strategies in which every item is read in the same orderings.
SHARED = strategies.fitting("one_set")
_NO_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Complete(NamedTuple):
    """The items (`rows` of a block) with a human score and a mean score under every ordering, shape (m, D)."""

    orderings: np.ndarray
    values: np.ndarray
    human: np.ndarray
    rows: np.ndarray


def canonical_place(orderings: np.ndarray) -> int:
    """Index of the ordering with the scores in rising order, among orderings of shape (D, n)."""
    return int(np.flatnonzero((np.diff(orderings, axis=1) > 0).all(axis=1))[0])


def complete_items(block: Block, values: np.ndarray) -> Complete:
    """The items on which all orderings of a strategy in ``SHARED`` can be compared."""
    by_ordering = block.ordering_means(values)
    human = block.items["human_score"].to_numpy(dtype=float)
    rows = ~np.isnan(by_ordering).any(axis=1) & ~np.isnan(human)
    return Complete(block.orderings[0], by_ordering[rows], human[rows], rows)


def column_moments(values: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Moments of each item, for `column_correlations`, (m, 3 + 3D): 1, y, y^2, s, s^2, s y, centred for digits."""
    y, s = human - human.mean(), values - values.mean()
    return np.column_stack([np.ones(len(y)), y, y * y, s, s * s, s * y[:, None]])


def column_correlations(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of each column with human scores, from sums of `column_moments`; NaN if either is constant."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / sums[..., :1]
        y, yy = means[..., 1:2], means[..., 2:3]
        s, ss, sy = np.split(means[..., 3:], 3, axis=-1)
        spread, human = ss - s * s, yy - y * y
        r = (sy - s * y) / np.sqrt(spread * human)
    return np.where((spread > _NO_VARIANCE) & (human > _NO_VARIANCE), np.clip(r, -1, 1), np.nan)


def rank_of(r: np.ndarray, place: int) -> np.ndarray:
    """Rank of one correlation among the defined of (..., D), 1 for the highest, mean rank for equals; or NaN."""
    value = r[..., place, None]
    higher, equal = r > value + 1e-12, np.abs(r - value) <= 1e-12
    rank = higher.sum(axis=-1) + (equal.sum(axis=-1) + 1) / 2
    return np.where(np.isnan(value[..., 0]), np.nan, rank)


def bias_cost(table: np.ndarray, orderings: np.ndarray) -> np.ndarray:
    """Sum over positions p of abs(P(p | score at p) - 1/n), shape (...) or (..., D); a score never selected adds
    nothing.

    ValueError for a table that is not square or no permutation. Source: the earlier version of Xu et al., Section 5.3.
    """
    table, orderings = np.asarray(table, dtype=float), np.asarray(orderings)
    n = table.shape[-1]
    if table.shape[-2:] != (n, n) or orderings.shape[-1:] != (n,) or (np.sort(orderings) != np.arange(1, n + 1)).any():
        raise ValueError(
            f"expected a square table and permutations of 1..{n}, got {table.shape} and {orderings.tolist()}"
        )
    shares = table[..., orderings - 1, np.arange(n)]
    cost = np.where(np.isnan(shares), 0, np.abs(shares - 1 / n)).sum(axis=-1)
    unknown = np.isnan(table).all(axis=(-2, -1))
    return np.where(unknown if orderings.ndim == 1 else unknown[..., None], np.nan, cost)
