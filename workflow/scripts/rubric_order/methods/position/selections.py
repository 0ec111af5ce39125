"""Selections of positions, counted for each item."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block, matrix_of

# From readout to the column that says what a read selects: the written option's position, or each position's
# probability.
READOUTS = {Readout.HARD: "position", Readout.SOFT: "position_probabilities"}


def counts(block: Block, readout: Readout) -> np.ndarray:
    """Selections of each position in each item, or summed probabilities, shape (n_items, n); 0 without a read."""
    shape = len(block.items), block.n
    column = block.table[READOUTS[readout]]
    usable = column.notna().to_numpy()
    if not usable.any():
        return np.zeros(shape)
    if readout == Readout.HARD:
        cell = block.item[usable] * block.n + column[usable].to_numpy(dtype=int) - 1
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    probabilities = matrix_of(column[usable].to_numpy())
    return np.column_stack([np.bincount(block.item[usable], values, shape[0]) for values in probabilities.T])


def evened(block: Block, readout: Readout) -> np.ndarray:
    """Selections as if every score had stood equally often in every position, (n_items, n); rows sum to K, or 0.

    K / n + (1 - 1/D) / (1 - 1/K) (selections - expected by the item's scores and where they stood), an ordering counted
    once. The factor corrects for expected selections that include the item's own reads.
    """
    n, column = block.n, block.table[READOUTS[readout]]
    usable = column.notna().to_numpy()
    design, item = block.design_of(usable), block.item[usable]
    if readout == Readout.HARD:
        place = column.to_numpy(dtype=float, na_value=0).astype(int)[usable]
        chosen = (place[:, None] == np.arange(1, n + 1)).astype(float)
    else:
        chosen = matrix_of(column[usable].to_numpy()) if usable.any() else np.zeros((0, n))
    chosen *= design.weights[:, None]
    size = len(block.items) * n
    selected, score_counts = (
        np.bincount((item[:, None] * n + at).ravel(), chosen.ravel(), size).reshape(-1, n)
        for at in (np.broadcast_to(np.arange(n), chosen.shape), block.shown[usable] - 1)
    )
    count = design.several
    expected = np.einsum("is,isp->ip", score_counts, design.exposure)
    scale = (1 - 1 / len(design.orderings)) / (1 - 1 / np.maximum(count, 2))
    return np.where(count[:, None] > 1, count[:, None] / n + scale[:, None] * (selected - expected), 0)


def score_selections(block: Block, readout: Readout) -> np.ndarray:
    """Selections of each item's scores by position, and opportunities for them, shape (2, n_items, n, n)."""
    n, items = block.n, len(block.items)
    if readout == Readout.HARD:
        usable = block.table["position"].notna().to_numpy()
        place = block.table["position"].to_numpy(dtype=float, na_value=0).astype(int)
        weights = (place[usable, None] == np.arange(1, n + 1)).astype(float)
    else:
        usable = block.table["position_probabilities"].notna().to_numpy()
        weights = matrix_of(block.table["position_probabilities"].to_numpy()[usable])
    cell = block.item[usable, None] * n * n + (block.shown[usable] - 1) * n + np.arange(n)
    size = items * n * n
    selected = np.bincount(cell.ravel(), weights=weights.ravel(), minlength=size)
    chances = np.bincount(cell.ravel(), minlength=size)
    return np.stack([selected, chances]).reshape(2, items, n, n)


class Variety(NamedTuple):
    """Share of the commonest score, pairs of reads of an item with (expected) different scores, and all pairs: limits
    of what an order can change.
    """

    commonest: float
    discordant: float
    pairs: int

    @property
    def discordant_share(self) -> float:
        """Share of the pairs that have different scores; NaN if no item has two reads."""
        return self.discordant / self.pairs if self.pairs else np.nan


def variety(block: Block, readout: Readout) -> Variety:
    """Variety of the scores that a judge gives, overall and within items."""
    totals = score_selections(block, readout)[0].sum(axis=-1)
    reads = totals.sum(axis=1)  # a read's probabilities sum to 1
    squares = reads
    if readout == Readout.SOFT:
        usable = block.table["position_probabilities"].notna().to_numpy()
        read_squares = (matrix_of(block.table["position_probabilities"].to_numpy()[usable]) ** 2).sum(axis=1)
        squares = np.bincount(block.item[usable], weights=read_squares, minlength=len(totals))
    pairs = (reads * (reads - 1) / 2).sum()
    alike = ((totals**2).sum(axis=1) - squares).sum() / 2
    return Variety(float(totals.sum(axis=0).max() / totals.sum()), float(max(pairs - alike, 0)), round(pairs))


def readouts(block: Block) -> Iterator[Readout]:
    """The readouts for which a block has selected positions."""
    for readout, column in READOUTS.items():
        if column in block.table and block.table[column].notna().any():
            yield readout


def position_shares(selected: np.ndarray) -> np.ndarray:
    """Share of each position among a score's selections. Source: the earlier version of Xu et al., Table 5."""
    with np.errstate(invalid="ignore"):
        return selected / selected.sum(axis=-1, keepdims=True)
