"""Positions where each score is selected."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Flags, Number, OfRows, each_row, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, same, wide

KEYS = ["judge", "dataset", "readout", "cluster", "score"]


def _rows(score_position: pd.DataFrame, *, n: int) -> pd.DataFrame:
    values: list[Value] = [same("n_selected", "n_reads", "n_clusters")]
    for quantity, name in (("share", "pos"), ("rate", "rate")):
        values += [estimate(quantity, f"{name}{position}", position=position) for position in range(1, n + 1)]
    return wide(score_position, KEYS, values)


def _shares(rows: pd.DataFrame) -> list[Number]:
    positions = [position for position in range(1, len(rows.columns)) if f"pos{position}" in rows]
    shares = {f"pos{position}": f"P{position}" for position in positions}
    stars = {name: _unequal(name, 1 / len(positions)) for name in shares}
    return [
        Number(name, ".1f", name=head, times=100, missing="never", marks=stars[name]) for name, head in shares.items()
    ]


def _unequal(name: str, equal: float) -> OfRows:
    return each_row(lambda row: "*" if row[f"{name}_low"] > equal or row[f"{name}_high"] < equal else "")


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile", "cluster"),
    columns=[*texts("judge", "readout", "score"), Number("n_selected", ".0f", name="selections"), _shares, Flags()],
    printed={"dataset": EVERY},
)
