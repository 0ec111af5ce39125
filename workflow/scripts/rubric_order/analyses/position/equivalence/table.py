"""Effects that are shown to be too small to be worth mention."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Number, Text, each_row, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Whether effects are shown to be too small to be worth mention, by two one-sided tests at a level of "
    "{equivalence[level]:.0%} with {cluster}s as the sample. That is, the tests ask whether an interval of confidence "
    "1 less twice that level lies within the margins. Points: no ordering's mean score is {equivalence[points]} points "
    "or more from the mean over orderings. Usual: the same for the usual ordering alone. Log-odds: no position adds "
    "{equivalence[log_odds]} or more to an option's log-odds. Log-odds by score: no position adds that much more to "
    "high scores than to low ones. r: two strategies agree equally well with human scores, up to {equivalence[r]}. "
    "Points and r against another condition: on the items that both conditions have, mean score and agreement differ "
    "by less than these margins. Shown means that the effect is smaller than the margin, not shown that it is larger, "
    "and undecided that the data allow both. Where a row tests several effects, its interval is that of the effect "
    "with the weakest evidence of being small. The margins are a choice of whoever reads the scores, not a finding. "
    "Fewer than 30 {cluster}s (counted as {cluster}s of equal size) show nothing to be small. A saturated judge has "
    "small effects in points whatever the order does to it; in log-odds it is undecided. Points and log-odds are those "
    "of all datasets together; the CSV file has each dataset."
)
QUANTITIES = {"points": "points", "usual_minus_balanced": "usual", "log_odds": "log-odds"}
QUANTITIES |= {"interaction": "log-odds by score"}
# For these quantities, each dataset has its own row, and no row pools all datasets.
BY_DATASET = {"r": "r", "condition_points": "points", "condition_r": "r"}
AGAINST = each_row(lambda row: f" against {row['other']}" if row["other"] else "")


def _together(rows: pd.DataFrame) -> pd.DataFrame:
    """For points and log-odds, only the rows that pool all datasets. For the other quantities, all rows."""
    return rows[(rows["dataset"] == EVERY) | rows["quantity"].isin(BY_DATASET)]


TABLE = Table(
    rows=Rows("equivalence", "study", "profile", "cluster", drop=["study", "cluster"]),
    columns=[
        *texts("judge", "dataset"),
        Text("strategy", marks=each_row(lambda row: f" - {row['baseline']}" if row["baseline"] else "")),
        *texts("n", "readout"),
        Text("quantity", names=QUANTITIES | BY_DATASET, marks=AGAINST),
        Estimated("estimate", "+.3f", name="effect", ends=("low", "high")),
        Number("margin", "g"),
        *texts("verdict", "flag"),
    ],
    printed=_together,
)
