"""Reads without a score."""

import pandas as pd

CAPTION = (
    "Reads whose answer gives no score, by reason. They are never scored; the responses keep their raw text. The CSV "
    "file also counts them by score and the position at which it stood in the prompt."
)


def table(parse_failures: pd.DataFrame, *, study: str, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset, strategy, scale, score with its position, and reason; see `parse_failures.estimate`."""
    table = parse_failures.query("study == @study and profile == @profile").drop(columns=["study", "profile"])
    return table.assign(share=table["n_failed"] / table["n_reads"]).reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows; at which position each score stood is left to the CSV file."""
    pooled = rows[rows["position"] == "all"].drop(columns=["score", "position"]).reset_index(drop=True)
    return pooled.assign(share=[f"{100 * value:.2f} %" for value in pooled["share"]])
