"""Ordering with the least Bias Cost, and what choosing it is worth."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, flags, intervals, numbers, widen

CAPTION = (
    "The ordering of least Bias Cost among those that were read, and the canonical one, as in Table 6 of the earlier "
    "version of Xu et al.: cost in percentage points, and rank by Pearson's r with human scores (1: highest), "
    "averaged over datasets. Chosen: share of the bootstrap resamples of {cluster}s that choose the same ordering. "
    "Held out: the ordering that half of the groups choose, in the other half, beside the canonical one: cost saved "
    "and r gained. Intervals of r gained are too wide: in simulation they hold the truth in 99% to 100% of the "
    "studies. Costs are above 0 by chance alone: column noise of the CSV file is the cost of a judge without bias. Of "
    "held-out costs the noise is subtracted. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster"]
OF_ORDERING = ["cost", "pearson", "pearson_rank"]
HELD_OUT = [f"heldout_{of}_{which}" for of in ("cost", "pearson") for which in ("chosen", "canonical", "mean")]
HELD_OUT += ["heldout_cost_saved", "heldout_pearson_gained", "heldout_pearson_over_mean"]


def table(
    bias_cost: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset (``all``: all of them) and readout: cheapest and canonical ordering, and the choice.

    Args:
        bias_cost: see `bias_cost.estimate`.
        cluster: ``item`` or ``group``: what the bootstrap draws.
    """
    chosen = bias_cost.query("study == @study and profile == @profile and strategy == @strategy and n == @n")
    chosen = chosen[chosen["cluster"] == cluster]
    costs = chosen[chosen["quantity"] == "cost"]
    cheapest = costs.sort_values("estimate", kind="stable").drop_duplicates(KEYS).sort_index()
    rows = cheapest[[*KEYS, "ordering", "noise", "n_items", "n_clusters"]]
    stable = chosen[chosen["quantity"] == "chosen_share"].rename(columns={"estimate": "chosen_share"})
    rows = rows.merge(stable[[*KEYS, "ordering", "chosen_share"]], on=[*KEYS, "ordering"])
    of_ordering = widen(chosen[chosen["ordering"].notna()], [*KEYS, "ordering"], OF_ORDERING)
    canonical = of_ordering[of_ordering["ordering"] == " ".join(map(str, range(1, n + 1)))].drop(columns="ordering")
    rows = rows.merge(of_ordering, on=[*KEYS, "ordering"])
    rows = rows.merge(canonical, on=KEYS, suffixes=("", "_canonical"))
    return rows.merge(widen(chosen[chosen["quantity"].isin(HELD_OUT)], KEYS, HELD_OUT), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 6, and how good a choice it is: all datasets together."""
    rows = rows[rows["dataset"] == EVERY].reset_index(drop=True)
    printed = rows[["judge"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["ordering"] = [f"[{ordering.replace(' ', ',')}]" for ordering in rows["ordering"]]
    printed["cost"] = numbers(rows["cost"], form=".1f", times=100)
    printed["cost, canonical"] = numbers(rows["cost_canonical"], form=".1f", times=100)
    printed["rank"] = numbers(rows["pearson_rank"], form="g")
    printed["rank, canonical"] = numbers(rows["pearson_rank_canonical"], form="g")
    printed["chosen %"] = numbers(rows["chosen_share"], form=".0f", times=100)
    printed["held out: cost"] = intervals(rows, "heldout_cost_saved", form="+.1f", times=100)
    printed["held out: r"] = intervals(rows, "heldout_pearson_gained", form="+.3f")
    return printed.assign(flag=flags(rows["n_clusters"]))
