"""Differences of judges, profiles, scales and datasets in position bias."""

import pandas as pd

from rubric_order.tables.columns import SIGNIFICANT, Estimated, OfRows, Row, Text, cell, each_row, numbers, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Differences in position bias between two judges, two profiles of a judge, two scales or two datasets, all else "
    "being equal, and slopes over a sweep (trend), with {bootstrap[confidence]:.0%} intervals. Judges, profiles and "
    "scales read the same items, so each {cluster} is compared with itself. first_last and ends_middle are contrasts "
    "of position preference in log-odds: compare them at one temperature. cramers_v_squared is the squared V of "
    "position selection. It also depends on how decisive a judge is and on the number of levels. What chance adds to "
    "it is subtracted, so it is 0 on average where there is no bias, and can be below 0. Its p assumes that both V "
    "are equal, and its interval takes them as estimated, so a mark can disagree with the interval. A point is one "
    "score level. † means not significant at 5%, ‡ not significant after Holm's adjustment for all comparisons of its "
    "kind."
)
VALUES = ["judge", "profile", "dataset", "strategy", "n", "readout", "compared", "one", "other", "quantity"]
VALUES += ["estimate", "ci_low", "ci_high", "p", "p_holm", "p_bh", "n_tests", "of_one", "of_other", "n_clusters"]
SWEPT = ["sweep", "swept_judge"]  # filled for a sweep over one judge's temperatures
DIGITS = {"cramers_v_squared": 3}  # squares are small


def _circumstances(row: Row) -> str:
    """Profile, strategy and number of levels, if both sides share them."""
    n = "" if pd.isna(row["n"]) else f"n={row['n']}"
    return " ".join(word for word in (row["profile"], row["strategy"], n) if pd.notna(word) and word)


def _form(sign: str = "") -> OfRows:
    return each_row(lambda row: f"{sign}.{DIGITS.get(row['quantity'], 2)}f")


def _mark(row: Row) -> str:
    """A dagger if the row is not significant, a double dagger if it is significant only before Holm's adjustment."""
    return "†" if not row["p"] < SIGNIFICANT else "" if row["p_holm"] < SIGNIFICANT else "‡"


TABLE = Table(
    rows=Rows("judge_comparison", "study", "cluster", columns=[*VALUES, *SWEPT]),
    columns=[
        *texts("compared"),
        Text(lambda rows: rows["sweep"].fillna(rows["one"]), name="one"),
        *texts("other"),
        Text(lambda rows: rows["judge"].fillna(rows["swept_judge"]), name="judge", missing=""),
        Text("dataset", missing=""),
        cell("under", _circumstances),
        *texts("readout", "quantity"),
        *numbers(_form(), of_one="one's", of_other="other's"),
        Estimated("estimate", _form("+"), name="difference", marks=each_row(_mark)),
    ],
    hidden=SWEPT,
)
