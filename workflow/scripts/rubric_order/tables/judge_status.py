"""State of the judges."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Number, Row, Text, cell, counts, percent, texts
from rubric_order.tables.spec import Table

CAPTION = (
    "State of the judges. Requests whose failure may pass are asked again on the next run, those that failed for good"
    " are not. Answers of several versions of an engine, a model or an address are told with their numbers. Cost and"
    " hours are of all that is in the response store. Requests that wait in a batch are missing until their answers are"
    " fetched."
)
BATCHES_CAPTION = (
    "Open batches of the judges: their answers are not stored yet. The state is that of the last look, which a job of"
    " the judge takes; the status asks no endpoint."
)
SHOWN_OF_ID = 20  # longest id of a batch that is shown whole, in characters


def _rows(parts: dict[str, pd.DataFrame], currencies: dict[str, str]) -> pd.DataFrame:
    rows = [part.assign(judge=judge, currency=currencies.get(judge, "")) for judge, part in parts.items()]
    table = pd.concat(rows, ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def _lines(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["study"] == EVERY) | (rows.groupby("judge")["study"].transform("size") > 2)]


def _cost(row: Row) -> str:
    return "" if pd.isna(row["cost"]) else f"{row['cost']:,.2f} {row['currency']}".strip()


def _batch_rows(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    rows = [part.assign(judge=judge) for judge, part in parts.items()]
    table = pd.concat(rows, ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def _short(row: Row) -> str:
    name = str(row["batch"])
    return name if len(name) <= SHOWN_OF_ID else f"{name[:12]}...{name[-5:]}"


def _age(row: Row) -> str:
    return "unknown" if pd.isna(row["age_hours"]) else f"{row['age_hours']:.1f} h"


def _time(row: Row) -> str:
    return "never" if pd.isna(row["looked"]) else f"{pd.Timestamp(row['looked']).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"


TABLE = Table(
    rows=_rows,
    columns=[
        *texts(judge="Judge", study="Study"),
        *counts(requests="Requests", missing="not planned"),
        *counts(done="Done", failed_passing="Failed, may pass", failed_for_good="Failed for good"),
        Number("missing", ",.0f", name="Missing", missing=""),
        Number("in_batches", ",.0f", name="In batches", missing="", when=lambda rows: rows["open_batches"].sum() > 0),
        *counts(prompt_tokens="Prompt tokens"),
        cell("From cache", lambda row: percent(row["cached_tokens"], row["prompt_tokens"])),
        *counts(completion_tokens="Output tokens"),
        cell("Cost", _cost),
        Number("hours", ".2f", name="Hours", missing=""),
        Text("mixed", name="Answers of several", missing="", when=lambda rows: (rows["mixed"].fillna("") != "").any()),
    ],
    printed=_lines,
)

BATCHES = Table(
    rows=_batch_rows,
    columns=[
        *texts(judge="Judge"),
        cell("Open batch", _short),
        *texts(state="State at last look"),
        *counts(done="Answered", requests="Requests"),
        cell("Last look", _time),
        cell("Age", _age),
    ],
)
