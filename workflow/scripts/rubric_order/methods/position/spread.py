"""Spread of the order's effects between single items. The direction of an effect may differ from item to item.

The model of a read of item i under ordering o is

    score = item_i + shift_o + own_io + repetition.

The shift is the same for all items. The own effect is what the ordering adds to this item beyond the shift. Repetition
is what differs between reads of the same item and ordering. Own effects sum to 0 over orderings and over items, and the
standard deviation of own effects is the spread. The spread can be large although no order moves the mean: one half of
the items may gain what the other half loses.
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
    """Mean over items with its interval: a jackknife over clusters, and Student's t with `resampling.degrees`.

    Args:
        values: value of each item, shape (m,).
        unit: index of each item's cluster, from 0 and without gaps, shape (m,).
        confidence: confidence of the outer interval.
        level: the inner interval has a confidence of 1 - 2 `level`.
        added: number that is added to the mean.
        logarithm: True to compute the interval on the scale of the logarithm. This is for a mean of variances from
            which no noise was subtracted. The standard error of such a mean is as large as the mean itself if a few
            items have most of the variance. On this scale, a mean of 0 has an interval without width.
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
    """Ends of both intervals, in standard errors."""
    outer = float(distributions.t_quantile((1 + confidence) / 2, df))
    inner = float(distributions.t_quantile(1 - level, df))
    return [-outer, outer, -inner, inner]


def root(of: NestedIntervals) -> NestedIntervals:
    """Standard deviations from a variance and the ends of its intervals. Values below 0 count as 0."""
    return NestedIntervals(*(float(np.sqrt(np.maximum(value, 0))) for value in of))


