"""Differences between two conditions, read by read, such as all orderings in one request, or one per request."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, PValue, cell, texts
from rubric_order.tables.spec import Rows, Table, estimate, taken, wide

CAPTION = (
    "Scores of the same item under the same ordering in two conditions: the score under the first less that under the "
    "second, in points. Mean is over all reads of an item, with {bootstrap[confidence]:.0%} intervals and p by a "
    "jackknife over {cluster}s. Trend is the number of points by which the difference grows from one read of an item "
    "to the next; under condition together, from one question of the request to the next. The reads of an item are "
    "numbered. Any number, p tests whether the mean difference is 0 for each number, by Hotelling's T-squared; there "
    "is none where there are not more {cluster}s than numbers. This test also sees differences that cancel in the "
    "mean. Differ is the share of reads whose scores differ at all; size is the mean size of a difference. A judge "
    "that samples its answers differs from itself as well: compare with a repeated condition. The sign * means "
    "significant at 5% after Holm's adjustment."
)
KEYS = ["judge", "dataset", "strategy", "n", "varied", "other", "readout"]


def _rows(paired_reads: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, strategy, readout and pair of conditions."""
    counts = ("n_pairs", "n_differ", "n_items", "n_clusters", "effective_clusters")
    values = [
        *(estimate(name, name, "p", "p_holm") for name in ("mean", "trend")),
        estimate("size"),
        taken("any_number", "p", "p_holm", prefix="any_number_"),
        taken("size", *counts),
    ]
    return wide(paired_reads, KEYS, values)


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster", "readouts"),
    columns=[
        *texts("judge", "dataset", "strategy"),
        cell("conditions", "{varied} - {other}".format_map),
        *texts("readout", n_items="items"),
        Estimated("mean", "+.3f"),
        PValue("mean_p", name="mean, p"),
        Estimated("trend", "+.4f"),
        PValue("trend_p", name="trend, p"),
        PValue("any_number_p", name="any number, p"),
        cell("differ", lambda row: f"{row['n_differ'] / row['n_pairs']:.0%}"),
        Number("size", ".3f"),
        Flags(),
    ],
)
