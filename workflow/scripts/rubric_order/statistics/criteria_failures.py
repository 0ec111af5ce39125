"""Scores that answers about several criteria do not give: by criterion, place in the prompt and reason."""

from collections.abc import Iterable

import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.methods import tidy

COLUMNS = {"scores": [*KEYS, "criterion", "criterion_position", "failure"]}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> pd.DataFrame:
    """How many scores are missing.

    Args:
        scores: see `panels.blocks`.

    Returns:
        One row a group of `KEYS`, `criterion` and its `criterion_position` (``all``: any) and `reason` (``all``: any,
        which is there also when nothing failed), with `n_scores`, scored or not, and `n_failed`.
    """
    parts = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        if table.empty:
            continue
        table = table[COLUMNS["scores"]].assign(criterion_position=table["criterion_position"].astype(str))
        by_place = table.assign(criterion=EVERY), table.assign(criterion_position=EVERY)
        table = pd.concat([table, *by_place, table.assign(criterion=EVERY, criterion_position=EVERY)])
        cell = [*KEYS, "criterion", "criterion_position"]
        sizes = table.groupby(cell, as_index=False).size().rename(columns={"size": "n_scores"})
        failed = table[table["failure"].notna()].rename(columns={"failure": "reason"})
        counts = failed.groupby([*cell, "reason"], as_index=False).size().rename(columns={"size": "n_failed"})
        in_all = failed.groupby(cell, as_index=False).size().rename(columns={"size": "n_failed"})
        parts.append(sizes.merge(in_all, on=cell, how="left").assign(reason=EVERY).fillna({"n_failed": 0}))
        parts.append(sizes.merge(counts, on=cell))
    columns = [*KEYS, "criterion", "criterion_position", "reason", "n_scores", "n_failed"]
    rows = pd.concat(parts).to_dict("records") if parts else []
    words = ["criterion", "criterion_position", "reason"]
    return tidy.from_rows_with_gaps(rows, columns, words).sort_values(columns[:-2], kind="stable", ignore_index=True)
