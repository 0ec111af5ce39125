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

COLUMNS: tuple[str, ...] = ("used", "square", "error", "rated", "human", "human_square", "value", "value_square")
COLUMNS += ("product", "target", "joint", "passes", "target_passes")
_NO_VARIANCE = 1e-12  # a smaller variance is that of a constant, up to rounding


class Expected(NamedTuple):
    """Expectations for each item over the orderings that a method may read; each of shape (m,).

    Attributes:
        error: expectation of the error, which is the score minus its target.
        square: expectation of the squared error.
        value: expectation of the score.
        value_square: expectation of the squared score.
        target: expectation of the target.
        joint: expectation of the score times its target.
        passes: probability that the score passes; NaN for the mean of several reads that are drawn at random.
        target_passes: probability that the target passes.
    """

    error: np.ndarray
    square: np.ndarray
    value: np.ndarray
    value_square: np.ndarray
    target: np.ndarray
    joint: np.ndarray
    passes: np.ndarray
    target_passes: np.ndarray

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
        columns += [self.target, self.joint, self.passes, self.target_passes]
        return np.column_stack(columns) * np.reshape(used, (-1, 1))


def levels(means: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Level of each half of an item: the half's mean minus its shift.

    The shift of a half is the mean difference (mean of the half - mean of both halves) over items of other groups.

    Args:
        means: mean of each half of an item, shape (m, 2), see `halves.Halves.means`.
        group: index of each item's group, from 0, shape (m,); at least two groups.
    """
    return means - _of_other_groups(means - means.mean(axis=1, keepdims=True), group)


def single(values: np.ndarray, targets: np.ndarray, place: np.ndarray | int, mark: float = np.inf) -> Expected:
    """Expectations for one read per item, in a given ordering.

    Args:
        values: score of each item in each ordering, shape (m, D).
        targets: target of each score, from the half without its ordering, shape (m, D).
        place: index of the ordering that is read: one number for all items, or one number per item.
        mark: lowest score that passes.
    """
    rows = np.arange(len(values))
    return _each(values[rows, place], targets[rows, place], mark)


def _each(x: np.ndarray, target: np.ndarray, mark: float = np.inf) -> Expected:
    error = x - target
    return Expected(error, error**2, x, x**2, target, x * target, _passes(x, mark), _passes(target, mark))


def _passes(values: np.ndarray, mark: float) -> np.ndarray:
    return (values >= mark - _NO_VARIANCE).astype(float)


def several(values: np.ndarray, levels: np.ndarray, halves: Halves, reads: int, mark: float = np.inf) -> Expected:
    """Expectations for the mean of some reads per item, in different orderings of one half that are drawn at random.

    Args:
        values: score of each item in each ordering, shape (m, D).
        levels: level of each half of an item, shape (m, 2), see the function `levels`.
        halves: halves of the orderings.
        reads: number of reads per item, at most as many as a half has.
        mark: lowest score that passes.
    """
    parts = []
    for side, chosen in enumerate((~halves.second, halves.second)):
        own, size = values[:, chosen], int(chosen.sum())
        mean = _each(own.mean(axis=1), levels[:, 1 - side], mark)
        left = own.var(axis=1) * (size - reads) / (reads * max(size - 1, 1))  # sampling without replacement
        passes = _passes(own, mark).mean(axis=1) if reads == 1 else mean.passes if reads == size else np.nan * left
        parts.append(mean._replace(square=mean.square + left, value_square=mean.value_square + left, passes=passes))
    return Expected(*(np.mean(both, axis=0) for both in zip(*parts, strict=True)))


def opposite(
    values: np.ndarray, reads: np.ndarray, halves: Halves, group: np.ndarray, mark: float = np.inf
) -> Expected | None:
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
        mark: lowest score that passes.

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
    parts = _each(value, without[:, both], mark)
    excess = noise(level)[:, None] / (sizes[side[both]] - 1)
    return Expected(*(part.mean(axis=1) for part in parts._replace(square=parts.square - excess)))


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
        slope: points by which scores differ for each point by which balanced means of items differ; NaN where these
            means do not vary.
        pass_shift: share of scores that pass minus share of targets that pass.
        pearson: correlation of the scores with human scores; NaN where scores or human scores do not vary.
    """

    rmse: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    slope: np.ndarray
    pass_shift: np.ndarray
    pearson: np.ndarray


def summary(sums: np.ndarray, of_levels: np.ndarray) -> Summary:
    """Errors from sums over items.

    Args:
        sums: sums of `Expected.moments` over items, shape (..., len(COLUMNS)).
        of_levels: sums of `level_moments` over the same items, shape (..., 4).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        used, square, error, rated, *rest = np.moveaxis(sums, -1, 0)
        y, yy, x, xx, xy = (part / rated for part in rest[:5])
        target, joint, passes, targets_pass = (part / used for part in rest[5:])
        noise, first, second, both = np.moveaxis(of_levels, -1, 0) / used
        of_human, of_judge, of_items = yy - y**2, xx - x**2, both - first * second
        varies = (of_human > _NO_VARIANCE) & (of_judge > _NO_VARIANCE)
        pearson = np.where(varies, (xy - x * y) / np.sqrt(of_human * of_judge), np.nan)
        slope = np.where(of_items > _NO_VARIANCE, (joint - (target + error / used) * target) / of_items, np.nan)
        square = np.maximum(square / used, 0)
        least = np.sqrt(np.maximum(square - noise, 0))
        return Summary(np.sqrt(square), least, error / used, slope, passes - targets_pass, pearson)


def level_moments(levels: np.ndarray) -> np.ndarray:
    """Squared error of each item's target, the levels of both halves, and their product; shape (m, 4)."""
    return np.column_stack([noise(levels), levels, levels.prod(axis=1)])


def noise(levels: np.ndarray) -> np.ndarray:
    """Squared error of the level of one half, for each item: (difference between the two levels)^2 / 2.

    A half's effect on a single item counts as chance.

    Args:
        levels: level of each half of an item, shape (m, 2), see the function `levels`.
    """
    return (levels[:, 0] - levels[:, 1]) ** 2 / 2
