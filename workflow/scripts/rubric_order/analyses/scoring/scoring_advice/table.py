"""The advice of Li et al. (2025) as tests."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import ACCURACY_NAMES, READOUT_NAMES, flags, intervals, p_values

CAPTION = (
    "What the advice of Li et al. (2025) does to agreement with golden scores: descending order of the rubric, "
    "letters or Roman numerals as score IDs, and a reference answer with the full mark, each against the study's "
    "first condition and strategy on the same items. By judge, with {bootstrap[confidence]:.0%} intervals from "
    "leaving out {cluster}s; all judges: mean of a random-effects model over judges and datasets, of which these are "
    "a sample, with Hartung and Knapp's interval. Sampling errors of judges are taken as independent although they "
    "read the same items. Higher is better for correlations and kappa, lower for the mean absolute error. * "
    "significant after Holm's adjustment. Whether an edit without meaning does as much: table of scoring accuracy."
)


def table(
    scoring_advice: pd.DataFrame, *, studies: list[str], profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row an advice, judge, dataset, readout, source and quantity; see `scoring_advice.estimate`."""
    chosen = scoring_advice.query("study in @studies and profile == @profile and cluster == @cluster")
    order = ["advice", "golden", "readout", "quantity", "term"]
    return chosen.sort_values(order, kind="stable").drop(columns="cluster").reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    rows = rows.rename(columns={"ci_low": "estimate_low", "ci_high": "estimate_high"})
    printed = rows[["advice"]].replace("_", " ", regex=True)
    printed["judge"] = rows["judge"].replace(EVERY, "all judges")
    printed["dataset"] = rows["dataset"]
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["golden"] = rows["golden"]
    printed["of"] = rows["quantity"].map(ACCURACY_NAMES)
    printed["difference"] = intervals(rows, "estimate", form="+.3f")
    printed["p"] = p_values(rows["p"], rows["p_holm"])
    few = rows["n_clusters"].where(rows["term"] == "judge", float("inf"))
    return printed.assign(flag=flags(few))
