"""Rules that stop the reading of items whose interval is narrow enough, or whose place in their group is settled.

Items are read in rounds: in each round, every item that is not stopped gets its next read. The decisions after a round
depend only on the reads so far. So a replay of recorded reads stops an item at the same read as a study that asks the
judge.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness

READING, WIDTH, PLACE, ALL = range(4)  # the first: not stopped; the other three: why an item was stopped
REASONS = ("reading", "width", "place", "all")
_ROUNDING = 1e-9


class Stops(NamedTuple):
    """State of items after some rounds.

    Attributes:
        reads: number of reads of each item, shape (m,).
        reason: `READING` for an item that is not stopped; else `WIDTH` (its interval is narrow enough), `PLACE` (its
            place in its group is settled), or `ALL` (all orderings are read). Shape (m,).
    """

    reads: np.ndarray
    reason: np.ndarray

    def taken(self, values: np.ndarray) -> np.ndarray:
        """Value of each item at its last read, shape (m, t, ...) -> (m, ...)."""
        return values[np.arange(len(values)), self.reads - 1]


class Groups(NamedTuple):
    """Cell of each item in a table with one row per group.

    Attributes:
        group: index of each item's group, from 0: the row of the table, shape (m,).
        slot: index of each item in its group, from 0: the column of the table, shape (m,).
        shape: number of groups, and number of items in the largest group.
        several: True if an item's group has other items, shape (m,).
    """

    group: np.ndarray
    slot: np.ndarray
    shape: tuple[int, int]
    several: np.ndarray


def orders(seed: int, keys: Iterable[Sequence[object]], size: int) -> np.ndarray:
    """Random order of each item's reads, from the seed and the item's key alone.

    Args:
        seed: seed of all orders.
        keys: key that names each item, such as dataset, id and number of levels.
        size: N, number of all reads of an item.

    Returns:
        Indices of reads, shape (m, N).

    >>> bool((orders(1, [("d", "a", 5), ("d", "b", 5)], 4)[1] == orders(1, [("d", "b", 5)], 4)[0]).all())
    True
    """
    drawn = [randomness.generator(seed, "adaptive order", *key).permutation(size) for key in keys]
    return np.array(drawn, dtype=int).reshape(-1, size)


def grouped(group: np.ndarray) -> Groups:
    """Cell of each item in a table with one row per group.

    Args:
        group: index of each item's group, from 0, shape (m,).
    """
    sizes = np.bincount(group)
    by_group = np.argsort(group, kind="stable")
    slot: np.ndarray = np.empty(len(group), dtype=int)
    slot[by_group] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Groups(group, slot, (len(sizes), int(sizes.max(initial=0))), sizes[group] > 1)


def settled(low: np.ndarray, high: np.ndarray, groups: Groups) -> np.ndarray:
    """True for items whose interval overlaps with the interval of no other item in their group, shape (m,).

    An item alone in its group is not settled.

    Args:
        low: lower end of the interval of each item, shape (m,); NaN for an item that could be anywhere.
        high: upper end of the interval of each item, shape (m,); NaN for the same items.
        groups: groups of the items.
    """
    lows, highs = np.full(groups.shape, np.inf), np.full(groups.shape, np.inf)
    nowhere = np.isnan(low)
    lows[groups.group, groups.slot] = np.where(nowhere, -np.inf, low)
    highs[groups.group, groups.slot] = np.where(nowhere, np.inf, high)
    order = np.argsort(lows, axis=1, kind="stable")
    lows, highs = (np.take_along_axis(ends, order, axis=1) for ends in (lows, highs))
    below = np.full(lows.shape, -np.inf)
    below[:, 1:] = np.maximum.accumulate(highs, axis=1)[:, :-1]
    above = np.full(lows.shape, np.inf)
    above[:, :-1] = lows[:, 1:]
    apart = np.empty(lows.shape, dtype=bool)
    np.put_along_axis(apart, order, (below < lows) & (highs < above), axis=1)
    return apart[groups.group, groups.slot] & groups.several & ~nowhere


def stop(widths: np.ndarray, size: int, target: float, groups: Groups, *, places: np.ndarray | None = None) -> Stops:
    """Read items in rounds until they are stopped.

    Args:
        widths: width of each item's interval after each of its reads, in points, shape (m, t): t rounds, t at most
            `size`. NaN where an item has no interval, such as after a read without a score. Such an item is read to its
            end.
        size: N, number of all reads of an item.
        target: an item is stopped when its interval has this width or less, in points.
        groups: groups of the items.
        places: intervals that settle places, shape (m, t, 2); None if items do not stop for their place.
    """
    count, rounds = widths.shape
    reads, reason = np.full(count, rounds), np.full(count, READING)
    rows = np.arange(count)
    for read in range(1, rounds + 1):
        reading = reason == READING
        if read == size:
            reason[reading] = ALL
            continue  # the reads of these items are already set to the number of rounds
        narrow = widths[:, read - 1] <= target + _ROUNDING
        reason[reading & narrow] = WIDTH
        if places is not None:
            now = np.where(reading, read, reads) - 1
            low, high = places[rows, now].T
            apart = settled(low, high, groups)
            reason[reading & ~narrow & apart] = PLACE
        reads[reading & (reason != READING)] = read
    return Stops(reads, reason)
