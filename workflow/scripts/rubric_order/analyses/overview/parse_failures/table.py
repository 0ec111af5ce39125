"""Answers without a score."""

import pandas as pd

from rubric_order.base.keys import EVERY

CAPTION = (
    "Answers that give no score, by reason. They are never scored; the responses keep their raw text. Where a prompt "
    "asks for several criteria, each parses or fails by itself. The CSV file also counts by option (score or "
    "criterion) and the position at which it stood in the prompt."
)


def table(parse_failures: pd.DataFrame, *, study: str, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset, strategy, scale, option, position and reason; see `parse_failures.estimate`."""
    table = parse_failures.query("study == @study and profile == @profile").drop(columns=["study", "profile"])
    return table.assign(share=table["n_failed"] / table["n_scores"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows; options and their positions are left to the CSV file."""
    pooled = rows[(rows["option"] == EVERY) & (rows["position"] == EVERY)]
    pooled = pooled.drop(columns=["option", "position"]).reset_index(drop=True)
    return pooled.assign(share=[f"{100 * value:.2f} %" for value in pooled["share"]])
