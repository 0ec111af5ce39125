"""Means over orders and IDs against means of as many reads of one prompt."""

import pandas as pd

from rubric_order.tables import ACCURACY_NAMES, READOUT_NAMES, flags, intervals, numbers, p_values

CAPTION = (
    "Agreement with golden scores of the mean over the base and every variant that changes its order or IDs alone, "
    "one read each (averaged), against the mean of as many reads of the base (repeated): equal calls. Difference: "
    "averaged less repeated on the same items, with {bootstrap[confidence]:.0%} intervals and p from leaving out "
    "{cluster}s (* significant after Holm's adjustment). At temperature 0 reads of one prompt are one read, so that "
    "repeating costs calls and changes nothing. A gain mixes two things: averaging over independent errors, and "
    "balance of biases. Li et al. (2025) propose to average and do not test it."
)


def table(
    scoring_averages: pd.DataFrame, *, studies: list[str], profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, dataset, readout, source and quantity; see `scoring_averages.estimate`."""
    chosen = scoring_averages.query("study in @studies and profile == @profile and cluster == @cluster")
    return chosen.drop(columns="cluster").reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    printed = rows[["study", "judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["golden"] = rows["golden"]
    printed["of"] = rows["quantity"].map(ACCURACY_NAMES)
    printed["calls"], printed["items"] = rows["n_calls"], rows["n_items"]
    is_known = rows["repeated"].notna()
    printed["averaged"] = numbers(rows["averaged"], form=".2f")
    told = {"repeated": numbers(rows["repeated"], form=".2f"), "difference": intervals(rows, "difference", form="+.3f")}
    told["p"] = p_values(rows["p"], rows["p_holm"])
    for name, texts in told.items():
        printed[name] = [text if has else "" for text, has in zip(texts, is_known, strict=True)]
    return printed.assign(flag=flags(rows["n_clusters"], rows["flag"]))
