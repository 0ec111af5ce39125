"""Two one-sided tests of whether an effect is smaller than a margin.

An effect that is not significant need not be small. So the two hypotheses here are that the effect is at least as large
as the margin, in one direction and in the other. If both hypotheses are rejected, the effect is shown to be smaller.

An effect that only a few clusters have is harder to bound than an effect that all clusters share. If the sample has
none of these few clusters, the sampled clusters vary little, and Student's t wrongly takes it as certain that the
effect is small. `p_bounded` allows for clusters that the sample lacks.
"""

import numpy as np

from rubric_order.methods.uncertainty import distributions

STEPS = 45  # halvings of the range in which a root is searched
SHOWN, NOT_SHOWN, UNDECIDED = "shown", "not shown", "undecided"


def error_of_interval(low: np.ndarray, high: np.ndarray, df: np.ndarray, confidence: float) -> np.ndarray:
    """Standard error from which an interval of Student's t was computed; NaN where the interval has no width.

    All arrays have the same shape.

    Args:
        low: lower end of each interval.
        high: upper end of each interval.
        df: degrees of freedom of each interval.
        confidence: confidence of the intervals.
    """
    error = (high - low) / 2 / distributions.t_quantile((1 + confidence) / 2, np.maximum(df, 1))
    return np.where(error > 0, error, np.nan)


def p_values(estimate: np.ndarray, error: np.ndarray, df: np.ndarray, margin: float) -> np.ndarray:
    """p-value of an effect of `margin` or more, in either direction: the greater of two one-sided p-values.

    Args:
        estimate: each effect, shape (k,).
        error: standard error of each effect, shape (k,).
        df: degrees of freedom of each standard error, shape (k,).
        margin: size below which an effect is small, in the unit of the effects. It is greater than 0.

    Returns:
        Shape (k,); NaN where the error is NaN.

    Source: Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    return np.asarray(distributions.t_tail((margin - np.abs(estimate)) / error, np.maximum(df, 1)))


def p_bounded(values: np.ndarray, sizes: np.ndarray, *, margin: float, largest: float) -> np.ndarray:
    """p-value of a mean of `margin` or more, in either direction, for any distribution within known bounds.

    The test adds a cluster with the value `largest`, and weights all clusters at random, with independent exponential
    weights. For each direction, it computes the probability that the weighted mean reaches the margin; p is the greater
    of these two probabilities.

    If each cluster has the value `largest` or 0, the test is the exact binomial test of Clopper and Pearson. If all G
    clusters have the value 0, p = (1 - margin / largest)^G. So with a margin of 0.1 points, and 4 points as the largest
    value, p < 0.05 needs at least 119 equal clusters. For many clusters without outliers, p is close to the p-value of
    Student's t.

    Args:
        values: mean of each cluster, shape (n_clusters, q).
        sizes: weights of clusters in the mean, such as numbers of items, shape (n_clusters,). The size of the added
            cluster is the mean over items of the size of the item's cluster: sum of squared sizes / sum of sizes.
        margin: size below which a mean is small, in the unit of the values. It is greater than 0.
        largest: largest value that a cluster can have, in either direction.

    Returns:
        Shape (q,). It is 0 if the margin is not below `largest`, because no mean can then exceed the margin.

    Source: Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
    variable; Learned-Miller and Thomas (2020), A new confidence interval for the mean of a bounded random variable. The
    level of the test is proven for two values. It was kept in all cases that the authors examined, and in all that we
    examined. The probability is approximated as in Lugannani and Rice (1980), with a relative error of a few
    hundredths.

    >>> still = np.zeros((100, 1))
    >>> p_bounded(still, np.ones(100), margin=0.1, largest=4.0).round(3), round((1 - 0.1 / 4) ** 100, 3)
    (array([0.08]), 0.08)
    """
    if margin >= largest:
        return np.zeros(values.shape[1])
    added = (largest - margin) * (sizes**2).sum() / sizes.sum()
    weighted = np.stack([sizes[:, None] * (side * values - margin) for side in (1, -1)], axis=1)
    return _reaches_zero(weighted.reshape(len(sizes), -1), added).reshape(2, -1).max(axis=0)


def _reaches_zero(summands: np.ndarray, added: float) -> np.ndarray:
    """Probability that the summands of a column, with independent exponential weights, sum to 0 or more.

    Args:
        summands: summands of each column, shape (n, q).
        added: one more summand for each column, greater than 0.

    Returns:
        Shape (q,).
    """
    z = np.concatenate([summands, np.full((1, summands.shape[1]), added)])
    mean, spread = z.sum(axis=0), np.sqrt((z**2).sum(axis=0))
    low, high, greatest = np.zeros(z.shape[1]), np.ones(z.shape[1]), z.max(axis=0)
    for _ in range(STEPS):  # the slope of the cumulant generating function rises from the mean (below 0) to infinity
        middle = (low + high) / 2
        rises = (z / (1 - middle / greatest * z)).sum(axis=0) > 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    point = low / greatest
    left = 1 - point * z
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(2 * np.log(left).sum(axis=0))
        size = point * np.sqrt(((z / left) ** 2).sum(axis=0))
        tail = distributions.normal_tail(root) + np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi) * (1 / size - 1 / root)
    near = mean > -spread / 10  # there `root` and `size` are close to 0, so Edgeworth's series is used
    away, skew = -mean / spread, 2 * (z**3).sum(axis=0) / spread**3
    series = distributions.normal_tail(away)
    series = series + skew / 6 * (away**2 - 1) * np.exp(-(away**2) / 2) / np.sqrt(2 * np.pi)
    return np.clip(np.where(near, series, tail), 0, 1)


def interval(estimate: np.ndarray, error: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval of Student's t at confidence 1 - 2 level, for each of several effects.

    Args:
        estimate: each effect, shape (k,).
        error: standard error of each effect, shape (k,).
        df: degrees of freedom of each standard error, shape (k,).
        level: level of each of the two one-sided tests.

    Returns:
        Lower and upper ends, each of shape (k,). An interval lies within the margins if and only if both one-sided
        tests reject at this level.
    """
    width = distributions.t_quantile(1 - level, np.maximum(df, 1)) * error
    return estimate - width, estimate + width


def verdict(low: np.ndarray, high: np.ndarray, margin: float) -> str:
    """Verdict from the intervals of one effect, or of several effects that all have to be small.

    Each of several effects has to be shown to be small at the same level; no adjustment is needed for their number.

    Args:
        low: lower end of the interval of each effect, see `interval`, shape (k,); NaN where it is missing.
        high: upper end of the interval of each effect, shape (k,).
        margin: size below which an effect is small, in the unit of the effects.

    Returns:
        ``not shown`` if any interval lies wholly beyond a margin, so that its effect is not small. ``shown`` if all
        intervals lie within the margins. Otherwise ``undecided``: an interval reaches across a margin, or is missing.

    Source: Berger (1982), Multiparameter hypothesis testing and acceptance sampling (intersection-union tests).
    """
    if (low >= margin).any() or (high <= -margin).any():
        return NOT_SHOWN
    return SHOWN if len(low) and ((low > -margin) & (high < margin)).all() else UNDECIDED
