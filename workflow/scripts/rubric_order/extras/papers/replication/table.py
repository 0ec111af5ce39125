"""Published numbers and our estimates."""

import pandas as pd

from rubric_order.tables.columns import Row, Text, cell, each_row, interval, texts
from rubric_order.tables.spec import Rows, Table

OUTSIDE = {"in_items": "other items", "in_rerun": "another run"}


def _our_rows(rows: pd.DataFrame) -> pd.DataFrame:
    ours = rows.loc[rows["status"] == "compared", ["judge", "profile"]].drop_duplicates()
    return rows.merge(ours, on=["judge", "profile"])


def _ours(row: Row) -> str:
    return f"{row['ours']:.{row['digits'] + 1}f}" if row["status"] == "compared" else row["status"]


def _range(name: str, head: str) -> Text:
    low, high = f"{name}_low", f"{name}_high"
    return cell(head, lambda row: interval(row[low], row[high], f".{row['digits'] + 1}f", missing=""))


def _outside(row: Row) -> str:
    return ", ".join(name for column, name in OUTSIDE.items() if row[column] is False)


TABLE = Table(
    rows=Rows("replication"),
    columns=[
        *texts("table", "judge"),
        Text("our_judge", name="our judge", missing=""),
        Text("profile", names={"default": ""}),
        *texts("dataset"),
        Text("strategy", marks=each_row(lambda row: f" to {row['other']}" if row["other"] else "")),
        *texts("n"),
        Text("quantity", marks=each_row(lambda row: f" ({row['detail']})" if row["detail"] else "")),
        cell("published", lambda row: f"{row['published']:.{row['digits']}f}"),
        cell("ours", _ours),
        _range("ci", "other items"),
        _range("rerun", "another run"),
        cell("outside", _outside),
    ],
    printed=_our_rows,
)
