"""Differences between two conditions, read by read, such as all orderings in one request, or one per request."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, PValue, cell, texts
from rubric_order.tables.spec import Rows, Table, estimate, taken, wide

KEYS = ["judge", "dataset", "strategy", "n", "varied", "other", "readout"]


def _rows(paired_reads: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, strategy, readout and pair of conditions."""
    counts = ("n_pairs", "n_differ", "n_items", "n_clusters", "effective_clusters")
    values = [
        *(estimate(name, name, "p", "p_holm") for name in ("mean", "trend")),
        estimate("size"),
        taken("any_number", "p", "p_holm", prefix="any_number_"),
        taken("size", *counts),
    ]
    return wide(paired_reads, KEYS, values)


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster", "readouts"),
    columns=[
        *texts("judge", "dataset", "strategy"),
        cell("conditions", "{varied} - {other}".format_map),
        *texts("readout", n_items="items"),
        Estimated("mean", "+.3f"),
        PValue("mean_p", name="mean, p"),
        Estimated("trend", "+.4f"),
        PValue("trend_p", name="trend, p"),
        PValue("any_number_p", name="any number, p"),
        cell("differ", lambda row: f"{row['n_differ'] / row['n_pairs']:.0%}"),
        Number("size", ".3f"),
        Flags(),
    ],
)
