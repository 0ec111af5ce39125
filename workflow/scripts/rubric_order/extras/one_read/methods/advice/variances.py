"""Variance of a mean of items' influences, in a part that a group's items share and a part of each item alone.

With G groups of m items: (between + within / m) / G, `between` times (mean squared size) / (squared mean size).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from rubric_order.methods.uncertainty import resampling

Transform: TypeAlias = Callable[[np.ndarray], np.ndarray]
_OWN = 4  # columns of `unit_sums` for each influence


class Shape(NamedTuple):
    """Sizes of a study's groups: mean, and (mean squared) / (squared mean); effective groups (`resampling.effective`)
    and degrees of freedom plus 1 (`resampling.degrees`), both per group.
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
    """Variances of q estimates in two parts, each of shape (..., q); `between` can be below 0."""

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
    """Sums of contributions (m, q) over each group, for `parts`, shape (n_groups, 3 + 4q).

    Columns: 1, size, size squared; then q each of the sum, its square, its product with the size, and the squared
    departures from the group's mean.
    """
    size = np.bincount(unit).astype(float)
    total = resampling.sum_units(influence, unit)
    away = resampling.sum_units(np.square(influence - (total / size[:, None])[unit]), unit)
    columns = [np.ones(len(size)), size, size**2, total, total**2, total * size[:, None], away]
    return np.column_stack(columns)


def parts(sums: np.ndarray) -> Parts:
    """Both parts of a variance by moments, from `unit_sums` added over groups, shape (..., 3 + 4q).

    A study like the pilot has the pilot's own error. All is `within` if no group has two items. Source: Searle, Casella
    and McCulloch (1992), Section 3.6, with sums of groups instead of means.
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


def left_out(sums: np.ndarray) -> np.ndarray:
    """Sums over all groups, then without each part of the groups, see `resampling.left_out_sums`."""
    return resampling.left_out_sums(sums, np.arange(len(sums)))


def log_interval(
    values: np.ndarray,
    confidence: float,
    sizes: np.ndarray,
    scale: Transform = np.log,
    back: Transform = np.exp,
) -> tuple[float, float]:
    """Interval of a standard error by a jackknife over the pilot's groups, from values of shape (1 + n_parts,).

    A group adds to a variance by its squared size: these determine the degrees of freedom.
    """
    weights = np.bincount(np.arange(len(sizes)) % resampling.MAX_LEFT_OUT, np.square(sizes))
    jackknife = resampling.jackknife_t(values, confidence, sizes=weights, scale=scale, back=back)
    return float(jackknife.low), float(jackknife.high)
