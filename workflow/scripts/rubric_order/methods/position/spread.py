"""Spread of the order's effects between single items: score = item_i + shift_o + own_io + repetition.

Own effects sum to 0 over orderings and items; their standard deviation is the spread, which can be large where no order
moves the mean.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import additive, distributions, resampling

UNKNOWN, EXACT = "", "option probabilities"  # sources of the variance of repetition, besides repeats


class NestedIntervals(NamedTuple):
    """An estimate with an outer and an inner interval over clusters; NaN for values that cannot be computed."""

    estimate: float
    low: float
    high: float
    inner_low: float
    inner_high: float


def mean_interval(
    values: np.ndarray,
    unit: np.ndarray,
    *,
    confidence: float,
    level: float,
    added: float = 0.0,
    logarithm: bool = False,
) -> NestedIntervals:
    """Mean over items, plus `added`, by a jackknife over clusters; the inner interval has confidence 1 - 2 `level`.

    `logarithm` is for variances from which no noise was subtracted: a few items can make the error as large as the
    mean. A mean of 0 then has no width.
    """
    sums = resampling.sum_units(np.column_stack([np.ones(len(values)), values]), unit)
    total, units = sums.sum(axis=0), len(sums)
    mean = total[1] / total[0] + added
    df = resampling.degrees(sums[:, 0])
    if logarithm and mean <= additive.ROUNDING**2 and not values.any():
        return NestedIntervals(0.0, 0.0, 0.0, 0.0, 0.0)
    if units < 3 or not df > 0:
        return NestedIntervals(mean, *[np.nan] * 4)
    left_out = (total[1] - sums[:, 1]) / (total[0] - sums[:, 0])
    error = np.sqrt((units - 1) / units * np.square(left_out - left_out.mean()).sum())
    if logarithm and mean > 0:
        ends = [np.exp(np.log(mean) + side * error / mean) for side in _widths(df, confidence, level)]
    else:
        ends = [mean + side * error for side in _widths(df, confidence, level)]
    return NestedIntervals(mean, *map(float, ends))


def _widths(df: float, confidence: float, level: float) -> list[float]:
    outer = float(distributions.t_quantile((1 + confidence) / 2, df))
    inner = float(distributions.t_quantile(1 - level, df))
    return [-outer, outer, -inner, inner]


def root(of: NestedIntervals) -> NestedIntervals:
    """Standard deviations from a variance and the ends of its intervals. Values below 0 count as 0."""
    return NestedIntervals(*(float(np.sqrt(np.maximum(value, 0))) for value in of))


def item_variances(
    values: np.ndarray, noise: np.ndarray, unit: np.ndarray, *, shared: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Variance of each item's scores over orderings without and with repetition, (m,), and what to add to either mean
    because shifts are estimates.

    `values` (m, D) and their `noise` by repetition, NaN if unknown. `shared`: columns are the same orderings, whose
    shifts are subtracted; else draws. The squared spread is the first mean plus the third.
    """
    count = (~np.isnan(values)).sum(axis=1)
    added, divisor = 0.0, 1.0
    if shared:
        cells = additive.Cells(np.nan_to_num(values), (~np.isnan(values)).astype(float))
        fit = additive.shifts(cells, unit)
        if fit is None:
            nothing = np.full(len(values), np.nan)
            return nothing, nothing, np.nan
        values = values - fit.shift
        units, orderings = len(fit.influence), values.shape[1]
        added = float(np.square(fit.influence).sum() / orderings) * (units / (units - 1) if units > 1 else np.nan)
        divisor = (orderings - 1) / orderings  # turns the variance of a sample into the variance over all D orderings
    several = count > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        away = values - (np.nansum(values, axis=1) / count)[:, None]
        away = np.where(np.abs(away) > additive.ROUNDING, away, np.where(np.isnan(away), np.nan, 0))
        whole = np.where(several, np.nansum(np.square(away), axis=1) / (count - 1), np.nan)
        missing = (np.isnan(noise) & ~np.isnan(values)).any(axis=1)
        chance = np.where(missing, np.nan, np.where(np.isnan(values), 0, noise).sum(axis=1) / count)
    return divisor * (whole - chance), divisor * whole, added


