"""Golden scores in comparison with people's scores."""

import pandas as pd

from rubric_order.tables.columns import ACCURACY_NAMES, Flags, Number, each_row, estimates, texts, written
from rubric_order.tables.spec import Rows, Table, wide

KEYS = ["dataset", "source"]


def _rows(golden_alignment: pd.DataFrame) -> pd.DataFrame:
    counts = golden_alignment.groupby(KEYS)[["n_items", "n_clusters"]].max()
    return wide(golden_alignment, KEYS, [*ACCURACY_NAMES, "differ", "median", counts])


NO_MAJORITY = each_row(lambda row: f" ({written(row['median'], '.1%')})")
TABLE = Table(
    rows=Rows(_rows),
    columns=[
        *texts("dataset", "source", n_items="items"),
        *estimates(".3f", **ACCURACY_NAMES, missing=""),
        Number("differ", ".1%", name="reads differ (no majority)", where="differ", marks=NO_MAJORITY),
        Flags(),
    ],
)
