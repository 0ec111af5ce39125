"""Comparison of permuted orderings with repeats of one, by agreement with human scores."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import PARTS, READOUT_NAMES, flags, from_strategy, intervals, numbers, widen

CAPTION = (
    "Correlation of each item's mean score with its human score when it is read in several orderings ({strategy}) and "
    "in one ({baseline}), as in Table 2 of the earlier version of Xu et al., and the difference over the items that "
    "both have scored, with {bootstrap[confidence]:.0%} intervals over {cluster}s: a paired bootstrap for Pearson's "
    "r, an infinitesimal jackknife for Spearman's rho. A mean of several reads agrees better than one read, whatever "
    "is varied between them. Of Pearson's difference, order is the mean r of single orderings less that of the usual "
    "ordering, one read an item each: what the order alone makes; averaging is what averaging adds to r under "
    "{strategy} less what it adds under {baseline}. † repeats are one read in 95% of the items or more (as at "
    "temperature 0), so that they cannot gain by averaging. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster"]
QUANTITIES = {"pearson": "Pearson r", "spearman": "Spearman rho"}


def table(
    human_agreement: pd.DataFrame,
    strategy_comparison: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    baseline: str = "fixed",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout: both correlations under either strategy, and their differences.

    Args:
        human_agreement: see `human_agreement.estimate`.
        strategy_comparison: see `strategy_comparison.estimate`, which has each pair once, in either order.
        strategy, baseline: the strategies to compare; differences are the first less the second.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    reads = f"study == @study and profile == @profile and n == @n and cluster == @cluster and criterion == '{EVERY}'"
    pair = human_agreement.query(f"{reads} and strategy in [@strategy, @baseline]")
    pair = pair.assign(quantity=pair["quantity"] + "_" + pair["strategy"])
    difference = from_strategy(strategy_comparison.query(reads), strategy).query("baseline == @baseline")
    difference = difference.assign(
        quantity=difference["quantity"].replace({quantity: f"{quantity}_difference" for quantity in QUANTITIES})
    )
    quantities = [f"{quantity}_{which}" for quantity in QUANTITIES for which in (strategy, baseline, "difference")]
    quantities += [part for part in PARTS if (difference["quantity"] == part).any()]
    columns = [*KEYS, "quantity", "estimate", "ci_low", "ci_high"]
    items = (
        difference.groupby(KEYS, sort=False)[["n_items", "n_clusters", "same_repeats", "flag"]].first().reset_index()
    )
    items["flag"] = items["flag"].replace("", None)
    return items.merge(widen(pd.concat([pair[columns], difference[columns]]), KEYS, quantities), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 2."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    suffixes = [column.removeprefix("pearson_") for column in rows if column.startswith("pearson_")]
    strategies = [name for name in suffixes if not name.endswith(("_low", "_high")) and name != "difference"]
    for quantity, title in QUANTITIES.items():
        for strategy in strategies:
            printed[f"{strategy} {title}"] = numbers(rows[f"{quantity}_{strategy}"], form=".2f")
        printed[f"difference {title}"] = intervals(rows, f"{quantity}_difference", form="+.3f")
        if quantity == "pearson" and "order" in rows:
            marks = ["" if pd.isna(flag) else "†" for flag in rows["flag"]]
            printed[f"difference {title}"] += marks
            printed["of it order"] = intervals(rows, "order", form="+.3f")
            printed["of it averaging"] = numbers(rows["averaging"] - rows["averaging_baseline"], form="+.3f")
    return printed.assign(flag=flags(rows["n_clusters"]))
