"""Errors of scores from a few orderings, read once each, against the item's mean over all D orderings of a study.

For weights w of the orderings, c = w - 1 / D, and mean mu and variance v of a read, the expected square is (sum of c
mu)^2 + sum of w^2 v. With mu from reads, the first part is too large by the sum of c^2 v / (number of reads), which is
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
    """Sets of orderings, sorted by size: `masks` (n_sets, D), `of_pairs` for sets of orderings with their reverses,
    `complete` for sizes of which all sets are here.
    """

    masks: np.ndarray
    sizes: np.ndarray
    of_pairs: np.ndarray
    complete: np.ndarray


def choices(reverse: np.ndarray, largest: int, most: int, *, seed: int) -> Choices:
    """Sets of one ordering, of two, up to `largest`. `reverse` indexes each ordering's reverse, -1 if not read.

    Of more than `most` sets of a size, `most` are drawn, and for even sizes as many of orderings with reverses.
    """
    count = len(reverse)
    first = np.flatnonzero(reverse > np.arange(count))
    pairs = np.eye(count, dtype=bool)[first] | np.eye(count, dtype=bool)[reverse[first]]
    parts, complete = [], []
    for size in range(1, largest + 1):
        rng = randomness.generator(seed, "sets of orderings", count, size)
        masks: np.ndarray = subsets.one_size(count, size, most, rng=rng).astype(bool)
        complete.append(len(masks) == math.comb(count, size))
        if not complete[-1] and size % 2 == 0 and size // 2 <= len(pairs):
            more = subsets.one_size(len(pairs), size // 2, most, rng=rng).astype(int) @ pairs > 0
            masks = np.unique(np.concatenate([more, masks]), axis=0)[::-1]
        parts.append(masks)
    every = np.concatenate(parts)
    mirrored = np.where(reverse >= 0, every[:, reverse], False)
    of_pairs = (every == mirrored).all(axis=1)
    return Choices(every, every.sum(axis=1), of_pairs, np.array(complete))


class Noise(NamedTuple):
    """Variance by chance of one read, and of the mean of the reads that were made, shape (m, D)."""

    of_read: np.ndarray
    of_mean: np.ndarray


def noise(reads: ByOrdering) -> Noise:
    """Variance by chance of the reads; of an unknown source, all that the orderings' mean effects leave."""
    variance = reads.variance
    if not reads.known_from:
        variance = np.broadcast_to((reads.residual_variance * reads.times.mean(axis=1))[:, None], reads.means.shape)
    return Noise(variance, variance / reads.times)


def no_noise(reads: ByOrdering) -> Noise:
    """Noise of 0: no difference between reads counts as chance."""
    nothing = np.zeros(reads.means.shape)
    return Noise(nothing, nothing)


def squares(means: np.ndarray, chance: Noise, masks: np.ndarray) -> np.ndarray:
    """Square of the error of each item's mean over each set of orderings, expected over the chance of reads, shape (m,
    n_sets); below 0 by chance.
    """
    weights = masks / masks.sum(axis=1, keepdims=True)
    apart = weights - 1 / means.shape[1]
    away = means - means.mean(axis=1, keepdims=True)
    return (away @ weights.T) ** 2 + chance.of_read @ (weights**2).T - chance.of_mean @ (apart**2).T


def group_squares(means: np.ndarray, chance: Noise, masks: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Sums of `squares` over the items of each group, shape (n_groups, n_sets)."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    means, chance = means[order], Noise(*(part[order] for part in chance))
    step = max(1, _CELLS_AT_ONCE // len(means))
    parts = [masks[start : start + step] for start in range(0, len(masks), step)]
    return np.concatenate([np.add.reduceat(squares(means, chance, part), starts, axis=0) for part in parts], axis=1)


def random_squares(means: np.ndarray, chance: Noise, sizes: np.ndarray) -> np.ndarray:
    """Expected square of the error of a mean over `sizes` different random orderings, shape (m, q).

    Source: sampling without replacement, Cochran (1977), Sampling Techniques, Theorem 2.2.
    """
    return _unit_squares(means, means.shape[1], sizes, sizes, chance)


def pair_squares(means: np.ndarray, chance: Noise, reverse: np.ndarray, sizes: np.ndarray) -> np.ndarray | None:
    """As `random_squares`, over pairs of an ordering and its reverse; None if any was read without its reverse."""
    if (reverse < 0).any():
        return None
    first = np.flatnonzero(reverse > np.arange(len(reverse)))
    return _unit_squares((means[:, first] + means[:, reverse[first]]) / 2, len(reverse), sizes // 2, sizes, chance)


def _unit_squares(units: np.ndarray, count: int, drawn: np.ndarray, sizes: np.ndarray, chance: Noise) -> np.ndarray:
    total = units.shape[1]
    left = (total - drawn) / (drawn * max(total - 1, 1))
    of_read, of_mean = (part.sum(axis=1)[:, None] for part in chance)
    between = units.var(axis=1)[:, None] * left
    return between + of_read / (sizes * count) - of_mean * (1 / sizes - 1 / count) / count


def chosen(sums: np.ndarray, count: np.ndarray, fold: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Index of the set with the least error in the other folds, then by all groups, shape (n_folds + 1,)."""
    of_fold = np.zeros((int(fold.max()) + 1, len(usable)))
    np.add.at(of_fold, fold, sums[:, usable])
    items = np.bincount(fold, weights=count)
    others = np.concatenate([of_fold.sum(axis=0) - of_fold, of_fold.sum(axis=0, keepdims=True)])
    errors = others / np.append(items.sum() - items, items.sum())[:, None]
    return usable[(errors <= errors.min(axis=1, keepdims=True) + _EQUAL).argmax(axis=1)]


def held_out(sums: np.ndarray, fold: np.ndarray, choice: np.ndarray) -> np.ndarray:
    """Sum of squared errors of each group by the set that the other folds chose, shape (n_groups,)."""
    return sums[np.arange(len(sums)), choice[fold]]


def held_out_draws(
    tables: Sequence[np.ndarray], count: np.ndarray, fold: np.ndarray, usable: np.ndarray, weights: np.ndarray
) -> list[np.ndarray]:
    """Sums of squared errors by the sets that other folds choose anew in each resample; one array (resamples,) for each
    table, the first of which decides.

    A group stays in its fold, so no set's error is computed on a copy of a group that chose it.
    """
    members = [np.flatnonzero(fold == number) for number in range(int(fold.max()) + 1)]
    items = weights @ count
    of_sets = [table[:, usable] for table in tables]
    sums = np.zeros((len(tables), len(weights)))
    step = max(1, _CELLS_IN_CACHE // len(usable))
    for start in range(0, len(weights), step):
        rows = slice(start, start + step)
        parts = [weights[rows, groups] @ of_sets[0][groups] for groups in members]
        errors = np.sum(parts, axis=0)
        for groups, part in zip(members, parts, strict=True):
            others = errors - part
            equal = _EQUAL * np.maximum(items[rows] - weights[rows, groups] @ count[groups], 1)
            choice = (others <= (others.min(axis=1) + equal)[:, None]).argmax(axis=1)
            for total, table in zip(sums, of_sets, strict=True):
                total[rows] += np.einsum("rg,gr->r", weights[rows, groups], table[np.ix_(groups, choice)])
    return [*sums]


class Needed(NamedTuple):
    """Least number of orderings whose error, or end of its interval, is not above a target; NaN if none examined."""

    estimate: float
    low: float
    high: float


def needed(sizes: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray, target: float) -> Needed:
    """Least size from which on errors are not above a target; an end that is NaN is replaced by its error.

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