class SingleReads(NamedTuple):
    """Variance of an item's single reads over its orderings, and its part by chance, (m,), in points squared."""

    variance: np.ndarray
    chance: np.ndarray


def single_reads(
    means: np.ndarray, noise: np.ndarray, times: np.ndarray, unit: np.ndarray, *, known: bool
) -> tuple[SingleReads, SingleReads]:
    """Variances of single reads with the most and the least chance possible; the same if `noise` is `known`.

    Else all variance beside shared shifts is chance, or none. NaN for an item without two means.
    """
    has_mean = ~np.isnan(means)
    count = has_mean.sum(axis=1)
    beyond_repetition, whole, _ = item_variances(means, noise, unit, shared=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        if known:
            chance = np.where(has_mean, noise * times, 0).sum(axis=1) / count
            reads = SingleReads(beyond_repetition + chance, chance)
            return reads, reads
        _, beside, added = item_variances(means, noise, unit, shared=True)
        left = (beside + added) * means.shape[1] / (means.shape[1] - 1)
        chance = left * count / np.where(has_mean, 1 / times, 0).sum(axis=1)
    return SingleReads(whole - left + chance, chance), SingleReads(whole, whole * 0)


def squared_errors(reads: SingleReads, k: int, count: int) -> np.ndarray:
    """Expected square of the distance of a mean of k reads, in different random orderings, from the mean over all,
    (m,): S / k - (S - e) / D.

    Source: sampling without replacement, Cochran (1977), Sampling Techniques, Theorem 2.2.

    >>> exact, drawn = SingleReads(np.array([0.5]), np.array([0.0])), SingleReads(np.array([0.5]), np.array([0.5]))
    >>> squared_errors(exact, 1, 2), squared_errors(exact, 2, 2), squared_errors(drawn, 2, 2)
    (array([0.25]), array([0.]), array([0.25]))
    """
    return reads.variance * (1 / k - 1 / count) + reads.chance / count


def moved_by_probabilities(shares: np.ndarray, reference: int) -> np.ndarray:
    """Least share of an item's scores that change from the reference ordering, however drawn: total variation, (m, D,
    n) -> (m,), mean over others.
    """
    away = np.abs(shares - shares[:, [reference]]).sum(axis=2) / 2
    return _mean_of_others(np.where(away > additive.ROUNDING, away, away * 0), reference)


def moved_by_repeats(times: np.ndarray, reference: int) -> np.ndarray:
    """Share of an item's scores that another ordering changes, less what a repeat changes, from counts (m, D, n) ->
    (m,); at most `moved_by_probabilities` in expectation.

    Orderings with one score do not count.
    """
    reads, within = times.sum(axis=2), moved_by_chance(times)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(reads > 1, 1, np.nan)[..., None] * times / reads[..., None]
    between = 1 - (shares * shares[:, [reference]]).sum(axis=2)
    return _mean_of_others(between - (within + within[:, [reference]]) / 2, reference)


def moved_by_chance(times: np.ndarray) -> np.ndarray:
    """Share of the pairs of reads of one item and ordering that have different scores, (m, D, n) -> (m, D)."""
    reads = times.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(reads > 1, 1 - (times * (times - 1)).sum(axis=2) / (reads * (reads - 1)), np.nan)


def _mean_of_others(values: np.ndarray, reference: int) -> np.ndarray:
    others = np.delete(values, reference, axis=1)
    is_known = ~np.isnan(others)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(is_known, others, 0).sum(axis=1) / np.where(is_known.any(axis=1), is_known.sum(axis=1), np.nan)
