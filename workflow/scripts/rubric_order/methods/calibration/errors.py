"""Errors of scores from few reads. A score's target is the item's mean over orderings that the score does not use.

Orderings are divided into two halves. A score uses reads of one half, and its target comes from the other half (for
scores from both halves see `opposite`). A half may shift the scores of all items, for example if its orderings are
descending. This shift is estimated in other groups and subtracted from the half's mean. So the target estimates the
mean over both halves, from one half.

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
        error: expectation of the error, which is the score minus its target.
        square: expectation of the squared error.
        value: expectation of the score.
        value_square: expectation of the squared score.
    """

    error: np.ndarray
    square: np.ndarray
    value: np.ndarray
    value_square: np.ndarray

    def moments(self, human: np.ndarray, used: np.ndarray | float = 1.0) -> np.ndarray:
        """Moments of each item, shape (m, len(COLUMNS)).

        Args:
            human: human scores, shape (m,); NaN for an item without a human score. Give human scores, and the scores in
                `value`, as differences from the middle of their scale, to avoid rounding errors.
            used: weight of each item, shape (m,), or one weight for all.
        """
        rated = ~np.isnan(human)
        y = np.where(rated, human, 0)
        columns = [np.ones(len(y)), self.square, self.error, rated, y, y**2]
        columns += [rated * self.value, rated * self.value_square, self.value * y]
        return np.column_stack(columns) * np.reshape(used, (-1, 1))


def levels(means: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Level of each half of an item: the half's mean minus its shift.

    The shift of a half is the mean difference (mean of the half - mean of both halves) over items of other groups.

    Args:
        means: mean of each half of an item, shape (m, 2), see `halves.Halves.means`.
        group: index of each item's group, from 0, shape (m,); at least two groups.
    """
    return means - _of_other_groups(means - means.mean(axis=1, keepdims=True), group)


def single(values: np.ndarray, targets: np.ndarray, place: np.ndarray | int) -> Expected:
    """Expectations for one read per item, in a given ordering.

    Args:
        values: score of each item in each ordering, shape (m, D).
        targets: target of each score, from the half without its ordering, shape (m, D).
        place: index of the ordering that is read: one number for all items, or one number per item.
    """
    rows = np.arange(len(values))
    x, target = values[rows, place], targets[rows, place]
    return Expected(x - target, (x - target) ** 2, x, x**2)


def several(values: np.ndarray, levels: np.ndarray, halves: Halves, reads: int) -> Expected:
    """Expectations for the mean of some reads per item, in different orderings of one half that are drawn at random.

    Args:
        values: score of each item in each ordering, shape (m, D).
        levels: level of each half of an item, shape (m, 2), see the function `levels`.
        halves: halves of the orderings.
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
    """Expectations for the mean of two reads per item: in an ordering drawn at random, and in its reverse.

    The two orderings are in different halves, so each half contains one of the two reads. There is a target from each
    half: the level of the half's other reads. This level lacks the effect of the ordering of the read that is left
    out. The effect is estimated in other groups, and the level is corrected for it. A target has one read fewer than a
    half. This increases the squared error; the increase is subtracted.

    Args:
        values: scores that are averaged, as given or calibrated, shape (m, D).
        reads: scores from which targets are computed, as given, shape (m, D).
        halves: halves of the orderings.
        group: index of each item's group, from 0, shape (m,).

    Returns:
        The expectations; None if no ordering was read with its reverse in the other half, or if a half has only one
        ordering.
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
    """Errors of a method over items; each array has shape (...), see `summary`.

    An error is (score - target), where the target is the level of the half without the score's reads.

    Attributes:
        rmse: root mean square of the error.
        error: like `rmse`, after the mean square error of the target is subtracted.
        shift: mean of the error.
        pearson: correlation of the scores with human scores; NaN where scores or human scores do not vary.
    """

    rmse: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    pearson: np.ndarray


def summary(sums: np.ndarray, noise: np.ndarray) -> Summary:
    """Errors from sums over items.

    Args:
        sums: sums of `Expected.moments` over items, shape (..., len(COLUMNS)).
        noise: mean square of the error of the targets, shape (...); the function `noise` gives it for each item.
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
    """Squared error of the level of one half, for each item: (difference between the two levels)^2 / 2.

    A half's effect on a single item counts as chance.

    Args:
        levels: level of each half of an item, shape (m, 2), see the function `levels`.
    """
    return (levels[:, 0] - levels[:, 1]) ** 2 / 2
