"""Stopping rule for the reads of an item, learnt from other groups, whose items are read in all orderings.

The interval of an item after t reads is centred at the mean of these reads, after the effects of their orderings are
subtracted. These effects come from the other groups. The half-width is a factor times a standard error. The factor is
not taken from a table. To find it, the reads of the other groups are replayed: each item stops as if it were read
adaptively with a factor, and wrong claims are counted. The claim about an item is wrong if the item's interval misses
the mean of all its reads, or if the item stopped because its place was settled, and this place is not the true place.
The chosen factor is the smallest with which the share of wrong claims that is expected in one more group is at most
alpha, the share that may be wrong (see `learn`). This is conformal risk control to the first order in 1 / groups, with
groups as the sample.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.adaptive import sequences, stopping
from rubric_order.methods.adaptive.stopping import Groups, Stops

FACTORS = np.geomspace(12, 0.5, 65)  # factors that are tried, from the largest
MOST_ROWS = 10_000  # largest product of items and draws on which a factor is tried
MOST_PRIOR = 1000.0  # largest weight of other items' variance, in reads: where items do not differ in variance
_ROUNDING = 1e-9


class Scale(NamedTuple):
    """Scores that are possible, and number of reads that an item can have.

    Attributes:
        size: N, number of all reads of an item.
        low: lowest possible score.
        high: highest possible score.
    """

    size: int
    low: float
    high: float


class Goal(NamedTuple):
    """Aim of the reading of an item.

    Attributes:
        target: largest width of the item's interval at which reading stops, in points.
        place: True to stop also where the item's place is settled, that is, where its interval overlaps with the
            interval of no other candidate of its group.
        alpha: share of claims that may be wrong.
    """

    target: float
    place: bool
    alpha: float


class Spread(NamedTuple):
    """Variance of items' reads, and a weight of this variance. Each attribute is one number, or one number per item.

    Attributes:
        variance: mean variance over items.
        weight: weight of this mean relative to an item's own variance, in reads. It is larger if items differ less in
            variance.
    """

    variance: float | np.ndarray
    weight: float | np.ndarray


class Boundary(NamedTuple):
    """Learnt rule.

    Attributes:
        offsets: mean departure of each ordering from the mean of an item, shape (N,); the offsets sum to 0.
        spread: spread of items' reads after the offsets are subtracted.
        factor: factor of standard errors; infinite if there is too little to learn from. With an infinite factor,
            reading stops only by bounds that are certain.
        n_groups: number of groups from which the rule was learnt.
    """

    offsets: np.ndarray
    spread: "Spread"
    factor: float
    n_groups: int


class Paths(NamedTuple):
    """Estimates of items after each read.

    Attributes:
        estimate: mean of the reads after offsets are subtracted, cut at the bounds `certain`, shape (m, t).
        error: standard error of the estimate, shape (m, t).
        certain: bounds that the mean of all reads cannot leave, after each read, shape (m, t, 2), see
            `sequences.certain`.
    """

    estimate: np.ndarray
    error: np.ndarray
    certain: np.ndarray

    def reach(self, factor: float) -> np.ndarray:
        """Half-width of each interval: the factor times the error, shape (m, t).

        For an infinite factor, the half-width is infinite, even if the error is 0.
        """
        with np.errstate(invalid="ignore"):
            reach = factor * self.error
        return np.where(self.error == 0, np.inf if np.isinf(factor) else 0.0, reach)

    def within(self, reach: np.ndarray) -> np.ndarray:
        """Intervals about the estimates, cut at the bounds `certain`, shape (m, t) -> (m, t, 2).

        Args:
            reach: half-width of each interval before it is cut, shape (m, t).
        """
        low, high = self.certain[..., 0], self.certain[..., 1]
        return np.stack([np.clip(self.estimate + side * reach, low, high) for side in (-1, 1)], axis=-1)


class Claims(NamedTuple):
    """Claims about items when they are stopped.

    Attributes:
        stops: when and why the items are stopped.
        estimate: estimate at the stop, shape (m,).
        low: lower end of the interval that is claimed, shape (m,).
        high: upper end of the interval that is claimed, shape (m,).
    """

    stops: Stops
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray


def paths(values: np.ndarray, offsets: np.ndarray, spread: Spread, scale: Scale) -> Paths:
    """Estimates after each read.

    Args:
        values: scores in the order of the reads, shape (m, t); NaN for a read without a score.
        offsets: offsets of the orderings of these reads, shape (m, t).
        spread: mean variance of the reads of other items, and its weight.
        scale: scores that are possible, and number of reads that an item can have.
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
    """Claims about items that are stopped by a factor: the interval of each item at its last read.

    Args:
        walk: estimates after each read so far.
        factor: factor of standard errors that gives half-widths of intervals; it can be infinite.
        goal: target width of intervals, and whether an item also stops when its place is settled.
        scale: scores that are possible, and number of reads that an item can have.
        groups: groups of the items.
    """
    reach = walk.reach(factor)
    ends = walk.within(reach)
    # An interval that is cut at an end of the scale is narrow on one side only. So the width that counts is the width
    # without the cut, or the width of the certain bounds, whichever is smaller.
    widths = np.minimum(2 * reach, walk.certain[..., 1] - walk.certain[..., 0])
    stops = stopping.stop(widths, scale.size, goal.target, groups, places=ends if goal.place else None)
    return Claims(stops, stops.taken(walk.estimate), *stops.taken(ends).T)


