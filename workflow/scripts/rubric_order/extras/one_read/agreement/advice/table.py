"""Options of a further study: groups, items, orderings and repeats, with the precision that a pilot predicts."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.base.rows import rows_with
from rubric_order.tables.columns import Estimated, Flags, Number, Text, cell, counts, known, texts
from rubric_order.tables.spec import Rows, Table

PRINTED = 10  # largest number of printed options per judge and readout
GOALS = {
    "r": "half-width of r",
    "mean": "half-width of the mean",
    "preference": "half-width, log-odds",
    "ranked": "pairs right",
    "equivalent": "equivalent",
    "bias": "smallest bias, log-odds",
    "shift": "smallest shift, points",
}


def _rows(advice: pd.DataFrame) -> pd.DataFrame:
    rows = rows_with(advice, kind=["option", "refused"])
    keys = ["judge", "profile", "dataset", "readout", "rank"]
    return rows.sort_values(keys, kind="stable").drop(columns=["seed", "cluster"])


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~(rows["rank"] > PRINTED)]


def _config(row: Mapping[str, Any]) -> str:
    return row["config"] if row["kind"] == "option" else "none"


def _target(row: Mapping[str, Any]) -> str:
    missed = [name for name, column in (("target", "meets"), ("budget", "affordable")) if row[column] == 0]
    return f"beyond {' and '.join(missed)}" if missed else ""


def _predicted(rows: pd.DataFrame) -> list[Estimated]:
    goals = rows["goal"].unique()
    name = GOALS[goals[0]] if len(goals) == 1 else "predicted"
    return [Estimated("estimate", ".3f", name=name, missing="", ends=("ci_low", "ci_high"))]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile"),
    columns=[
        *texts("judge", "dataset", "readout"),
        cell("config", _config),
        Number("items", ".3g", missing=""),
        *counts("calls"),
        Number("cost", ",.2f", missing="", when=known("cost")),
        _predicted,
        Number("value", ".3f", name="r or mean", missing="", when=known("value")),
        cell("limits", _target),
        Text("flag", name="note", missing=""),
        Flags(),
    ],
    printed=_printed,
)
