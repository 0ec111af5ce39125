"""Rank of the canonical ordering among all orderings."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, each_row, estimates, texts
from rubric_order.tables.spec import Rows, Table, taken, wide

KEYS = ["judge", "dataset", "readout", "cluster", "n_orderings", "n_items"]


def _rows(canonical_rank: pd.DataFrame) -> pd.DataFrame:
    ranks = sorted(canonical_rank["rank"].dropna().unique())
    shares = [taken({"quantity": "rank_share", "rank": k}, estimate=f"rank_share_{k}") for k in ranks]
    n_clusters = canonical_rank.groupby(KEYS)["n_clusters"].min()
    quantities = ["pearson_canonical", "pearson_mean", "advantage", "rank"]
    return wide(canonical_rank, KEYS, [*quantities, n_clusters, *shares])


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile", "cluster"),
    columns=[
        *texts("judge", "dataset", "readout", n_items="items"),
        *estimates(".3f", pearson_canonical="r canonical", pearson_mean="mean r"),
        Estimated("rank", ".2g", marks=each_row(lambda row: "" if pd.isna(row["rank"]) else f"/{row['n_orderings']}")),
        Number(each_row(lambda row: row["rank_share_1"]), ".0f", name="first %", times=100),
        Number(each_row(lambda row: row[f"rank_share_{row['n_orderings']}"]), ".0f", name="last %", times=100),
        Flags(),
    ],
)
