"""Tokens that the answers to some reads took, and the cost of 1,000 items at a judge's prices."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base import parquet
from rubric_order.settings.judges.metered import Prices

BY = ("profile", "condition", "strategy", "n")  # columns that divide reads of a study, judge and dataset into cards
TOKENS = ("prompt_tokens", "completion_tokens")  # columns of responses
METADATA = "tokens"  # key in the metadata of a file of scores


def tokens(reads: pd.DataFrame, responses: pd.DataFrame) -> list[dict[str, Any]]:
    """Tokens of the distinct requests of each part (`BY`) of a plan; those without a response or tokens are not
    `n_counted`.

    Example:
        >>> keys = {"profile": "default", "condition": "baseline", "strategy": "balanced", "n": 2}
        >>> reads = pd.DataFrame([keys | {"unit_id": "a", "request_id": name} for name in ("x", "y", "y")])
        >>> responses = pd.DataFrame({"request_id": ["x"], "prompt_tokens": [90], "completion_tokens": [2]})
        >>> found = tokens(reads, responses)[0]
        >>> found["n_requests"], found["n_counted"], found["prompt_tokens"]
        (2, 1, 90)
    """
    reported = responses.reindex(columns=["request_id", *TOKENS]).dropna()
    parts = []
    for values, part in reads.groupby(list(BY), sort=True):
        ids = part["request_id"].drop_duplicates()
        counted = reported[reported["request_id"].isin(ids)]
        sums = {name: int(counted[name].sum()) for name in TOKENS}
        sizes = {"n_items": part["unit_id"].nunique(), "n_requests": len(ids), "n_counted": len(counted)}
        keys = dict(zip(BY, values, strict=True))
        parts.append(keys | {"n": int(keys["n"])} | sizes | sums)
    return parts


def per_1000_items(part: Mapping[str, Any], prices: Prices) -> float | None:
    """Cost of 1,000 items like those of a part of `tokens`, in the currency of the prices; None without tokens.
    Requests without tokens count as the mean; a cache's discounts, failed calls and second requests are left out.
    """
    if not part["n_counted"]:
        return None
    counted = prices.cost(*(part[name] for name in TOKENS))
    return counted / part["n_counted"] * part["n_requests"] / part["n_items"] * 1000


def costs(scores: Path, prices: Mapping[str, Mapping[str, Any]]) -> dict[tuple[Any, ...], tuple[float, str]]:
    """Cost of 1,000 items and currency by the values of `keys.KEYS`, from the metadata of a file of scores; unknown
    costs are left out. `prices` by judge.
    """
    study, dataset, judge = *scores.parts[-3:-1], scores.stem
    if judge not in prices:
        return {}
    terms = Prices.model_validate(prices[judge])
    by_key = {}
    for part in parquet.read_metadata(scores).get(METADATA, []):
        if (cost := per_1000_items(part, terms)) is not None:
            profile, condition, strategy, n = (part[name] for name in BY)
            by_key[study, judge, profile, condition, dataset, strategy, n] = cost, terms.currency or "USD"
    return by_key
