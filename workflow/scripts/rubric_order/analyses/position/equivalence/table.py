"""Effects that are shown to be too small to be worth mention."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, each_row, texts
from rubric_order.tables.spec import Rows, Table

QUANTITIES = {"points": "points", "usual_minus_balanced": "usual", "log_odds": "log-odds"}
QUANTITIES |= {"interaction": "log-odds by score"}
# For these quantities, each dataset has its own row, and no row pools all datasets.
BY_DATASET = {"r": "r", "condition_points": "points", "condition_r": "r"}
AGAINST = each_row(lambda row: f" against {row['other']}" if row["other"] else "")


def _together(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["dataset"] == EVERY) | rows["quantity"].isin(BY_DATASET)]


TABLE = Table(
    rows=Rows("equivalence", "study", "profile", "cluster", drop=["study", "cluster"]),
    columns=[
        *texts("judge", "dataset"),
        Text("strategy", marks=each_row(lambda row: f" - {row['baseline']}" if row["baseline"] else "")),
        *texts("n", "readout"),
        Text("quantity", names=QUANTITIES | BY_DATASET, marks=AGAINST),
        Estimated("estimate", "+.3f", name="effect", ends=("low", "high")),
        Number("margin", "g"),
        *texts("verdict", "flag"),
    ],
    printed=_together,
)
