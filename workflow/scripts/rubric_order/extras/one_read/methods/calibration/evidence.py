"""Reads for calibration as a table of items by orderings, one a cell, and their sums over groups, from which
calibrations are learnt.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base import permutations
from rubric_order.base.keys import VALUES
from rubric_order.base.readouts import Readout
from rubric_order.extras.one_read.methods.calibration import learning
from rubric_order.methods.agreement.halves import Halves, halves
from rubric_order.methods.position import preference
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.position.selections import READOUTS

MOST_ORDERINGS = 120  # all orderings of five options


class Laid(NamedTuple):
    """Items that have a score in every ordering, from the first read of each: `values` (m, D), `probabilities` (m, D,
    n; None for ``hard``), `rows` of the block.
    """

    orderings: np.ndarray
    halves: Halves
    values: np.ndarray
    probabilities: np.ndarray | None
    rows: np.ndarray
    group: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """Index of each score's position in each ordering, from 0, shape (D, n)."""
        return permutations.positions_of(self.orderings) - 1

    def evidence(self) -> learning.Evidence:
        """Sums over each group, from which calibrations are learnt."""
        n = self.orderings.shape[1]
        soft = hard = None
        if self.probabilities is None:
            hard = learning.hard_sums(self.values, self.orderings, self.halves.targets(self.values), self.group)
        else:
            places = np.broadcast_to(self.places, self.probabilities.shape)
            by_score = np.take_along_axis(self.probabilities, places, axis=2)
            soft = learning.soft_sums(preference.compare_probabilities(by_score, places, self.group))
        items = np.bincount(self.group)
        return learning.Evidence(n, soft, hard, items, items * len(self.orderings))


def lay_out(block: Block, readout: Readout) -> Laid | None:
    """Lay out the items of a block; None without the readout, shared orderings (up to `MOST_ORDERINGS`) that can be
    halved, or complete items.
    """
    block, columns = block.common, {VALUES[readout], READOUTS[readout]}
    if not columns <= set(block.table) or not block.design.shared or len(block.orderings[0]) > MOST_ORDERINGS:
        return None
    orderings, number = block.orderings
    parts = halves(orderings)
    if parts is None:
        return None
    shape = len(block.items), len(orderings)
    cells, first = np.unique(block.item * shape[1] + number, return_index=True)
    values = np.full(shape[0] * shape[1], np.nan)
    there = block.table[READOUTS[readout]].notna().to_numpy()
    values[cells] = np.where(there, block.table[VALUES[readout]].to_numpy(dtype=float, na_value=np.nan), np.nan)[first]
    values = values.reshape(shape)
    rows = ~np.isnan(values).any(axis=1)
    if not rows.any():
        return None
    probabilities = None
    if readout == Readout.SOFT:
        row: np.ndarray = np.empty(shape[0] * shape[1], dtype=int)
        row[cells] = first
        column = block.table[READOUTS[readout]].to_numpy()[row.reshape(shape)[rows].ravel()]
        probabilities = np.stack(column).reshape(-1, *orderings.shape)
    return Laid(orderings, parts, values[rows], probabilities, rows, block.units("group", rows))
