"""Answers without a score."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Number, filled, texts
from rubric_order.tables.spec import Rows, Table


def _rows(parse_failures: pd.DataFrame) -> pd.DataFrame:
    return parse_failures.assign(share=parse_failures["n_failed"] / parse_failures["n_scores"])


TABLE = Table(
    rows=Rows(_rows, "study", "profile", drop=["study", "profile"]),
    columns=[
        *texts("judge", "dataset", "strategy", "n", "reason", "n_scores", "n_failed"),
        Number("share", ".2f", times=100, marks=filled(" %")),
    ],
    printed={"option": EVERY, "position": EVERY},
)
