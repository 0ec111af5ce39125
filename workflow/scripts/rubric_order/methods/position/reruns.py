"""Errors of estimates about single orderings, for new reads of the same items by the same judge.

An error says how far an estimate would move if the same judge read the same items once more. The items stay the same,
and reads count as drawn anew. If an ordering is read several times, its repeats tell how reads vary. If each ordering
is read once, residuals tell how reads vary, see `variances`. A residual is the score minus the item's level and minus
the shift by which the ordering moves all items alike.

Residuals have two defects. First, they contain the effects of orderings on single items, which makes errors too large.
Second, the residual variance of an ordering is a mixture: with D orderings, the ordering's own variance has a weight of
1 - 1/D, and the mean variance of the other orderings has a weight of 1/D. With few orderings, this makes the error of
the noisiest ordering too small.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.position import shared_orderings
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.uncertainty import distributions

DRAWS = 2000  # number of draws of a run's correlations, for ranges of ranks
LEAST_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Correlations(NamedTuple):
    """Pearson's r of each ordering's scores with human scores.

    Attributes:
        orderings: the orderings, given by the score at each position, shape (D, n).
        r: the correlations, shape (D,).
        error: standard error of each correlation over new reads, shape (D,). The reads of two orderings count as
            independent.
        items: number of items from which the correlations are computed.
        reads: number of reads from which the correlations are computed.
    """

    orderings: np.ndarray
    r: np.ndarray
    error: np.ndarray
    items: int
    reads: int


def correlations(block: Block, values: np.ndarray) -> Correlations | None:
    """Pearson's r of each ordering's scores with human scores, if all items are read in the same orderings.

    Args:
        block: the reads.
        values: score of each read of each item, shape (n_items, K); NaN for a read without a score.

    Returns:
        The correlations. None if fewer than two items are complete, see `shared_orderings.complete_items`.
    """
    complete = shared_orderings.complete_items(block, values)
    if len(complete.human) < 2:
        return None
    shown, number = block.orderings
    at = np.full(values.shape, -1)
    at[block.item, block.column] = number
    scores, at = values[complete.rows], np.where(np.isnan(values), -1, at)[complete.rows]
    variance = variances(scores, at, len(shown))
    r = shared_orderings.column_correlations(
        shared_orderings.column_moments(complete.values, complete.human).sum(axis=0)
    )
    return Correlations(
        shown,
        r,
        correlation_errors(complete.values, complete.human, variance),
        len(complete.human),
        int((at >= 0).sum()),
    )


def variances(scores: np.ndarray, at: np.ndarray, n_orderings: int) -> np.ndarray:
    """Variance over new reads of each item's mean score under each ordering, shape (m, D).

    Args:
        scores: items by reads, shape (m, K).
        at: index of each read's ordering, from 0, shape (m, K); -1 for a read without a score. Each item has a score
            under each ordering.
        n_orderings: number D of orderings.

    Returns:
        The variances. They differ between orderings, because a judge can be surer under one ordering than under
        another.

        If any read is repeated, repeats give the variances. An item without repeats of an ordering gets the pooled
        variance of the other items under this ordering. An ordering without repeats gets the pooled variance of all
        repeats.

        Without repeats, variances come from squared residuals, divided by (1 - 1/D) (1 - 1/m). A residual is the score
        minus the effects of its item and its ordering. A cell is one item under one ordering. Its variance is (mean
        square of its item) * (mean square of its ordering) / (mean square of all cells). The cell's own square is not
        used alone, because it depends on the cell's score, and errors would be too large. The mean square of an
        ordering is (1 - 1/D) * (its own variance) + (1/D) * (mean variance of the other orderings). With two orderings,
        this is the mean of both variances, so the two variances cannot be distinguished. Without repeats, the result is
        NaN if there is only one item or one ordering.
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
    """Standard error over new reads of each column's correlation with human scores, by the delta method, shape (D,).

    Args:
        values: mean score of each item under each ordering, shape (m, D).
        human: human score of each item, shape (m,).
        variance: variance of `values` over new reads, shape (m, D).
    """
    if np.ptp(human) <= LEAST_VARIANCE:
        return np.full(values.shape[1], np.nan)
    sd = values.std(axis=0)
    sd = np.where(sd**2 > LEAST_VARIANCE, sd, np.nan)
    zx, zy = (values - values.mean(axis=0)) / sd, ((human - human.mean()) / human.std())[:, None]
    slope = (zy - (zx * zy).mean(axis=0) * zx) / (len(values) * sd)
    return np.sqrt((slope**2 * variance).sum(axis=0))


def ranks(r: np.ndarray, error: np.ndarray, *, confidence: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Rank of each of several correlations, 1 for the highest, with the range of its rank in another run.

    Another run's correlations are drawn around this run's correlations. They are drawn with sqrt(2) times the error,
    because both runs vary by chance.

    Args:
        r: correlations, shape (D,).
        error: standard error of each correlation over new reads, shape (D,).
        confidence: share of other runs whose rank must lie in the range. A larger share lies in it, because ranks are
            whole numbers.
        rng: generator of the draws.

    Returns:
        `estimate`, `error` (standard deviation of ranks drawn with the error of one run), `low` and `high`, each of
        shape (D,). If the error of any correlation is NaN, all but `estimate` are NaN.
    """
    drawn = rng.standard_normal((DRAWS, len(r))) * error
    own = np.array([shared_orderings.rank_of(r, place) for place in range(len(r))])
    # Drawn correlations are equal only if their errors are 0, and then they have the digits of `r`.
    once, twice = (distributions.ranks(-np.round(r + times * drawn, 12), axis=1) for times in (1, np.sqrt(2)))
    tail = (1 - confidence) / 2
    low, high = np.quantile(twice, tail, axis=0, method="lower"), np.quantile(twice, 1 - tail, axis=0, method="higher")
    sure = ~np.isnan(error).any()
    uncertainty = {"error": once.std(axis=0), "low": low, "high": high}
    return {"estimate": own} | {name: np.where(sure, values, np.nan) for name, values in uncertainty.items()}


def cost_errors(table: np.ndarray, covariance: np.ndarray, orderings: np.ndarray) -> np.ndarray:
    """Standard error over new reads of the Bias Cost of orderings, by the delta method, shape (D,).

    The error is too large near a cost of 0, where the absolute value of a difference varies less than the difference.

    Args:
        table: selections of each score (rows) at each position, shape (n, n).
        covariance: covariance over new reads of the entries of the flattened table, shape (n * n, n * n).
        orderings: the score at each position, shape (D, n).
    """
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
