"""Relation of consistency, fairness and position preference to the quality gap."""

import pandas as pd

from rubric_order.tables.columns import Estimated, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, join_flags, select, taken, wide

KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n", "kind"]
BINS = {"smallest": "min", "largest": "max"}
IN_BINS = ["position_consistency", "preference_fairness", "first_last"]
VALUES: list[Value] = ["slope_consistency", "slope_fairness"]
VALUES += [estimate(name, f"{name}_{end}", **{end: True}) for end in BINS for name in IN_BINS]
VALUES += [taken("slope_consistency", "n_values", "n_clusters", "flag")]


def _rows(quality_gap: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, benchmark and kind of gap. Suffixes `_smallest` and `_largest` mean the first and last bin."""
    bins = quality_gap.groupby(KEYS)["bin"]
    at_end = {name: (quality_gap["bin"] == bins.transform(end)).fillna(value=False) for name, end in BINS.items()}
    chosen = quality_gap.assign(**at_end)
    rows = wide(chosen, KEYS, VALUES)
    for end in BINS:
        of_bin = select(chosen, quantity="first_last", **{end: True})
        rows["flag"] = join_flags(rows, of_bin, KEYS, f"beta, {end}:")
    return rows


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("judge", "benchmark", kind="gap"),
        *estimates("+.2f", slope_consistency="slope of PC", slope_fairness="slope of PF"),
        Estimated("position_consistency_smallest", ".2f", name="PC, smallest"),
        Estimated("first_last_smallest", "+.2f", name="beta, smallest"),
        Estimated("position_consistency_largest", ".2f", name="PC, largest"),
        Estimated("first_last_largest", "+.2f", name="beta, largest"),
        *texts(n_values="comparisons", flag="flag"),
    ],
)
