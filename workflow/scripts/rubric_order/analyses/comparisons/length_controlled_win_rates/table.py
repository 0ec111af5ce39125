"""Win rates of candidates: as measured, and as they would be if all texts had the same length."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Text, estimates, texts, varied
from rubric_order.tables.spec import Rows, Table, Value, taken, wide

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "readout", "candidate"]
CONTROLLED = "win_rate_controlled"
VALUES: list[Value] = ["win_rate", CONTROLLED, "difference"]
VALUES += [taken(CONTROLLED, n_pairs="n_reads", n_clusters="n_groups", flag="flag")]


def _rows(length_control: pd.DataFrame) -> pd.DataFrame:
    rows = wide(length_control[length_control["candidate"] != EVERY], KEYS, VALUES)
    order = rows.assign(block=rows.groupby(KEYS[:-1], sort=False).ngroup())
    return order.sort_values(["block", CONTROLLED], ascending=[True, False]).drop(columns="block")


TABLE = Table(
    rows=Rows(_rows, "study", "varied"),
    columns=[
        *texts("judge", "benchmark"),
        Text("readout", when=varied("readout")),
        *texts("candidate"),
        *estimates(".3f", win_rate="win rate", win_rate_controlled="without length"),
        Estimated("difference", "+.3f"),
        *texts(n_reads="reads", flag="flag"),
    ],
)
