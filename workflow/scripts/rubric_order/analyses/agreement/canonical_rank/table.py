"""Place of the canonical ordering among all orderings."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals, numbers, widen

CAPTION = (
    "Pearson's r with human scores of one read an item under the canonical ordering, the mean r of all orderings, and "
    "the rank of the canonical one among them (1: highest r), as in Table 4 of the earlier version of Xu et al., with "
    "{bootstrap[confidence]:.0%} bootstrap intervals over {cluster}s. First, last: the share of the resamples in which "
    "it has the first and the last rank; the CSV file has the share of every rank. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster", "n_orderings", "n_items"]
QUANTITIES = ["pearson_canonical", "pearson_mean", "advantage", "rank"]


def table(
    canonical_rank: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout, with the share of the resamples that give each rank.

    Args:
        canonical_rank: see `canonical_rank.estimate`.
        cluster: ``item`` or ``group``: what the bootstrap draws.
    """
    chosen = canonical_rank.query("study == @study and profile == @profile and strategy == @strategy and n == @n")
    chosen = chosen[chosen["cluster"] == cluster]
    shares = chosen[chosen["quantity"] == "rank_share"]
    shares = shares.assign(quantity="rank_share_" + shares["rank"].astype(str))
    rows = widen(pd.concat([chosen[chosen["quantity"] != "rank_share"], shares]), KEYS, QUANTITIES)
    wide = shares.pivot(index=KEYS, columns="rank", values="estimate").add_prefix("rank_share_").reset_index()
    rows = rows.merge(chosen.groupby(KEYS, sort=False)["n_clusters"].min().reset_index(), on=KEYS)
    return rows.merge(wide.rename_axis(columns=None), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 4."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    printed["r canonical"] = intervals(rows, "pearson_canonical")
    printed["mean r"] = intervals(rows, "pearson_mean")
    printed["rank"] = [
        f"{rank}/{n}" if rank != "undefined" else rank
        for rank, n in zip(intervals(rows, "rank", form=".2g"), rows["n_orderings"], strict=True)
    ]
    last = [row[f"rank_share_{row['n_orderings']}"] for _, row in rows.iterrows()]
    shares = {"first %": rows.get("rank_share_1", pd.Series(dtype=float)), "last %": pd.Series(last, dtype=float)}
    printed = printed.assign(**{name: numbers(values, form=".0f", times=100) for name, values in shares.items()})
    return printed.assign(flag=flags(rows["n_clusters"]))
