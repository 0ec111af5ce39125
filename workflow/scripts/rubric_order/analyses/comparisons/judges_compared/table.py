"""Differences between judges of comparisons and a reference judge, by task, and self-preference."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table

VALUES = ["profile", "dataset", "benchmark", "strategy", "n", "task", "judge", "other", "quantity"]
VALUES += ["estimate", "ci_low", "ci_high", "of_judge", "of_other", "n_values", "n_clusters", "flag"]
SELF_PREFERENCE = "self_preference"
NAMES = {"position_consistency": "PC", "preference_fairness": "PF", SELF_PREFERENCE: "own family's wins"}


def _rows(judges_compared: pd.DataFrame, *, reference: str | None) -> pd.DataFrame:
    alone, keys = judges_compared["quantity"] == SELF_PREFERENCE, ["benchmark", "dataset"]
    first = judges_compared[~alone].groupby(keys)["judge"].first().rename("first")
    others = judges_compared[keys].join(first, on=keys)["first"] if reference is None else reference
    return judges_compared[(judges_compared["other"] == others) | alone]


TABLE = Table(
    rows=Rows(_rows, "study", columns=VALUES),
    columns=[
        *texts("benchmark", "task", "judge", other="other judge"),
        Text("quantity", names=NAMES),
        Estimated("estimate", "+.3f", name="difference"),
        *numbers(".3f", of_judge="of the judge", of_other="of the other", missing=""),
        *texts(n_values="comparisons", flag="flag"),
    ],
)
