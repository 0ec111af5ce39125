"""Strength of position bias with more or fewer score levels."""

import pandas as pd

from rubric_order.base.keys import MEAN
from rubric_order.tables.columns import Row, Text, each_row, estimate_text, texts
from rubric_order.tables.spec import Rows, Table, same, select, taken, wide

KEYS = ["judge", "readout", "cluster", "n", "dataset"]
VALUES = [same("n_datasets", "n_saturated"), "cramers_v", "cramers_v_corrected"]


def _scale_rows(rows: pd.DataFrame) -> pd.DataFrame:
    means = select(rows, dataset=MEAN)
    values = [taken({"n": n}, cell=f"n = {n}") for n in sorted(means["n"].unique())]
    return wide(means.assign(cell=each_row(_cell)(means)), ["judge", "readout"], values)


def _cell(row: Row) -> str:
    saturated = f", {row['n_saturated']} saturated" if row["n_saturated"] else ""
    v = estimate_text(*(row[f"cramers_v_corrected{end}"] for end in ("", "_low", "_high")))
    return f"{v} ({row['n_datasets']}{saturated})"


TABLE = Table(
    rows=Rows("scales", "profile", "strategy", "cluster", keys=KEYS, values=VALUES),
    columns=[*texts("judge", "readout"), lambda rows: [Text(name, missing="") for name in rows.columns[2:]]],
    printed=_scale_rows,
)
