"""Agreement with human scores."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, each_row, estimates, texts
from rubric_order.tables.spec import Rows, Table, same, taken

CAPTION = (
    "Agreement of each item's mean score with its human score: Pearson's r, Spearman's rho, Kendall's tau-b, and "
    "kappa with quadratic weights. Kappa compares rounded scores. Intervals are {bootstrap[confidence]:.0%} "
    "jackknife intervals over {cluster}s. The mean of more reads that differ agrees better, whatever is varied "
    "between them. So a higher r under one strategy than under another need not be due to the order (table "
    "Strategies compared separates order from averaging). Criterion all pools the items of all criteria. R without "
    "rater noise is Pearson's r divided by the root of the human scores' reliability, for items with several raters. "
    "Errors that raters share are not corrected. If every item of a criterion has the same number of scores, each "
    "column of scores is taken as one rater, and a rater's constant severity is not noise. Raters not told apart "
    "means that numbers of scores differ between items, or that columns do not differ. Columns do not differ if "
    "raters are equally severe, or stand in another order in each item. Severity then counts as noise. This is right "
    "if each item has raters of its own, and makes r too high if the same raters scored all items. Means leave out "
    "reads without a score. The CSV file has bounds of r over what these scores could have been. Datasets without "
    "human scores are not shown. Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too "
    "short."
)
QUANTITIES = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau-b", "kappa": "kappa"}
TOLD, NOT_TOLD = "told apart", "raters not told apart"  # `NOT_TOLD` is a flag of the statistic
KEYS = ["judge", "dataset", "criterion", "strategy", "readout", "cluster"]
BOUNDS = taken("pearson", bound_low="pearson_bound_low", bound_high="pearson_bound_high")
VALUES = [same("n_items", "n_clusters", "n_reads", "n_failed"), *QUANTITIES, "pearson_corrected", "human_reliability"]
VALUES += [BOUNDS, taken("pearson_corrected", flag="raters")]


def _told_apart(human_agreement: pd.DataFrame) -> pd.DataFrame:
    """The estimates, in which an empty flag is replaced by `TOLD`."""
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
