"""Mean scores over the reads of each item, with human scores."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS, OF_READOUT, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block

COLUMNS = [*KEYS, "item_id", "group_id", "criterion", "human_score", "read_index", *VALUES.values()]


@dataclass(frozen=True)
class ItemScores:
    """Scores of items that have a human score, summed over the reads of each item, in the order of item ids.

    Arrays have shape (n_items,); `row` is that of `Block.items`.
    """

    block: Block
    row: np.ndarray
    human: np.ndarray
    n_reads: np.ndarray
    n_scored: np.ndarray
    total: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def mean(self) -> np.ndarray:
        """Mean scores. A total is divided only once, so equal means of different reads are equal to the last bit."""
        return self.total / self.n_scored

    @property
    def scored(self) -> "ItemScores":
        """The items that have a score."""
        return self.take(self.n_scored > 0)

    def take(self, chosen: np.ndarray) -> "ItemScores":
        """Some of the items, by mask or index."""
        parts = (self.row, self.human, self.n_reads, self.n_scored, self.total)
        return ItemScores(self.block, *(part[chosen] for part in parts))

    def clusters(self, cluster: str) -> np.ndarray:
        """Index of each item's cluster (one of `keys.CLUSTERS`), from 0 in the order of ids, shape (n_items,)."""
        return self.block.units(cluster, self.row)

    @property
    def criterion(self) -> pd.Series:
        """Criteria of the items."""
        return self.block.items["criterion"].iloc[self.row]


def item_scores(block: Block, readout: Readout) -> ItemScores:
    """Scores of the items of a block that have a human score."""
    values = block.matrix(OF_READOUT[readout])
    human = block.items["human_score"].to_numpy(dtype=float, na_value=np.nan)
    row = np.flatnonzero(~np.isnan(human))
    n_reads = np.bincount(block.item, minlength=len(human))
    n_scored = (~np.isnan(values)).sum(axis=1)
    return ItemScores(block, row, human[row], n_reads[row], n_scored[row], np.nansum(values, axis=1)[row])


def clusters_of(items: pd.DataFrame, cluster: str) -> np.ndarray:
    """Index of each item's cluster, from 0 in the order of ids; `items` has item ids as index, and `group_id`."""
    return pd.factorize(items.index if cluster == "item" else items["group_id"], sort=True)[0]


def criterion_masks(criterion: pd.Series) -> Iterator[tuple[str, np.ndarray]]:
    """All items (``all``), then those of each criterion if there are several, with the mask of its items."""
    codes, names = pd.factorize(criterion, sort=True)
    yield EVERY, np.ones(len(codes), dtype=bool)
    if len(names) > 1:
        for code, name in enumerate(names):
            yield name, codes == code
