"""Scores that answers about several criteria do not give."""

import pandas as pd

from rubric_order.base.keys import EVERY

CAPTION = (
    "Scores that answers about several criteria do not give, by reason. Each criterion parses or fails by itself; the "
    "CSV file also counts by criterion and position."
)


def table(criteria_failures: pd.DataFrame, *, study: str, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset, strategy, scale, criterion, position and reason, see `criteria_failures`."""
    chosen = criteria_failures.query("study == @study and profile == @profile").drop(columns=["study", "profile"])
    return chosen.assign(share=chosen["n_failed"] / chosen["n_scores"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows; criteria and positions are left to the CSV file."""
    pooled = rows[(rows["criterion"] == EVERY) & (rows["criterion_position"] == EVERY)]
    pooled = pooled.drop(columns=["criterion", "criterion_position"]).reset_index(drop=True)
    return pooled.assign(share=[f"{100 * value:.2f} %" for value in pooled["share"]])
