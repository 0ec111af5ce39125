"""Stopping by what complete reads of other groups say: estimates without their position effect, and how far they err.

The interval of an item after t reads is its mean, less what the orderings that were read add in other groups, plus and
minus a factor times a standard error. The factor is not taken from a table. It is the smallest with which, had the
other groups been read adaptively, few enough claims would have been wrong: conformal risk control to the first order,
with groups as the sample.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.adaptive import sequences, stopping
from rubric_order.methods.adaptive.stopping import Groups, Stops

FACTORS = np.geomspace(12, 0.5, 65)  # that are tried, from the largest
MOST_ROWS = 10_000  # items times draws that a factor is tried on
MOST_PRIOR = 1000.0  # weight of other items' variance, in reads, where items do not differ in it
_ROUNDING = 1e-9


class Scale(NamedTuple):
    """Scores that are possible, and how many reads an item can have.

    Attributes:
        size: N, number of all reads of an item.
        low, high: ends of the scale of scores.
    """

    size: int
    low: float
    high: float


class Goal(NamedTuple):
    """Aim of the reading of an item.

    Attributes:
        target: width of its interval, in points.
        place: stop also where its place among the candidates of its group is settled.
        alpha: share of claims that may be wrong.
    """

    target: float
    place: bool
    alpha: float


class Spread(NamedTuple):
    """Variance of items' reads, and how much items differ in it; one number each, or one an item.

    Attributes:
        variance: mean over items.
        weight: of that beside an item's own variance, in reads.
    """

    variance: float | np.ndarray
    weight: float | np.ndarray


class Boundary(NamedTuple):
    """Rule that was learnt.

    Attributes:
        offsets: what each ordering adds to the mean of an item, shape (N,); they sum to 0.
        spread: of an item's reads without that.
        factor: of standard errors; infinite where there is too little to learn from: only what is certain stops then.
        n_groups: groups that it was learnt on.
    """

    offsets: np.ndarray
    spread: "Spread"
    factor: float
    n_groups: int


class Paths(NamedTuple):
    """Estimates of items after each read.

    Attributes:
        estimate, error: mean without offsets, and its standard error, shape (m, t).
        certain: see `sequences.certain`.
    """

    estimate: np.ndarray
    error: np.ndarray
    certain: np.ndarray

    def reach(self, factor: float) -> np.ndarray:
        """Half of each interval by a factor, shape (m, t); all is known of no error by a finite factor alone."""
        with np.errstate(invalid="ignore"):
            reach = factor * self.error
        return np.where(self.error == 0, np.inf if np.isinf(factor) else 0.0, reach)

    def within(self, reach: np.ndarray) -> np.ndarray:
        """Intervals about the estimates, cut to what is certain, shape (m, t) -> (m, t, 2)."""
        low, high = self.certain[..., 0], self.certain[..., 1]
        return np.stack([np.clip(self.estimate + side * reach, low, high) for side in (-1, 1)], axis=-1)


class Claims(NamedTuple):
    """Claims about items when they are stopped.

    Attributes:
        stops: when and why.
        estimate: shape (m,). low, high: ends of the interval that is claimed, shape (m,).
    """

    stops: Stops
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def paths(values: np.ndarray, offsets: np.ndarray, spread: Spread, scale: Scale) -> Paths:
    """Estimates after each read.

    Args:
        values: scores in the order of the reads, shape (m, t); NaN for a read without one.
        offsets: of the orderings of these reads, shape (m, t).
        spread: of other items.
        scale: see `Scale`.
    """
    reads = np.arange(1, values.shape[1] + 1)
    own = values - offsets
    mean = np.cumsum(own, axis=1) / reads
    squares = np.maximum(np.cumsum(own**2, axis=1) - reads * mean**2, 0)
    variance, weight = (np.broadcast_to(part, len(values))[:, None] for part in spread)
    variance = (weight * variance + squares) / (weight + reads - 1)
    error = np.sqrt(variance * (scale.size - reads) / (scale.size * reads))
    bounds = sequences.certain(values, size=scale.size, low=scale.low, high=scale.high)
    return Paths(np.clip(mean, bounds[..., 0], bounds[..., 1]), error, bounds)


def claims(walk: Paths, factor: float, goal: Goal, scale: Scale, groups: Groups) -> Claims:
    """Items stopped by a factor, each with the interval at its last read.

    Args:
        walk: estimates of the rounds so far.
        factor: see `Boundary`. goal: what to stop for. groups: the items by group.
    """
    reach = walk.reach(factor)
    ends = walk.within(reach)
    # What is certain stops by itself alone: an interval that ends at the end of the scale is narrow on one side only.
    widths = np.minimum(2 * reach, walk.certain[..., 1] - walk.certain[..., 0])
    stops = stopping.stop(widths, scale.size, goal.target, groups, places=ends if goal.place else None)
    return Claims(stops, stops.taken(walk.estimate), *stops.taken(ends).T)


def wrong(claimed: Claims, truth: np.ndarray, groups: Groups) -> np.ndarray:
    """Claims that are wrong: the interval misses the mean of all reads, or a place that was settled is another.

    Args:
        truth: mean of all reads, shape (m,), without gaps.

    Returns:
        Shape (m,), bool.
    """
    missed = (truth < claimed.low - _ROUNDING) | (truth > claimed.high + _ROUNDING)
    placed = np.flatnonzero(claimed.stops.reason == stopping.PLACE)
    missed[placed] |= ~right_places(claimed.estimate, truth, groups, placed)
    return missed


def right_places(estimate: np.ndarray, truth: np.ndarray, groups: Groups, chosen: np.ndarray) -> np.ndarray:
    """Items that stand to each other item of their group as the truth has it.

    Args:
        estimate, truth: shape (m,). groups: the items by group.
        chosen: indices of the items to look at, shape (k,).

    Returns:
        Shape (k,), bool.
    """
    signs = []
    for values in (estimate, truth):
        table = np.full(groups.shape, np.nan)
        table[groups.group, groups.slot] = values
        signs.append(np.sign(np.round(values[chosen, None] - table[groups.group[chosen]], 9)))
    return ((signs[0] == signs[1]) | np.isnan(signs[0])).all(axis=1)


def offsets_of(values: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean that each ordering adds to an item's mean: by all groups, and by all but each group.

    Args:
        values: scores by ordering, shape (m, N), without gaps. group: shape (m,), from 0.

    Returns:
        Shapes (N,) and (groups, N).
    """
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, values - values.mean(axis=1, keepdims=True))
    sizes = np.bincount(group)[:, None]
    return sums.sum(axis=0) / len(values), (sums.sum(axis=0) - sums) / np.maximum(len(values) - sizes, 1)


