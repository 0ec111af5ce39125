"""Distance of selected positions from uniform: Cramer's V, the effect of clustering on it, and the direction of bias.

From counts or summed probabilities (n_clusters, n), of reads that show every score equally often in every position or
evened to it (`selections.evened`). Clusters are the sample.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base.keys import FEW_CLUSTERS as FEW_CLUSTERS
from rubric_order.methods.uncertainty import distributions, rao_scott

POWER = 0.8  # power of the test for the smallest effect that counts as detectable
COMMONEST, DISCORDANT = 0.95, 0.05  # saturation: least share of one score, or greatest share of discordant pairs
NO_WIDTH = 1e-9  # a shorter interval means that nothing varied, not that the estimate is exact
NEAR_UNIFORM = 0.2  # shares within this fraction of the uniform share are near uniform
ROTATIONS = 1999
ENOUGH_CLUSTERS = 100  # with fewer clusters, the rotation test is made too


def cramers_v(counts: np.ndarray) -> np.ndarray:
    """Cramer's V against uniform, (..., n) -> (...): chi2 / N is n sum (share - 1/n)^2, so V does not depend on N."""
    n = counts.shape[-1]
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return np.sqrt(n * ((shares - 1 / n) ** 2).sum(axis=-1) / (n - 1))


class PositionTest(NamedTuple):
    """Chi-square of positions against uniform on n - 1 degrees, p for independent reads (see `cluster_test`), V."""

    chi2: float
    p: float
    cramers_v: float


def position_test(positions: Sequence[int], n: int) -> PositionTest:
    """Test of equally frequent selections of n positions, from each read's, 1 to n (else ValueError).

    Source: Xu et al. (2026), Section 4.4.
    """
    selected = np.asarray(positions)
    if selected.size == 0:
        raise ValueError("no selected positions")
    if n < 2 or not np.isin(selected, np.arange(1, n + 1)).all():
        raise ValueError(f"positions must be whole numbers from 1 to {n}")
    return count_test(np.bincount(selected.astype(int), minlength=n + 1)[1:])


def count_test(counts: np.ndarray) -> PositionTest:
    """As `position_test`, from counts or summed probabilities, shape (n,)."""
    counts = np.asarray(counts)
    expected = counts.mean()
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    p = float(distributions.chi_square_tail(chi2, len(counts) - 1))
    return PositionTest(chi2, p, float(cramers_v(counts)))


def cluster_test(counts: np.ndarray) -> float:
    """p-value of uniform selection by a chi-square corrected for any dependence within clusters; 1 if uniform.

    Inverts no covariance (as Hotelling's T-squared does), so a position may be unselected; with few clusters it rejects
    too seldom. Source: Rao and Scott (1981), second order; covariance about uniform is ours.
    """
    # Clusters with more parsed reads count for more, because the test is about the pooled share.
    deviation = counts - counts.mean(axis=1, keepdims=True)
    return 1.0 if np.abs(deviation).max(initial=0) <= 1e-12 else rao_scott.zero_total(deviation)


def rotation_test(counts: np.ndarray, *, rotations: int, rng: np.random.Generator) -> float:
    """p-value of uniform selection by rotating and reflecting each cluster's positions at random, for few clusters.

    Without preference, a cluster's counts are as probable as each rotation or reflection if orderings come with theirs
    or at random, whatever depends within; free permutation is not valid, because wavering joins neighbours.
    Conservative with two positions or a handful of clusters; `cluster_test` needs some 25, but then also holds if
    effects of position cancel out.
    """
    deviation = counts - counts.mean(axis=1, keepdims=True)
    deviation = deviation[np.abs(deviation).max(axis=1, initial=0) > 1e-12]
    if not len(deviation):
        return 1.0
    n_clusters, n = deviation.shape
    place = np.arange(n)
    turned = deviation[:, (place[:, None] + place) % n]  # (n_clusters, n rotations, n)
    turned = np.concatenate([turned, turned[:, :, ::-1]], axis=1).reshape(-1, n)
    observed = (deviation.sum(axis=0) ** 2).sum()
    as_far = 0
    step = max(1, 2_000_000 // (n_clusters * n))  # rows in memory at once
    for start in range(0, rotations, step):
        chosen = rng.integers(0, 2 * n, size=(min(step, rotations - start), n_clusters))
        total = turned[chosen + 2 * n * np.arange(n_clusters)].sum(axis=1)
        as_far += int(((total**2).sum(axis=1) >= observed * (1 - 1e-9)).sum())
    return (1 + as_far) / (1 + rotations)


def share_covariance(counts: np.ndarray) -> np.ndarray:
    """Covariance of the pooled shares by the variation of clusters, shape (n, n); NaN for one cluster.

    Source: linearised ratio (Cochran, 1977, Sampling Techniques, Section 11.8), times C / (C - 1).
    """
    counts = np.asarray(counts, dtype=float)
    n_clusters, n = counts.shape
    if n_clusters < 2:
        return np.full((n, n), np.nan)
    residual = counts - counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / counts.sum())
    return residual.T @ residual * n_clusters / (n_clusters - 1) / counts.sum() ** 2


