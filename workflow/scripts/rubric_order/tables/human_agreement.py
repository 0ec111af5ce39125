"""Agreement with human scores."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, with_interval

CAPTION = "Correlation of each item's mean score with its human score, with bootstrap intervals over items."


def table(statistics: pd.DataFrame, *, study: str, n: int, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset, criterion, strategy and readout, see `agreement.human_agreement`."""
    columns = ["judge", "dataset", "criterion", "strategy", "readout", "n_items", "n_failed"]
    columns += ["pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"]
    return statistics.query("study == @study and profile == @profile and n == @n")[columns].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    def interval(name: str) -> list[str]:
        ends = zip(rows[name], rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
        return [with_interval(*row) for row in ends]

    printed = rows[["judge", "dataset", "criterion", "strategy"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    printed["failed reads"] = rows["n_failed"]
    return printed.assign(**{"Pearson r": interval("pearson"), "Spearman rho": interval("spearman")})
