"""The bootstrap and the jackknife: draws, sums of draws, and intervals."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import cluster_robust, distributions

_DRAWS_IN_CACHE = 32_768  # a quarter of a megabyte
_OF_MANY = 16  # resamples that are drawn together, if there are more units than `_DRAWS_IN_CACHE`
LEAST_ERROR = 1e-12  # a smaller standard error of a jackknife is rounding
LEAST_IN_TAIL = 10  # resamples; a share of fewer resamples is not known well
MAX_LEFT_OUT = 200  # largest number of parts of a jackknife
MAX_UNDEFINED = 0.05  # an interval is withheld when more than this share of its resamples has no value


def bootstrap_indices(n: int, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Indices of the rows in each resample, drawn with replacement. Shape (resamples, n)."""
    return rng.integers(0, n, size=(resamples, n))


def bootstrap_weights(n: int, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Count of each unit in each resample, (resamples, n): several times as fast as multinomial draws."""
    return counted(bootstrap_indices(n, resamples, rng=rng), n)


def bootstrap_sums(values: np.ndarray, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Sums of the rows of each resample, (n, ...) -> (resamples, ...), in parts that fit into the processor's cache."""
    n = len(values)
    step = _DRAWS_IN_CACHE // n if 0 < n <= _DRAWS_IN_CACHE else _OF_MANY
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    return np.concatenate([bootstrap_weights(n, size, rng=rng).astype(float) @ values for size in sizes])


def counted(codes: np.ndarray, n: int) -> np.ndarray:
    """Count of each of the numbers 0 to n - 1 in each row. Shape (n_rows, ...) -> (n_rows, n)."""
    cells = codes + n * np.arange(len(codes))[:, None]  # each row has its own range of numbers
    return np.bincount(cells.ravel(), minlength=n * len(codes)).reshape(-1, n)


def percentile_interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval over the first axis; NaN where more than ``MAX_UNDEFINED`` of the resamples are undefined."""
    values = np.asarray(values, dtype=float)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    if not np.isnan(values).any():  # `numpy.quantile` is much faster than `numpy.nanquantile`
        low, high = np.quantile(values, ends, axis=0)
        return low, high
    undefined = np.isnan(values).mean(axis=0)
    usable = np.where(undefined > MAX_UNDEFINED, 0.0, values)  # no all-NaN slices reach nanquantile
    low, high = np.nanquantile(usable, ends, axis=0)
    return np.where(undefined > MAX_UNDEFINED, np.nan, low), np.where(undefined > MAX_UNDEFINED, np.nan, high)


def two_sided_p(values: np.ndarray) -> float:
    """Two-sided p-value of 0 from resamples: twice (smaller count + 1) / (resamples + 1); NaN above ``MAX_UNDEFINED``.

    Below `LEAST_IN_TAIL`, that of a normal distribution with their moments: small enough to be adjusted for many tests.
    """
    defined = values[~np.isnan(values)]
    if len(defined) == 0 or len(defined) < (1 - MAX_UNDEFINED) * len(values):
        return np.nan
    smaller = min((defined <= 0).sum(), (defined >= 0).sum())
    if smaller >= LEAST_IN_TAIL or np.ptp(defined) == 0:
        return float(min(2 * (smaller + 1) / (len(defined) + 1), 1))
    return float(2 * distributions.normal_tail(abs(defined.mean()) / defined.std()))


class Jackknife(NamedTuple):
    """Estimate, interval, error (on the scale of the interval) and p of 0, each of the estimate's shape; NaN with fewer
    than two parts (p: three).
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    p: np.ndarray

    @property
    def interval(self) -> Interval:
        """The estimate with its interval, for an estimate that is a single number."""
        return Interval(float(self.estimate), float(self.low), float(self.high))


def degrees(sizes: np.ndarray) -> float:
    """Degrees of freedom of an error from parts of these sizes, see `cluster_robust.Weights`; NaN if one has all.

    >>> round(degrees(np.full(20, 4)), 6), round(degrees(np.r_[40, 40, np.full(18, 2)]), 1)
    (19.0, 2.0)
    """
    return _degrees(np.asarray(sizes, dtype=float).tobytes())


@functools.lru_cache(maxsize=4096)
def _degrees(sizes: bytes) -> float:
    """`degrees` from the bytes of the array, cached because many estimates have the same clusters."""
    of_parts = np.frombuffer(sizes)
    share = of_parts / of_parts.sum()
    with np.errstate(divide="ignore"):
        one = np.ones((1, 1))
        return cluster_robust.Weights(one, share[:, None, None], 1 / (1 - share)[:, None, None]).df(one)


def effective(sizes: np.ndarray, correlation: float = 1.0) -> float:
    """Number of equal clusters whose mean has the same variance; fewest at a `correlation` within clusters of 1.

    Source: Kish (1965), Survey Sampling, Section 8.2, with design effects 1 + (size - 1) correlation.

    >>> effective(np.array([4, 4, 4])), round(effective(np.r_[24.0, np.full(199, 176 / 199)]), 1)
    (3.0, 54.7)
    """
    sizes = np.asarray(sizes, dtype=float)
    mean = sizes.mean()
    variance = (sizes * (1 + (sizes - 1) * correlation)).sum() / sizes.sum() ** 2
    return float(round((1 + (mean - 1) * correlation) / mean / variance, 9))


def part_sizes(unit: np.ndarray) -> np.ndarray:
    """Number of items in each part that is left out, see `left_out_sums`; shape (n_parts,)."""
    return np.bincount(unit % MAX_LEFT_OUT)


def left_out_of_mean(estimate: np.ndarray, influence: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """A mean with and without each cluster, (1 + n_clusters, q), for `jackknife_t`; first order if no mean."""
    left = 1 - np.asarray(sizes, dtype=float) / np.sum(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([[estimate], estimate - influence / left[:, None]])


def left_out_sums(table: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums over all items, then without each part (unit % `MAX_LEFT_OUT`), (m, q) -> (1 + n_parts, q)."""
    of_part = sum_units(table, unit % MAX_LEFT_OUT)
    total = of_part.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - of_part])


def left_out_weights(unit: np.ndarray) -> np.ndarray:
    """Weights of the items: 1 for all, then 0 for those of one part, see `left_out_sums`; shape (1 + n_parts, m)."""
    part: np.ndarray = unit % MAX_LEFT_OUT
    return np.concatenate([np.ones((1, len(unit))), part != np.arange(part.max() + 1)[:, None]])


def jackknife_t(
    values: np.ndarray,
    confidence: float,
    *,
    sizes: np.ndarray | None = None,
    scale: Callable[[np.ndarray], np.ndarray] | None = None,
    back: Callable[[np.ndarray], np.ndarray] | None = None,
    heavy: bool = False,
) -> Jackknife:
    """Interval by the jackknife and Student's t, from the estimate and those without each part, (1 + n_parts, ...).

    `scale` to where it is nearest normal (not finite: no interval) and `back`. `heavy`: a few parts can decide, and
    degrees are at most (sum of d^2)^2 / sum of d^4, less 1, for what each part moves, d.

    Source: delete-a-group jackknife, Kott (2001), centred at the estimate; `cluster_robust.Weights` for degrees.
    """
    parts, estimate = len(values) - 1, values[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = values if scale is None else scale(values)
        if parts < 2:
            nothing = np.full(values.shape[1:], np.nan)
            return Jackknife(estimate, nothing, nothing, nothing, nothing)
        df: Any = parts - 1 if sizes is None else degrees(sizes)
        squares = (values[1:] - values[0]) ** 2
        error = np.sqrt((parts - 1) / parts * squares.sum(axis=0))
        if heavy:
            df = np.fmax(np.fmin(df, squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0) - 1), 1)
        error = np.where(np.isfinite(values[0]), error, np.nan)
        width = distributions.t_quantile((1 + confidence) / 2, df) * error
        is_tested = (error > LEAST_ERROR) & (parts > 2)
        p = np.where(is_tested, 2 * distributions.t_tail(np.where(is_tested, np.abs(values[0]) / error, 0), df), np.nan)
    low, high = (end if back is None else back(end) for end in (values[0] - width, values[0] + width))
    return Jackknife(estimate, low, high, error, p)


def bootstrap_t(
    estimate: np.ndarray,
    draws: np.ndarray,
    confidence: float,
    *,
    sizes: np.ndarray,
    scale: Callable[[np.ndarray], np.ndarray] | None = None,
    back: Callable[[np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Interval by the SD over resamples (resamples, q) and Student's t, for estimates that change in steps (a jackknife
    would take a step as a slope).

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, Section 6.2, times n / (n - 1) for an
    unbiased variance of a mean.
    """
    clusters, df = len(sizes), degrees(sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle, draws = (values if scale is None else scale(values) for values in (estimate, draws))
        defined = np.isfinite(draws)
        count = np.maximum(defined.sum(axis=0), 1)
        mean = np.where(defined, draws, 0).sum(axis=0) / count
        variance = np.where(defined, draws - mean, 0) ** 2
        error = np.sqrt(variance.sum(axis=0) / count * clusters / (clusters - 1))
    bounded = np.isfinite(middle) & (defined.mean(axis=0) >= 1 - MAX_UNDEFINED)
    width = np.where(bounded, distributions.t_quantile((1 + confidence) / 2, df) * error, np.nan)
    low, high = (end if back is None else back(end) for end in (middle - width, middle + width))
    return low, high


def left_out_interval(
    values: np.ndarray, confidence: float, *, sizes: np.ndarray | None = None, heavy: bool = False
) -> np.ndarray:
    """Ends of the intervals of `jackknife_t`, shape (2, q); NaN with fewer than three parts, or for an undefined part,
    or if no part moves the estimate.
    """
    jackknife = jackknife_t(values, confidence, sizes=sizes, heavy=heavy)
    varies = (jackknife.error > LEAST_ERROR) & (len(values) > 3)
    return np.where(varies, np.array([jackknife.low, jackknife.high]), np.nan)


def correlation(x: np.ndarray, y: np.ndarray, cluster: np.ndarray, confidence: float) -> Interval:
    """Pearson's r with the jackknife's interval over clusters, on Fisher's scale; NaN if either does not vary."""
    moments = np.column_stack([np.ones(len(x)), x, y, x**2, y**2, x * y])
    n, a, b, aa, bb, ab = left_out_sums(moments, cluster).T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (ab - a * b / n) / np.sqrt((aa - a**2 / n) * (bb - b**2 / n))
    return jackknife_t(r, confidence, sizes=part_sizes(cluster), scale=np.arctanh, back=np.tanh).interval


def interval_of_mean(estimates: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Interval of the mean of independent estimates from their own intervals, which need not be symmetric.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach.
    """
    mean, n = estimates.mean(), len(estimates)
    below, above = (np.sqrt(((end - estimates) ** 2).sum()) / n for end in (low, high))
    return float(mean - below), float(mean + above)


def sum_units(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sum over the items of each unit, (m, q) -> (n_units, q); units are numbered without gaps."""
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    return np.add.reduceat(values[order], starts, axis=0)


@functools.lru_cache(maxsize=8)
def weights(n_units: int, resamples: int, seed: int, name: str) -> np.ndarray:
    """Count of each unit in each resample, read only; equal arguments have equal draws, so strategies are paired."""
    rng = randomness.generator(seed, name, n_units)
    drawn: np.ndarray = bootstrap_weights(n_units, resamples, rng=rng).astype(float)
    drawn.flags.writeable = False
    return drawn


def resampled_sums(table: np.ndarray, unit: np.ndarray, *, resamples: int, seed: int, name: str) -> np.ndarray:
    """Sums over all items, then in each resample of units, (m, q) -> (1 + resamples, q); NaN resamples for one unit.
    `name` tells draws apart.
    """
    sums = sum_units(table, unit)
    if len(sums) < 2:
        return np.concatenate([sums, np.full((resamples, sums.shape[1]), np.nan)])
    return np.concatenate([sums.sum(axis=0, keepdims=True), weights(len(sums), resamples, seed, name) @ sums])


def folds(groups: int, count: int, *, seed: int, name: str) -> np.ndarray:
    """Fold of each group, drawn by seed and `name`, of equal sizes but for one; `count` folds, or one a group."""
    rng = randomness.generator(seed, "calibration folds", name, groups)
    return rng.permutation(np.arange(groups) % min(count, groups))
