"""Distance of selected positions from uniform: Cramer's V, the effect of clustering on it, and the direction of bias.

Functions take counts of each position in each cluster (an item, or a group of items), shape (n_clusters, n); summed
probabilities may stand for counts. Counts are those of reads that show every score in every position equally often, or
stand for such, see `selections.evened`: otherwise a judge to which positions mean nothing does not select them equally
often. Clusters are the sample: reads of one cluster may depend on each other in any way.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base.keys import FEW_CLUSTERS as FEW_CLUSTERS
from rubric_order.methods.uncertainty import distributions, rao_scott

POWER = 0.8  # of the smallest effect that counts as detectable
COMMONEST, DISCORDANT = 0.95, 0.05  # a judge is saturated from that share of one score on, or up to that of such pairs
NO_WIDTH = 1e-9  # an interval that is shorter says that nothing varied, not that an estimate is exact
NEAR_UNIFORM = 0.2  # shares within this fraction of the uniform share are near uniform
ROTATIONS = 1999
ENOUGH_CLUSTERS = 100  # with fewer, the rotation test is made too


def cramers_v(counts: np.ndarray) -> np.ndarray:
    """Cramer's V against uniform over the last axis of counts or shares, shape (..., n) -> (...).

    With the total as N, chi2 / N is n sum (share - 1/n)^2, so V does not depend on how many reads there are.
    """
    n = counts.shape[-1]
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return np.sqrt(n * ((shares - 1 / n) ** 2).sum(axis=-1) / (n - 1))


class PositionTest(NamedTuple):
    """Chi-square goodness of fit of selected positions against uniform.

    Attributes:
        chi2: sum over positions of (count - N/n)^2 / (N/n), with n - 1 degrees of freedom.
        p: its p-value, which takes the reads as independent. They are not; see `cluster_test`.
        cramers_v: sqrt(chi2 / (N (n - 1))), from 0 (uniform) to 1 (always one position).
    """

    chi2: float
    p: float
    cramers_v: float


def position_test(positions: Sequence[int], n: int) -> PositionTest:
    """Test whether positions are selected equally often.

    Args:
        positions: selected position of each read, 1 to n.
        n: number of positions.

    Raises:
        ValueError: a position is off the range, or there are none.

    Source: Xu et al. (2026), Section 4.4.
    """
    selected = np.asarray(positions)
    if selected.size == 0:
        raise ValueError("no selected positions")
    if n < 2 or not np.isin(selected, np.arange(1, n + 1)).all():
        raise ValueError(f"positions must be whole numbers from 1 to {n}")
    return count_test(np.bincount(selected.astype(int), minlength=n + 1)[1:])


def count_test(counts: np.ndarray) -> PositionTest:
    """`position_test` for counts (or summed probabilities) of each position, shape (n,)."""
    counts = np.asarray(counts)
    expected = counts.mean()
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    p = float(distributions.chi_square_tail(chi2, len(counts) - 1))
    return PositionTest(chi2, p, float(cramers_v(counts)))


def cluster_test(counts: np.ndarray) -> float:
    """p-value of uniform selection that respects clusters: the chi-square of `position_test`, corrected for clustering.

    Reads of one item depend on each other, so the items, or groups of them, are the sample, not the reads. Chi-square
    is scaled, and its degrees of freedom are chosen, so that it has the mean and variance of its reference
    distribution, whatever the dependence within clusters. No covariance is inverted, as a Wald test (Hotelling's
    T-squared) does: the test is defined when a position is never selected, and with few clusters it rejects too seldom
    rather than too often.

    Args:
        counts: of each position in each cluster, shape (n_clusters, n); probabilities may be summed instead.

    Returns:
        The p-value. 1 where the shares are exactly uniform in every cluster.

    Source: Rao and Scott (1981), second-order correction, with items or groups as clusters; estimating the covariance
    about uniform, not about the mean, is ours.
    """
    # Clusters with more parsed reads count for more, so that the estimate tested is the pooled share.
    deviation = counts - counts.mean(axis=1, keepdims=True)
    return 1.0 if np.abs(deviation).max(initial=0) <= 1e-12 else rao_scott.zero_total(deviation)


def rotation_test(counts: np.ndarray, *, rotations: int, rng: np.random.Generator) -> float:
    """p-value of uniform selection from turning the positions of each cluster, for few clusters.

    A judge to which positions mean nothing selects position p of an ordering as often as position p + 1 of the rotated
    one, and as often as position n + 1 - p of the reversed one. Orderings that come with all their rotations, forward
    and reversed (`balanced`, `all`), or are drawn at random, then give a cluster's counts and their rotations and
    reflections with the same probability, however its reads depend on each other. So the summed squared deviations from
    uniform are compared with those after each cluster is turned by a random one of these. Positions are not permuted
    freely: a judge that wavers between two neighbouring scores wavers between neighbouring positions, so that
    neighbours are not exchangeable with others.

    Without a preference the test rejects as often as it says, or less, with any number of clusters; less with two
    positions, or where a handful of clusters is all that is not uniform in itself. `cluster_test` needs some 25 of
    those, but then it also stands where positions matter to the judge in ways that cancel out.

    Args:
        rotations: how many times all clusters are turned. The smallest p is one over one more.
        rng: chooses the rotations.

    Returns:
        The p-value. 1 where the shares are exactly uniform in every cluster.
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
    """Covariance of the pooled shares, estimated from how clusters vary. Shape (n, n); NaN for one cluster.

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
    """Factor by which the variance of the shares is larger than for as many independent reads.

    It is the mean design effect of the positions, each weighted by its variance. 1 for independent reads; about the
    number of reads a cluster where they are all the same; less than 1 where reads of a cluster select different
    positions, as those of a judge that keeps to its score do under balanced orderings. NaN for one cluster, or where
    one position is always selected.

    Source: Rao and Scott (1981), whose first-order correction divides chi-square by this.
    """
    shares = counts.sum(axis=0) / counts.sum()
    spread = 1 - (shares**2).sum()
    return float(counts.sum() * np.trace(share_covariance(counts)) / spread) if spread > 1e-12 else np.nan


def squared_v(counts: np.ndarray) -> float:
    """An unbiased estimate of V squared, with clusters as the sample; it can be negative. NaN for one cluster.

    V is never negative, so chance alone makes it positive: its square is too large by n / (n - 1) times the summed
    variance of the shares, which is subtracted here.
    """
    n = counts.shape[1]
    return float(cramers_v(counts.sum(axis=0)) ** 2 - n / (n - 1) * np.trace(share_covariance(counts)))


def corrected_v(counts: np.ndarray) -> float:
    """Cramer's V without what chance adds to it, with clusters as the sample: the root of `squared_v`, 0 at least."""
    return float(np.sqrt(np.maximum(squared_v(counts), 0)))


