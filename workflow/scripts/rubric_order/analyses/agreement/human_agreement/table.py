"""Agreement with human scores."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, each_row, estimates, texts
from rubric_order.tables.spec import Rows, Table, same, taken

QUANTITIES = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau-b", "kappa": "kappa"}
TOLD, NOT_TOLD = "told apart", "raters not told apart"  # `NOT_TOLD` is a flag of the statistic
KEYS = ["judge", "dataset", "criterion", "strategy", "readout", "cluster"]
BOUNDS = taken("pearson", bound_low="pearson_bound_low", bound_high="pearson_bound_high")
VALUES = [same("n_items", "n_clusters", "n_reads", "n_failed"), *QUANTITIES, "pearson_corrected", "human_reliability"]
VALUES += [BOUNDS, taken("pearson_corrected", flag="raters")]


def _told_apart(human_agreement: pd.DataFrame) -> pd.DataFrame:
    return human_agreement.assign(flag=human_agreement["flag"].fillna("").replace("", TOLD))


TABLE = Table(
    rows=Rows(_told_apart, "study", "n", "profile", "cluster", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "dataset", "criterion", "strategy", "readout", n_items="items", n_failed="failed reads"),
        *estimates(".2f", **QUANTITIES),
        Estimated("pearson_corrected", ".2f", name="r without rater noise", missing=""),
        Flags(others=[each_row(lambda row: NOT_TOLD if row["raters"] == NOT_TOLD else "")]),
    ],
)
