"""Gain of a correlation by averaging: correlation of the mean of reads, and mean correlation of single reads."""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import resampling

_NO_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Agreement(NamedTuple):
    """Mean of Pearson's r over columns of single reads, and r of the mean of an item's reads, each for all items and
    without each part of the clusters, shape (1 + n_parts,).
    """

    single: np.ndarray
    mean: np.ndarray


def agreement(values: np.ndarray, human: np.ndarray, unit: np.ndarray) -> Agreement:
    """Agreement of reads, shape (m, K), a column in one ordering, with human scores, shape (m,)."""
    correlations = _correlations(np.column_stack([values, np.nanmean(values, axis=1)]), human, unit)
    return Agreement(correlations[:, :-1].mean(axis=1), correlations[:, -1])


def _correlations(values: np.ndarray, human: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Pearson's r of each column with human scores, for all items and without each part, shape (1 + n_parts, K)."""
    scored = ~np.isnan(values)
    x = np.where(scored, values - np.nanmean(values), 0.0)  # keeps digits
    y = np.where(scored, (human - human.mean())[:, None], 0.0)
    sums = resampling.left_out_sums(np.hstack([scored, x, y, x * x, y * y, x * y]).astype(float), unit)
    with np.errstate(invalid="ignore", divide="ignore"):
        count, x, y, xx, yy, xy = np.split(sums, 6, axis=1)
        x, y, xx, yy, xy = (total / count for total in (x, y, xx, yy, xy))
        of_judge, of_human = xx - x * x, yy - y * y
        varies = (of_judge > _NO_VARIANCE) & (of_human > _NO_VARIANCE)
        return np.where(varies, (xy - x * y) / np.sqrt(of_judge * of_human), np.nan)


def nearly_same(values: np.ndarray, *, within: float = 0.005) -> float:
    """Share of the items with two or more scores whose scores are within `within` points; NaN without such items."""
    several = (~np.isnan(values)).sum(axis=1) > 1
    if not several.any():
        return np.nan
    return float((np.nanmax(values[several], axis=1) - np.nanmin(values[several], axis=1) <= within).mean())
