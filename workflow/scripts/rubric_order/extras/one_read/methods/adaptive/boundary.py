"""Stopping rule for the reads of an item, learnt from other groups, whose items are read in all orderings.

An item's interval is the mean of its reads, adjusted for their orderings, plus or minus a factor of its standard error.
The factor is the smallest whose wrong claims are few when the other groups' reads are replayed (`learn`).
"""

from typing import NamedTuple

import numpy as np

from rubric_order.extras.one_read.methods.adaptive import sequences, stopping
from rubric_order.extras.one_read.methods.adaptive.stopping import Groups, Stops

FACTORS = np.geomspace(12, 0.5, 65)  # factors that are tried, from the largest
MOST_ROWS = 10_000  # largest product of items and draws on which a factor is tried
MOST_PRIOR = 1000.0  # largest weight of other items' variance, in reads: where items do not differ in variance
_ROUNDING = 1e-9


class Scale(NamedTuple):
    """Number of reads `size` (N) that an item can have, and the lowest and highest possible score."""

    size: int
    low: float
    high: float


class Goal(NamedTuple):
    """Largest width `target` in points, whether an item also stops once its `place` in its group is settled, and the
    share `alpha` of claims that may be wrong.
    """

    target: float
    place: bool
    alpha: float


class Spread(NamedTuple):
    """Mean variance of items' reads, and its weight (in reads) against an item's own, one for all or one per item."""

    variance: float | np.ndarray
    weight: float | np.ndarray


class Boundary(NamedTuple):
    """Learnt rule: offset of each ordering, shape (N,), summing to 0; spread after these; factor of errors; groups.

    With an infinite factor (too little to learn from), reading stops only by bounds that are certain.
    """

    offsets: np.ndarray
    spread: "Spread"
    factor: float
    n_groups: int


class Paths(NamedTuple):
    """Adjusted mean after each read and its error, shape (m, t), and bounds by `sequences.certain`, shape (m, t, 2)."""

    estimate: np.ndarray
    error: np.ndarray
    certain: np.ndarray

    def reach(self, factor: float) -> np.ndarray:
        """Half-width of each interval, shape (m, t); infinite for an infinite factor, even if the error is 0."""
        with np.errstate(invalid="ignore"):
            reach = factor * self.error
        return np.where(self.error == 0, np.inf if np.isinf(factor) else 0.0, reach)

    def within(self, reach: np.ndarray) -> np.ndarray:
        """Intervals of half-width `reach` about the estimates, cut at `certain`, shape (m, t) -> (m, t, 2)."""
        low, high = self.certain[..., 0], self.certain[..., 1]
        return np.stack([np.clip(self.estimate + side * reach, low, high) for side in (-1, 1)], axis=-1)


class Claims(NamedTuple):
    """Estimate and interval of each item where it was stopped, shape (m,)."""

    stops: Stops
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def paths(values: np.ndarray, offsets: np.ndarray, spread: Spread, scale: Scale) -> Paths:
    """Estimates after each read, from scores in the order of the reads and their orderings' offsets, shape (m, t)."""
    reads = np.arange(1, values.shape[1] + 1)
    adjusted = values - offsets
    mean = np.cumsum(adjusted, axis=1) / reads
    squares = np.maximum(np.cumsum(adjusted**2, axis=1) - reads * mean**2, 0)
    variance, weight = (np.broadcast_to(part, len(values))[:, None] for part in spread)
    variance = (weight * variance + squares) / (weight + reads - 1)
    error = np.sqrt(variance * (scale.size - reads) / (scale.size * reads))
    bounds = sequences.certain(values, size=scale.size, low=scale.low, high=scale.high)
    return Paths(np.clip(mean, bounds[..., 0], bounds[..., 1]), error, bounds)


def claims(walk: Paths, factor: float, goal: Goal, scale: Scale, groups: Groups) -> Claims:
    """Interval of each item at the read at which a factor stops it."""
    reach = walk.reach(factor)
    ends = walk.within(reach)
    # An interval that is cut at an end of the scale is narrow on one side only. So the width that counts is the width
    # without the cut, or the width of the certain bounds, whichever is smaller.
    widths = np.minimum(2 * reach, walk.certain[..., 1] - walk.certain[..., 0])
    stops = stopping.stop(widths, scale.size, goal.target, groups, places=ends if goal.place else None)
    return Claims(stops, stops.taken(walk.estimate), *stops.taken(ends).T)


def wrong(claimed: Claims, truth: np.ndarray, groups: Groups) -> np.ndarray:
    """True where the interval misses the mean of all reads, or the item stopped for a wrong place; shape (m,)."""
    missed = (truth < claimed.low - _ROUNDING) | (truth > claimed.high + _ROUNDING)
    placed = np.flatnonzero(claimed.stops.reason == stopping.PLACE)
    missed[placed] |= ~right_places(claimed.estimate, truth, groups, placed)
    return missed


