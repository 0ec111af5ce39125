"""Errors of scores from few reads. A score's target is the item's mean over orderings that the score does not use.

Orderings are halved (both: see `opposite`). A half's shift of all scores is estimated in other groups and subtracted,
so one half's mean is the target of both. Moments are kept by item; random choices are expectations.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.agreement.halves import Halves

COLUMNS: tuple[str, ...] = ("used", "square", "error", "rated", "human", "human_square", "value", "value_square")
COLUMNS += ("product", "target", "joint", "passes", "target_passes")
_NO_VARIANCE = 1e-12  # a smaller variance is that of a constant, up to rounding


class Expected(NamedTuple):
    """Expectations for each item over the orderings that a method may read, (m,); the error is score minus target.

    `joint` is that of score times target; `passes` is NaN for the mean of several random reads.
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
        """Moments of each item, shape (m, len(COLUMNS)), with weights `used`; human scores and values less the middle
        of their scale, against rounding.
        """
        rated = ~np.isnan(human)
        y = np.where(rated, human, 0)
        columns = [np.ones(len(y)), self.square, self.error, rated, y, y**2]
        columns += [rated * self.value, rated * self.value_square, self.value * y]
        columns += [self.target, self.joint, self.passes, self.target_passes]
        return np.column_stack(columns) * np.reshape(used, (-1, 1))


def levels(means: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mean of each half of an item (m, 2) less the half's shift, which is estimated in other groups."""
    return means - _others_mean(means - means.mean(axis=1, keepdims=True), group)


def single(values: np.ndarray, targets: np.ndarray, place: np.ndarray | int, mark: float = np.inf) -> Expected:
    """Expectations for one read per item, in the ordering `place`, with targets (m, D); `mark` passes."""
    rows = np.arange(len(values))
    return _each(values[rows, place], targets[rows, place], mark)


def _each(x: np.ndarray, target: np.ndarray, mark: float = np.inf) -> Expected:
    error = x - target
    return Expected(error, error**2, x, x**2, target, x * target, _passes(x, mark), _passes(target, mark))


def _passes(values: np.ndarray, mark: float) -> np.ndarray:
    return (values >= mark - _NO_VARIANCE).astype(float)


def several(values: np.ndarray, levels: np.ndarray, halves: Halves, reads: int, mark: float = np.inf) -> Expected:
    """Expectations for the mean of `reads` reads per item, in different random orderings of one half."""
    parts = []
    for side, chosen in enumerate((~halves.second, halves.second)):
        half, size = values[:, chosen], int(chosen.sum())
        mean = _each(half.mean(axis=1), levels[:, 1 - side], mark)
        left = half.var(axis=1) * (size - reads) / (reads * max(size - 1, 1))  # sampling without replacement
        passes = _passes(half, mark).mean(axis=1) if reads == 1 else mean.passes if reads == size else np.nan * left
        parts.append(mean._replace(square=mean.square + left, value_square=mean.value_square + left, passes=passes))
    return Expected(*(np.mean(both, axis=0) for both in zip(*parts, strict=True)))


def opposite(
    values: np.ndarray, reads: np.ndarray, halves: Halves, group: np.ndarray, mark: float = np.inf
) -> Expected | None:
    """Expectations for the mean of two reads per item, in a random ordering and its reverse; None without such pairs,
    or with one ordering a half.

    Each half has one of the two: its target is the level of its other reads, corrected for the missing ordering's
    effect in other groups; the squared error is less what one read fewer adds.
    """
    firsts = np.flatnonzero((halves.reverse >= 0) & ~halves.second)
    if not len(firsts) or halves.size < 2:
        return None
    means = halves.means(reads)
    level = levels(means, group)
    sizes = np.array([(~halves.second).sum(), halves.second.sum()])
    side: np.ndarray = halves.second.astype(int)
    half_mean = means[:, side]
    added = _others_mean(reads - half_mean, group)
    without = level[:, side] + (half_mean - reads + added) / (sizes[side] - 1)
    both = np.concatenate([firsts, halves.reverse[firsts]])
    value = (values[:, both] + values[:, halves.reverse[both]]) / 2
    parts = _each(value, without[:, both], mark)
    excess = noise(level)[:, None] / (sizes[side[both]] - 1)
    return Expected(*(part.mean(axis=1) for part in parts._replace(square=parts.square - excess)))


def _others_mean(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    groups = int(group.max()) + 1
    totals, counts = np.zeros((groups, values.shape[1])), np.bincount(group, minlength=groups)
    np.add.at(totals, group, values)
    others = len(values) - counts
    return ((values.sum(axis=0) - totals) / np.maximum(others, 1)[:, None])[group]


class Summary(NamedTuple):
    """Errors of a method over items, each (...): `error` is `rmse` less the target's own, `slope` that of scores on
    balanced means, `pass_shift` the share of scores that pass less that of targets.
    """

    rmse: np.ndarray
    error: np.ndarray
    shift: np.ndarray
    slope: np.ndarray
    pass_shift: np.ndarray
    pearson: np.ndarray


def summary(sums: np.ndarray, of_levels: np.ndarray) -> Summary:
    """Errors from sums of `Expected.moments` and of `level_moments` over the same items."""
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
    """Squared error of the level of one half, (difference of levels)^2 / 2: a half's effect on an item is chance."""
    return (levels[:, 0] - levels[:, 1]) ** 2 / 2
