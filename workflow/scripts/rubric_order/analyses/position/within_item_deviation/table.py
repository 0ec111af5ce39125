"""Variation of the scores of an item from read to read."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals, numbers, widen

CAPTION = (
    "Standard deviation of an item's scores over its reads, mean over items, as in Table 3 of the earlier version of "
    "Xu et al., with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. Then the variance of a read "
    "under {strategy} in parts: what the order of the options does to all items alike (shift), what it does to each "
    "item in its own way (interaction), and repetition, under every ordering by itself: from the option probabilities "
    "of a judge whose score is one draw from them, or from repeats of several orderings (strategy "
    "repeated_rotations). Ordering %: the share of the first two. Without either, repeats of the usual ordering say "
    "nothing of the others: interaction and repetition are then one number (unsplit: the residual mean square), and "
    "there is no share. Parts are not cut off at 0, so those of small ones can be negative. Where a score is one draw "
    "from option probabilities, drawing at temperature 0 and expected scores have no repetition: their share is 100% "
    "by definition. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster"]
SPREAD = ["mean_sd", "variance"]
SPLIT = ["ordering", "shift", "interaction", "repetition", "ordering_share", "rest"]
UNSPLIT = "not known"


def table(
    within_item_deviation: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout: the deviation under each strategy, and the split of one's variance.

    Args:
        within_item_deviation: see `within_item_deviation.estimate`.
        strategy: whose variance is split.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = within_item_deviation.query("study == @study and profile == @profile and n == @n and cluster == @cluster")
    spread = chosen[chosen["quantity"].isin(SPREAD)]
    present = [
        name
        for name in ("balanced", "random", "all", "repeated_rotations", "fixed")
        if (spread["strategy"] == name).any()
    ]
    spread = spread.assign(quantity=spread["quantity"] + "_" + spread["strategy"])
    deviations = widen(spread, KEYS, [f"{quantity}_{name}" for quantity in SPREAD for name in present])
    deviations = deviations.merge(chosen.groupby(KEYS, sort=False)["n_clusters"].min().reset_index(), on=KEYS)
    of_strategy = chosen[(chosen["strategy"] == strategy) & chosen["quantity"].isin(SPLIT)]
    counts = of_strategy.groupby(KEYS, sort=False)[["n_items", "repetition_from"]].first().reset_index()
    counts["repetition_from"] = counts["repetition_from"].replace("", None)
    split = counts.merge(widen(of_strategy, KEYS, SPLIT), on=KEYS)
    return deviations.merge(split, on=KEYS, how="left").astype({"n_items": "Int64"})


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 3, and the parts of the variance."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    suffixes = [column.removeprefix("mean_sd_") for column in rows if column.startswith("mean_sd_")]
    for name in [name for name in suffixes if not name.endswith(("_low", "_high"))]:
        printed[f"sd {name}"] = intervals(rows, f"mean_sd_{name}")
    for name in ("shift", "interaction", "repetition"):
        printed[f"variance: {name}"] = _known(numbers(rows[name]), rows[name])
    printed["unsplit"] = ["" if pd.isna(value) else f"{value:.3f}" for value in rows["rest"]]
    share = intervals(rows, "ordering_share", form=".0f", times=100)
    # Where nothing varies a share is not defined, though all is known.
    printed["ordering %"] = _known(share, rows["repetition"])
    printed["repetition from"] = rows["repetition_from"].fillna("")
    return printed.assign(flag=flags(rows["n_clusters"]))


def _known(texts: list[str], values: pd.Series) -> list[str]:
    return [UNSPLIT if pd.isna(value) else text for text, value in zip(texts, values, strict=True)]
