"""Errors of estimates about single orderings, for new reads of the same items by the same judge.

From repeats, else from residuals, after item and shift. These hold the ordering's effects on items (errors too large),
and mix an ordering's variance with 1/D of the others' (too small for the noisiest).
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.position import shared_orderings
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.uncertainty import distributions

DRAWS = 2000  # number of draws of a run's correlations, for ranges of ranks
LEAST_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Correlations(NamedTuple):
    """Pearson's r of each ordering with human scores, and errors over new reads, independent, shape (D,)."""

    orderings: np.ndarray
    r: np.ndarray
    error: np.ndarray
    items: int
    reads: int


def correlations(block: Block, values: np.ndarray) -> Correlations | None:
    """`Correlations` if all items are read in the same orderings; None below two complete items."""
    complete = shared_orderings.complete_items(block, values)
    if len(complete.human) < 2:
        return None
    orderings, number = block.orderings
    at = np.full(values.shape, -1)
    at[block.item, block.column] = number
    scores, at = values[complete.rows], np.where(np.isnan(values), -1, at)[complete.rows]
    variance = variances(scores, at, len(orderings))
    r = shared_orderings.column_correlations(
        shared_orderings.column_moments(complete.values, complete.human).sum(axis=0)
    )
    return Correlations(
        orderings,
        r,
        correlation_errors(complete.values, complete.human, variance),
        len(complete.human),
        int((at >= 0).sum()),
    )


def variances(scores: np.ndarray, at: np.ndarray, n_orderings: int) -> np.ndarray:
    """Variance over new reads of each item's mean score under each ordering, shape (m, D); `at` is each read's
    ordering, -1 without a score.

    From repeats, pooled for an item or ordering that lacks them; else squared residuals over (1 - 1/D) (1 - 1/m), as
    item's times ordering's mean square over the mean of all: a cell's own square depends on its score. Of two
    orderings, one variance.
    """
    item, _ = np.nonzero(at >= 0)
    cell = item * n_orderings + at[at >= 0]
    shape = (len(scores), n_orderings)
    values = scores[at >= 0]
    count = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
    mean = np.bincount(cell, values, np.prod(shape)).reshape(shape) / count
    df = count - 1
    if df.any():
        squares = np.bincount(cell, (values - mean.ravel()[cell]) ** 2, np.prod(shape)).reshape(shape)
        repeats = df.sum(axis=0)
        usual = np.where(repeats > 0, squares.sum(axis=0) / np.maximum(repeats, 1), squares.sum() / df.sum())
        return np.where(df > 0, squares / np.maximum(df, 1), usual) / count
    if min(shape) < 2:
        return np.full(shape, np.nan)
    rest = mean - mean.mean(axis=1, keepdims=True) - mean.mean(axis=0) + mean.mean()
    squares = rest**2 * np.prod(shape) / np.prod(np.array(shape) - 1)
    total = squares.mean()
    return np.outer(squares.mean(axis=1), squares.mean(axis=0)) / (total if total > 0 else 1)


def correlation_errors(values: np.ndarray, human: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Standard error over new reads of each column's correlation with human scores, by the delta method, shape (D,)."""
    if np.ptp(human) <= LEAST_VARIANCE:
        return np.full(values.shape[1], np.nan)
    sd = values.std(axis=0)
    sd = np.where(sd**2 > LEAST_VARIANCE, sd, np.nan)
    zx, zy = (values - values.mean(axis=0)) / sd, ((human - human.mean()) / human.std())[:, None]
    slope = (zy - (zx * zy).mean(axis=0) * zx) / (len(values) * sd)
    return np.sqrt((slope**2 * variance).sum(axis=0))


def ranks(r: np.ndarray, error: np.ndarray, *, confidence: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Rank of each correlation, 1 for the highest: `estimate`, `error`, and `low` to `high` of another run, drawn with
    sqrt(2) times the error because both vary.
    """
    drawn = rng.standard_normal((DRAWS, len(r))) * error
    rank = np.array([shared_orderings.rank_of(r, place) for place in range(len(r))])
    # Drawn correlations are equal only if their errors are 0, and then they have the digits of `r`.
    once, twice = (distributions.ranks(-np.round(r + times * drawn, 12), axis=1) for times in (1, np.sqrt(2)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(twice, tail, axis=0, method="lower"), np.quantile(twice, 1 - tail, axis=0, method="higher")
    sure = ~np.isnan(error).any()
    uncertainty = {"error": once.std(axis=0), "low": low, "high": high}
    return {"estimate": rank} | {name: np.where(sure, values, np.nan) for name, values in uncertainty.items()}


def cost_errors(table: np.ndarray, covariance: np.ndarray, orderings: np.ndarray) -> np.ndarray:
    """Standard error over new reads of Bias Costs, by the delta method, shape (D,); too large near a cost of 0."""
    n = len(table)
    total = table.sum(axis=1)
    selected = total > 0  # a score that is never selected adds nothing to a cost
    shares = table / np.where(selected, total, 1)[:, None]
    slope = np.zeros((len(orderings), n, n))
    which, place = np.arange(len(orderings))[:, None], np.arange(n)
    share = shares[orderings - 1, place]
    sign = np.sign(share - 1 / n) * (selected / np.where(selected, total, 1))[orderings - 1]
    slope[which, orderings - 1] = -(sign * share)[..., None]
    slope[which, orderings - 1, place] += sign
    flat = slope.reshape(len(orderings), n * n)
    return np.sqrt(np.maximum(np.einsum("da,ab,db->d", flat, covariance, flat), 0))
