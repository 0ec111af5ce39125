"""Variation of the scores of an item from read to read."""

import pandas as pd

from rubric_order import strategies
from rubric_order.tables.columns import Estimated, Flags, Number, Row, Text, cell, estimate_text, numbers, texts, there
from rubric_order.tables.spec import Rows, Table, Value, estimate, select, wide

KEYS = ["judge", "dataset", "readout", "cluster"]
SPLIT = ["ordering", "shift", "interaction", "repetition", "ordering_share", "rest"]
STRATEGIES = strategies.fitting("deviation")
UNSPLIT = "not known"
VARIANCES = {name: f"variance: {name}" for name in ("shift", "interaction", "repetition")}


def _rows(within_item_deviation: pd.DataFrame, *, strategy: str = "balanced") -> pd.DataFrame:
    """One row per judge, dataset and readout: deviations under all strategies, and the split variance of one."""
    values: list[Value] = []
    for quantity in ("mean_sd", "variance"):
        present = set(select(within_item_deviation, quantity=["mean_sd", "variance"])["strategy"])
        values += [estimate(quantity, f"{quantity}_{name}", strategy=name) for name in STRATEGIES if name in present]
    split = select(within_item_deviation, strategy=strategy, quantity=SPLIT)
    counts = split.replace({"repetition_from": {"": None}}).groupby(KEYS)[["n_items", "repetition_from"]].first()
    values += [within_item_deviation.groupby(KEYS)["n_clusters"].min(), counts]
    values += [estimate(name, strategy=strategy) for name in SPLIT]
    return wide(within_item_deviation, KEYS, values).astype({"n_items": "Int64"})


def _share(row: Row) -> str:
    ends = (row[f"ordering_share{end}"] for end in ("", "_low", "_high"))
    return UNSPLIT if pd.isna(row["repetition"]) else estimate_text(*ends, form=".0f", times=100)


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster"),
    columns=[
        *texts("judge", "dataset", "readout", n_items="items"),
        *(Estimated(f"mean_sd_{name}", name=f"sd {name}", when=there(f"mean_sd_{name}")) for name in STRATEGIES),
        *numbers(".3f", **VARIANCES, missing=UNSPLIT),
        Number("rest", name="unsplit", missing=""),
        cell("ordering %", _share),
        Text("repetition_from", name="repetition from", missing=""),
        Flags(),
    ],
)
