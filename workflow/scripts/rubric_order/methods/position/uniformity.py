"""Distance of selected positions from uniform: Cramer's V, the effect of clustering on it, and the direction of bias.

Functions take counts of each position in each cluster (an item, or a group of items), shape (n_clusters, n). Summed
probabilities can replace counts. Counts must come from reads that show every score in every position equally often, or
be adjusted to this, see `selections.evened`. Otherwise even a judge without a preference for positions does not select
them equally often. Clusters are the sample: reads of one cluster may depend on each other in any way.
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
    """Cramer's V against uniform over the last axis of counts or shares, shape (..., n) -> (...).

    For N reads, chi2 / N is n sum (share - 1/n)^2. So V does not depend on the number of reads.
    """
    n = counts.shape[-1]
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return np.sqrt(n * ((shares - 1 / n) ** 2).sum(axis=-1) / (n - 1))


class PositionTest(NamedTuple):
    """Chi-square goodness of fit of selected positions against uniform.

    Attributes:
        chi2: sum over positions of (count - N/n)^2 / (N/n), with n - 1 degrees of freedom.
        p: p-value of chi2 if reads were independent. They are not; see `cluster_test`.
        cramers_v: sqrt(chi2 / (N (n - 1))), from 0 (uniform) to 1 (always one position).
    """

    chi2: float
    p: float
    cramers_v: float


def position_test(positions: Sequence[int], n: int) -> PositionTest:
    """Test of equally frequent selections of all positions.

    Args:
        positions: selected position of each read, 1 to n.
        n: number of positions.

    Raises:
        ValueError: n is below 2, a position is out of range, or `positions` is empty.

    Source: Xu et al. (2026), Section 4.4.
    """
    selected = np.asarray(positions)
    if selected.size == 0:
        raise ValueError("no selected positions")
    if n < 2 or not np.isin(selected, np.arange(1, n + 1)).all():
        raise ValueError(f"positions must be whole numbers from 1 to {n}")
    return count_test(np.bincount(selected.astype(int), minlength=n + 1)[1:])


def count_test(counts: np.ndarray) -> PositionTest:
    """Test of equal selection of all positions from counts, see `position_test`.

    Args:
        counts: selections of each position, or summed probabilities, shape (n,).
    """
    counts = np.asarray(counts)
    expected = counts.mean()
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    p = float(distributions.chi_square_tail(chi2, len(counts) - 1))
    return PositionTest(chi2, p, float(cramers_v(counts)))


def cluster_test(counts: np.ndarray) -> float:
    """p-value of uniform selection: the chi-square of `position_test`, corrected for clustering.

    Reads of one item depend on each other. So the sample is the items, or groups of items, and not the reads. The test
    multiplies chi-square by a factor, and chooses degrees of freedom, so that the product has the mean and variance of
    a chi-square variable with these degrees of freedom. This works for any dependence within clusters. Unlike a Wald
    test (Hotelling's T-squared), the test inverts no covariance. So it is defined even if a position is never selected,
    and with few clusters it rejects too seldom rather than too often.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.

    Returns:
        The p-value; 1 if the shares are exactly uniform in every cluster.

    Source: Rao and Scott (1981), second-order correction, with items or groups as clusters; estimating the covariance
    about uniform, not about the mean, is ours.
    """
    # Clusters with more parsed reads count for more, because the test is about the pooled share.
    deviation = counts - counts.mean(axis=1, keepdims=True)
    return 1.0 if np.abs(deviation).max(initial=0) <= 1e-12 else rao_scott.zero_total(deviation)


def rotation_test(counts: np.ndarray, *, rotations: int, rng: np.random.Generator) -> float:
    """p-value of uniform selection from rotating and reflecting the positions of each cluster, for few clusters.

    A judge without a preference for positions selects position p of an ordering as often as position p + 1 of the
    rotated ordering, and as often as position n + 1 - p of the reversed ordering. Suppose that orderings come with all
    their rotations, forward and reversed (`balanced`, `all`), or are drawn at random. Then a cluster's counts are as
    probable as each rotation or reflection of them, however the reads of the cluster depend on each other. So the test
    rotates or reflects the counts of each cluster at random, many times. It compares the observed distance of the total
    counts from uniform (the sum of squared deviations) with the distances after these changes. The test does not
    permute positions freely: a judge that wavers between two neighbouring scores wavers between neighbouring positions,
    so neighbours cannot be exchanged with other positions.

    Without a preference, the test rejects no more often than its level, with any number of clusters. It rejects less
    often with two positions, or if only a handful of clusters have counts that are not uniform. `cluster_test` needs
    some 25 clusters whose counts are not uniform. With so many, however, `cluster_test` is also valid if positions
    matter to the judge in ways that cancel out.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.
        rotations: number of times that all clusters are rotated or reflected. The smallest p is 1 / (1 + rotations).
        rng: generator of the rotations and reflections.

    Returns:
        The p-value; 1 if the shares are exactly uniform in every cluster.
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
    """Covariance of the pooled shares, estimated from the variation of clusters. Shape (n, n); NaN for one cluster.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.

    Source: the linearised variance of a ratio with clusters as units (Cochran, 1977, Sampling Techniques, Section
    11.8), with the factor C / (C - 1) for C clusters.
    """
    counts = np.asarray(counts, dtype=float)
    n_clusters, n = counts.shape
    if n_clusters < 2:
        return np.full((n, n), np.nan)
    residual = counts - counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / counts.sum())
    return residual.T @ residual * n_clusters / (n_clusters - 1) / counts.sum() ** 2


