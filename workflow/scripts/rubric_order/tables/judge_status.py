"""State of the judges."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Number, Row, Text, cell, counts, percent, texts
from rubric_order.tables.spec import Table

CAPTION = (
    "State of the judges. Requests whose failure may pass are asked again on the next run, those that failed for good"
    " are not. Answers of several versions of an engine, a model or an address are told with their numbers. Cost and"
    " hours are of all that is in the response store."
)


def _rows(parts: dict[str, pd.DataFrame], currencies: dict[str, str]) -> pd.DataFrame:
    """One row a judge and study, and one a judge; `parts` are by judge, see `status.judge_status`."""
    rows = [part.assign(judge=judge, currency=currencies.get(judge, "")) for judge, part in parts.items()]
    table = pd.concat(rows, ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def _lines(rows: pd.DataFrame) -> pd.DataFrame:
    """One line a judge and study; a judge of one study has one line."""
    return rows[(rows["study"] == EVERY) | (rows.groupby("judge")["study"].transform("size") > 2)]


def _cost(row: Row) -> str:
    return "" if pd.isna(row["cost"]) else f"{row['cost']:,.2f} {row['currency']}".strip()


TABLE = Table(
    rows=_rows,
    columns=[
        *texts(judge="Judge", study="Study"),
        *counts(requests="Requests", missing="not planned"),
        *counts(done="Done", failed_passing="Failed, may pass", failed_for_good="Failed for good"),
        Number("missing", ",.0f", name="Missing", missing=""),
        *counts(prompt_tokens="Prompt tokens"),
        cell("From cache", lambda row: percent(row["cached_tokens"], row["prompt_tokens"])),
        *counts(completion_tokens="Output tokens"),
        cell("Cost", _cost),
        Number("hours", ".2f", name="Hours", missing=""),
        Text("mixed", name="Answers of several", missing="", when=lambda rows: (rows["mixed"].fillna("") != "").any()),
    ],
    printed=_lines,
)