def design_effect(counts: np.ndarray) -> float:
    """Variance of the shares over that of as many independent reads; below 1 if a cluster's reads select different
    positions. NaN if it has no variance.

    Source: Rao and Scott (1981), whose first-order correction divides chi-square by it.
    """
    shares = counts.sum(axis=0) / counts.sum()
    spread = 1 - (shares**2).sum()
    return float(counts.sum() * np.trace(share_covariance(counts)) / spread) if spread > 1e-12 else np.nan


def squared_v(counts: np.ndarray) -> float:
    """V squared less what chance adds, n / (n - 1) times the shares' summed variance; can be negative."""
    n = counts.shape[1]
    return float(cramers_v(counts.sum(axis=0)) ** 2 - n / (n - 1) * np.trace(share_covariance(counts)))


def corrected_v(counts: np.ndarray) -> float:
    """Cramer's V corrected for chance, with clusters as the sample: the root of `squared_v`, at least 0."""
    return float(np.sqrt(np.maximum(squared_v(counts), 0)))


def corrected_v_of_reads(counts: np.ndarray) -> float:
    """Cramer's V corrected for chance as if reads were independent, root of (N V^2 - 1) / (N - 1); NaN for one read.

    Source: goodness-of-fit analogue of Bergsma (2013), A bias-correction for Cramer's V and Tschuprow's T.
    """
    total = counts.sum()
    if total <= 1:
        return np.nan
    return float(np.sqrt(max((total * cramers_v(counts) ** 2 - 1) / (total - 1), 0)))


@functools.cache
def noncentrality(n: int, level: float, power: float) -> float:
    """Noncentrality at which a chi-square test of n - 1 degrees of freedom at this level has this power."""
    critical = distributions.chi_square_critical(level, n - 1)
    return float(special.chndtrinc(critical, n - 1, 1 - power))


def detectable_v(n_reads: float, n: int, *, deff: float, level: float = 0.05, power: float = POWER) -> float:
    """The smallest Cramer's V that a test of uniform selection finds with `power`: sqrt(lambda deff / (N (n - 1))).

    Source: Cohen (1988), Chapter 7 (w = V sqrt(n - 1)), with the first-order correction of Rao and Scott (1981).
    """
    return float(np.sqrt(noncentrality(n, level, power) * deff / (n_reads * (n - 1))))


def v_interval(counts: np.ndarray, resampled: np.ndarray, confidence: float) -> tuple[float, float]:
    """Interval of Cramer's V from resampled clusters, (resamples, n), valid near 0 where percentiles are not.

    It holds distances t in the observed direction under which the observed distance is not too unlikely, with misses as
    in resamples, of both signs. The basic bootstrap far from 0; the upper end is raised to V.
    """
    n_clusters, n = counts.shape
    if n_clusters < 2:
        return np.nan, np.nan
    shares = counts.sum(axis=0) / counts.sum()
    away = shares - 1 / n
    distance = np.sqrt((away**2).sum())
    resampled = resampled[resampled.sum(axis=1) > 0]
    # The variance between resamples of C clusters is (C - 1) / C of the variance between new samples.
    error = (resampled / resampled.sum(axis=1, keepdims=True) - shares) * np.sqrt(n_clusters / (n_clusters - 1))
    along = error @ (away / distance) if distance > 0 else np.zeros(len(error))
    along, size = np.concatenate([along, -along]), np.tile((error**2).sum(axis=1), 2)
    # The probability of a distance up to the observed distance falls as t grows, so bisection finds the ends.
    ends = []
    for share in ((1 + confidence) / 2, (1 - confidence) / 2):
        low, high = 0.0, distance + np.sqrt(size.max())
        for step in range(50):
            middle = (low + high) / 2 if step else 0.0
            within = middle * (middle + 2 * along) + size <= distance**2 * (1 + 1e-12)
            if within.mean() >= share:
                low = middle
            elif step:
                high = middle
            else:
                break
        ends.append(low)
    low, high = np.sqrt(n / (n - 1)) * np.array([ends[0], max(ends[1], distance)])
    return float(low), float(min(high, 1))


