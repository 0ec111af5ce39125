"""Frequency of each score under conditions and orders of a prompt."""

import pandas as pd

from rubric_order.tables.columns import Row, Text, cell, different, equal, texts
from rubric_order.tables.spec import Rows, Table, wide

KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind"]
NONE = -1  # in place of a score: the answer gives no score


def _rows(scoring_tendency: pd.DataFrame) -> pd.DataFrame:
    of_score = scoring_tendency.set_index([*KEYS, "score"])["n_scores"].unstack(fill_value=0)
    counts = scoring_tendency.groupby(KEYS)[["n_constrained", "n_items"]].first()
    return wide(scoring_tendency, KEYS, [of_score.rename(columns=str), counts])


def _scores(rows: pd.DataFrame) -> list[Text]:
    titles = rows.loc[:, "kind":"n_constrained"].columns[1:-1]
    return [Text(name, name="none" if name == str(NONE) else name) for name in titles]


def _variant(row: Row) -> str:
    return ", ".join(filter(None, (row["varied"], row["order"])))


TABLE = Table(
    rows=Rows(_rows, "study", "profile"),
    columns=[
        *texts("judge", "dataset"),
        cell("golden", _variant, where=equal("kind", "golden")),
        cell("prompt", _variant, where=different("kind", "golden")),
        _scores,
        Text("n_constrained", name="constrained", when=lambda rows: rows["n_constrained"].any()),
    ],
)
