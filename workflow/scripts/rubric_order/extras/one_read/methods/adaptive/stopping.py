"""Rules that stop the reading of items whose interval is narrow enough, or whose place in their group is settled.

Items are read in rounds, and a decision depends on the reads so far alone: so replayed reads stop where a study would.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness

READING, WIDTH, PLACE, ALL = range(4)  # the first: not stopped; the other three: why an item was stopped
REASONS = ("reading", "width", "place", "all")
_ROUNDING = 1e-9


class Stops(NamedTuple):
    """Number of reads of each item, and why it stopped: `READING` (not yet), `WIDTH`, `PLACE` or `ALL`; shape (m,)."""

    reads: np.ndarray
    reason: np.ndarray

    def taken(self, values: np.ndarray) -> np.ndarray:
        """Value of each item at its last read, shape (m, t, ...) -> (m, ...)."""
        return values[np.arange(len(values)), self.reads - 1]


class Groups(NamedTuple):
    """Row (group) and column (slot) of each item in a table of that shape; `several` if its group has other items."""

    group: np.ndarray
    slot: np.ndarray
    shape: tuple[int, int]
    several: np.ndarray


def orders(seed: int, keys: Iterable[Sequence[object]], size: int) -> np.ndarray:
    """Random order of each item's N reads, from the seed and the item's key alone, shape (m, N).

    >>> bool((orders(1, [("d", "a", 5), ("d", "b", 5)], 4)[1] == orders(1, [("d", "b", 5)], 4)[0]).all())
    True
    """
    drawn = [randomness.generator(seed, "adaptive order", *key).permutation(size) for key in keys]
    return np.array(drawn, dtype=int).reshape(-1, size)


def grouped(group: np.ndarray) -> Groups:
    """Cell of each item in a table with one row per group; `group` is an index from 0."""
    sizes = np.bincount(group)
    by_group = np.argsort(group, kind="stable")
    slot: np.ndarray = np.empty(len(group), dtype=int)
    slot[by_group] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Groups(group, slot, (len(sizes), int(sizes.max(initial=0))), sizes[group] > 1)


def settled(low: np.ndarray, high: np.ndarray, groups: Groups) -> np.ndarray:
    """True for items whose interval overlaps with no other of their group, shape (m,). NaN: could be anywhere.

    An item alone in its group is not settled.
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
    """Read items in rounds until they are stopped. `widths` (m, t) are those of intervals after each read; an item
    whose width is NaN is read to its end. `places` (m, t, 2) are intervals that settle places.
    """
    count, rounds = widths.shape
    reads, reason = np.full(count, rounds), np.full(count, READING)
    rows = np.arange(count)
    for turn in range(1, rounds + 1):
        reading = reason == READING
        if turn == size:
            reason[reading] = ALL
            continue  # the reads of these items are already set to the number of rounds
        narrow = widths[:, turn - 1] <= target + _ROUNDING
        reason[reading & narrow] = WIDTH
        if places is not None:
            now = np.where(reading, turn, reads) - 1
            low, high = places[rows, now].T
            apart = settled(low, high, groups)
            reason[reading & ~narrow & apart] = PLACE
        reads[reading & (reason != READING)] = turn
    return Stops(reads, reason)
