"""Reads without a score: how many, where, and how much they could change a result."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from rubric_order.base import permutations
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.methods import blocks

COLUMNS = {"scores": [*KEYS, "item_id", "read_index", "ordering", "failure"]}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Reads without a score, by reason and by the position at which each score stood, where that is known.

    Args:
        scores: see `blocks.blocks`; columns `COLUMNS`.

    Returns:
        One row a group of `KEYS`, `score` and its `position` (``all`` and ``all`` for the pooled row) and `reason`
        (``all`` for any, which is there also when nothing failed), with `n_reads` and `n_failed`. Each score has every
        read in one of its positions.
    """
    columns = [*KEYS, "score", "position", "reason", "n_reads", "n_failed"]
    rows = []
    for block in blocks.blocks(scores):
        key, n, shown = block.keys, block.n, block.shown
        reason, names = pd.factorize(block.table["failure"], sort=True)  # -1 where nothing failed
        marks = np.column_stack([np.ones(len(shown)), reason >= 0, reason[:, None] == np.arange(len(names))])
        cells = [(EVERY, EVERY, marks.sum(axis=0).astype(int))]
        # What is recorded without its ordering has the canonical one as a stand-in, which says nothing about places.
        if key["strategy"] != "recorded" or (shown != shown[0]).any():
            place = permutations.positions_of(shown)
            for score, position in np.ndindex(n, n):
                counts = marks[place[:, score] == position + 1].sum(axis=0).astype(int)
                cells += [(str(score + 1), str(position + 1), counts)] if counts[0] else []
        for score, position, (n_reads, *n_failed) in cells:
            for label, count in zip([EVERY, *names], n_failed, strict=True):
                if count or label == EVERY:
                    values = {"score": score, "position": position, "reason": label}
                    rows.append(key | values | {"n_reads": n_reads, "n_failed": count})
    table = pd.DataFrame(rows, columns=columns).astype({"n_reads": int, "n_failed": int})
    return table.sort_values(columns[:-2], kind="stable", ignore_index=True)
