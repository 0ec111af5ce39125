"""Variance of an estimate, parted into what the items of a group share and what each adds by itself.

An estimate is taken as a mean over items, of what each item adds to it (its influence). Of G groups with m items each
its variance is then

    (between + within / m) / G,

and of groups of unequal sizes `between` counts more than once: by the mean squared size over the squared mean size.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import resampling

_OWN = 4  # columns of `unit_sums` for each influence


class Shape(NamedTuple):
    """Sizes of the groups of a study.

    Attributes:
        items: mean number of items in a group.
        inequality: mean squared number over the squared mean: 1 for groups of one size.
        worth: equal groups that say as much of an error as one of these, see `resampling.degrees`.
    """

    items: float
    inequality: float = 1.0
    worth: float = 1.0

    @classmethod
    def of(cls, sizes: np.ndarray) -> "Shape":
        """The shape of groups of these sizes, shape (n_groups,)."""
        sizes = np.asarray(sizes, dtype=float)
        inequality = float(np.square(sizes).mean() / sizes.mean() ** 2)
        return cls(float(sizes.mean()), inequality, resampling.effective(sizes) / len(sizes))

    def effective(self, groups: float) -> float:
        """Number of equal groups that say as much of an error as so many of these."""
        return groups * self.worth


class Parts(NamedTuple):
    """The two parts of a variance, each of shape (..., q); `between` is not cut off at 0."""

    between: np.ndarray
    within: np.ndarray

    def variance(self, shape: Shape, groups: float | np.ndarray) -> np.ndarray:
        """Variance of the estimates in a study of so many groups; a part below 0 counts as 0. Shape (..., q)."""
        shared = np.maximum(self.between, 0) * shape.inequality
        return (shared + np.maximum(self.within, 0) / shape.items) / groups

    def mean(self) -> "Parts":
        """The mean over the last axis, which stays with length 1."""
        return Parts(*(part.mean(axis=-1, keepdims=True) for part in self))


def unit_sums(influence: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Sums over each group that the parts depend on; sums of rows, however weighted, give the parts of resamples.

    Args:
        influence: what each item adds, such that the estimate is their mean, shape (m, q).
        unit: number of each item's group, from 0 and without gaps, shape (m,).

    Returns:
        Shape (n_groups, 3 + 4q): 1; the number of items, and its square; of each influence its sum, the square of that,
        its product with the number of items, and the sum of squared departures from the group's mean.
    """
    size = np.bincount(unit).astype(float)
    total = resampling.sum_units(influence, unit)
    away = resampling.sum_units(np.square(influence - (total / size[:, None])[unit]), unit)
    columns = [np.ones(len(size)), size, size**2, total, total**2, total * size[:, None], away]
    return np.column_stack(columns)


def parts(sums: np.ndarray) -> Parts:
    """Both parts by the method of moments, from sums of `unit_sums` over groups, shape (..., 3 + 4q).

    The variance of a group's sum is what the groups of the sample have about their mean, so that a study with the
    pilot's own number and sizes of groups has the pilot's own error. Where no group has two items, all is `within`:
    what a group of several would share cannot be told.

    Source: Searle, Casella and McCulloch (1992), Variance Components, Section 3.6, with the sums of groups in the place
    of their means.
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
    """Sums over groups: as they are, and in each resample of groups. Shape (1 + resamples, columns)."""
    drawn = resampling.weights(len(sums), resamples, seed, "advice")
    return np.concatenate([sums.sum(axis=0, keepdims=True), drawn @ sums])
