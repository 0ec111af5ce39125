"""Gain from averaging a few reads, as a share of the gain from averaging all reads."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, taken

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
FEW = (3, 5)
VALUES = [taken({"quantity": "r", "last": True}, "n_items", "n_clusters", k="reads")]
VALUES += [estimate("r", "r_one", k=1), estimate("r", "r_all", last=True), estimate("gain", last=True)]
VALUES += [estimate("gain_share", f"share_{k}", k=k) for k in FEW]


def _add_last(budget_curve: pd.DataFrame) -> pd.DataFrame:
    return budget_curve.assign(last=budget_curve["k"] == budget_curve.groupby(KEYS)["k"].transform("max"))


TABLE = Table(
    rows=Rows(_add_last, "study", "statistic", "cluster", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "dataset", "strategy", "readout", "reads"),
        *estimates(".3f", r_one="one read", r_all="all reads"),
        Estimated("gain", "+.3f"),
        *(Estimated(f"share_{k}", ".0f", name=f"{k} reads: % of the gain", times=100, missing="") for k in FEW),
        Flags(),
    ],
)
