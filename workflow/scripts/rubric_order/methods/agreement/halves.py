"""Two halves of an item's orderings, each of whole sets in which every score stands equally often in every position.

So no read is compared with itself, and a half's mean has no position bias. Rotations are such a set, and a Williams
design's additions modulo n. An ordering and its reverse are in different halves, unless in one set.
"""

from typing import NamedTuple

import numpy as np


class Halves(NamedTuple):
    """`second` (D,) is True for the second half (the usual ordering is in the first); index of each reverse, -1 if not
    read or in the same half; that of the usual ordering.
    """

    second: np.ndarray
    reverse: np.ndarray
    usual: int | None

    @property
    def size(self) -> int:
        """Number of orderings in the smaller half."""
        return int(min(self.second.sum(), (~self.second).sum()))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Mean of each half, shape (..., D) -> (..., 2)."""
        return np.stack([values[..., ~self.second].mean(axis=-1), values[..., self.second].mean(axis=-1)], axis=-1)

    def targets(self, values: np.ndarray) -> np.ndarray:
        """Target of each ordering: the mean of the half without this ordering, shape (..., D) -> (..., D)."""
        return self.means(values)[..., np.where(self.second, 0, 1)]


def halves(orderings: np.ndarray) -> Halves | None:
    """Halve orderings (D, n); None for fewer than two whole sets, as with two levels or one set of rotations.

    >>> shown = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]])
    >>> halves(shown).second.astype(int).tolist(), halves(shown).reverse.tolist(), halves(shown[:4])
    ([0, 0, 0, 1, 1, 1], [3, 5, 4, 0, 2, 1], None)
    """
    orderings = np.asarray(orderings)
    n = orderings.shape[1]
    for of_set in (_rotated, _added):
        sets, number, sizes = np.unique(of_set(orderings), axis=0, return_inverse=True, return_counts=True)
        if len(sets) > 1 and (sizes == n).all():
            return _set_halves(orderings, number.ravel())
    return None


def _rotated(orderings: np.ndarray) -> np.ndarray:
    n = orderings.shape[1]
    first = orderings.argmin(axis=1)
    return np.take_along_axis(orderings, (first[:, None] + np.arange(n)) % n, axis=1)


def _added(orderings: np.ndarray) -> np.ndarray:
    return (orderings - orderings[:, :1]) % orderings.shape[1] + 1


def _set_halves(orderings: np.ndarray, number: np.ndarray) -> Halves:
    """Halves of whole sets (`number` of each ordering's); a set and that of its reverses are in different halves."""
    code = {tuple(row): place for place, row in enumerate(orderings.tolist())}
    reverse = np.array([code.get(tuple(row), -1) for row in orderings[:, ::-1].tolist()])
    usual = code.get(tuple(range(1, orderings.shape[1] + 1)))
    firsts = [number[usual]] if usual is not None else []
    order = list(dict.fromkeys([*firsts, *number.tolist()]))
    half: dict[int, bool] = {}
    for one in order:
        if one in half:
            continue
        half[one] = sum(half.values()) * 2 < len(half)  # the half with fewer sets; the first where both have as many
        opposite = {int(number[place]) for place in reverse[number == one] if place >= 0} - {one}
        for other in opposite - half.keys():
            half[other] = not half[one]
    second = np.array([half[int(one)] for one in number])
    apart = (reverse >= 0) & (second != second[reverse])
    return Halves(second, np.where(apart, reverse, -1), usual)
