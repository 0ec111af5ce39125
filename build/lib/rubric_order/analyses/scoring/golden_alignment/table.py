"""Golden scores beside people's."""

import pandas as pd

from rubric_order.tables.columns import ACCURACY_NAMES, Flags, Number, each_row, estimates, texts, written
from rubric_order.tables.spec import Rows, Table, wide

CAPTION = (
    "Agreement of golden scores with the mean of people's scores: labels are the mean of those that came with the "
    "dataset; a judge's are the vote of its reads (majority; the median where no score has one). Spearman's ρ, "
    "Pearson's r, quadratic kappa (scores rounded, halves up), mean absolute error (MAE) in points, with "
    "{bootstrap[confidence]:.0%} intervals from leaving out groups. Reads differ: share of items whose reads do not "
    "all agree; in brackets, share of items in which no score has a majority. At temperature 0 reads are nearly one, "
    "and a vote says little more than one read. A judge whose scores are golden and are judged agrees with itself. "
    "After Li et al. (2025), Table 2, which has correlations alone."
)
KEYS = ["dataset", "source"]


def _rows(golden_alignment: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset and source."""
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
