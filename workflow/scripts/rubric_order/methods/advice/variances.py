"""Variance of an estimate, split into a part that the items of a group share and a part of each item alone.

An estimate is treated as a mean over items of each item's contribution to the estimate (its influence). With G groups
of m items each, the variance is then

    (between + within / m) / G.

With groups of unequal sizes, `between` is multiplied by (mean squared size) / (squared mean size).
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import resampling

_OWN = 4  # columns of `unit_sums` for each influence


class Shape(NamedTuple):
    """Sizes of the groups of a study.

    Attributes:
        items: mean number of items in a group.
        inequality: (mean squared number of items) / (squared mean number of items): 1 for groups of one size.
        worth: number of effective groups divided by the number of groups, see `resampling.effective`.
        freedom: degrees of freedom plus 1, divided by the number of groups, see `resampling.degrees`.
    """

    items: float
    inequality: float = 1.0
    worth: float = 1.0
    freedom: float = 1.0

    @classmethod
    def of(cls, sizes: np.ndarray) -> "Shape":
        """Shape of groups with given numbers of items; `sizes` has shape (n_groups,)."""
        sizes = np.asarray(sizes, dtype=float)
        inequality = float(np.square(sizes).mean() / sizes.mean() ** 2)
        freedom = (resampling.degrees(sizes) + 1) / len(sizes)
        return cls(float(sizes.mean()), inequality, resampling.effective(sizes) / len(sizes), freedom)

    def effective(self, groups: float) -> float:
        """Number of effective groups among `groups` groups of this shape."""
        return groups * self.worth


class Parts(NamedTuple):
    """Variances of q estimates in two parts, each of shape (..., q); estimates of `between` can be below 0."""

    between: np.ndarray
    within: np.ndarray

    def variance(self, shape: Shape, groups: float | np.ndarray) -> np.ndarray:
        """Variance of the estimates in a study with `groups` groups; a part below 0 counts as 0. Shape (..., q)."""
        shared = np.maximum(self.between, 0) * shape.inequality
        return (shared + np.maximum(self.within, 0) / shape.items) / groups

    def mean(self) -> "Parts":
        """Mean of both parts over the last axis, which is kept with length 1."""
        return Parts(*(part.mean(axis=-1, keepdims=True) for part in self))


def unit_sums(influence: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums over each group, from which `parts` estimates the parts of a variance.

    Weighted sums of the rows give the parts in resamples of groups.

    Args:
        influence: contribution of each item, where the estimate is the mean of the contributions, shape (m, q).
        unit: index of each item's group, from 0 and without gaps, shape (m,).

    Returns:
        Shape (n_groups, 3 + 4q). The first three columns are 1, the number of items, and the square of this number.
        Then come four blocks of q columns, one column per column of `influence`: the sum of the contributions, the
        square of this sum, the product of this sum and the number of items, and the sum of squared departures from the
        group's mean.
    """
    size = np.bincount(unit).astype(float)
    total = resampling.sum_units(influence, unit)
    away = resampling.sum_units(np.square(influence - (total / size[:, None])[unit]), unit)
    columns = [np.ones(len(size)), size, size**2, total, total**2, total * size[:, None], away]
    return np.column_stack(columns)


def parts(sums: np.ndarray) -> Parts:
    """Both parts of a variance by the method of moments, from the sums of `unit_sums`.

    The sums are added over groups, shape (..., 3 + 4q). The variance of a group's sum is that of the sample's groups
    about their mean. So a study with the pilot's own number and sizes of groups has the pilot's own error. If no group
    has two items, the whole variance is `within`, because the part that items of larger groups would share is not
    known.

    Source: Searle, Casella and McCulloch (1992), Variance Components, Section 3.6, with the sums of groups instead of
    their means.
    """
    q = (sums.shape[-1] - 3) // _OWN
    groups, items, squares = (sums[..., [place]] for place in range(3))
    total, square, product, away = np.split(sums[..., 3:], _OWN, axis=-1) if q else [sums[..., 3:]] * _OWN
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / items
        of_sums = (square - 2 * mean * product + mean**2 * squares) * groups / (groups - 1)
        pairs = items - groups
        several = pairs > 0
        within = np.where(several, away / np.where(several, pairs, 1), of_sums / items)
        between = np.where(several, (of_sums - items * within) / squares, 0.0)
    return Parts(between, within)


def resampled(sums: np.ndarray, *, resamples: int, seed: int) -> np.ndarray:
    """Sums over all groups, then over each resample of groups. Shape (1 + resamples, columns).

    Args:
        sums: sums over each group, shape (n_groups, columns), see `unit_sums`.
        resamples: number of resamples of groups, drawn with replacement.
        seed: seed of the resamples.
    """
    drawn = resampling.weights(len(sums), resamples, seed, "advice")
    return np.concatenate([sums.sum(axis=0, keepdims=True), drawn @ sums])
