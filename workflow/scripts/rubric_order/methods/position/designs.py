"""Orderings of each item, reads in each, and positions of each score. An ordering counts once for an item: a log's
repeats or failures disturb no balance.
"""

from functools import cached_property

import numpy as np

from rubric_order.base import permutations

EVEN = 1e-9  # shares that differ by less are equal
RARE = 0.05  # largest share of the cells in orderings that few items have, where the others count as shared


class Design:
    """The orderings in which items were read. A cell is an item in an ordering; `times` has its number of reads."""

    def __init__(self, orderings: np.ndarray, number: np.ndarray, item: np.ndarray, n_items: int) -> None:
        """Count reads, from the index of each read's ordering and item, shape (n_reads,)."""
        self.orderings, self.n_items = orderings, n_items
        cells, self.cell, self.times = np.unique(
            item.astype(np.int64) * len(orderings) + number, return_inverse=True, return_counts=True
        )
        self.item, self.ordering = np.divmod(cells, max(len(orderings), 1))

    @property
    def n(self) -> int:
        """Number of score levels."""
        return self.orderings.shape[1]

    @property
    def fewest(self) -> int:
        """Smallest number of reads of an item in an ordering; 0 if some item was not read in every ordering."""
        return int(self.times.min()) if len(self.times) == self.n_items * len(self.orderings) else 0

    @property
    def most(self) -> int:
        """Largest number of reads of an item in an ordering."""
        return int(self.times.max(initial=0))

    @property
    def several(self) -> np.ndarray:
        """Number of orderings in which each item was read, shape (n_items,)."""
        return np.bincount(self.item, minlength=self.n_items)

    @property
    def common(self) -> np.ndarray:
        """True for orderings that were used for at least half of the items, shape (D,)."""
        return np.asarray(2 * self.items_of >= self.n_items)

    @property
    def items_of(self) -> np.ndarray:
        """Number of items that were read in each ordering, shape (D,)."""
        return np.bincount(self.ordering, minlength=len(self.orderings))

    @property
    def shared(self) -> bool:
        """True if nearly all cells are in `common` orderings. If not, items have their own orderings."""
        return bool(self.items_of[~self.common].sum() <= RARE * len(self.ordering))

    @cached_property
    def exposure(self) -> np.ndarray:
        """Share of an item's orderings with a score at a position, shape (n_items, n, n); 0 without reads."""
        n = self.n
        place: np.ndarray = permutations.positions_of(self.orderings) - 1
        at = (self.item[:, None] * n + np.arange(n)) * n + place[self.ordering]
        counts = np.bincount(at.ravel(), minlength=self.n_items * n * n).reshape(self.n_items, n, n)
        return counts / np.maximum(self.several, 1)[:, None, None]

    @property
    def balanced(self) -> bool:
        """True if every score stands equally often in every position, for each item."""
        return bool(np.abs(self.exposure - 1 / self.n).max(initial=0) < EVEN)

    @property
    def crossed(self) -> bool:
        """True if, over all items, every score stands in every position at least half as often as on average."""
        over_items = np.einsum("i,isp->sp", self.several, self.exposure) / max(len(self.times), 1)
        return bool(2 * self.n * over_items.min(initial=1) >= 1 - EVEN)

    @property
    def weights(self) -> np.ndarray:
        """Weight of each read, shape (n_reads,), so that each ordering counts once for each item."""
        return 1 / self.times[self.cell]
