"""Reads as arrays of items by reads, for one judge, dataset, strategy and scale at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import levels
from rubric_order.base.keys import KEYS, OF_READOUT
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods.position.designs import Design
from rubric_order.strategies import EVERY_POSITION

ITEM_COLUMNS = ["item_id", "group_id", "candidate", "criterion", "human_score"]
COLUMNS = [*KEYS, *ITEM_COLUMNS, "read_index", "ordering", "score", "expected_score"]


@dataclass(frozen=True)
class Block:
    """The reads of one study, judge, profile, condition, dataset, strategy and scale, sorted by item and read.

    `items` has one row per item; `item` and `column` (n_reads,) are the cell of each read in matrices.
    """

    key: tuple[Any, ...]
    table: pd.DataFrame
    items: pd.DataFrame
    item: np.ndarray
    column: np.ndarray
    _units: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def keys(self) -> Row:
        """Dictionary of the keys, as the first columns of a row of statistics."""
        return dict(zip(KEYS, self.key, strict=True))

    @property
    def n(self) -> int:
        """Number of score levels."""
        return int(self.key[-1])

    @property
    def lowest(self) -> int:
        """Lowest score of the scale, as people write it. Scores of reads are counted from 1."""
        return levels.lowest_of(self.table)

    def matrix(self, column: str) -> np.ndarray:
        """A column of numbers as a matrix of items by reads, shape (n_items, K); NaN where there is no number."""
        values = np.full((len(self.items), int(self.column.max()) + 1), np.nan)
        values[self.item, self.column] = self.table[column].to_numpy(dtype=float, na_value=np.nan)
        return values

    def units(self, cluster: str, chosen: np.ndarray | None = None) -> np.ndarray:
        """Index of each item's unit (one of `keys.CLUSTERS`), from 0 by id, without gaps among the `chosen` rows."""
        if cluster not in self._units:
            self._units[cluster] = pd.factorize(self.items[f"{cluster}_id"], sort=True)[0]
            self._units[cluster].flags.writeable = False
        units = self._units[cluster]
        return units if chosen is None else np.unique(units[chosen], return_inverse=True)[1]

    def readouts(self) -> Iterator[tuple[Readout, np.ndarray]]:
        """Each readout of the block with its scores, items by reads; also calibrated scores if the table has them."""
        for readout, column in OF_READOUT.items():
            if column in self.table and not np.isnan(values := self.matrix(column)).all():
                yield readout, values

    @cached_property
    def shown(self) -> np.ndarray:
        """The ordering of each read, shape (n_reads, n)."""
        return matrix_of(self.table["ordering"].to_numpy()).reshape(len(self.table), self.n)

    @property
    def crossed(self) -> bool:
        """True if every score is shown in every position, by the strategy or a record's design; else scores and
        positions cannot be told apart.
        """
        if self.keys["strategy"] != "recorded":
            return self.keys["strategy"] in EVERY_POSITION
        return self.design.crossed

    def part(self, chosen: np.ndarray) -> "Block":
        """Some reads (by mask), all items."""
        return Block(self.key, self.table[chosen], self.items, self.item[chosen], self.column[chosen])

    @cached_property
    def common(self) -> "Block":
        """The reads in orderings that items share (`designs.Design.common`); all reads if they share none."""
        common = self.design.common
        if common.all() or not self.design.shared:
            return self
        return self.part(common[self.orderings[1]])

    @cached_property
    def design(self) -> Design:
        """The design of all reads, including reads without a score."""
        return self.design_of(np.ones(len(self.table), dtype=bool))

    def design_of(self, chosen: np.ndarray) -> Design:
        """The design of some reads, such as those with a score. Orderings and items keep their indices."""
        orderings, number = self.orderings
        return Design(orderings, number[chosen], self.item[chosen], len(self.items))

    @cached_property
    def orderings(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct orderings by first appearance in the table, shape (D, n), and index of each read's ordering."""
        digits = self.shown @ max(10, self.n) ** np.arange(self.n - 1, -1, -1)
        _, first, number = np.unique(digits, return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        return self.shown[first[by_first]], np.argsort(by_first)[number]

    def ordering_means(self, values: np.ndarray) -> np.ndarray:
        """Mean score of each item under each ordering, (n_items, K) -> (n_items, D); NaN if a read has none."""
        orderings, number = self.orderings
        cell = self.item * len(orderings) + number
        cells = len(self.items) * len(orderings)
        counts = np.bincount(cell, minlength=cells)
        totals = np.bincount(cell, weights=values[self.item, self.column], minlength=cells)
        with np.errstate(invalid="ignore"):
            return (totals / counts).reshape(len(self.items), len(orderings))


class Kept(Iterable[pd.DataFrame]):
    """A table of reads whose blocks, with their cached properties, are made once for several statistics."""

    def __init__(self, table: pd.DataFrame, item: np.ndarray | None = None) -> None:
        """Make the blocks; `item` is the index of each read's item by id, if known."""
        self.table, self.blocks = table, tuple(_blocks(table, item)) if len(table) else ()

    def __iter__(self) -> Iterator[pd.DataFrame]:
        return iter([self.table])


def matrix_of(rows: np.ndarray) -> np.ndarray:
    """Stack lists of equal length (else ValueError) as a matrix, in a fraction of the time of ``np.stack``."""
    if len({*map(len, rows)}) > 1:
        raise ValueError("rows of a matrix have to be of one length")
    return np.concatenate(rows).reshape(len(rows), -1)


def blocks(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> Iterator[Block]:
    """The blocks of one table of reads, or of several (each in memory alone, a block in one), sorted by keys."""
    if isinstance(scores, Kept):
        yield from scores.blocks
        return
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        if len(table):
            yield from _blocks(table)


def _blocks(scores: pd.DataFrame, item: np.ndarray | None = None) -> Iterator[Block]:
    codes = scores[KEYS].groupby(KEYS, sort=True).ngroup().to_numpy()
    item = pd.factorize(scores["item_id"], sort=True)[0] if item is None else item
    index = scores["read_index"].to_numpy()
    order = np.lexsort((index, item, codes))
    table = scores
    if (np.diff(order) < 0).any():  # otherwise the table is sorted, and a copy would be equal
        table = scores.take(order)
        codes, item, index = codes[order], item[order], index[order]
    new_block = np.diff(codes, prepend=-1) != 0
    new_item = new_block | (np.diff(item, prepend=-1) != 0)
    starts, item_starts = np.flatnonzero(new_block), np.flatnonzero(new_item)
    row = np.cumsum(new_item) - 1  # row of `items` for each read
    items = table[[column for column in ITEM_COLUMNS if column in table]].take(item_starts)
    of_first_read = table[KEYS].take(starts)
    keys = zip(*(of_first_read[name].to_numpy() for name in KEYS), strict=True)
    for key, start, end in zip(keys, starts, [*starts[1:], len(codes)], strict=True):
        first, last = row[start], row[end - 1]
        yield Block(
            key=key,
            table=table.iloc[start:end],
            items=items.iloc[first : last + 1].reset_index(drop=True),
            item=row[start:end] - first,
            column=index[start:end],
        )