def corrected_v_of_reads(counts: np.ndarray) -> float:
    """Cramer's V without what chance adds to it where reads are independent; they are not, see `corrected_v`.

    For N reads, (N V^2 - 1) / (N - 1) is unbiased for V squared, and 1 where V is. NaN for one read.

    Args:
        counts: of each position, shape (n,).

    Source: the analogue for goodness of fit of Bergsma (2013), A bias-correction for Cramer's V and Tschuprow's T.
    """
    total = counts.sum()
    if total <= 1:
        return np.nan
    return float(np.sqrt(max((total * cramers_v(counts) ** 2 - 1) / (total - 1), 0)))


@functools.cache
def noncentrality(n: int, level: float, power: float) -> float:
    """Noncentrality at which a chi-square test of n - 1 degrees of freedom rejects with this probability."""
    critical = distributions.chi_square_critical(level, n - 1)
    return float(special.chndtrinc(critical, n - 1, 1 - power))


def detectable_v(n_reads: float, n: int, *, deff: float, level: float = 0.05, power: float = POWER) -> float:
    """The smallest Cramer's V that a test of uniform selection would have found with this probability.

    Chi-square over the design effect is compared with n - 1 degrees of freedom; its noncentrality under V is
    N (n - 1) V^2 / deff. So V = sqrt(lambda deff / (N (n - 1))), where lambda gives the test this power.

    Args:
        n_reads: N.
        n: number of positions.
        deff: see `design_effect`.
        level: of the test.

    Source: Cohen (1988), Statistical Power Analysis, Chapter 7 (w = V sqrt(n - 1)), with the first-order correction of
    Rao and Scott (1981).
    """
    return float(np.sqrt(noncentrality(n, level, power) * deff / (n_reads * (n - 1))))


