"""Errors of scores from few reads, relative to the item's mean over a half of its orderings without these reads.

A half may shift the scores of all items, for example if its orderings are descending. This shift is estimated in other
groups and subtracted: so the target is the mean over both halves, estimated from one half.

Moments are kept item by item, so that groups of items can be left out. If a method chooses orderings at random, moments
are expectations over all choices: nothing is drawn.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.calibration.halves import Halves

COLUMNS = ("used", "square", "error", "rated", "human", "human_square", "value", "value_square", "product")
_NO_VARIANCE = 1e-12  # a smaller variance is that of a constant, up to rounding


class Expected(NamedTuple):
    """Expectations for each item over the orderings that a method may read; each of shape (m,).

    Attributes:
        error, square: expectation of the error (the score less the mean of the other half), and of the squared error.
        value, value_square: expectation of the score, and of its square.
    """

    error: np.ndarray
    square: np.ndarray
    value: np.ndarray
    value_square: np.ndarray

    def moments(self, human: np.ndarray, used: np.ndarray | float = 1.0) -> np.ndarray:
        """Moments of each item, shape (m, len(COLUMNS)).

        Args:
            human: human scores, shape (m,); NaN where there is none. Human scores and scores are best given as
                differences from the middle of their scale, to avoid rounding errors.
            used: weight of each item.
        """
        rated = ~np.isnan(human)
        y = np.where(rated, human, 0)
        columns = [np.ones(len(y)), self.square, self.error, rated, y, y**2]
        columns += [rated * self.value, rated * self.value_square, self.value * y]
        return np.column_stack(columns) * np.reshape(used, (-1, 1))


def levels(means: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mean of each half of an item, less the half's mean departure from the mean of both halves in other groups.

    Args:
        means: means of both halves, shape (m, 2), see `halves.Halves.means`.
        group: number of each item's group, from 0, shape (m,); at least two.
    """
    return means - _of_other_groups(means - means.mean(axis=1, keepdims=True), group)


def single(values: np.ndarray, targets: np.ndarray, place: np.ndarray | int) -> Expected:
    """One read per item, in a given ordering.

    Args:
        values, targets: scores, and their targets from the other half, shape (m, D).
        place: index of the ordering, one for all items or one for each.
    """
    rows = np.arange(len(values))
    x, target = values[rows, place], targets[rows, place]
    return Expected(x - target, (x - target) ** 2, x, x**2)


def several(values: np.ndarray, levels: np.ndarray, halves: Halves, reads: int) -> Expected:
    """Mean of some reads per item, in different orderings of one half, drawn at random.

    Args:
        values: see `single`. levels: levels of both halves, see the function `levels`.
        reads: number of reads per item, at most as many as a half has.
    """
    parts = []
    for side, chosen in enumerate((~halves.second, halves.second)):
        own, size = values[:, chosen], int(chosen.sum())
        value, error = own.mean(axis=1), own.mean(axis=1) - levels[:, 1 - side]
        left = own.var(axis=1) * (size - reads) / (reads * max(size - 1, 1))  # sampling without replacement
        parts.append((error, error**2 + left, value, value**2 + left))
    return Expected(*(np.mean(both, axis=0) for both in zip(*parts, strict=True)))


def opposite(values: np.ndarray, reads: np.ndarray, halves: Halves, group: np.ndarray) -> Expected | None:
    """Mean of the reads in an ordering, drawn at random, and in its reverse.

    The two orderings are in different halves, so that each half contains one of the two reads. The target is the level
    of the other reads of a half, corrected for the left-out ordering's effect in other groups. It has one read less
    than a half; the increase of the squared error from this is subtracted.

    Args:
        values: scores to average, shape (m, D). reads: scores that targets are made from, shape (m, D).
        group: number of each item's group, from 0, shape (m,).

    Returns:
        None where no ordering was read with its reverse in the other half, or a half has one read.
    """
    firsts = np.flatnonzero((halves.reverse >= 0) & ~halves.second)
    if not len(firsts) or halves.size < 2:
        return None
    means = halves.means(reads)
    level = levels(means, group)
    sizes = np.array([(~halves.second).sum(), halves.second.sum()])
    side: np.ndarray = halves.second.astype(int)
    own = means[:, side]
    added = _of_other_groups(reads - own, group)
    without = level[:, side] + (own - reads + added) / (sizes[side] - 1)
    both = np.concatenate([firsts, halves.reverse[firsts]])
    value = (values[:, both] + values[:, halves.reverse[both]]) / 2
    error = value - without[:, both]
    excess = noise(level)[:, None] / (sizes[side[both]] - 1)
    parts = (error, error**2 - excess, value, value**2)
    return Expected(*(part.mean(axis=1) for part in parts))


def _of_other_groups(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mean of each column over the items of other groups, shape (m, D)."""
    groups = int(group.max()) + 1
    totals, counts = np.zeros((groups, values.shape[1])), np.bincount(group, minlength=groups)
    np.add.at(totals, group, values)
    others = len(values) - counts
    return ((values.sum(axis=0) - totals) / np.maximum(others, 1)[:, None])[group]


class Summary(NamedTuple):
    """Errors of a method over items, each of the shape of the sums without their last axis.

    Attributes:
        rmse: root mean square of the score less the other half's level.
        error: like `rmse`, after the mean square error of that level is subtracted.
        shift: mean of the score less the other half's level.
        pearson: correlation of the scores with human scores; NaN where one of them does not vary.
    """

    rmse: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    pearson: np.ndarray


def summary(sums: np.ndarray, noise: np.ndarray) -> Summary:
    """Errors from sums over items.

    Args:
        sums: sums of `Expected.moments` over items, shape (..., len(COLUMNS)).
        noise: mean square of the error of the targets, shape (...), see `noise`.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        used, square, error, rated, *rest = np.moveaxis(sums, -1, 0)
        y, yy, x, xx, xy = (part / rated for part in rest)
        of_human, of_judge = yy - y**2, xx - x**2
        varies = (of_human > _NO_VARIANCE) & (of_judge > _NO_VARIANCE)
        pearson = np.where(varies, (xy - x * y) / np.sqrt(of_human * of_judge), np.nan)
        square = np.maximum(square / used, 0)
        return Summary(np.sqrt(square), np.sqrt(np.maximum(square - noise, 0)), error / used, pearson)


def noise(levels: np.ndarray) -> np.ndarray:
    """Squared error of a half's level, for each item: half of the squared difference between the levels of both halves.

    A half's effect on a single item counts as chance.

    Args:
        levels: levels of both halves, shape (m, 2).
    """
    return (levels[:, 0] - levels[:, 1]) ** 2 / 2