def simultaneous_intervals(counts: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Simultaneous intervals of all positions' shares, shape (n,) each: Wilson's at 1 - (1 - confidence) / n, with
    Student's t over clusters.

    Effective reads are at most those of all positions together, and for a position always or never selected the
    clusters. Coverage in simulations: 93% to 99%; bootstrap max-t, which cannot handle empty positions, 80% and less.

    Source: Goodman (1965), On simultaneous confidence intervals for multinomial proportions; Korn and Graubard (1998).
    """
    n_clusters, n = counts.shape
    if n_clusters < 2:
        return np.full(n, np.nan), np.full(n, np.nan)
    share = (counts.sum(axis=0) / counts.sum()).clip(0, 1)
    variance = np.diag(share_covariance(counts))
    spread = share * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = spread.sum() / variance.sum() if spread.sum() > 1e-12 else np.nan
        effective = np.where(spread > 1e-12, np.fmin(spread / variance, whole), np.fmin(whole, n_clusters))
    factor = distributions.t_quantile((1 - confidence) / (2 * n), n_clusters - 1) ** 2 / effective
    middle = (share + factor / 2) / (1 + factor)
    half = np.sqrt(factor * spread + factor**2 / 4) / (1 + factor)
    return middle - half, middle + half


class Direction(NamedTuple):
    """Names of the directions of position bias."""

    first: str = "first-biased"
    last: str = "last-biased"
    ends: str = "U-shaped"
    middle: str = "middle"
    none: str = "near uniform"
    other: str = "other"
    unknown: str = "undetermined"
    saturated: str = "saturated"


DIRECTIONS = Direction()


def is_saturated(commonest: float, discordant: float) -> bool:
    """True if scores leave almost nothing for the order to change: an item with one score whatever the order selects
    each position equally often.
    """
    return bool(commonest >= COMMONEST or discordant <= DISCORDANT)


def drop_widthless(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same intervals, but NaN for those without width: clusters did not vary, so their variance is unknown."""
    wide = np.asarray(high) - np.asarray(low) > NO_WIDTH
    return np.where(wide, low, np.nan), np.where(wide, high, np.nan)


def direction(low: np.ndarray, high: np.ndarray, *, near: float = NEAR_UNIFORM, saturated: bool = False) -> str:
    """One of `DIRECTIONS`, from simultaneous intervals of the shares: a position is preferred (avoided) if its whole
    interval is above (below) 1/n.

    Near uniform: all intervals within 1 -/+ `near` times 1/n, even if a small bias is certain. Undetermined: unknown,
    or too wide without a preference; `saturated` in place of either. Middle: both ends avoided.
    """
    uniform = 1 / len(low)
    if np.isnan(low).any():
        return DIRECTIONS.saturated if saturated else DIRECTIONS.unknown
    if (low >= uniform * (1 - near)).all() and (high <= uniform * (1 + near)).all():
        return DIRECTIONS.saturated if saturated else DIRECTIONS.none
    preferred, avoided = low > uniform, high < uniform
    if not (preferred | avoided).any():
        return DIRECTIONS.saturated if saturated else DIRECTIONS.unknown
    if preferred[0] and preferred[-1]:
        return DIRECTIONS.ends
    if preferred[0]:
        return DIRECTIONS.first
    if preferred[-1]:
        return DIRECTIONS.last
    return DIRECTIONS.middle if avoided[0] and avoided[-1] else DIRECTIONS.other
