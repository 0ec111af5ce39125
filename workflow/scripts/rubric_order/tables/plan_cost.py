"""What judging will take."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import count, percent

CAPTION = (
    "What is still to be judged. Reads of several strategies and studies share a request. ≈: about, reckoned with four"
    " characters a token, where the judge's tokenizer is not on this machine. ≤: at most, every answer as long as"
    " max_tokens allows, where the store has none yet. From cache: the share of prompt tokens that a prefix cache"
    " saves. Hours are those of one job, without loading the model. Cost counts on no cache. Constrained second"
    " requests are in neither."
)


def table(parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a judge and study, and one a judge; `parts` are by judge, see `costs.judge_costs`."""
    table = pd.concat([part.assign(judge=judge) for judge, part in parts.items()], ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """One line a judge, and one of all judges together; studies are left to the CSV file."""
    rows = rows[rows["study"] == EVERY].reset_index(drop=True)
    about = rows["prompt_tokens_from"].map({"characters": "≈ ", "tokenizer": ""})
    most = rows["output_tokens_from"].map({"max_tokens": "≤ ", "answers": ""})
    lines = pd.DataFrame(
        {
            "Judge": rows["judge"],
            "Reads": rows["reads"].map(count),
            "Requests": rows["requests"].map(count),
            "Answered": rows["answered"].map(count),
            "To ask": rows["to_ask"].map(count),
            "Prompt tokens": about + rows["prompt_tokens"].map(count),
            "From cache": [percent(*row) for row in zip(rows["cached_tokens"], rows["prompt_tokens"], strict=True)],
            "Output tokens": most + rows["output_tokens"].map(count),
            "Hours": _amounts(rows["hours"], most),
            "GPU hours": _amounts(rows["gpu_hours"], most),
            "Cost": (_amounts(rows["cost"], most) + " " + rows["currency"]).where(rows["currency"] != "", ""),
        }
    )
    sums = rows[["reads", "requests", "answered", "to_ask"]].sum().map(count).tolist()
    whole = dict.fromkeys(lines.columns, "") | dict(zip(lines.columns, [EVERY, *sums], strict=False))
    return pd.concat([lines, pd.DataFrame([whole])], ignore_index=True)


def saved(rows: pd.DataFrame) -> str:
    """What it saves that reads share requests, in words."""
    whole = rows[rows["study"] == EVERY]
    reads, requests = int(whole["reads"].sum()), int(whole["requests"].sum())
    return (
        f"{reads:,} reads need {requests:,} distinct requests: sharing them saves {reads - requests:,}"
        f" ({percent(reads - requests, reads) or '0 %'})."
    )


def _amounts(values: pd.Series, most: pd.Series) -> pd.Series:
    """Numbers of hours or money, marked as `most` says where they are known and not 0."""
    text = values.map(lambda value: "unknown" if pd.isna(value) else f"{value:,.2f}")
    return most.where(values > 0, "") + text
