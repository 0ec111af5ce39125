"""Estimate of the power b with which answers are drawn from option probabilities p: in proportion to p^b."""

import math

import numpy as np

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.methods.uncertainty import cluster_robust
from rubric_order.methods.uncertainty.resampling import sum_units

SMALLEST, GREATEST = 1e-9, 50.0
BEYOND = Interval(low=GREATEST, high=math.inf)
CLOSE = 1e-14  # absolute and relative tolerance of the power
LEAST = 1e-6  # a written option with a lower probability counts with this probability
CONFIDENCE = 0.99


def exponent(shares: np.ndarray, chosen: np.ndarray, cluster: np.ndarray) -> Interval:
    """Power b of option probabilities p: answers look drawn by p^b; 1 as they are, 1 / T at temperature T.

    Maximum likelihood with Student's t over clusters at `CONFIDENCE`. Beyond `GREATEST`, as where the most probable is
    always written, no estimate but the interval from there to infinity; unknown where answers do not follow p (power of
    0 or less), or p are equal.
    """
    from scipy import optimize  # slow to import

    written = np.maximum(shares, LEAST * (np.arange(shares.shape[1]) == chosen[:, None]))
    logs = np.log(written, out=np.full(shares.shape, -np.inf), where=written > 0)
    finite = np.where(np.isfinite(logs), logs, 0)
    chosen_log = np.take_along_axis(logs, chosen[:, None], axis=1)[:, 0]
    below = logs - logs.max(axis=1, keepdims=True)

    def moments(b: float) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities in proportion to p^b, and the mean of log p under these probabilities, for each read."""
        weights = np.exp(b * below)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights, (weights * finite).sum(axis=1)

    def total(b: float) -> float:
        """Derivative of the log-likelihood of all reads. The derivative falls as b rises."""
        return float((chosen_log - moments(b)[1]).sum())

    if not len(chosen_log):
        return UNKNOWN
    is_most_probable = chosen_log == logs.max(axis=1)
    if is_most_probable.all() and (below < 0).any():
        return BEYOND
    if total(SMALLEST) <= 0:
        return UNKNOWN
    if total(GREATEST) >= 0:
        return BEYOND
    power = optimize.brentq(total, SMALLEST, GREATEST, xtol=CLOSE, rtol=CLOSE)
    weights, mean = moments(power)
    information = float(((weights * finite**2).sum(axis=1) - mean**2).sum())
    if not information > 0:
        return UNKNOWN
    return Interval.of(cluster_robust.interval(power, sum_units(chosen_log - mean, cluster) / information, CONFIDENCE))
