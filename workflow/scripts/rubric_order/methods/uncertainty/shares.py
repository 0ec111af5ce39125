"""Shares and means with clusters as the sample: ratios of sums over clusters."""

from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling


class Ratio(NamedTuple):
    """A ratio of sums with its interval.

    Attributes:
        estimate: the ratio; NaN where nothing was counted.
        low: lower end of the interval; NaN for fewer than two clusters.
        high: upper end of the interval; NaN for fewer than two clusters.
        n: number of values counted.
        n_clusters: number of clusters with a counted value.
    """

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
    """Mean of values from 0 to 1, with an interval within these bounds, also if all values are 0 or all values are 1.

    The interval is that of Clopper and Pearson for a number of independent values. This number is such that the mean of
    these values would have the error of the jackknife over clusters. Quantiles of Student's t correct the number for
    the uncertainty of the error. The number is at most the one that the given values would have if they were
    independent: the number of values if they are 0 or 1, and more if they vary less. If the error is 0, for example
    because all values are the same, the number is the effective number of clusters (`resampling.effective`).

    Args:
        values: values from 0 to 1, shape (m,); NaN does not count.
        cluster: index of each value's cluster, from 0, shape (m,).
        confidence: nominal coverage of the interval, such as 0.95.

    Source: Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data.
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
    """Mean of values, with the jackknife's interval over clusters and Student's t, cut off at the bounds of the values.

    If the jackknife's error is 0, for example because all values are the same, each end is the mean of a population in
    which a share of the values is at the bound, and all other values are at the estimate. The share is such that a
    sample of independent values has no value at the bound with probability (1 - confidence) / 2. The size of the sample
    is the effective number of clusters (`resampling.effective`).

    Args:
        values: values within `bounds`, shape (m,); NaN does not count.
        cluster: index of each value's cluster, from 0, shape (m,).
        confidence: nominal coverage of the interval, such as 0.95.
        bounds: least and greatest possible value.
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
    """Sums, mean and counts of the values that are not NaN.

    Returns:
        - Sum and number of the values: for all clusters, then without each part of the clusters.
        - Mean of the values; NaN if there are no values.
        - Number of values.
        - Number of values in each cluster that has values.
    """
    values = np.asarray(values, dtype=float)
    given = ~np.isnan(values)
    _, unit = np.unique(np.asarray(cluster)[given], return_inverse=True)
    table = np.column_stack([values[given], np.ones(given.sum())])
    parts = resampling.left_out_sums(table, unit)
    return parts, float(parts[0, 0] / parts[0, 1]) if given.any() else np.nan, int(given.sum()), np.bincount(unit)


def _error(parts: np.ndarray) -> float:
    """Standard error of the ratio by the jackknife over parts; 0 where it is only rounding."""
    left_out = parts[1:, 0] / parts[1:, 1]
    size = len(left_out)
    error = float(np.sqrt((size - 1) / size * ((left_out - parts[0, 0] / parts[0, 1]) ** 2).sum()))
    return error if error > 1e-12 else 0.0
