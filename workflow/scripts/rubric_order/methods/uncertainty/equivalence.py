"""Two one-sided tests: an effect is shown smaller than a margin if "at least the margin" is rejected on both sides.

Student's t takes an effect of a few clusters that the sample lacks as small: see `p_bounded`.
"""

import numpy as np

from rubric_order.methods.uncertainty import distributions

STEPS = 45  # halvings of the range in which a root is searched
SHOWN, NOT_SHOWN, UNDECIDED = "shown", "not shown", "undecided"


def error_of_interval(low: np.ndarray, high: np.ndarray, df: np.ndarray, confidence: float) -> np.ndarray:
    """Standard error from which a Student's t interval was computed; NaN where it has no width."""
    error = (high - low) / 2 / distributions.t_quantile((1 + confidence) / 2, np.maximum(df, 1))
    return np.where(error > 0, error, np.nan)


def p_values(estimate: np.ndarray, error: np.ndarray, df: np.ndarray, margin: float) -> np.ndarray:
    """p-value of an effect of `margin` or more in either direction, the greater of two one-sided ones, shape (k,).

    Source: Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    return np.asarray(distributions.t_tail((margin - np.abs(estimate)) / error, np.maximum(df, 1)))


def p_bounded(values: np.ndarray, sizes: np.ndarray, *, margin: float, largest: float) -> np.ndarray:
    """p-value of a mean of `margin` or more in either direction, for any distribution within +- `largest`, shape (q,).

    A cluster at `largest` (with the mean size of an item's cluster) is added, and all get random exponential weights.
    Clopper and Pearson's test for values 0 and `largest`: (1 - margin / largest)^G for G clusters at 0, so 119 for 0.1
    of 4 points; near Student's t for many without outliers.

    Source: Gaffke (2005), Three test statistics; Learned-Miller and Thomas (2020), A new confidence interval for the
    mean of a bounded random variable. The level is proven for two values, and held in all cases examined. Approximated
    as in Lugannani and Rice (1980), within a few hundredths.

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
    """Probability that a column's summands and `added`, with independent exponential weights, sum to 0 or more."""
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
    """Student's t at confidence 1 - 2 level: within the margins if and only if both one-sided tests reject."""
    width = distributions.t_quantile(1 - level, np.maximum(df, 1)) * error
    return estimate - width, estimate + width


def verdict(low: np.ndarray, high: np.ndarray, margin: float) -> str:
    """``shown`` if all intervals are within the margin, ``not shown`` if one is wholly beyond, else ``undecided``.

    No adjustment for their number: Berger (1982), Multiparameter hypothesis testing and acceptance sampling
    (intersection-union tests).
    """
    if (low >= margin).any() or (high <= -margin).any():
        return NOT_SHOWN
    return SHOWN if len(low) and ((low > -margin) & (high < margin)).all() else UNDECIDED
