"""Estimate of the power b with which answers are drawn from option probabilities p: in proportion to p^b."""

import numpy as np

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.methods.uncertainty import cluster_robust
from rubric_order.methods.uncertainty.resampling import sum_units

SMALLEST, GREATEST = 1e-9, 50.0
CLOSE = 1e-14  # absolute and relative tolerance of the power
LEAST = 1e-6  # a written option with a lower probability counts with this probability
CONFIDENCE = 0.99


def exponent(shares: np.ndarray, chosen: np.ndarray, cluster: np.ndarray) -> Interval:
    """Power b of the option probabilities p: answers look as if they were drawn in proportion to p^b.

    The power is 1 if answers are drawn from the probabilities as they are. It is 1 / T if answers are drawn at
    temperature T and the probabilities are those at temperature 1. If the most probable option is always written, no
    finite power fits best.

    Args:
        shares: probability of each option in each read, shape (n_reads, n). An option with probability 0 does not count
            as an option, unless it was written.
        chosen: index of the option that was written, from 0, shape (n_reads,).
        cluster: index of each read's cluster, from 0 and without gaps, shape (n_reads,).

    Returns:
        The maximum likelihood estimate, with an interval by Student's t over clusters at a confidence of `CONFIDENCE`.
        Unknown if no estimate lies between `SMALLEST` and `GREATEST`.
    """
    from scipy import optimize  # slow to import

    written = np.maximum(shares, LEAST * (np.arange(shares.shape[1]) == chosen[:, None]))
    logs = np.log(written, out=np.full(shares.shape, -np.inf), where=written > 0)
    finite = np.where(np.isfinite(logs), logs, 0)
    own = np.take_along_axis(logs, chosen[:, None], axis=1)[:, 0]
    below = logs - logs.max(axis=1, keepdims=True)

    def moments(b: float) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities in proportion to p^b, and the mean of log p under these probabilities, for each read."""
        weights = np.exp(b * below)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights, (weights * finite).sum(axis=1)

    def total(b: float) -> float:
        """Derivative of the log-likelihood of all reads. The derivative falls as b rises."""
        return float((own - moments(b)[1]).sum())

    if not len(own) or total(SMALLEST) <= 0 or total(GREATEST) >= 0:
        return UNKNOWN
    power = optimize.brentq(total, SMALLEST, GREATEST, xtol=CLOSE, rtol=CLOSE)
    weights, mean = moments(power)
    information = float(((weights * finite**2).sum(axis=1) - mean**2).sum())
    if not information > 0:
        return UNKNOWN
    return Interval.of(cluster_robust.interval(power, sum_units(own - mean, cluster) / information, CONFIDENCE))
