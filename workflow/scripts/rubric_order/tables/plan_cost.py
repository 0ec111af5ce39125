"""Amounts that judging will take: requests, tokens, hours and cost."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import count, percent

CAPTION = (
    "What is still to be judged. Reads of several strategies and studies share a request. ≈: about, reckoned with four"
    " characters per token, where the judge's tokenizer is not on this machine. ≤: at most, every answer as long as"
    " max_tokens allows, where the store has none yet. From cache: the share of prompt tokens that a prefix cache"
    " saves. Hours are those of one job, without loading the model. Cost counts on no cache. In brackets: 95%"
    " intervals, from what the judge has answered, as in a pilot (make pilot). Constrained second"
    " requests are in neither. Where reference answers are still to be made, requests are from as many as if every text"
    " is accepted at once to as many as if none ever is; prompts that show them are in the second number alone, and in"
    " no other column."
)
NOTHING: Mapping[str, pd.DataFrame] = MappingProxyType({})
OF_REFERENCES = "references of "  # together with a dataset, in place of a study: the making of its reference answers


def table(parts: dict[str, pd.DataFrame], references: Mapping[str, pd.DataFrame] = NOTHING) -> pd.DataFrame:
    """Rows per judge and study, per judge, and per judge and dataset that lacks reference answers.

    `parts`: `costs.judge_costs` by judge, whose `to_come` bounds the reads that show answers which do not exist yet.
    `references`: `reference_costs.requests_left` by dataset.
    """
    table = pd.concat([part.assign(judge=judge) for judge, part in parts.items()], ignore_index=True)
    table["to_ask_most"] = table["to_ask"] + table.get("to_come", 0)
    table = table.drop(columns="to_come", errors="ignore")
    costs = [part.assign(study=f"{OF_REFERENCES}{dataset}") for dataset, part in references.items()]
    if costs:
        more = pd.concat(costs).assign(output_tokens_from="max_tokens", prompt_tokens_from="tokenizer", currency="")
        more["requests"] = more["answered"] + more["to_ask"]
        counts = dict.fromkeys(("answered", "to_ask", "requests", "output_tokens"), "Int64")
        table = pd.concat([table, more.astype(counts)], ignore_index=True)
    table["to_ask_most"] = table["to_ask_most"].astype("Float64").round().astype("Int64")
    return table[["judge", *table.columns.drop("judge")]]


def printout(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per judge, per judge and dataset that lacks reference answers, and for all; the CSV file has
    each study.
    """
    making = rows["study"].str.startswith(OF_REFERENCES)
    rows = rows[(rows["study"] == EVERY) | making].reset_index(drop=True)
    making = rows["study"].str.startswith(OF_REFERENCES)
    approximate = rows["prompt_tokens_from"].map({"characters": "≈ ", "tokenizer": "", "answers": ""})
    most = rows["output_tokens_from"].map({"max_tokens": "≤ ", "answers": ""})
    lines = pd.DataFrame(
        {
            "Judge": rows["judge"].where(~making, rows["judge"] + "/" + rows["study"]),
            "Reads": rows["reads"].map(count, na_action=None),
            "Requests": _between(rows["requests"], rows["requests"] + rows["to_ask_most"] - rows["to_ask"]),
            "Answered": rows["answered"].map(count),
            "To ask": _between(rows["to_ask"], rows["to_ask_most"]),
            "Prompt tokens": (approximate + rows["prompt_tokens"].map(count, na_action=None)).where(~making, "unknown"),
            "From cache": [percent(*row) for row in zip(rows["cached_tokens"], rows["prompt_tokens"], strict=True)],
            "Output tokens": (most + rows["output_tokens"].map(count)).where(rows["output_tokens"].notna(), "unknown"),
            "Hours": _amounts(rows["hours"], most) + _intervals(rows, "hours"),
            "GPU hours": _amounts(rows["gpu_hours"], most),
            "Cost": (_amounts(rows["cost"], most) + _intervals(rows, "cost") + " " + rows["currency"]).where(
                rows["currency"] != "", ""
            ),
        }
    )
    reads, requests, answered, to_ask = rows[["reads", "requests", "answered", "to_ask"]].sum()
    most = rows["to_ask_most"].sum(skipna=False)
    sums = [
        count(reads),
        *_between([requests], [requests + most - to_ask]),
        count(answered),
        *_between([to_ask], [most]),
    ]
    whole = dict.fromkeys(lines.columns, "") | dict(zip(lines.columns, [EVERY, *sums], strict=False))
    return pd.concat([lines, pd.DataFrame([whole])], ignore_index=True)


def _between(least: Iterable[int], most: Iterable[int]) -> list[str]:
    return [
        count(one) if pd.notna(two) and one == two else f"{count(one)} to {count(two) or 'unknown'}"
        for one, two in zip(least, most, strict=True)
    ]


def unmade(references: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Lines that tell how to make missing reference answers, from their settings by dataset."""
    return [
        f"Reference answers of {dataset} are not there yet: each is written and reviewed in up to {block['rounds']}"
        f" rounds, three requests per round. `snakemake results/references/{dataset}.parquet` makes them, with this"
        " config."
        for dataset, block in references.items()
    ]


def unpinned(judges: Mapping[str, str | None]) -> list[str]:
    """Lines that name the judges whose revision is not fixed, from revisions by label."""
    return [
        f"{label} is not pinned: {f'revision {revision!r}' if revision else 'no revision'} is no commit of 40 digits."
        " The hub is asked for it when the judge is."
        for label, revision in judges.items()
    ]


def saved(rows: pd.DataFrame) -> str:
    """A sentence on the requests that are saved because reads share them."""
    whole = rows[rows["study"] == EVERY]
    reads, requests = int(whole["reads"].sum()), int(whole["requests"].sum())
    return (
        f"{reads:,} reads need {requests:,} distinct requests: sharing them saves {reads - requests:,}"
        f" ({percent(reads - requests, reads) or '0 %'})."
    )


def _intervals(rows: pd.DataFrame, name: str) -> pd.Series:
    """Intervals of hours or money in brackets; empty if the interval is unknown or nothing is left to do."""
    low, high = (rows.get(f"{name}_{side}", pd.Series(float("nan"), rows.index)) for side in ("low", "high"))
    return pd.Series(
        [
            f" [{least:,.2f}, {most:,.2f}]" if pd.notna(least) and most > 0 else ""
            for least, most in zip(low, high, strict=True)
        ],
        rows.index,
    )


def _amounts(values: pd.Series, most: pd.Series) -> pd.Series:
    """Hours or money; `most` marks an upper bound, such as ``≤``."""
    text = values.map(lambda value: "unknown" if pd.isna(value) else f"{value:,.2f}")
    return most.where(values > 0, "") + text
