"""Reads of items that share a balanced set of orderings, with the variance that a read has by chance."""

from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.position import repetition, spread
from rubric_order.methods.position.blocks import Block

MOST_ORDERINGS = 120  # all orderings of five options


class ByOrdering(NamedTuple):
    """Items that have a score from each of their reads, in every ordering.

    Attributes:
        orderings: the score at each position, shape (D, n); each score stands equally often at each position.
        means: mean score of each item in each ordering, shape (m, D).
        variance: variance of one read by chance, in points squared, shape (m, D); NaN where no source gives it.
        times: number of reads in each mean, shape (m, D).
        known_from: source of the variance, ``repeats`` or ``option probabilities``; empty if any variance is NaN.
        rows: True for the items of the block that are kept here, shape (n_items,).
        group: index of each item's group, from 0, shape (m,).
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
        """Index of the usual ordering, which shows 1 to n in rising order; None if it was not read."""
        rising = np.flatnonzero((np.diff(self.orderings, axis=1) > 0).all(axis=1))
        return int(rising[0]) if len(rising) else None

    @property
    def residual_variance(self) -> np.ndarray:
        """Variance of an item's means over orderings, after mean effects of orderings are subtracted, shape (m,).

        The effects come from the items of other groups, so there must be at least two groups. The result contains the
        variance by chance and the effects of orderings on single items. So the variance by chance cannot be larger than
        the result.
        """
        away = self.means - self.means.mean(axis=1, keepdims=True)
        counts = np.bincount(self.group)
        totals = np.zeros((len(counts), away.shape[1]))
        np.add.at(totals, self.group, away)
        others = (away.sum(axis=0) - totals) / (len(away) - counts)[:, None]
        return np.square(away - others[self.group]).sum(axis=1) / (away.shape[1] - 1)


def by_ordering(
    block: Block, readout: Readout, values: np.ndarray, temperature: float | None = None
) -> ByOrdering | None:
    """The items of a block on which all orderings can be compared.

    The variance by chance has one of three sources:

    - If every ordering was repeated, the repeats give the variance.
    - Without repeats, the variance of an expected score counts as 0. This assumes that nothing is written before the
      answer.
    - Without repeats, the variance of a written score follows from the option probabilities from which it is drawn.

    Args:
        block: the reads.
        readout: readout of the scores.
        values: score of each read of each item, shape (n_items, K); NaN for a read without a score.
        temperature: temperature at which the judge draws its answers from the option probabilities; None if this
            temperature is not known, or if answers are no such draws, for example because other text comes first.

    Returns:
        The items. None in four cases:

        - items do not share their orderings;
        - there are fewer than two orderings, or more than `MOST_ORDERINGS`;
        - the orderings do not show each score equally often at each position;
        - no item has a score from each of its reads, in every ordering.
    """
    block = block.common
    shown, _ = block.orderings
    if not 2 <= len(shown) <= MOST_ORDERINGS or not block.design.shared:
        return None
    if any(np.ptp([(column == score).sum() for column in shown.T]) for score in range(1, block.n + 1)):
        return None
    means = block.by_ordering(values)
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
        variance = block.by_ordering(of_reads[0])
        if not np.isnan(variance[rows]).any():
            known_from = of_reads[1]
    shape = len(block.items), len(shown)
    cell = block.item * shape[1] + block.orderings[1]
    times = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    group = block.units("group", rows)
    return ByOrdering(shown, means[rows], variance[rows], times[rows], known_from, rows, group)
