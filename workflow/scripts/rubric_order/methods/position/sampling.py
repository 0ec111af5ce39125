"""Answers as draws from option probabilities p: the power b of p^b, and what positions add beyond p.

Selections less probabilities, r, have covariance V if drawn from these. Log-odds b beyond them make r = V b on average
and move expected scores by Q b. Products r'Ar of two reads sum to b'Qb if A solves sum of V A V = Q: one step from
A = V⁻QV⁻ is close.
"""

import math
from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.methods.uncertainty import cluster_robust, distributions
from rubric_order.methods.uncertainty.resampling import sum_units

SMALLEST, GREATEST = 1e-9, 50.0
BEYOND = Interval(low=GREATEST, high=math.inf)
CLOSE = 1e-14  # absolute and relative tolerance of the power
LEAST = 1e-6  # a written option with a lower probability counts with this probability
CONFIDENCE = 0.99
FIRST_ORDER = 1.1  # what positions add to scores is some 10% larger than to first order, where it is .1 points
SINGULAR = 1e-6  # of the greatest eigenvalue of a covariance; directions with less say nothing


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


def error(low: float, high: float) -> float:
    """Standard error of an `exponent`, from the ends of its interval."""
    return (high - low) / (2 * float(distributions.normal_quantile((1 + CONFIDENCE) / 2)))


class Products(NamedTuple):
    """V of each read, shape (reads, n, n), and A of each item, shape (items, n, n)."""

    covariance: np.ndarray
    weights: np.ndarray

    def order_variance(self, away: np.ndarray, item: np.ndarray) -> np.ndarray:
        """Variance over orderings of what positions add to written scores; `away` has r."""
        sums = sum_units(away, item)
        variance: np.ndarray = np.einsum("ip,ipq,iq->i", sums, self.weights, sums)
        return variance - np.bincount(item, np.einsum("ip,ipq,iq->i", away, self.weights[item], away))

    def errors(self, item: np.ndarray) -> np.ndarray:
        """Variance of `order_variance` where positions add nothing, shape (items,)."""
        times = [
            part @ weights
            for part, weights in (
                (_totals(self.covariance, item), self.weights),
                (self.covariance, self.weights[item]),
            )
        ]
        every, alone = (np.einsum("ipq,iqp->i", part, part) for part in times)
        return np.asarray(2 * (every - np.bincount(item, alone)))


def products(shares: np.ndarray, scores: np.ndarray, item: np.ndarray) -> Products:
    """Products from probability and score of each position, shape (reads, n)."""
    n, times = shares.shape[1], np.bincount(item)[:, None, None]
    slopes = shares * (scores - (shares * scores).sum(axis=1, keepdims=True))  # of the expected score, in log-odds
    slopes -= sum_units(slopes, item)[item] / times[item, 0]
    covariance = np.eye(n) * shares[:, :, None] - shares[:, :, None] * shares[:, None, :]
    points = _totals(slopes[:, :, None] * slopes[:, None, :], item) / times
    inverse = np.linalg.pinv(_totals(covariance, item), rcond=SINGULAR, hermitian=True)
    first = inverse @ points @ inverse
    pairs = points - _totals(covariance @ first[item] @ covariance, item)  # V first V of all reads is points
    return Products(covariance, first + inverse @ (points - pairs) @ inverse)


def _totals(matrices: np.ndarray, item: np.ndarray) -> np.ndarray:
    return sum_units(matrices.reshape(len(item), -1), item).reshape(-1, *matrices.shape[1:])
