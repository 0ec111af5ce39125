"""The bootstrap and the jackknife: draws, sums of draws, and intervals."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base import randomness
from rubric_order.methods import distributions

_DRAWS_IN_CACHE = 32_768  # a quarter of a megabyte
LEAST_ERROR = 1e-12  # of a jackknife; less is rounding
LEAST_IN_TAIL = 10  # resamples; the share of fewer is not known well
MAX_LEFT_OUT = 200  # parts of a jackknife
MAX_UNDEFINED = 0.05  # an interval is withheld when more than this share of its resamples has no value


def bootstrap_indices(n: int, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Row numbers of each resample, drawn with replacement. Shape (resamples, n)."""
    return rng.integers(0, n, size=(resamples, n))


def bootstrap_weights(n: int, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """How often each of n units is drawn into each resample. Shape (resamples, n); rows sum to n.

    They count the draws of `bootstrap_indices`, which is several times as fast as drawing multinomial counts.
    """
    return counted(bootstrap_indices(n, resamples, rng=rng), n)


def bootstrap_sums(values: np.ndarray, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Sums of the rows of each resample, shape (n, ...) -> (resamples, ...): `bootstrap_weights` times `values`.

    A few resamples at a time, which stay in the processor's cache.
    """
    n = len(values)
    step = max(1, _DRAWS_IN_CACHE // max(n, 1))
    sizes = [min(step, resamples - start) for start in range(0, resamples, step)]
    return np.concatenate([bootstrap_weights(n, size, rng=rng).astype(float) @ values for size in sizes])


def counted(codes: np.ndarray, n: int) -> np.ndarray:
    """How often each of the numbers 0 to n - 1 is in each row. Shape (n_rows, ...) -> (n_rows, n)."""
    cells = codes + n * np.arange(len(codes))[:, None]  # a range of numbers of its own for each row
    return np.bincount(cells.ravel(), minlength=n * len(codes)).reshape(-1, n)


def percentile_interval(values: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval over the first axis.

    Args:
        values: statistic in each resample, shape (resamples, ...); NaN where it is undefined.
        confidence: nominal coverage, such as 0.95.

    Returns:
        Lower and upper ends, each of shape (...); NaN where more than ``MAX_UNDEFINED`` of the resamples are undefined.
    """
    values = np.asarray(values, dtype=float)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    if not np.isnan(values).any():  # which is much faster
        low, high = np.quantile(values, ends, axis=0)
        return low, high
    undefined = np.isnan(values).mean(axis=0)
    usable = np.where(undefined > MAX_UNDEFINED, 0.0, values)  # no all-NaN slices reach nanquantile
    low, high = np.nanquantile(usable, ends, axis=0)
    return np.where(undefined > MAX_UNDEFINED, np.nan, low), np.where(undefined > MAX_UNDEFINED, np.nan, high)


def jackknife_interval(estimate: np.ndarray, influence: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval from the influence of each unit, with Student's t for few units.

    Args:
        estimate: shape (q,).
        influence: derivative of the estimate with respect to the weight of each unit, shape (n_units, q); its columns
            sum to 0. With weights of 1 the estimate is that of all units.

    Returns:
        Lower and upper ends, each of shape (q,); NaN for one unit.

    Source: the infinitesimal jackknife, Efron (1982), Chapter 6.
    """
    width = distributions.t_quantile((1 + confidence) / 2, max(len(influence) - 1, 1)) * jackknife_error(influence)
    return estimate - width, estimate + width


def left_out_interval(values: np.ndarray, confidence: float, df: float | None = None) -> np.ndarray:
    """Intervals from values without each unit, with Student's t.

    Args:
        values: of all units first, then without each, shape (1 + n_units, q).
        df: degrees of freedom, of units of unlike size; by default one less than units.

    Returns:
        Lower and upper ends, shape (2, q); NaN with fewer than three units, or where a value is not known or does not
        vary.

    Source: the jackknife of Tukey (1958), Bias and confidence in not quite large samples.
    """
    units = len(values) - 1
    if units < 3:
        return np.full((2, values.shape[1]), np.nan)
    error = np.sqrt((units - 1) / units * ((values[1:] - values[1:].mean(axis=0)) ** 2).sum(axis=0))
    quantile = distributions.t_quantile((1 + confidence) / 2, units - 1 if df is None else df)
    width = quantile * np.where(error > LEAST_ERROR, error, np.nan)
    return values[0] + np.array([[-1], [1]]) * width


def jackknife_error(influence: np.ndarray) -> np.ndarray:
    """Standard error from the influence of each unit, shape (n_units, q) -> (q,), see `jackknife_interval`."""
    units = len(influence)
    if units < 2:
        return np.full(influence.shape[1:], np.nan)
    return np.sqrt((influence**2).sum(axis=0) * units / (units - 1))


def two_sided_p(values: np.ndarray) -> float:
    """Two-sided p-value of 0 from a statistic in each resample, shape (resamples,).

    Twice the smaller share of resamples in which it is not positive, or not negative. Where that is less than
    `LEAST_IN_TAIL` resamples, p is that of a normal distribution with the mean and variance of the resamples, so that
    many tests can be adjusted for without resamples by the million. NaN where more than ``MAX_UNDEFINED`` of the
    resamples are undefined.
    """
    known = values[~np.isnan(values)]
    if len(known) == 0 or len(known) < (1 - MAX_UNDEFINED) * len(values):
        return np.nan
    smaller = min((known <= 0).sum(), (known >= 0).sum())
    if smaller >= LEAST_IN_TAIL or np.ptp(known) == 0:
        return float(min(2 * (smaller + 1) / (len(known) + 1), 1))
    return float(2 * distributions.normal_tail(abs(known.mean()) / known.std()))


class Jackknife(NamedTuple):
    """What a jackknife says of an estimate; each of the estimate's shape, NaN where there are less than two parts.

    Attributes:
        low, high: ends of the interval.
        error: standard error, on the scale that the interval comes from.
        p: of the estimate being 0, two-sided. NaN with fewer than three parts, or where the estimate is the same
            without each of them.
    """

    low: np.ndarray
    high: np.ndarray
    error: np.ndarray
    p: np.ndarray


def left_out_sums(table: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums over items, as they are and without each part of the units, for `jackknife_t`.

    A unit is a part; of more than `MAX_LEFT_OUT` units as many parts are left out, each of units at equal distances.

    Args:
        table: a row an item, shape (m, q). unit: see `blocks.Block.units`.

    Returns:
        Shape (1 + n_parts, q).
    """
    of_part = sum_units(table, unit % MAX_LEFT_OUT)
    total = of_part.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - of_part])


def left_out_weights(unit: np.ndarray) -> np.ndarray:
    """Weights of the items: 1 for all, then 0 for the items of one part of the units at a time; see `left_out_sums`.

    Args:
        unit: see `blocks.Block.units`, shape (m,).

    Returns:
        Shape (1 + n_parts, m), 0 or 1.
    """
    part = unit % MAX_LEFT_OUT
    return np.concatenate([np.ones((1, len(unit))), part != np.arange(part.max() + 1)[:, None]])


def jackknife_t(
    values: np.ndarray,
    confidence: float,
    *,
    scale: Callable[[np.ndarray], np.ndarray] | None = None,
    back: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Jackknife:
    """Interval from an estimate without each part of the sample, with Student's t, for few units as well.

    Args:
        values: the estimate, and what it is without each part, shape (1 + n_parts, ...).
        scale, back: to the scale on which the estimate is nearest to normal, and back from it; `numpy.arctanh` and
            `numpy.tanh` for a correlation. An estimate without an interval there, such as a correlation of 1, has none.

    Source: the delete-a-group jackknife, Kott (2001); Student's t with one degree of freedom less than parts, Tukey.
    """
    parts = len(values) - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        values = values if scale is None else scale(values)
        if parts < 2:
            nothing = np.full(values.shape[1:], np.nan)
            return Jackknife(nothing, nothing, nothing, nothing)
        left_out = values[1:]
        error = np.sqrt((parts - 1) / parts * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
        error = np.where(np.isfinite(values[0]), error, np.nan)
        width = distributions.t_quantile((1 + confidence) / 2, parts - 1) * error
        told = (error > LEAST_ERROR) & (parts > 2)
        p = np.where(told, 2 * distributions.t_tail(np.where(told, np.abs(values[0]) / error, 0), parts - 1), np.nan)
    ends = [end if back is None else back(end) for end in (values[0] - width, values[0] + width)]
    return Jackknife(*ends, error, p)


def correlation(x: np.ndarray, y: np.ndarray, cluster: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Pearson's correlation with the jackknife's interval over clusters, on Fisher's scale.

    Args:
        x, y: shape (m,). cluster: number of each value's cluster, from 0, shape (m,).

    Returns:
        The correlation and the ends of its interval; NaN where a column does not vary.
    """
    moments = np.column_stack([np.ones(len(x)), x, y, x**2, y**2, x * y])
    n, a, b, aa, bb, ab = left_out_sums(moments, cluster).T
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (ab - a * b / n) / np.sqrt((aa - a**2 / n) * (bb - b**2 / n))
    found = jackknife_t(r, confidence, scale=np.arctanh, back=np.tanh)
    return float(r[0]), float(found.low), float(found.high)


def bca_interval(values: np.ndarray, estimate: float, jackknife: np.ndarray, confidence: float) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap interval.

    Args:
        values: statistic in each resample, shape (resamples,); NaN where it is undefined.
        estimate: the statistic of all units.
        jackknife: the statistic without one of the units that are drawn, shape (n_units,); or without one of so many
            equal parts of them, which gives nearly the same acceleration.
        confidence: nominal coverage, such as 0.95.

    Returns:
        Lower and upper end. NaN where more than ``MAX_UNDEFINED`` of the resamples are undefined, or any entry of the
        jackknife is; where all entries of the jackknife are equal; and where all resamples are on one side of the
        estimate.

    Source: Efron (1987), Better bootstrap confidence intervals; ties as in scipy.stats.bootstrap.
    """
    known = values[~np.isnan(values)]
    if len(known) < (1 - MAX_UNDEFINED) * len(values) or np.isnan(jackknife).any() or np.ptp(jackknife) <= 1e-14:
        return np.nan, np.nan
    away = jackknife.mean() - jackknife
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    bias = special.ndtri(((known < estimate).mean() + (known <= estimate).mean()) / 2)
    if not np.isfinite(bias):
        return np.nan, np.nan
    normal = bias + special.ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    return tuple(np.quantile(known, special.ndtr(bias + normal / (1 - acceleration * normal))).tolist())


def interval_of_mean(estimates: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Interval of the mean of independent estimates from their own intervals, which need not be symmetric.

    Args:
        estimates, low, high: of each, shape (n,).

    Returns:
        Lower and upper end; NaN where one of the intervals is.

    Source: Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach.
    """
    mean, n = estimates.mean(), len(estimates)
    return tuple(
        float(mean + side * np.sqrt(((end - estimates) ** 2).sum()) / n) for side, end in ((-1, low), (1, high))
    )


def sum_units(values: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sum over the items of each unit.

    Args:
        values: a row an item, shape (m, q).
        unit: see `blocks.Block.units`, shape (m,).

    Returns:
        Shape (n_units, q).
    """
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    return np.add.reduceat(values[order], starts, axis=0)


@functools.lru_cache(maxsize=8)
def weights(n_units: int, resamples: int, seed: int, name: str) -> np.ndarray:
    """How often each unit is drawn into each resample, the same for all blocks with so many units.

    Strategies read the same items, so that their resamples are paired. Shape (resamples, n_units); read only.
    """
    drawn = bootstrap_weights(n_units, resamples, rng=randomness.generator(seed, name, n_units)).astype(float)
    drawn.flags.writeable = False
    return drawn


def resampled_sums(table: np.ndarray, unit: np.ndarray, *, resamples: int, seed: int, name: str) -> np.ndarray:
    """Sums over items, as they are and in each resample of units.

    Args:
        table: a row an item, shape (m, q).
        unit: see `blocks.Block.units`.
        name: what the resamples are for, see `weights`.

    Returns:
        Shape (1 + resamples, q), the sums as they are first. The resamples of one unit alone are NaN: they say nothing.
    """
    sums = sum_units(table, unit)
    if len(sums) < 2:
        return np.concatenate([sums, np.full((resamples, sums.shape[1]), np.nan)])
    return np.concatenate([sums.sum(axis=0, keepdims=True), weights(len(sums), resamples, seed, name) @ sums])
