"""Whether permuted orderings agree better with human scores than repeats of one."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, intervals, numbers, widen

CAPTION = (
    "Correlation of each item's mean score with its human score when it is read in several orderings ({strategy}) and "
    "in one ({baseline}), as in Table 2 of the earlier version of Xu et al., and the difference over the items that "
    "both have scored, with {bootstrap[confidence]:.0%} intervals over {cluster}s: a paired bootstrap for Pearson's r, "
    "an infinitesimal jackknife for Spearman's rho. At temperature 0, repeats of one prompt are nearly one read, so "
    "the difference is also one of averaging."
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
    difference = strategy_comparison.query(
        f"{reads} and strategy in [@strategy, @baseline] and baseline in [@strategy, @baseline]"
    )
    difference = difference.assign(quantity=difference["quantity"] + "_difference")
    if (difference["strategy"] != strategy).any():
        ends = {"estimate": -difference["estimate"], "ci_low": -difference["ci_high"], "ci_high": -difference["ci_low"]}
        difference = difference.assign(**ends)
    names = [f"{quantity}_{which}" for quantity in QUANTITIES for which in (strategy, baseline, "difference")]
    columns = [*KEYS, "quantity", "estimate", "ci_low", "ci_high"]
    items = difference.groupby(KEYS, sort=False)["n_items"].first().reset_index()
    return items.merge(widen(pd.concat([pair[columns], difference[columns]]), KEYS, names), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 2."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    names = [column.removeprefix("pearson_") for column in rows if column.startswith("pearson_")]
    strategies = [name for name in names if not name.endswith(("_low", "_high")) and name != "difference"]
    for quantity, title in QUANTITIES.items():
        for strategy in strategies:
            printed[f"{strategy} {title}"] = numbers(rows[f"{quantity}_{strategy}"])
        printed[f"difference {title}"] = intervals(rows, f"{quantity}_difference", form="+.3f")
    return printed
