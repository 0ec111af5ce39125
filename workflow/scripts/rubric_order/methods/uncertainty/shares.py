"""Shares and means with clusters as the sample: ratios of sums over clusters."""

from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling


class Ratio(NamedTuple):
    """A ratio with its interval (NaN for fewer than two clusters), number of values and of clusters."""

    estimate: float
    low: float
    high: float
    n: int
    n_clusters: int

    @property
    def interval(self) -> Interval:
        """The ratio with the ends of its interval."""
        return Interval(self.estimate, self.low, self.high)


def share(values: np.ndarray, cluster: np.ndarray, confidence: float) -> Ratio:
    """Mean of values from 0 to 1 (NaN does not count), with an interval that also all 0 or all 1 have.

    Clopper and Pearson's for the number of independent values with the jackknife's error, corrected by Student's t, at
    most that of the values themselves; the effective clusters if the error is 0. Source: Korn and Graubard (1998),
    Confidence intervals for proportions with small expected number of positive counts.
    """
    parts, estimate, n, sizes = _sums(values, cluster)
    count = len(sizes)
    if count < 2:
        return Ratio(estimate, np.nan, np.nan, n, count)
    tail, error = (1 - confidence) / 2, _error(parts)
    worth = resampling.effective(sizes)
    if error > 0:
        narrow, wide = (distributions.t_quantile(1 - tail, df) for df in (n - 1, resampling.degrees(sizes)))
        apart = float(np.nanmean(np.square(values - estimate)))
        worth = estimate * (1 - estimate) * min((narrow / wide / error) ** 2, n / apart)
    yes, no = worth * estimate, worth * (1 - estimate)
    low = float(special.betaincinv(yes, no + 1, tail)) if yes > 0 else 0.0
    high = float(special.betaincinv(yes + 1, no, 1 - tail)) if no > 0 else 1.0
    return Ratio(estimate, low, high, n, count)


def mean(values: np.ndarray, cluster: np.ndarray, confidence: float, *, bounds: tuple[float, float]) -> Ratio:
    """Mean of values within `bounds`, with the jackknife's interval by Student's t, cut off there.

    If the error is 0, an end is the mean if a share of values at the bound is missed by `resampling.effective` draws
    with probability (1 - confidence) / 2.
    """
    parts, estimate, n, sizes = _sums(values, cluster)
    count = len(sizes)
    if count < 2:
        return Ratio(estimate, np.nan, np.nan, n, count)
    error, worth, (least, most) = _error(parts), resampling.effective(sizes), bounds
    if error > 0:
        reach = distributions.t_quantile((1 + confidence) / 2, resampling.degrees(sizes)) * error
        return Ratio(estimate, max(estimate - reach, least), min(estimate + reach, most), n, count)
    unseen = 1 - ((1 - confidence) / 2) ** (1 / worth)
    return Ratio(estimate, estimate - unseen * (estimate - least), estimate + unseen * (most - estimate), n, count)


def _sums(values: np.ndarray, cluster: np.ndarray) -> tuple[np.ndarray, float, int, np.ndarray]:
    values = np.asarray(values, dtype=float)
    counts = ~np.isnan(values)
    _, unit = np.unique(np.asarray(cluster)[counts], return_inverse=True)
    table = np.column_stack([values[counts], np.ones(counts.sum())])
    parts = resampling.left_out_sums(table, unit)
    return parts, float(parts[0, 0] / parts[0, 1]) if counts.any() else np.nan, int(counts.sum()), np.bincount(unit)


def _error(parts: np.ndarray) -> float:
    left_out = parts[1:, 0] / parts[1:, 1]
    size = len(left_out)
    error = float(np.sqrt((size - 1) / size * ((left_out - parts[0, 0] / parts[0, 1]) ** 2).sum()))
    return error if error > 1e-12 else 0.0
