"""Answers without a score."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base import permutations
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks

READ = ["unit_id", "read_index"]  # together with `KEYS`, these name a read
COLUMNS = {"scores": [*KEYS, *READ, "item_id", "ordering", "question", "criterion", "failure"]}
CELL = ["option", "position", "reason"]


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Missing scores by `reason` (``all``: any, also if nothing failed), `option` and its `position`, where known.

    Options are the scores of the scale, or the criteria if a read asks several questions.
    """
    columns = [*KEYS, *CELL, "n_scores", "n_failed"]
    rows: list[Row] = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        several = table["question"] != ""
        rows += _score_rows(table[~several])
        rows += _criterion_rows(table[several])
    table = tidy.make_table(rows, columns, {"position": "str"})
    return table.sort_values(columns[:-2], kind="stable", ignore_index=True)


def _score_rows(table: pd.DataFrame) -> Iterator[Row]:
    for block in blocks.blocks(table):
        n, orderings = block.n, block.shown
        reason, reasons = pd.factorize(block.table["failure"], sort=True)  # -1 for a read that did not fail
        marks = np.column_stack([np.ones(len(orderings)), reason >= 0, reason[:, None] == np.arange(len(reasons))])
        cells = [(EVERY, EVERY, marks.sum(axis=0).astype(int))]
        # Records without an ordering get the canonical ordering, which says nothing about positions.
        if block.keys["strategy"] != "recorded" or (orderings != orderings[0]).any():
            place = permutations.positions_of(orderings)
            for score, position in np.ndindex(n, n):
                counts = marks[place[:, score] == position + 1].sum(axis=0).astype(int)
                cells += [(str(score + block.lowest), str(position + 1), counts)] if counts[0] else []
        for option, position, (n_scores, *n_failed) in cells:
            for label, count in zip([EVERY, *reasons], n_failed, strict=True):
                if count or label == EVERY:
                    cell = dict(zip(CELL, (option, position, label), strict=True))
                    yield block.keys | cell | {"n_scores": n_scores, "n_failed": count}


def _criterion_rows(table: pd.DataFrame) -> list[Row]:
    if table.empty:
        return []
    # The rows of a read are its criteria in canonical order.
    number = table.groupby([*KEYS, *READ]).cumcount().to_numpy()
    pairs = zip(table["ordering"], number, strict=True)
    place = np.array([list(ordering).index(criterion + 1) + 1 for ordering, criterion in pairs])
    options = table["criterion"].astype(str)
    table = table[[*KEYS, "failure"]].assign(option=options, position=place.astype(str))
    by_one = table.assign(option=EVERY), table.assign(position=EVERY)
    table = pd.concat([table, *by_one, table.assign(option=EVERY, position=EVERY)])
    cell = [*KEYS, "option", "position"]
    counts = table.groupby(cell)["failure"].agg(n_scores="size", n_failed="count").reset_index()
    by_reason = table.dropna(subset="failure").groupby([*cell, "failure"]).size().rename("n_failed").reset_index()
    by_reason = by_reason.rename(columns={"failure": "reason"}).merge(counts[[*cell, "n_scores"]], on=cell)
    return pd.concat([counts.assign(reason=EVERY), by_reason]).to_dict("records")
