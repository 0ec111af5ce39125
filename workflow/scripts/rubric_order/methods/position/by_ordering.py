"""Reads of items that share a balanced set of orderings, with the variance that a read has by chance."""

from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.position import repetition, spread
from rubric_order.methods.position.blocks import Block

MOST_ORDERINGS = 120  # all orderings of five options


class ByOrdering(NamedTuple):
    """Items that have a score from each of their reads, in every ordering, of a set that balances positions.

    Arrays have shape (m, D): means, `variance` of one read by chance (NaN without a source, see `known_from`), reads a
    mean. `rows` are those of the block.
    """

    orderings: np.ndarray
    means: np.ndarray
    variance: np.ndarray
    times: np.ndarray
    known_from: str
    rows: np.ndarray
    group: np.ndarray

    @property
    def reverse(self) -> np.ndarray:
        """Index of each ordering's reverse, shape (D,); -1 if the reverse was not read."""
        place = {tuple(row): number for number, row in enumerate(self.orderings.tolist())}
        return np.array([place.get(tuple(row), -1) for row in self.orderings[:, ::-1].tolist()])

    @property
    def usual(self) -> int | None:
        """Index of the usual ordering, 1 to n rising; None if it was not read."""
        rising = np.flatnonzero((np.diff(self.orderings, axis=1) > 0).all(axis=1))
        return int(rising[0]) if len(rising) else None

    @property
    def residual_variance(self) -> np.ndarray:
        """Variance of an item's means over orderings after other groups' mean effects, shape (m,): chance and the
        item's own effects, so a bound of chance.
        """
        away = self.means - self.means.mean(axis=1, keepdims=True)
        counts = np.bincount(self.group)
        totals = np.zeros((len(counts), away.shape[1]))
        np.add.at(totals, self.group, away)
        others = (away.sum(axis=0) - totals) / (len(away) - counts)[:, None]
        return np.square(away - others[self.group]).sum(axis=1) / (away.shape[1] - 1)


def complete_orderings(
    block: Block, readout: Readout, values: np.ndarray, temperature: float | None = None
) -> ByOrdering | None:
    """The items of a block on which all orderings can be compared, or None.

    Variance by chance is from repeats of every ordering; else 0 for an expected score (if nothing is written before),
    and that of a draw for a written one. `temperature` is None if answers are no such draws.
    """
    block = block.common
    orderings, _ = block.orderings
    if not 2 <= len(orderings) <= MOST_ORDERINGS or not block.design.shared:
        return None
    if any(np.ptp([(column == score).sum() for column in orderings.T]) for score in range(1, block.n + 1)):
        return None
    means = block.ordering_means(values)
    rows = ~np.isnan(means).any(axis=1)
    if not rows.any():
        return None
    variance, known_from = np.full(means.shape, np.nan), spread.UNKNOWN
    of_reads = repetition.variances(block, readout, values)  # without a temperature: from repeats alone
    if of_reads is None and readout == Readout.SOFT:
        variance, known_from = np.zeros(means.shape), spread.EXACT
    elif of_reads is None:
        of_reads = repetition.variances(block, readout, values, temperature)
    if of_reads is not None:
        variance = block.ordering_means(of_reads[0])
        if not np.isnan(variance[rows]).any():
            known_from = of_reads[1]
    shape = len(block.items), len(orderings)
    cell = block.item * shape[1] + block.orderings[1]
    times = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    group = block.units("group", rows)
    return ByOrdering(orderings, means[rows], variance[rows], times[rows], known_from, rows, group)
