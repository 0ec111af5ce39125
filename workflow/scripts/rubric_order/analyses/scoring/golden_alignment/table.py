"""Golden scores in comparison with people's scores."""

import pandas as pd

from rubric_order.tables.columns import ACCURACY_NAMES, Flags, Number, each_row, estimates, texts, written
from rubric_order.tables.spec import Rows, Table, wide

CAPTION = (
    "Agreement of golden scores with the mean of people's scores. Source labels is the mean of the labels that came "
    "with the dataset. A judge's golden scores are the vote of its reads (majority; the median where no score has "
    "one). The columns are Spearman's ρ, Pearson's r, quadratic kappa (scores rounded, halves up) and mean absolute "
    "error (MAE) in points, with {bootstrap[confidence]:.0%} intervals from leaving out groups. Reads differ is the "
    "share of items whose reads do not all agree; the brackets give the share of items in which no score has a "
    "majority. At temperature 0 the reads of an item are nearly the same, and a vote says little more than one read. A "
    "judge that makes golden scores and is judged by them agrees with itself. After Li et al. (2025), Table 2, which "
    "has correlations alone."
)
KEYS = ["dataset", "source"]


def _rows(golden_alignment: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset and source."""
    counts = golden_alignment.groupby(KEYS)[["n_items", "n_clusters"]].max()
    return wide(golden_alignment, KEYS, [*ACCURACY_NAMES, "differ", "median", counts])


NO_MAJORITY = each_row(lambda row: f" ({written(row['median'], '.1%')})")
TABLE = Table(
    rows=Rows(_rows),
    columns=[
        *texts("dataset", "source", n_items="items"),
        *estimates(".3f", **ACCURACY_NAMES, missing=""),
        Number("differ", ".1%", name="reads differ (no majority)", where="differ", marks=NO_MAJORITY),
        Flags(),
    ],
)