def item_variances(
    values: np.ndarray, noise: np.ndarray, unit: np.ndarray, *, shared: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Variance of each item's scores over orderings, without and with the variance of repetition.

    Args:
        values: mean score of each item under each ordering, shape (m, D); NaN where there is no score. An item counts
            if it has at least two means.
        noise: variance of each entry of `values` by repetition, of the same shape; NaN if neither repeats nor option
            probabilities give it.
        unit: index of each item's cluster, from 0 and without gaps, shape (m,).
        shared: True if each column is the same ordering for all items. The shift of all items by each ordering is then
            subtracted. False if columns are random draws of orderings. The shift is then part of the variance.

    Returns:
        Three results:

        - variance of each item over orderings without the variance of repetition, shape (m,); NaN where `noise` is NaN;
        - variance of each item over orderings with the variance of repetition, shape (m,);
        - a number that must be added to the mean over items of either variance, because the subtracted shifts are
          estimates.

        The square of the spread is the mean of the first result plus the third.
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
    """Variances of single reads of each item, for `squared_errors`. All items are read in the same orderings.

    Attributes:
        variance: variance of an item's reads over orderings, with one read in each ordering, in points squared, shape
            (m,). It contains the effects of orderings, both on all items alike and on single items, and chance.
        chance: mean over orderings of the variance of a read by chance, shape (m,).
    """

    variance: np.ndarray
    chance: np.ndarray


def single_reads(
    means: np.ndarray, noise: np.ndarray, times: np.ndarray, unit: np.ndarray, *, known: bool
) -> tuple[SingleReads, SingleReads]:
    """Variances of single reads, from items that may have been read several times in an ordering.

    Args:
        means: mean score of each item under each ordering, shape (m, D); NaN where there is no score. All items share
            the orderings.
        noise: variance of each entry of `means` by repetition, of the same shape; NaN if neither repeats nor option
            probabilities give it.
        times: number of reads of each entry of `means`, shape (m, D).
        unit: index of each item's cluster, from 0 and without gaps, shape (m,).
        known: True if the variances in `noise` are used. False if they are missing: effects of an ordering on single
            items then look like chance.

    Returns:
        Two results: the variances with the most chance possible, and the variances with the least. Both are the same if
        `known`. If not, the first result counts all variance beside the shared shifts as chance, and the second counts
        no variance as chance. NaN for an item without two means.
    """
    given = ~np.isnan(means)
    count = given.sum(axis=1)
    own, whole, _ = item_variances(means, noise, unit, shared=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        if known:
            chance = np.where(given, noise * times, 0).sum(axis=1) / count
            reads = SingleReads(own + chance, chance)
            return reads, reads
        _, beside, added = item_variances(means, noise, unit, shared=True)
        left = (beside + added) * means.shape[1] / (means.shape[1] - 1)
        chance = left * count / np.where(given, 1 / times, 0).sum(axis=1)
    return SingleReads(whole - left + chance, chance), SingleReads(whole, whole * 0)


def squared_errors(reads: SingleReads, k: int, count: int) -> np.ndarray:
    """Expected square of the distance of a mean of k reads from the item's expected mean over all orderings.

    The k reads are made in k different orderings, which are drawn at random. Let S be the variance of single reads, and
    e the part of S that is due to chance. The mean of the k reads has a variance of S / k - (S - e) / D. The second
    term is there because no ordering is drawn twice.

    Args:
        reads: variances of single reads.
        k: number of orderings drawn.
        count: number D of all orderings, at least k.

    Returns:
        Shape (m,), in points squared.

    Source: sampling without replacement, Cochran (1977), Sampling Techniques, Theorem 2.2.

    >>> exact, drawn = SingleReads(np.array([0.5]), np.array([0.0])), SingleReads(np.array([0.5]), np.array([0.5]))
    >>> squared_errors(exact, 1, 2), squared_errors(exact, 2, 2), squared_errors(drawn, 2, 2)
    (array([0.25]), array([0.]), array([0.25]))
    """
    return reads.variance * (1 / k - 1 / count) + reads.chance / count


def moved_by_probabilities(shares: np.ndarray, reference: int) -> np.ndarray:
    """Share of an item's scores that change between a reference ordering and another: the total variation distance.

    At least this share of the scores must change, however scores are drawn, and a larger share need not change.

    Args:
        shares: probability of each score under each ordering, shape (m, D, n); NaN where there are no probabilities.
        reference: index of the reference ordering.

    Returns:
        Mean over the other orderings, shape (m,).
    """
    away = np.abs(shares - shares[:, [reference]]).sum(axis=2) / 2
    return _mean_of_others(np.where(away > additive.ROUNDING, away, away * 0), reference)


def moved_by_repeats(times: np.ndarray, reference: int) -> np.ndarray:
    """Share of an item's scores that another ordering changes, minus the share that a repeat changes.

    In expectation, the result is at most that of `moved_by_probabilities`, and equal to it if repeats never differ.

    Args:
        times: number of times that each score was given under each ordering, shape (m, D, n). An ordering counts if it
            has at least two scores.
        reference: index of the reference ordering.

    Returns:
        Mean over the other orderings, shape (m,); it can be negative by chance. NaN if the reference ordering does not
        count, or no other ordering does.
    """
    reads, within = times.sum(axis=2), moved_by_chance(times)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(reads > 1, 1, np.nan)[..., None] * times / reads[..., None]
    between = 1 - (shares * shares[:, [reference]]).sum(axis=2)
    return _mean_of_others(between - (within + within[:, [reference]]) / 2, reference)


def moved_by_chance(times: np.ndarray) -> np.ndarray:
    """Share of the pairs of reads of one item and ordering that have different scores, shape (m, D).

    Args:
        times: number of times that each score was given under each ordering, shape (m, D, n).
    """
    reads = times.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(reads > 1, 1 - (times * (times - 1)).sum(axis=2) / (reads * (reads - 1)), np.nan)


def _mean_of_others(values: np.ndarray, reference: int) -> np.ndarray:
    others = np.delete(values, reference, axis=1)
    given = ~np.isnan(others)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(given, others, 0).sum(axis=1) / np.where(given.any(axis=1), given.sum(axis=1), np.nan)
