"""State of the judges."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import count, percent

CAPTION = (
    "State of the judges. Requests whose failure may pass are asked again on the next run, those that failed for good"
    " are not. Answers of several versions of an engine, a model or an address are told with their numbers. Cost and"
    " hours are of all that is in the response store."
)


def table(parts: dict[str, pd.DataFrame], currencies: dict[str, str]) -> pd.DataFrame:
    """One row a judge and study, and one a judge; `parts` are by judge, see `status.judge_status`."""
    rows = [part.assign(judge=judge, currency=currencies.get(judge, "")) for judge, part in parts.items()]
    table = pd.concat(rows, ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """One line a judge and study; a judge of one study has one line."""
    studies = rows.groupby("judge")["study"].transform("size") - 1
    rows = rows[(rows["study"] == EVERY) | (studies > 1)].reset_index(drop=True)
    counts = {
        "Requests": "requests",
        "Done": "done",
        "Failed, may pass": "failed_passing",
        "Failed for good": "failed_for_good",
        "Missing": "missing",
        "Prompt tokens": "prompt_tokens",
    }
    printed = {"Judge": rows["judge"], "Study": rows["study"]}
    printed |= {title: rows[name].map(count, na_action=None) for title, name in counts.items()}
    printed["Requests"] = printed["Requests"].where(rows["requests"].notna(), "not planned")
    printed["From cache"] = [
        percent(cached, tokens) for cached, tokens in zip(rows["cached_tokens"], rows["prompt_tokens"], strict=True)
    ]
    printed["Output tokens"] = rows["completion_tokens"].map(count, na_action=None)
    printed["Cost"] = [
        f"{cost:,.2f} {currency}".strip() if pd.notna(cost) else ""
        for cost, currency in zip(rows["cost"], rows["currency"], strict=True)
    ]
    printed["Hours"] = ["" if pd.isna(hours) else f"{hours:.2f}" for hours in rows["hours"]]
    if (rows["mixed"].fillna("") != "").any():
        printed["Answers of several"] = rows["mixed"].fillna("")
    return pd.DataFrame(printed)
