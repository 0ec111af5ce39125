"""Items that are all read in the same orderings: each ordering's agreement with human scores, rank, and Bias Cost."""

from typing import NamedTuple

import numpy as np

from rubric_order import strategies
from rubric_order.methods.position.blocks import Block

# Strategies in which every item is read in the same orderings.
SHARED = strategies.fitting("one_set")
_NO_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Complete(NamedTuple):
    """The items of a block with a score under every ordering and a human score.

    Attributes:
        orderings: the score at each position, shape (D, n).
        values: mean score of each item under each ordering, shape (m, D).
        human: human scores, shape (m,).
        rows: True for the items of the block that are kept here, shape (n_items,).
    """

    orderings: np.ndarray
    values: np.ndarray
    human: np.ndarray
    rows: np.ndarray


def canonical_place(orderings: np.ndarray) -> int:
    """Index of the ordering with the scores in rising order, among orderings of shape (D, n)."""
    return int(np.flatnonzero((np.diff(orderings, axis=1) > 0).all(axis=1))[0])


def complete_items(block: Block, values: np.ndarray) -> Complete:
    """The items on which all orderings can be compared: they have a human score, and a score under every ordering.

    Args:
        block: reads of a strategy in ``SHARED``.
        values: score of each read of each item by one readout, shape (n_items, K); NaN for a read without a score.
    """
    by_ordering = block.by_ordering(values)
    human = block.items["human_score"].to_numpy(dtype=float)
    rows = ~np.isnan(by_ordering).any(axis=1) & ~np.isnan(human)
    return Complete(block.orderings[0], by_ordering[rows], human[rows], rows)


def column_moments(values: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Moments of each item, which determine the correlation of each column of scores with human scores.

    Args:
        values: score of each item in each column, shape (m, D), without gaps.
        human: human score of each item, shape (m,).

    Returns:
        Shape (m, 3 + 3D): 1, y and y^2, then s, s^2 and s y, each for all columns of `values`. y is the item's human
        score minus the mean human score. s is the item's score in the column minus the mean of all `values`. Means are
        subtracted to lose fewer digits to rounding.
    """
    y, s = human - human.mean(), values - values.mean()
    return np.column_stack([np.ones(len(y)), y, y * y, s, s * s, s * y[:, None]])


def column_correlations(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of each column of scores with human scores.

    Args:
        sums: sums of `column_moments` over items, with any weights, shape (..., 3 + 3D).

    Returns:
        Shape (..., D); NaN where a column or the human scores do not vary.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / sums[..., :1]
        y, yy = means[..., 1:2], means[..., 2:3]
        s, ss, sy = np.split(means[..., 3:], 3, axis=-1)
        spread, human = ss - s * s, yy - y * y
        r = (sy - s * y) / np.sqrt(spread * human)
    return np.where((spread > _NO_VARIANCE) & (human > _NO_VARIANCE), np.clip(r, -1, 1), np.nan)


def rank_of(r: np.ndarray, place: int) -> np.ndarray:
    """Rank of one of several correlations, 1 for the highest; the mean rank where several are equal.

    Args:
        r: the correlations, shape (..., D). Undefined correlations are left out.
        place: index of the correlation that is ranked.

    Returns:
        Shape (...); NaN where the ranked correlation is undefined.
    """
    own = r[..., place, None]
    higher, equal = r > own + 1e-12, np.abs(r - own) <= 1e-12
    rank = higher.sum(axis=-1) + (equal.sum(axis=-1) + 1) / 2
    return np.where(np.isnan(own[..., 0]), np.nan, rank)


def bias_cost(table: np.ndarray, orderings: np.ndarray) -> np.ndarray:
    """Bias Cost of orderings: sum over positions p of abs(P(p | score at p) - 1/n).

    P(p | s) is the share of position p among the selections of score s. A score that is never selected has no shares,
    and adds nothing to the sum.

    Args:
        table: share of each position (columns) among the selections of each score (rows), as fractions, shape
            (..., n, n).
        orderings: the score at each position, shape (n,) or (D, n).

    Returns:
        Shape (...) for one ordering, (..., D) for several; NaN where no score is ever selected.

    Raises:
        ValueError: the table is not square, or an ordering is no permutation of 1 to n.

    Source: the earlier version of Xu et al., Section 5.3.
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
