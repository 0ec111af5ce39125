"""Ordering with the least Bias Cost, and the gain from choosing it."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Flags, Number, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table, taken, wide

KEYS = ["judge", "dataset", "readout", "cluster"]
OF_ORDERING = ["cost", "pearson", "pearson_rank"]
HELD_OUT = [f"heldout_{of}_{which}" for of in ("cost", "pearson") for which in ("chosen", "canonical", "mean")]
HELD_OUT += ["heldout_cost_saved", "heldout_pearson_gained", "heldout_pearson_over_mean"]


def _rows(bias_cost: pd.DataFrame) -> pd.DataFrame:
    of_each = bias_cost[bias_cost["ordering"].notna()]
    alone = [taken("cost", "noise", "n_items", "n_clusters"), taken("chosen_share", estimate="chosen_share")]
    cheapest = wide(of_each, [*KEYS, "ordering"], [*alone, *OF_ORDERING]).sort_values("cost", kind="stable")
    canonical = wide(of_each[of_each["ordering"].map(_is_canonical).astype(bool)], KEYS, OF_ORDERING)
    rows = cheapest.drop_duplicates(KEYS).sort_index().merge(canonical, on=KEYS, suffixes=("", "_canonical"))
    return rows.merge(wide(bias_cost, KEYS, HELD_OUT), on=KEYS)


def _is_canonical(ordering: str) -> bool:
    scores = [int(score) for score in ordering.split()]
    return scores == sorted(scores)


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile", "cluster"),
    columns=[
        *texts("judge", "readout"),
        Text(lambda rows: "[" + rows["ordering"].str.replace(" ", ",") + "]", name="ordering"),
        *numbers(".1f", "cost", cost_canonical="cost, canonical", times=100),
        *numbers("g", pearson_rank="rank", pearson_rank_canonical="rank, canonical"),
        Number("chosen_share", ".0f", name="chosen %", times=100),
        Estimated("heldout_cost_saved", "+.1f", name="held out: cost", times=100),
        Estimated("heldout_pearson_gained", "+.3f", name="held out: r"),
        Flags(),
    ],
    printed={"dataset": EVERY},
)
