"""Position preference summarised over judges and datasets."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Row, cell, numbers, texts
from rubric_order.tables.spec import Rows, Table, Taken, select, taken, wide

KEYS = ["profile", "strategy", "n", "readout", "quantity", "position"]
TERMS = {"sd_judge": "sd of judges", "sd_dataset": "sd of datasets", "sd_rest": "sd of the rest"}
TERMS |= {"error_correlation": "r of errors"}
MEAN = Taken({"estimate": "mean", "ci_low": "mean_low", "ci_high": "mean_high"}, {"term": "mean"})


def _settings(rows: pd.DataFrame) -> pd.DataFrame:
    deviations = [taken({"term": term}, estimate=term) for term in TERMS]
    return wide(select(rows, judge=EVERY), KEYS, [MEAN, taken({"term": "mean"}, "n_judges", "n_datasets"), *deviations])


def _quantity(row: Row) -> str:
    return row["quantity"] if pd.isna(row["position"]) else f"Pos{row['position']}"


TABLE = Table(
    rows=Rows("preference_summary", "study", "cluster", drop=["study", "method"]),
    columns=[
        *texts("profile", "strategy", "n", "readout"),
        cell("quantity", _quantity),
        Estimated("mean", "+.2f"),
        *numbers(".2f", **TERMS, missing=""),
        *texts(n_judges="judges", n_datasets="datasets"),
    ],
    printed=_settings,
)
