"""Differences of judges, profiles, scales and datasets in position bias."""

import pandas as pd

from rubric_order.tables.columns import SIGNIFICANT, Estimated, OfRows, Row, Text, cell, each_row, numbers, texts
from rubric_order.tables.spec import Rows, Table

VALUES = ["judge", "profile", "dataset", "strategy", "n", "readout", "compared", "one", "other", "quantity"]
VALUES += ["estimate", "ci_low", "ci_high", "p", "p_holm", "p_bh", "n_tests", "of_one", "of_other", "n_clusters"]
SWEPT = ["sweep", "swept_judge"]  # filled for a sweep over one judge's temperatures
DIGITS = {"cramers_v_squared": 3}  # squares are small


def _circumstances(row: Row) -> str:
    n = "" if pd.isna(row["n"]) else f"n={row['n']}"
    return " ".join(word for word in (row["profile"], row["strategy"], n) if pd.notna(word) and word)


def _form(sign: str = "") -> OfRows:
    return each_row(lambda row: f"{sign}.{DIGITS.get(row['quantity'], 2)}f")


def _mark(row: Row) -> str:
    return "†" if not row["p"] < SIGNIFICANT else "" if row["p_holm"] < SIGNIFICANT else "‡"


TABLE = Table(
    rows=Rows("judge_comparison", "study", "cluster", columns=[*VALUES, *SWEPT]),
    columns=[
        *texts("compared"),
        Text(lambda rows: rows["sweep"].fillna(rows["one"]), name="one"),
        *texts("other"),
        Text(lambda rows: rows["judge"].fillna(rows["swept_judge"]), name="judge", missing=""),
        Text("dataset", missing=""),
        cell("under", _circumstances),
        *texts("readout", "quantity"),
        *numbers(_form(), of_one="one's", of_other="other's"),
        Estimated("estimate", _form("+"), name="difference", marks=each_row(_mark)),
    ],
    hidden=SWEPT,
)
