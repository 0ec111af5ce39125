"""Answers of a judge: rows of its response store, and the responses of a shard."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rubric_order.contracts.contract import Column, Contract
from rubric_order.contracts.reads import REQUEST

if TYPE_CHECKING:
    import pandas as pd


def reason_of(error: object) -> str | None:
    """Reason of a failed request: the part of column `error` before the first colon; None without an error.

    >>> reason_of("timeout: no answer after 60 s")
    'timeout'
    """
    return error.partition(":")[0] if isinstance(error, str) else None


def failures(errors: pd.Series) -> str:
    """Words on failed requests, from column `error`: how many for each reason, each with the first message."""
    firsts = errors.dropna().groupby(errors.map(reason_of), sort=False).agg(["size", "first"])
    return "; ".join(f"{size} {first:.160}" for size, first in firsts.itertuples(index=False))


STORE = Contract(
    "store",
    "results/store/{judge}/*.parquet",
    (
        REQUEST,
        Column(
            "text",
            "string",
            nullable=True,
            meaning="Exactly what the judge wrote; a decision model answers in JSON. Null where there is no answer.",
        ),
        Column("finish_reason", "string", nullable=True, meaning="Why the answer ended, as the engine says."),
        Column("error", "string", nullable=True, meaning="Why there is no answer: a reason, and after a colon more."),
        Column("prompt_tokens", "int32", nullable=True, unit="tokens", meaning="Length of the prompt."),
        Column("completion_tokens", "int32", nullable=True, unit="tokens", meaning="Length of the answer."),
        Column("cached_tokens", "int32", nullable=True, unit="tokens", meaning="Part of the prompt that a cache held."),
        Column(
            "option_logprobs",
            "list<double>",
            nullable=True,
            unit="natural logarithms",
            meaning="Log-probabilities of the labels of each question, where the label was written.",
        ),
        Column("option_token", "int32", nullable=True, unit="from 0", meaning="Token at which they were read."),
        Column("reasoning", "string", nullable=True, meaning="What the judge thought, if it is apart from the answer."),
        Column("refusal", "string", nullable=True, meaning="What an endpoint says where the model refuses."),
        Column("attempts", "int32", nullable=True, unit="from 1", meaning="Calls that were sent for the request."),
        Column("tokens", "int64", nullable=True, unit="tokens", meaning="Tokens that these calls used, at most."),
        Column("cost", "double", nullable=True, unit="currency of the prices", meaning="Cost of these calls."),
        Column("model", "string", nullable=True, meaning="Name under which the model says to have answered."),
        # A dictionary holds equal texts only once, also in memory.
        Column("engine", "dictionary", nullable=True, meaning="Versions and arguments of the engine, as JSON."),
    ),
    meaning="One row a finished request of a judge; several where it was asked again. What a file of an earlier version"
    " lacks is null.",
    exact=True,
)

# These columns say how an answer was obtained. Responses leave them out, so that an interrupted job and an undisturbed
# one write the same file.
RUN_COLUMNS = ["cached_tokens", "attempts", "tokens", "cost"]

RESPONSES = Contract(
    "responses",
    "results/responses/{judge}/{shard}.parquet",
    (
        *(replace(column, optional=column.name in RUN_COLUMNS) for column in STORE.columns),
        Column(
            "constrained_text",
            "string",
            nullable=True,
            optional=True,
            meaning="Answer to a second request that allows a label alone; null where none was sent.",
        ),
    ),
    meaning="One row per request of a shard, in the order of the requests. Of recorded answers most columns are null.",
)