def spreads(values: np.ndarray, group: np.ndarray, offsets: np.ndarray) -> tuple[Spread, Spread]:
    """Variance of items' reads without offsets, by all groups, and by all but each group.

    The weight is that of the scaled F distribution which has the mean and the variance of the items' variances.

    Args:
        values, group: see `offsets_of`.
        offsets: of the orderings, shape (N,).

    Returns:
        One number each, and shape (groups,) each.

    Source: Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression, by moments in
    the place of logarithms, as variances can be 0.
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
    """Learn a rule from groups that were read completely.

    Each item is read in `draws` random orders. What orderings add to a group, and its variance, come from the other
    groups. A factor is good enough where few claims are wrong, at it and at all larger factors: (sum over groups of
    their wrong shares + what one group more would add, see `_unseen`) / (groups + 1) is at most alpha. Then claims
    about items of further groups are wrong with probability alpha, but for terms smaller than 1 / groups, if groups are
    exchangeable. So that the wrong ones are not hidden among items that are read to their end, they must also be few
    beside the items that stop early.

    Args:
        values: scores by ordering, shape (m, N), without gaps.
        group: number of each item's group, from 0 without gaps, shape (m,).
        cell: number of the items that a place is among, such as those of a group and criterion, shape (m,).
        scale, goal: what can be said, and is wanted.
        draws: random orders of each item; fewer where there are many items (`MOST_ROWS`).
        rng: of these orders.

    Returns:
        A boundary with an infinite factor where groups are too few: with an alpha of 0.05 less than 19.

    Source: Angelopoulos et al. (2024), Conformal risk control, Theorem 1. There one group more adds 1, the most that it
    could: the probability is then at most alpha, and with few groups far less. Groups as the sample, what one more
    adds, the one that is left out and the share of early items are ours.
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
    read = np.take_along_axis(values[item], order, axis=1)
    shift = np.take_along_axis(without[group[item]], order, axis=1)
    walk = paths(read, shift, Spread(*(np.asarray(part)[group[item]] for part in others)), scale)
    groups = stopping.grouped(cell[item] + (int(cell.max()) + 1) * drawn)
    truth, sizes = values.mean(axis=1)[item], np.bincount(group) * draws
    most, best = 0.0, np.inf
    for factor in FACTORS:
        claimed = claims(walk, float(factor), goal, scale, groups)
        share = np.bincount(group[item], wrong(claimed, truth, groups)) / sizes
        early = np.bincount(group[item], claimed.stops.reads < size) / sizes
        expected = share.sum() + _unseen(share)
        most = max(most, expected)
        if most / (count + 1) > goal.alpha:
            break
        if expected / (early.sum() + 1) <= goal.alpha:
            best = float(factor)
    return final._replace(factor=best)


def _unseen(share: np.ndarray) -> float:
    """Sum that one group more is expected to add to the wrong shares of groups, at a factor that was chosen without it.

    A factor is chosen for the groups that are there, and suits them better than others. Without one of them a smaller
    factor would have done, by an amount in proportion to its own share; so its share would have been larger. Where
    shares fall with the factor at one rate, the sum of that over groups is the mean share, weighted by the shares
    themselves. It is 1 where a group is right or wrong as a whole, as in conformal prediction.

    Args:
        share: wrong share of each group's claims, shape (groups,).

    Returns:
        From 0 to 1; 1 where no claim is wrong, since nothing says less.

    >>> _unseen(np.array([1.0, 0, 0, 0])), _unseen(np.array([0.25, 0.25, 0.5, 0]))
    (1.0, 0.375)
    """
    total = float(share.sum())
    return float((share**2).sum()) / total if total > 0 else 1.0