def design_effect(counts: np.ndarray) -> float:
    """Variance of the shares, divided by the variance for as many independent reads.

    The design effect is a mean over positions, weighted by their variance. It is 1 for independent reads, and about the
    number of reads per cluster if all reads of a cluster are the same. It is below 1 if the reads of a cluster select
    different positions, for example if a judge keeps to its score under balanced orderings. NaN for one cluster, or if
    one position is always selected.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.

    Source: Rao and Scott (1981), whose first-order correction divides chi-square by the design effect.
    """
    shares = counts.sum(axis=0) / counts.sum()
    spread = 1 - (shares**2).sum()
    return float(counts.sum() * np.trace(share_covariance(counts)) / spread) if spread > 1e-12 else np.nan


def squared_v(counts: np.ndarray) -> float:
    """Estimate of V squared without what chance adds, with clusters as the sample. NaN for one cluster.

    V is never negative, so chance alone makes it positive. V squared is too large by n / (n - 1) times the summed
    variance of the shares. This amount is subtracted here, so the estimate can be negative. It has no bias if all
    clusters have equally many reads, and little bias otherwise.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.
    """
    n = counts.shape[1]
    return float(cramers_v(counts.sum(axis=0)) ** 2 - n / (n - 1) * np.trace(share_covariance(counts)))


def corrected_v(counts: np.ndarray) -> float:
    """Cramer's V corrected for chance, with clusters as the sample: the root of `squared_v`, at least 0.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.
    """
    return float(np.sqrt(np.maximum(squared_v(counts), 0)))


def corrected_v_of_reads(counts: np.ndarray) -> float:
    """Cramer's V corrected for chance as if reads were independent. They are not; see `corrected_v`.

    For N reads, (N V^2 - 1) / (N - 1) is an unbiased estimate of V squared if reads are independent, and is 1 if V is
    1. NaN for one read.

    Args:
        counts: counts of each position, shape (n,).

    Source: the analogue for goodness of fit of Bergsma (2013), A bias-correction for Cramer's V and Tschuprow's T.
    """
    total = counts.sum()
    if total <= 1:
        return np.nan
    return float(np.sqrt(max((total * cramers_v(counts) ** 2 - 1) / (total - 1), 0)))


@functools.cache
def noncentrality(n: int, level: float, power: float) -> float:
    """Noncentrality at which a chi-square test of n - 1 degrees of freedom at this level has this power.

    Args:
        n: number of positions.
        level: level of the test.
        power: probability with which the test rejects.
    """
    critical = distributions.chi_square_critical(level, n - 1)
    return float(special.chndtrinc(critical, n - 1, 1 - power))


def detectable_v(n_reads: float, n: int, *, deff: float, level: float = 0.05, power: float = POWER) -> float:
    """The smallest Cramer's V that a test of uniform selection would have found with a probability of `power`.

    The test divides chi-square by the design effect, and compares the quotient with a chi-square distribution of n - 1
    degrees of freedom. The noncentrality of the quotient under V is N (n - 1) V^2 / deff. So
    V = sqrt(lambda deff / (N (n - 1))), where lambda is the noncentrality that gives the test this power.

    Args:
        n_reads: number N of reads.
        n: number of positions.
        deff: variance of the shares, divided by the variance for as many independent reads, see `design_effect`.
        level: level of the test.
        power: probability with which the test finds this V.

    Source: Cohen (1988), Statistical Power Analysis, Chapter 7 (w = V sqrt(n - 1)), with the first-order correction of
    Rao and Scott (1981).
    """
    return float(np.sqrt(noncentrality(n, level, power) * deff / (n_reads * (n - 1))))