def v_interval(counts: np.ndarray, resampled: np.ndarray, confidence: float) -> tuple[float, float]:
    """Interval of Cramer's V from resampled clusters that is sound near 0, where percentiles are not.

    V measures the distance of the shares from uniform. A distance t is in the interval unless one as large, or as
    small, as the observed distance would be found in fewer than half of 1 - confidence of the cases if the true shares
    were t from uniform, in the direction of the observed ones, and the observed shares missed them by what resampled
    shares miss the observed ones by (taken with both signs). Far from 0 it is the basic bootstrap interval; near 0 it
    allows for chance making V positive, and can end below the observed V; its upper end is then raised to that. At
    V = 0 only its lower end can be wrong, so that it covers V in 1 - (1 - confidence) / 2 of the cases.

    Args:
        counts: see above.
        resampled: counts of each position in each resample, shape (resamples, n).

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
    # Resampling C clusters varies by (C - 1) / C of what new clusters would.
    error = (resampled / resampled.sum(axis=1, keepdims=True) - shares) * np.sqrt(n_clusters / (n_clusters - 1))
    along = error @ (away / distance) if distance > 0 else np.zeros(len(error))
    along, size = np.concatenate([along, -along]), np.tile((error**2).sum(axis=1), 2)
    # How often a distance up to the observed one is found falls as t grows: the ends are found by bisection.
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
    """Intervals of the shares that hold all at once, with clusters as the sample.

    Wilson's score interval for each position at a confidence of 1 - (1 - confidence) / n, for an effective number of
    reads instead of their number: what would give the share's variance if reads were independent. A rare position shows
    its variance badly, so that the effective number is at most that of all positions together; and a position that is
    selected always or never shows none, so that it is at most the number of clusters. Student's t with C - 1 degrees of
    freedom replaces the normal quantile for C clusters. In simulation these cover in 93% to 99% of the cases where
    bootstrap max-t intervals, which can do nothing with empty positions, fall to 80% and less.

    Returns:
        Lower and upper ends, each of shape (n,); NaN for one cluster.

    Source: Goodman (1965), On simultaneous confidence intervals for multinomial proportions; the effective number of
    reads is that of complex surveys (Korn and Graubard, 1998).
    """
    n_clusters, n = counts.shape
    if n_clusters < 2:
        return np.full(n, np.nan), np.full(n, np.nan)
    share = (counts.sum(axis=0) / counts.sum()).clip(0, 1)
    variance = np.diag(share_covariance(counts))
    spread = share * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.fmin(spread / variance, spread.sum() / variance.sum())
    effective = np.where(spread > 1e-12, effective, np.fmin(effective, n_clusters))
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
    """True where a judge's scores leave an order next to nothing to change, so that selections show no preference.

    Under balanced orderings a judge that gives an item one score, whatever the order, selects each position equally
    often: that is not the same as having no preference.

    Args:
        commonest: share of the commonest score.
        discordant: share of the pairs of reads of an item that have different scores; NaN where there are none.
    """
    return bool(commonest >= COMMONEST or discordant <= DISCORDANT)


def with_width(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals, NaN where both ends are the same: nothing varied between clusters, and nothing says how much could."""
    wide = np.asarray(high) - np.asarray(low) > NO_WIDTH
    return np.where(wide, low, np.nan), np.where(wide, high, np.nan)


def direction(low: np.ndarray, high: np.ndarray, *, near: float = NEAR_UNIFORM, saturated: bool = False) -> str:
    """Preferred positions, from simultaneous intervals of their shares.

    A position is preferred where its whole interval lies above the uniform share, and avoided where it lies below.

    Args:
        low, high: ends of the intervals, shape (n,).
        near: intervals within this fraction of the uniform share, all of them, are near uniform, even where they are so
            short that a small bias is certain.
        saturated: see `is_saturated`; shares that are near uniform then say nothing of a preference.

    Returns:
        One of `DIRECTIONS`: near uniform; undetermined, where no position is preferred or avoided, and the intervals
        are too wide to call them near uniform; saturated in the place of both; U-shaped, where first and last are both
        preferred; first- or last-biased, where that one alone is; middle, where first and last are both avoided (and
        there are others); or other.
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