def wrong(claimed: Claims, truth: np.ndarray, groups: Groups) -> np.ndarray:
    """True for wrong claims: the interval misses the mean of all reads, or a settled place is not the true place.

    Args:
        claimed: claims about the items.
        truth: mean of all reads of each item, shape (m,), without gaps.
        groups: groups in which items have their places.

    Returns:
        Shape (m,), bool. Places count only for items that were stopped because their place was settled.
    """
    missed = (truth < claimed.low - _ROUNDING) | (truth > claimed.high + _ROUNDING)
    placed = np.flatnonzero(claimed.stops.reason == stopping.PLACE)
    missed[placed] |= ~right_places(claimed.estimate, truth, groups, placed)
    return missed


def right_places(estimate: np.ndarray, truth: np.ndarray, groups: Groups, chosen: np.ndarray) -> np.ndarray:
    """True for items that the estimates put on the right side of each other item of their group.

    Args:
        estimate: estimates, shape (m,).
        truth: true values, shape (m,).
        groups: groups in which items have their places.
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
    """Mean departure of each ordering from an item's mean: over all groups, and without each group.

    Args:
        values: score of each item in each ordering, shape (m, N), without gaps.
        group: index of each item's group, from 0, shape (m,).

    Returns:
        Shape (N,), over all groups; and shape (groups, N), over the groups other than each group.
    """
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, values - values.mean(axis=1, keepdims=True))
    sizes = np.bincount(group)[:, None]
    return sums.sum(axis=0) / len(values), (sums.sum(axis=0) - sums) / np.maximum(len(values) - sizes, 1)


def spreads(values: np.ndarray, group: np.ndarray, offsets: np.ndarray) -> tuple[Spread, Spread]:
    """Spread of items' reads after offsets are subtracted: over all groups, and over the groups other than each group.

    The weight follows from the scaled F distribution that has the mean and the variance of the items' variances.

    Args:
        values: score of each item in each ordering, shape (m, N), without gaps.
        group: index of each item's group, from 0, shape (m,).
        offsets: offsets of the orderings, shape (N,).

    Returns:
        A spread with one number for each attribute, and a spread with attributes of shape (groups,).

    Source: Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression, here by
    moments instead of logarithms, because variances can be 0.
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

    The reads of each item are replayed in `draws` random orders. The offsets and the spread for a group come from the
    other groups. Each factor is tried, from the largest: items are stopped with this factor, and wrong claims about
    them are counted. The result is the smallest factor that is good enough. Two conditions make a factor good enough:

    - Few claims are wrong at this factor and at all larger factors: (sum of the groups' shares of wrong claims + the
      share that one more group would add, see `_unseen`) / (groups + 1) is at most alpha. If groups are exchangeable,
      this condition makes claims about items of further groups wrong with probability alpha, up to terms smaller than
      1 / groups.
    - The numerator of this fraction, divided by (sum of the groups' shares of items that stop early + 1), is at most
      alpha. So wrong claims are not hidden among items that are read to their end.

    Both conditions hold with each group counting the same, and with each group counting as many times as it has items,
    in units of the mean size: so alpha is the share of wrong claims over groups and over items.

    Args:
        values: score of each item in each ordering, shape (m, N), without gaps.
        group: index of each item's group, from 0 without gaps, shape (m,).
        cell: index of the set of items in which an item has its place, such as the items of a group and criterion,
            shape (m,).
        scale: scores that are possible, and number of reads that an item can have.
        goal: target width of intervals, whether an item also stops when its place is settled, and the share `alpha` of
            claims that may be wrong.
        draws: number of random orders of each item; fewer if there are many items (`MOST_ROWS`).
        rng: generator of these orders.

    Returns:
        The boundary. Its factor is infinite if there are too few groups (fewer than 19 with an alpha of 0.05), or if no
        factor is good enough.

    Source: Angelopoulos et al. (2024), Conformal risk control, Theorem 1. In the theorem, one more group adds 1, the
    largest possible share. With an addition of 1, the probability is at most alpha, and with few groups far less. Five
    things are ours: groups as the sample, groups that count by their size, the share that one more group adds, offsets
    and spread without the group to which they are applied, and the second condition.
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
    """Expected addition of one more group to the sum of wrong shares, at a factor that was chosen without this group.

    A factor is chosen for the given groups, and suits these groups better than other groups. If one of them were left
    out of the choice, a smaller factor would be enough: smaller by an amount in proportion to the group's wrong share.
    With this smaller factor, the wrong share of the left-out group would be larger. The addition is the sum of these
    increases, one for each group. If wrong shares fall with the factor at the same rate in all groups, this sum is the
    mean share, weighted by the shares themselves. It is 1 if in each group either all claims are right or all are
    wrong, as in conformal prediction.

    Args:
        share: wrong share of each group's claims, times what the group counts, shape (groups,).

    Returns:
        From 0 to the largest share. It is 1 if no claim is wrong, because nothing then shows that the addition is less.

    >>> _unseen(np.array([1.0, 0, 0, 0])), _unseen(np.array([0.25, 0.25, 0.5, 0]))
    (1.0, 0.375)
    """
    total = float(share.sum())
    return float((share**2).sum()) / total if total > 0 else 1.0
