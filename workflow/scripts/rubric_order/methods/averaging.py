"""What averaging adds to a correlation: that of a mean of reads beside the mean of those of single reads."""

from typing import NamedTuple

import numpy as np

_NO_VARIANCE = 1e-12  # what rounding leaves of the variance of a constant


class Agreement(NamedTuple):
    """Correlation with human scores of single reads, and of an item's mean over them.

    Attributes:
        single: mean over the reads of an item of Pearson's r of that read; NaN where one of them is not defined.
        mean: Pearson's r of the mean of an item's reads.
        of_single, of_mean: what each item adds to them, as derivatives by its weight, shape (m,); each sums to 0.
    """

    single: float
    mean: float
    of_single: np.ndarray
    of_mean: np.ndarray


def agreement(values: np.ndarray, human: np.ndarray) -> Agreement:
    """Agreement of some items' reads with human scores.

    Args:
        values: scores, items by reads, shape (m, K), NaN for a read without one; a column is read in one ordering.
        human: shape (m,), without gaps.
    """
    single, of_single = _correlations(values, human)
    mean, of_mean = _correlations(np.nanmean(values, axis=1)[:, None], human)
    return Agreement(float(single.mean()), float(mean[0]), of_single.mean(axis=1), of_mean[:, 0])


def _correlations(values: np.ndarray, human: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pearson's r of each column with human scores, shape (K,), and what each item adds to it, shape (m, K).

    Source: the infinitesimal jackknife, Efron (1982), Chapter 6.
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):

        def standard(table: np.ndarray) -> np.ndarray:
            away = np.where(known, table - np.where(known, table, 0).sum(axis=0) / count, 0)
            variance = (away**2).sum(axis=0) / count
            return away / np.sqrt(np.where(variance > _NO_VARIANCE, variance, np.nan))

        x, y = standard(np.nan_to_num(values)), standard(human[:, None])
        r = (x * y).sum(axis=0) / count
        return r, np.where(known, x * y - r * (x**2 + y**2) / 2, 0) / count


def nearly_same(values: np.ndarray, *, within: float = 0.005) -> float:
    """Share of items whose reads all have the same score, up to `within` points.

    Args:
        values: scores, items by reads, NaN for a read without one.

    Returns:
        NaN where no item has two scores.
    """
    several = (~np.isnan(values)).sum(axis=1) > 1
    if not several.any():
        return np.nan
    return float((np.nanmax(values[several], axis=1) - np.nanmin(values[several], axis=1) <= within).mean())
