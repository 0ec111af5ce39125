"""Errors of scores by few reads, against the mean of the item over a half of its orderings that they have no part in.

What a half adds to all items, such as descending orderings beside ascending ones, is made up for by what it adds in
other groups: the target is the mean over both halves, estimated from one.

Moments are kept item by item, so that groups of items can be left out. Where orders are chosen at random, moments are
expectations over all choices: nothing is drawn.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.calibration.halves import Halves

COLUMNS = ("used", "square", "error", "rated", "human", "human_square", "value", "value_square", "product")
_NO_VARIANCE = 1e-12  # what rounding leaves of the variance of a constant


class Expected(NamedTuple):
    """Expectations, of each item, over the orderings that a method may read; each of shape (m,).

    Attributes:
        error, square: of the score less the mean of the other half, and of its square.
        value, value_square: of the score, and of its square.
    """

    error: np.ndarray
    square: np.ndarray
    value: np.ndarray
    value_square: np.ndarray

    def moments(self, human: np.ndarray, used: np.ndarray | float = 1.0) -> np.ndarray:
        """Moments of each item, shape (m, len(COLUMNS)).

        Args:
            human: human scores, shape (m,); NaN where there is none. They and the scores are best taken from the middle
                of their scale, against rounding.
            used: weight of each item.
        """
        rated = ~np.isnan(human)
        y = np.where(rated, human, 0)
        columns = [np.ones(len(y)), self.square, self.error, rated, y, y**2]
        columns += [rated * self.value, rated * self.value_square, self.value * y]
        return np.column_stack(columns) * np.reshape(used, (-1, 1))


def levels(means: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mean of each half of an item less what this half adds to the mean of both in other groups.

    Args:
        means: of both halves, shape (m, 2), see `halves.Halves.means`.
        group: number of each item's group, from 0, shape (m,); at least two.
    """
    return means - _of_other_groups(means - means.mean(axis=1, keepdims=True), group)


def single(values: np.ndarray, targets: np.ndarray, place: np.ndarray | int) -> Expected:
    """One read an item, in an ordering of its own.

    Args:
        values, targets: scores, and what the other half says, shape (m, D).
        place: index of the ordering, of all items or of each.
    """
    rows = np.arange(len(values))
    x, target = values[rows, place], targets[rows, place]
    return Expected(x - target, (x - target) ** 2, x, x**2)


def several(values: np.ndarray, levels: np.ndarray, halves: Halves, reads: int) -> Expected:
    """Mean of some reads an item in different orderings of one half, drawn at random.

    Args:
        values: see `single`. levels: of both halves, see the function of this name.
        reads: how many, at most as many as a half has.
    """
    parts = []
    for side, chosen in enumerate((~halves.second, halves.second)):
        own, size = values[:, chosen], int(chosen.sum())
        value, error = own.mean(axis=1), own.mean(axis=1) - levels[:, 1 - side]
        left = own.var(axis=1) * (size - reads) / (reads * max(size - 1, 1))  # sampling without replacement
        parts.append((error, error**2 + left, value, value**2 + left))
    return Expected(*(np.mean(both, axis=0) for both in zip(*parts, strict=True)))


def opposite(values: np.ndarray, reads: np.ndarray, halves: Halves, group: np.ndarray) -> Expected | None:
    """Mean of an ordering and its reverse, drawn at random.

    Each is of another half. So the target is a half without the read that lies in it: the level of the others, with
    what this ordering adds in other groups made up for. It rests on one read less, and what that adds to the square of
    the error is subtracted.

    Args:
        values: scores to average, shape (m, D). reads: scores that targets are made from, shape (m, D).
        group: number of each item's group, from 0, shape (m,).

    Returns:
        None where no ordering was read with its reverse, or halves are of one read.
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
    """Error of a method over items, each of the shape of the sums without their last axis.

    Attributes:
        rmse: root mean square of the score less the other half's level.
        error: the same less the error of that level.
        shift: mean of the score less the other half's level.
        pearson: correlation with human scores; NaN where they or the scores do not vary.
    """

    rmse: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    pearson: np.ndarray


def summary(sums: np.ndarray, noise: np.ndarray) -> Summary:
    """Errors from sums over items.

    Args:
        sums: of `Expected.moments`, shape (..., len(COLUMNS)).
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
    """Square of the error of a half's level, of each item: half the square of the difference of both.

    What a half adds to single items counts as chance.

    Args:
        levels: of both halves, shape (m, 2).
    """
    return (levels[:, 0] - levels[:, 1]) ** 2 / 2
