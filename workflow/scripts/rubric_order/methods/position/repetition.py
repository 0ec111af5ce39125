"""Variance of a read under repetition, by ordering: a judge can be sure in one and waver in another, so repeats of one
ordering do not give it.
"""

import numpy as np

from rubric_order.base.keys import VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods.position.blocks import Block, matrix_of
from rubric_order.methods.uncertainty import distributions, resampling

PROBABILITIES, REPEATS = "option probabilities", "repeats"  # sources of variances of repetition
FEWEST_CELLS = 20  # pairs of item and ordering that were read twice; fewer repeats can agree by chance
HARDLY = 0.2  # repeats that differ less than so many times as often as orderings do look like copies
LEVEL = 0.05


def temper(shares: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities at a temperature, from those at 1, shape (..., n); at 0 the (first) most probable option has 1."""
    if temperature == 0:
        return (np.arange(shares.shape[-1]) == shares.argmax(axis=-1)[..., None]).astype(float)
    weights = (shares / shares.max(axis=-1, keepdims=True)) ** (1 / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)


def variance_of_draw(shares: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Variance of a score that is drawn: sum p s^2 - (sum p s)^2, shapes (..., n) -> (...)."""
    mean = (shares * scores).sum(axis=-1, keepdims=True)
    return (shares * (scores - mean) ** 2).sum(axis=-1)


def repeats_of(block: Block) -> int | None:
    """Number of reads of each item in each of a block's orderings; None if it is 0 or not the same everywhere."""
    orderings, number = block.orderings
    per_cell = np.bincount(block.item * len(orderings) + number, minlength=len(block.items) * len(orderings))
    return int(per_cell[0]) if per_cell[0] and (per_cell == per_cell[0]).all() else None


def copied(block: Block) -> Row | None:
    """Counts of a block whose repeats look like copies of each other; None if they do not.

    They do if repeats of a prompt differ less than `HARDLY` times as often as reads of an item in two orderings, by a
    test over groups, or never. A judge that answers without chance looks the same.
    """
    orderings, number = block.orderings
    score = block.table["score"].to_numpy(dtype=float, na_value=np.nan)
    scored, shape = ~np.isnan(score), (len(block.items), len(orderings), block.n)
    if not np.isin(score[scored], np.arange(1, block.n + 1)).all():
        return None
    cell = block.item * shape[1] + number
    code = cell[scored] * block.n + score[scored].astype(int) - 1
    times = np.bincount(code, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)
    reads = times.sum(axis=2)
    repeated = reads > 1
    if repeated.sum() < FEWEST_CELLS or len(orderings) < 2:
        return None
    repeats = np.column_stack([(reads**2 - reads).sum(axis=1), (reads**2 - np.square(times).sum(axis=2)).sum(axis=1)])
    whole = np.column_stack([reads.sum(axis=1), times.sum(axis=1)])
    pairs = whole[:, 0] ** 2 - np.square(reads).sum(axis=1)
    differ = whole[:, 0] ** 2 - np.square(whole[:, 1:]).sum(axis=1) - repeats[:, 1]
    within, between = repeats[:, 1].sum() / repeats[:, 0].sum(), differ.sum() / max(pairs.sum(), 1)
    less = HARDLY * between * repeats[:, [0]] - repeats[:, [1]]
    less += HARDLY * repeats[:, 0].sum() / max(pairs.sum(), 1) * (differ - between * pairs)[:, None]
    few = above(resampling.sum_units(less, block.units("group"))[:, 0]) <= LEVEL
    if not between or (within and not few):
        return None
    return {"cells": int(repeated.sum()), "differ": float(within), "orderings": float(between)}


def above(values: np.ndarray) -> float:
    """One-sided p-value of a mean of 0 or less, by Student's t over groups."""
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    t = values.mean() / spread * np.sqrt(len(values)) if spread > 0 else -np.inf
    return float(distributions.t_tail(t, len(values) - 1)) if spread > 0 else 1.0


def variances(
    block: Block, readout: Readout, values: np.ndarray, temperature: float | None = None
) -> tuple[np.ndarray, str] | None:
    """Variance of each read under repetition, (n_items, K), and its source; None without one.

    Where an answer is one draw from probabilities (`temperature` is known), a written score has that of the draw, an
    expected one 0. Else from two or more repeats of each of several orderings that are no copies.
    """
    of_read = readout in VALUES  # a calibrated score is not drawn
    if temperature is not None and of_read and "position_probabilities" in block.table:
        usable = block.table["position_probabilities"].notna().to_numpy() & block.table[VALUES[readout]].notna()
        if usable.any():
            return _draw_variances(block, readout, usable.to_numpy(), values.shape, temperature), PROBABILITIES
    repeats = repeats_of(block)
    if repeats is None or repeats < 2 or len(block.orderings[0]) < 2:
        return None
    if readout == Readout.HARD and temperature != 0 and copied(block):
        return None
    return _repeat_variances(block, values), REPEATS


def _draw_variances(
    block: Block, readout: Readout, known: np.ndarray, shape: tuple[int, int], temperature: float
) -> np.ndarray:
    variance = np.full(shape, np.nan)
    if readout == Readout.SOFT:
        drawn = np.zeros(known.sum())
    else:
        shares = temper(matrix_of(block.table["position_probabilities"].to_numpy()[known]), temperature)
        drawn = variance_of_draw(shares, block.shown[known])
    variance[block.item[known], block.column[known]] = drawn
    return variance


def _repeat_variances(block: Block, values: np.ndarray) -> np.ndarray:
    """Variance of the scores of each item and ordering. The divisor is the number of scores minus 1."""
    orderings, number = block.orderings
    cell = block.item * len(orderings) + number
    cells = len(block.items) * len(orderings)
    scores = values[block.item, block.column]
    scored = ~np.isnan(scores)
    count = np.bincount(cell, weights=scored, minlength=cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(cell, weights=np.nan_to_num(scores), minlength=cells) / count
        squares = np.bincount(cell, weights=np.where(scored, (scores - mean[cell]) ** 2, 0), minlength=cells)
        variance = np.where(count > 1, squares / (count - 1), np.nan)
    of_reads = np.full(values.shape, np.nan)
    of_reads[block.item, block.column] = np.where(scored, variance[cell], np.nan)
    return of_reads
