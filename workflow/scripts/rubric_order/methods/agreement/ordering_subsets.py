"""Errors of scores from a few orderings, read once each, against the item's mean over all D orderings of a study.

The D orderings show each score equally often in each position.

The mean of the reads that were made cannot serve as the true value. It contains the reads whose error is computed, so
the chance of these reads would be in both numbers that are compared, and all orderings together would have no error. So
the true value is the value that this mean would have without chance. Let w be the weights of the orderings in the
score, and c = w - 1 / D. Let mu and v be the expected score and the variance of a read in each ordering. The expected
square of the error is

    (sum of c mu)^2 + sum of w^2 v.

If mu is estimated from reads, the first part is too large by the sum of c^2 v / (number of reads). This amount is
subtracted.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.methods.agreement import subsets
from rubric_order.methods.position.by_ordering import ByOrdering

_CELLS_AT_ONCE = 4_000_000
_CELLS_IN_CACHE = 50_000
_EQUAL = 1e-12  # errors that differ by less are equal
ROUNDING = 1e-18  # a squared error up to this is rounding


class Choices(NamedTuple):
    """Sets of orderings to choose from, sorted by size.

    Attributes:
        masks: True for the orderings of a set, shape (n_sets, D).
        sizes: number of orderings in each set, shape (n_sets,).
        of_pairs: True for sets that hold the reverse of each of their orderings, shape (n_sets,).
        complete: True for sizes with all their sets included, shape (largest size,).
    """

    masks: np.ndarray
    sizes: np.ndarray
    of_pairs: np.ndarray
    complete: np.ndarray


def choices(reverse: np.ndarray, largest: int, most: int, *, seed: int) -> Choices:
    """Sets of one ordering, of two orderings, and so on.

    Args:
        reverse: index of each ordering's reverse, shape (D,); -1 if the reverse was not read.
        largest: size of the largest sets, at most D.
        most: largest number of sets of one size. If there are more sets, `most` sets are drawn at random. For an even
            size, up to `most` further sets are then drawn that consist of pairs of an ordering and its reverse.
        seed: seed of the draws.
    """
    count = len(reverse)
    first = np.flatnonzero(reverse > np.arange(count))
    pairs = np.eye(count, dtype=bool)[first] | np.eye(count, dtype=bool)[reverse[first]]
    parts, complete = [], []
    for size in range(1, largest + 1):
        rng = randomness.generator(seed, "sets of orderings", count, size)
        masks: np.ndarray = subsets.of_one_size(count, size, most, rng=rng).astype(bool)
        complete.append(len(masks) == math.comb(count, size))
        if not complete[-1] and size % 2 == 0 and size // 2 <= len(pairs):
            more = subsets.of_one_size(len(pairs), size // 2, most, rng=rng).astype(int) @ pairs > 0
            masks = np.unique(np.concatenate([more, masks]), axis=0)[::-1]
        parts.append(masks)
    every = np.concatenate(parts)
    mirrored = np.where(reverse >= 0, every[:, reverse], False)
    of_pairs = (every == mirrored).all(axis=1)
    return Choices(every, every.sum(axis=1), of_pairs, np.array(complete))


class Noise(NamedTuple):
    """Variance by chance in the reads from which errors are computed.

    Attributes:
        of_read: variance of one read, shape (m, D).
        of_mean: variance of the mean of the reads that were made, shape (m, D).
    """

    of_read: np.ndarray
    of_mean: np.ndarray


def noise(reads: ByOrdering) -> Noise:
    """Variance by chance of the reads.

    If neither repeats nor option probabilities give this variance, all variance of an item's reads counts as chance,
    after the effects of orderings on all items are subtracted.
    """
    variance = reads.variance
    if not reads.known_from:
        variance = np.broadcast_to((reads.residual_variance * reads.times.mean(axis=1))[:, None], reads.means.shape)
    return Noise(variance, variance / reads.times)


def no_noise(reads: ByOrdering) -> Noise:
    """Noise of 0: no difference between reads counts as chance."""
    nothing = np.zeros(reads.means.shape)
    return Noise(nothing, nothing)


def squares(means: np.ndarray, chance: Noise, masks: np.ndarray) -> np.ndarray:
    """Square of the error of each item's mean over each set of orderings.

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        chance: variance by chance of one read, and of each of the means.
        masks: True for the orderings of each set, shape (n_sets, D).

    Returns:
        Estimate for each item of the expectation over the chance of reads, shape (m, n_sets). It can be below 0 by
        chance.
    """
    weights = masks / masks.sum(axis=1, keepdims=True)
    apart = weights - 1 / means.shape[1]
    away = means - means.mean(axis=1, keepdims=True)
    return (away @ weights.T) ** 2 + chance.of_read @ (weights**2).T - chance.of_mean @ (apart**2).T


def group_squares(means: np.ndarray, chance: Noise, masks: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Sums of `squares` over the items of each group, shape (n_groups, n_sets).

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        chance: variance by chance of one read, and of each of the means.
        masks: True for the orderings of each set, shape (n_sets, D).
        group: index of each item's group, from 0, shape (m,).
    """
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    means, chance = means[order], Noise(*(part[order] for part in chance))
    step = max(1, _CELLS_AT_ONCE // len(means))
    parts = [masks[start : start + step] for start in range(0, len(masks), step)]
    return np.concatenate([np.add.reduceat(squares(means, chance, part), starts, axis=0) for part in parts], axis=1)


def random_squares(means: np.ndarray, chance: Noise, sizes: np.ndarray) -> np.ndarray:
    """Expected square of the error of a mean over different orderings that are drawn at random.

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        chance: variance by chance of one read, and of each of the means.
        sizes: numbers of orderings that are drawn, shape (q,).

    Returns:
        Shape (m, q).

    Source: sampling without replacement, Cochran (1977), Sampling Techniques, Theorem 2.2.
    """
    return _of_units(means, means.shape[1], sizes, sizes, chance)


def pair_squares(means: np.ndarray, chance: Noise, reverse: np.ndarray, sizes: np.ndarray) -> np.ndarray | None:
    """Expected square of the error of a mean over random pairs, each of an ordering and its reverse.

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        chance: variance by chance of one read, and of each of the means.
        reverse: index of each ordering's reverse, shape (D,); -1 if the reverse was not read.
        sizes: numbers of orderings in the drawn pairs, even, shape (q,).

    Returns:
        Shape (m, q). None if any ordering was read without its reverse.
    """
    if (reverse < 0).any():
        return None
    first = np.flatnonzero(reverse > np.arange(len(reverse)))
    return _of_units((means[:, first] + means[:, reverse[first]]) / 2, len(reverse), sizes // 2, sizes, chance)


def _of_units(units: np.ndarray, count: int, drawn: np.ndarray, sizes: np.ndarray, chance: Noise) -> np.ndarray:
    """Expected square of the error of a mean over random units. A unit is one ordering, or a pair of orderings.

    Args:
        units: mean score of each item in each unit, shape (m, U).
        count: number of all orderings.
        drawn: numbers of units that are drawn, shape (q,).
        sizes: numbers of orderings in the drawn units, shape (q,).
        chance: variance by chance of one read, and of the mean of the reads of one ordering.
    """
    total = units.shape[1]
    left = (total - drawn) / (drawn * max(total - 1, 1))
    of_read, of_mean = (part.sum(axis=1)[:, None] for part in chance)
    between = units.var(axis=1)[:, None] * left
    return between + of_read / (sizes * count) - of_mean * (1 / sizes - 1 / count) / count


def chosen(sums: np.ndarray, count: np.ndarray, fold: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Set that is chosen for each fold: the set with the least error in the other folds, or the first of equal sets.

    Args:
        sums: sum of the squared errors of each group by each set, shape (n_groups, n_sets).
        count: number of items of each group, shape (n_groups,).
        fold: index of each group's fold, from 0, shape (n_groups,).
        usable: indices of the sets to choose from.

    Returns:
        Index of the set, shape (n_folds + 1,). The last value is the choice by all groups.
    """
    of_fold = np.zeros((int(fold.max()) + 1, len(usable)))
    np.add.at(of_fold, fold, sums[:, usable])
    items = np.bincount(fold, weights=count)
    others = np.concatenate([of_fold.sum(axis=0) - of_fold, of_fold.sum(axis=0, keepdims=True)])
    errors = others / np.append(items.sum() - items, items.sum())[:, None]
    return usable[(errors <= errors.min(axis=1, keepdims=True) + _EQUAL).argmax(axis=1)]


def held_out(sums: np.ndarray, fold: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """Sum of squared errors of each group by the set that the other folds chose, shape (n_groups,).

    Args:
        sums: sum of the squared errors of each group by each set, shape (n_groups, n_sets).
        fold: index of each group's fold, from 0, shape (n_groups,).
        choice: index of the set that is chosen for each fold, shape (n_folds + 1,), see `chosen`.
    """
    return sums[np.arange(len(sums)), choice[fold]]


def held_out_draws(
    tables: Sequence[np.ndarray], count: np.ndarray, fold: np.ndarray, usable: np.ndarray, weights: np.ndarray
) -> list[np.ndarray]:
    """Sums of squared errors by the sets that other folds choose. Sets are chosen anew in each resample of groups.

    A group stays in its fold. So a set's error is never computed on a group, or a copy of a group, that chose this set.

    Args:
        tables: sums of squared errors of each group by each set, each of shape (n_groups, n_sets). The first table
            determines the choice of sets.
        count: number of items of each group, shape (n_groups,).
        fold: index of each group's fold, from 0, shape (n_groups,).
        usable: indices of the sets to choose from.
        weights: how often each group is in each resample, shape (resamples, n_groups).

    Returns:
        One array for each table, shape (resamples,).
    """
    members = [np.flatnonzero(fold == number) for number in range(int(fold.max()) + 1)]
    items = weights @ count
    of_sets = [table[:, usable] for table in tables]
    sums = np.zeros((len(tables), len(weights)))
    step = max(1, _CELLS_IN_CACHE // len(usable))
    for start in range(0, len(weights), step):
        rows = slice(start, start + step)
        parts = [weights[rows, own] @ of_sets[0][own] for own in members]
        errors = np.sum(parts, axis=0)
        for own, part in zip(members, parts, strict=True):
            others = errors - part
            equal = _EQUAL * np.maximum(items[rows] - weights[rows, own] @ count[own], 1)
            choice = (others <= (others.min(axis=1) + equal)[:, None]).argmax(axis=1)
            for total, table in zip(sums, of_sets, strict=True):
                total[rows] += np.einsum("rg,gr->r", weights[rows, own], table[np.ix_(own, choice)])
    return [*sums]


class Needed(NamedTuple):
    """Least number of orderings whose error is not above a target; NaN if no number that was examined is enough.

    Attributes:
        estimate: number by the estimated errors.
        low: number by the lower ends of the errors' intervals.
        high: number by the upper ends of the errors' intervals.
    """

    estimate: float
    low: float
    high: float


def needed(sizes: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray, target: float) -> Needed:
    """Least size from which on errors are not above a target.

    Args:
        sizes: numbers of orderings in rising order, shape (q,).
        errors: error of each size, shape (q,).
        low: lower end of the interval of each error, shape (q,). The error replaces an end that is NaN.
        high: upper end of the interval of each error, shape (q,). The error replaces an end that is NaN.
        target: largest acceptable error.

    >>> errors = np.array([0.5, 0.3, 0.2])
    >>> needed(np.array([1, 2, 3]), errors, errors - 0.1, errors + 0.1, 0.3)
    Needed(estimate=2.0, low=2.0, high=3.0)
    """
    return Needed(
        *(_first_within(sizes, np.where(np.isnan(ends), errors, ends), target) for ends in (errors, low, high))
    )


def _first_within(sizes: np.ndarray, values: np.ndarray, target: float) -> float:
    above = np.flatnonzero(values > target + _EQUAL)
    place = above[-1] + 1 if len(above) else 0
    return float(sizes[place]) if place < len(sizes) else np.nan
