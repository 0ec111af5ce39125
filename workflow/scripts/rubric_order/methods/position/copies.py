"""Items of different groups with the same option probabilities or written scores: likely one item under several names.

Statistics take copies as independent: intervals are too short, tests too sure.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block, matrix_of
from rubric_order.methods.position.selections import READOUTS

FEWEST_PAIRS = 3  # pairs of items with equal written scores; fewer can be chance
NAMED = 3  # pairs of items that are named
MOST_CODES = 2**62


class Copies(NamedTuple):
    """Number of items that repeat another group's, without the first of each set, and some pairs, as ``a = b``."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    names: tuple[str, ...]


def copies(block: Block) -> Copies:
    """The items of a block that have the same reads as an item of another group.

    Probabilities must be equal to the last digit and not all 0 or 1. Written scores must vary, and such pairs be
    `FEWEST_PAIRS` and outnumber those that differ in one read; at temperature 0 preference makes items alike, too.
    """
    group = block.units("group")
    item_ids = block.items["item_id"].to_numpy(dtype=str)
    column = READOUTS[Readout.SOFT]
    if column in block.table and block.table[column].notna().any():
        return _named(_probability_codes(block), group, item_ids)
    scores = block.matrix("score")
    scored = ~np.isnan(scores)
    varied = (scored.sum(axis=1) > 1) & (np.nanmax(np.where(scored, scores, -1), axis=1) > _least(scores, scored))
    table = np.where(varied[:, None], np.where(scored, scores, 0), np.nan)
    copied = _named(_numbered(table), group, item_ids)
    equal = _pairs(_numbered(table), group)
    if equal < FEWEST_PAIRS:
        return Copies(0, ())
    near = sum(_pairs(_numbered(np.delete(table, one, axis=1)), group) - equal for one in range(table.shape[1]))
    return copied if equal > near else Copies(0, ())


def _least(scores: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known, scores, np.inf).min(axis=1)


def _probability_codes(block: Block) -> np.ndarray:
    """Index of each item's vector of probabilities; -1 if a probability is unknown, or if all are 0 or 1."""
    values = np.full((len(block.items), int(block.column.max()) + 1, block.n), np.nan)
    column = block.table[READOUTS[Readout.SOFT]]
    rows = np.flatnonzero(column.notna())
    values[block.item[rows], block.column[rows]] = matrix_of(column.to_numpy()[rows])
    table = values.reshape(len(values), -1)
    sure = np.isin(table, (0.0, 1.0)).all(axis=1)
    return _numbered(np.where(sure[:, None], np.nan, table))


def _numbered(table: np.ndarray) -> np.ndarray:
    """Index of each row among the sorted distinct rows, -1 with NaN. Codes combine ranks column by column."""
    number = np.full(len(table), -1)
    complete = ~np.isnan(table).any(axis=1)
    if complete.any():
        rows = table[complete]
        code: np.ndarray = np.zeros(len(rows), dtype=np.int64)
        most = 1  # largest possible number of codes
        for column in range(rows.shape[1]):
            values, digit = np.unique(rows[:, column], return_inverse=True)
            if most > MOST_CODES // len(values):
                distinct, code = np.unique(code, return_inverse=True)
                most = len(distinct)
            code, most = code * len(values) + digit, most * len(values)
        number[complete] = np.unique(code, return_inverse=True)[1]
    return number


def _pairs(number: np.ndarray, group: np.ndarray) -> int:
    numbered = number >= 0
    of_all = np.bincount(number[numbered])
    cell = number[numbered] * (int(group.max(initial=0)) + 1) + group[numbered]
    of_groups = np.unique(cell, return_counts=True)[1]
    return int((of_all * (of_all - 1)).sum() - (of_groups * (of_groups - 1)).sum()) // 2


def _named(number: np.ndarray, group: np.ndarray, names: np.ndarray) -> Copies:
    rows = np.flatnonzero(number >= 0)
    cell = number[rows] * (int(group.max(initial=0)) + 1) + group[rows]
    item = rows[np.unique(cell, return_index=True)[1]]
    order = np.lexsort((names[item], number[item]))
    item = item[order]
    again = np.flatnonzero(np.diff(number[item]) == 0) + 1
    return Copies(len(again), tuple(f"{names[item[place - 1]]} = {names[item[place]]}" for place in again[:NAMED]))
