"""Published numbers and our estimates."""

import pandas as pd

from rubric_order.tables.columns import Row, Text, cell, each_row, interval, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Published numbers beside ours, for the same judge, dataset, strategy and scale. Other items is the "
    "{bootstrap[confidence]:.0%} interval over groups of items. It shows how far ours would move with other items. "
    "Another run is the range in which at least {bootstrap[confidence]:.0%} of the runs of the same judge on the "
    "same items would lie, computed from how the reads of an item vary. It is missing if no item was read twice, and "
    "for numbers for which it is not computed: shares within one score, correlations by criterion or with golden "
    "scores, and counts of significant tests (which have no error of their own). If each order is read once per item, "
    "the effect of the order on single items counts as chance of reads. Ranges are then too wide. The range of one "
    "order alone (canonical, rank) takes a share of the chance of the others (with two orders, half). It is too "
    "narrow if the reads of this order vary by far the most. Outside names the ranges that do not reach the "
    "published number, allowing for its rounding. If a number is outside of another run, prompts, settings, items, "
    "or the version of the judge differ. A number inside both ranges is no proof of agreement: with few items a "
    "worse judge is inside as well. Top1_flip breaks ties of the best candidates at random, and top1_flip_strict "
    "counts them as no flip. The paper does not say what it does, so both stand beside its number. Not computed "
    "means that no statistic of ours is that quantity. No estimate means that this run has no reads for the "
    "quantity. The CSV file has all numbers of the paper, also those of judges that were not run."
)
OUTSIDE = {"in_items": "other items", "in_rerun": "another run"}


def _of_our_judges(rows: pd.DataFrame) -> pd.DataFrame:
    """All published numbers of judges with at least one number that is compared, also numbers that are not computed."""
    ours = rows.loc[rows["status"] == "compared", ["judge", "profile"]].drop_duplicates()
    return rows.merge(ours, on=["judge", "profile"])


def _ours(row: Row) -> str:
    return f"{row['ours']:.{row['digits'] + 1}f}" if row["status"] == "compared" else row["status"]


def _range(name: str, head: str) -> Text:
    """A column of a range, with one more digit than the published number."""
    low, high = f"{name}_low", f"{name}_high"
    return cell(head, lambda row: interval(row[low], row[high], f".{row['digits'] + 1}f", missing=""))


def _outside(row: Row) -> str:
    return ", ".join(name for column, name in OUTSIDE.items() if row[column] is False)


TABLE = Table(
    rows=Rows("replication"),
    columns=[
        *texts("table", "judge"),
        Text("our_judge", name="our judge", missing=""),
        Text("profile", names={"default": ""}),
        *texts("dataset"),
        Text("strategy", marks=each_row(lambda row: f" to {row['other']}" if row["other"] else "")),
        *texts("n"),
        Text("quantity", marks=each_row(lambda row: f" ({row['detail']})" if row["detail"] else "")),
        cell("published", lambda row: f"{row['published']:.{row['digits']}f}"),
        cell("ours", _ours),
        _range("ci", "other items"),
        _range("rerun", "another run"),
        cell("outside", _outside),
    ],
    printed=_of_our_judges,
)