def right_places(estimate: np.ndarray, truth: np.ndarray, groups: Groups, chosen: np.ndarray) -> np.ndarray:
    """True for those of the `chosen` items that are on the right side of each other item of their group, shape (k,)."""
    signs = []
    for values in (estimate, truth):
        table = np.full(groups.shape, np.nan)
        table[groups.group, groups.slot] = values
        signs.append(np.sign(np.round(values[chosen, None] - table[groups.group[chosen]], 9)))
    return ((signs[0] == signs[1]) | np.isnan(signs[0])).all(axis=1)


def offsets_of(values: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean departure of each ordering from the item's mean: over all groups (N,), and without each (groups, N)."""
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, values - values.mean(axis=1, keepdims=True))
    sizes = np.bincount(group)[:, None]
    return sums.sum(axis=0) / len(values), (sums.sum(axis=0) - sums) / np.maximum(len(values) - sizes, 1)


def spreads(values: np.ndarray, group: np.ndarray, offsets: np.ndarray) -> tuple[Spread, Spread]:
    """Spread after the offsets, over all groups and without each group, shape (groups,).

    The weight is that of a scaled F distribution with the moments of the items' variances: Smyth (2004), by moments
    instead of logarithms, because variances can be 0.
    """
    variance = (values - offsets).var(axis=1, ddof=1)
    sums = np.stack([np.bincount(group, part) for part in (np.ones(len(variance)), variance, variance**2)])
    total = sums.sum(axis=1, keepdims=True)
    count, first, second = np.hstack([total, total - sums])
    degrees = values.shape[1] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nan_to_num(first / count)
        ratio = degrees * (second / count / mean**2 - 1)
        weight = np.where(ratio > 2, (4 * ratio + 2 * degrees - 4) / (ratio - 2), MOST_PRIOR)
    weight = np.minimum(weight, MOST_PRIOR)
    return Spread(float(mean[0]), float(weight[0])), Spread(mean[1:], weight[1:])


def learn(
    values: np.ndarray,
    group: np.ndarray,
    cell: np.ndarray,
    scale: Scale,
    goal: Goal,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Boundary:
    """Smallest factor whose wrong claims stay few when items (m, N) are replayed in up to `draws` random orders.

    Few: at this factor and all larger ones, (sum of groups' wrong shares + what one more group would add, `_unseen`) /
    (groups + 1) <= alpha, and the same numerator over (sum of shares that stop early + 1) <= alpha, so that wrong
    claims do not hide among items read to their end. Both hold with groups counting the same, and by their items.
    Offsets and spread of a group come from the others; `cell` is the set in which an item has its place. Infinite if no
    factor is good enough (fewer than 19 groups at 0.05).

    Source: Angelopoulos et al. (2024), Conformal risk control, Theorem 1, where one more group adds 1. Ours: groups as
    the sample and by size, the smaller addition, held-out offsets, the second condition.
    """
    count, size = int(group.max()) + 1, scale.size
    overall, without = offsets_of(values, group)
    spread, others = spreads(values, group, overall)
    final = Boundary(overall, spread, np.inf, count)
    if 1 / (count + 1) > goal.alpha:
        return final
    draws = max(1, min(draws, MOST_ROWS // len(values)))
    order = rng.permuted(np.tile(np.arange(size), (len(values) * draws, 1)), axis=1)
    item = np.tile(np.arange(len(values)), draws)
    drawn: np.ndarray = np.repeat(np.arange(draws), len(values))
    scores = np.take_along_axis(values[item], order, axis=1)
    shift = np.take_along_axis(without[group[item]], order, axis=1)
    walk = paths(scores, shift, Spread(*(np.asarray(part)[group[item]] for part in others)), scale)
    groups = stopping.grouped(cell[item] + (int(cell.max()) + 1) * drawn)
    truth, sizes = values.mean(axis=1)[item], np.bincount(group) * draws
    weights = np.stack([np.ones(count), sizes / sizes.mean()])
    most, best = np.zeros(2), np.inf
    for factor in FACTORS:
        claimed = claims(walk, float(factor), goal, scale, groups)
        share = np.bincount(group[item], wrong(claimed, truth, groups)) / sizes
        early = np.bincount(group[item], claimed.stops.reads < size) / sizes
        expected = (weights * share).sum(axis=1) + [_unseen(weight * share) for weight in weights]
        most = np.maximum(most, expected)
        if (most / (count + 1) > goal.alpha).any():
            break
        if (expected / ((weights * early).sum(axis=1) + 1) <= goal.alpha).all():
            best = float(factor)
    return final._replace(factor=best)


def _unseen(share: np.ndarray) -> float:
    """Expected addition of one more group to the sum of wrong shares, at a factor chosen without it: the mean share
    weighted by itself.

    Without a group, a smaller factor would do, by an amount in proportion to the group's share. 1 if all or none of
    each group's claims are wrong, as in conformal prediction.

    >>> _unseen(np.array([1.0, 0, 0, 0])), _unseen(np.array([0.25, 0.25, 0.5, 0]))
    (1.0, 0.375)
    """
    total = float(share.sum())
    return float((share**2).sum()) / total if total > 0 else 1.0