def v_interval(counts: np.ndarray, resampled: np.ndarray, confidence: float) -> tuple[float, float]:
    """Interval of Cramer's V from resampled clusters, which is valid near 0, where percentile intervals are not.

    V measures the distance of the shares from uniform. For each distance t, suppose that the true shares lie t from
    uniform, in the direction of the observed shares. Suppose also that observed shares miss the true shares like
    resampled shares miss the observed shares (each miss counts once with its own sign and once with the opposite sign).
    These assumptions give the probability of a distance at least as large as the observed distance, and of a distance
    at most as large. The interval leaves out t if one of these two probabilities is below (1 - confidence) / 2.

    Far from 0 this is the basic bootstrap interval. Near 0 the interval allows for chance, which makes V positive.
    Without a correction, an interval near 0 could end below the observed V; so its upper end is raised to the observed
    V. If the true V is 0, only the lower end can be wrong, so the interval covers V in 1 - (1 - confidence) / 2 of the
    cases.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.
        resampled: counts of each position in each resample, shape (resamples, n).
        confidence: nominal coverage of the interval, such as 0.95.

    Returns:
        Lower and upper end; NaN for one cluster.
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
    """Simultaneous intervals of the shares of all positions, with clusters as the sample.

    Each position has Wilson's score interval at a confidence of 1 - (1 - confidence) / n. With C clusters, the normal
    quantile is replaced by the quantile of Student's t with C - 1 degrees of freedom.

    The interval uses an effective number of reads: the number of independent reads that would give the share's
    variance. The variance of a rare position's share is badly estimated, so the effective number of each position is at
    most that of all positions together. The share of a position that is selected always or never shows no variance, so
    the effective number of such a position is at most the number of clusters.

    In simulations all intervals together cover the true shares in 93% to 99% of the cases. Bootstrap max-t intervals
    cannot handle empty positions. In the same simulations, the coverage of these bootstrap intervals falls to 80% and
    less.

    Args:
        counts: selections of each position in each cluster, shape (n_clusters, n); or summed probabilities.
        confidence: nominal coverage of all intervals together, such as 0.95.

    Returns:
        Lower and upper ends, each of shape (n,); NaN for one cluster.

    Source: Goodman (1965), On simultaneous confidence intervals for multinomial proportions; Korn and Graubard (1998),
    for the effective number of reads, as in complex surveys.
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
    """True if a judge's scores leave almost nothing for the order to change, so that selections show no preference.

    Under balanced orderings, a judge that gives an item one score whatever the order selects each position equally
    often. This does not mean that the judge has no preference.

    Args:
        commonest: share of the commonest score.
        discordant: share of the pairs of reads of an item that have different scores; NaN where there are no pairs.
    """
    return bool(commonest >= COMMONEST or discordant <= DISCORDANT)


def with_width(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same intervals, but NaN for each interval without width.

    An interval has no width if clusters did not vary; their variance is then unknown.

    Args:
        low: lower end of each interval, shape (k,).
        high: upper end of each interval, shape (k,).
    """
    wide = np.asarray(high) - np.asarray(low) > NO_WIDTH
    return np.where(wide, low, np.nan), np.where(wide, high, np.nan)


def direction(low: np.ndarray, high: np.ndarray, *, near: float = NEAR_UNIFORM, saturated: bool = False) -> str:
    """Preferred positions, from simultaneous intervals of their shares.

    A position is preferred if its whole interval lies above the uniform share, and avoided if its whole interval lies
    below.

    Args:
        low: lower end of the interval of each position's share, shape (n,); NaN where it is missing.
        high: upper end of the interval of each position's share, shape (n,).
        near: fraction of the uniform share. The direction is near uniform if all intervals lie between 1 - `near` and 1
            + `near` times the uniform share, even if they are so short that a small bias is certain.
        saturated: True if scores leave almost nothing for the order to change, see `is_saturated`. Shares near uniform
            then tell nothing about a preference.

    Returns:
        One of `DIRECTIONS`:

        - near uniform: see `near`;
        - undetermined: intervals are unknown; or no position is preferred or avoided, and the intervals are too wide
          for near uniform;
        - saturated: in place of near uniform or undetermined, if `saturated`;
        - U-shaped: the first and the last position are both preferred;
        - first-biased: the first position is preferred, and the last is not;
        - last-biased: the last position is preferred, and the first is not;
        - middle: the first and the last position are both avoided;
        - other: anything else.
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
