"""The power of the option probabilities from which answers are drawn."""

import numpy as np

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.methods.uncertainty import cluster_robust
from rubric_order.methods.uncertainty.resampling import sum_units

SMALLEST, GREATEST = 1e-9, 50.0
CLOSE = 1e-14  # to which the power is found, of itself and of 1
LEAST = 1e-6  # an option that was written and has no probability is taken to have this one
CONFIDENCE = 0.99


def exponent(shares: np.ndarray, chosen: np.ndarray, cluster: np.ndarray) -> Interval:
    """The power of option probabilities from which answers look drawn: an option is written with probability p^b.

    It is 1 where answers are drawn from the probabilities as they are, 1 / T where they are drawn at temperature T and
    the probabilities are those of temperature 1, and without bound where the most probable option is written.

    Args:
        shares: probability of each option in each read, shape (n_reads, n). An option without any is none.
        chosen: the option that was written, from 0, shape (n_reads,).
        cluster: number of each read's cluster, from 0 and without gaps, shape (n_reads,).

    Returns:
        Maximum likelihood, with an interval by Student's t over clusters at a confidence of `CONFIDENCE`; unknown where
        there is no finite one.
    """
    from scipy import optimize  # slow to import

    written = np.maximum(shares, LEAST * (np.arange(shares.shape[1]) == chosen[:, None]))
    logs = np.log(written, out=np.full(shares.shape, -np.inf), where=written > 0)
    finite = np.where(np.isfinite(logs), logs, 0)
    own = np.take_along_axis(logs, chosen[:, None], axis=1)[:, 0]
    below = logs - logs.max(axis=1, keepdims=True)

    def parts(b: float) -> tuple[np.ndarray, float]:
        """Derivative of each read's log-likelihood, and the information of all."""
        weights = np.exp(b * below)
        weights /= weights.sum(axis=1, keepdims=True)
        mean = (weights * finite).sum(axis=1)
        return own - mean, float(((weights * finite**2).sum(axis=1) - mean**2).sum())

    def total(b: float) -> float:
        """Derivative of the log-likelihood of all reads, which falls with b."""
        return float(parts(b)[0].sum())

    if not len(own) or total(SMALLEST) <= 0 or total(GREATEST) >= 0:
        return UNKNOWN
    power = optimize.brentq(total, SMALLEST, GREATEST, xtol=CLOSE, rtol=CLOSE)
    slope, information = parts(power)
    if not information > 0:
        return UNKNOWN
    return Interval.of(cluster_robust.interval(power, sum_units(slope, cluster) / information, CONFIDENCE))
