"""Effects that are shown to be too small to be worth mention."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, intervals

CAPTION = (
    "Whether an effect is shown to be too small to be worth mention: two one-sided tests at a level of "
    "{equivalence[level]:.0%} with {cluster}s as the sample, that is, whether an interval of twice that level lies "
    "within the margins. Points: no ordering's mean score is {equivalence[points]} points or more from the mean over "
    "orderings. Usual: nor is that of the usual ordering. Log-odds: no position adds {equivalence[log_odds]} or more "
    "to an option's log-odds; by score: nor more to high scores than to low ones. "
    "r: two strategies agree with human scores up to {equivalence[r]} equally well. Points "
    "and r against another condition: on the items that both have, mean score and agreement differ by less than these "
    "margins. Shown: it is. Not shown: the effect is larger than the margin. Undecided: the data allow both. The "
    "interval is that of the effect that is least shown to be small. The margins are a choice of whoever reads the "
    "scores, not a finding. Fewer than 30 {cluster}s show nothing to be small. A saturated judge has small points "
    "whatever the order does to it; in log-odds it is undecided. All datasets together for points and log-odds; the "
    "CSV file has each."
)
QUANTITIES = {
    "points": "points",
    "usual_minus_balanced": "usual",
    "log_odds": "log-odds",
    "interaction": "log-odds by score",
}
QUANTITIES |= {"r": "r", "condition_points": "points", "condition_r": "r"}
# Of these, each dataset has a row of its own, and there is none of all together.
BY_DATASET = ("r", "condition_points", "condition_r")


def table(equivalence: pd.DataFrame, *, study: str, profile: str = "default", cluster: str = "group") -> pd.DataFrame:
    """One row a judge, dataset, strategy, scale, readout and quantity, see `equivalence.estimate`.

    Args:
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = equivalence.query("study == @study and profile == @profile and cluster == @cluster")
    return chosen.drop(columns=["study", "cluster"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded; of points and log-odds all datasets together."""
    together = (rows["dataset"] == EVERY) | rows["quantity"].isin(BY_DATASET)
    rows = rows[together].rename(columns={"low": "estimate_low", "high": "estimate_high"}).reset_index(drop=True)
    printed = rows[["judge", "dataset"]].copy()
    pairs = zip(rows["strategy"], rows["baseline"], strict=True)
    printed["strategy"] = [f"{strategy} - {baseline}" if baseline else strategy for strategy, baseline in pairs]
    printed["n"] = rows["n"]
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    quantities = zip(rows["quantity"].map(QUANTITIES), rows["other"], strict=True)
    printed["quantity"] = [f"{name} against {other}" if other else name for name, other in quantities]
    printed["effect"] = intervals(rows, "estimate", form="+.3f")
    printed["margin"] = [f"{margin:g}" for margin in rows["margin"]]
    return printed.assign(verdict=rows["verdict"], flag=rows["flag"])
