"""Tokens that the answers to some reads took, and the cost of 1,000 items at a judge's prices."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base import parquet
from rubric_order.settings.judges.metered import Prices

BY = ("profile", "condition", "strategy", "n")  # columns that divide reads of a study, judge and dataset into cards
TOKENS = ("prompt_tokens", "completion_tokens")  # columns of responses
METADATA = "tokens"  # key in the metadata of a file of scores


def tokens(reads: pd.DataFrame, responses: pd.DataFrame) -> list[dict[str, Any]]:
    """Tokens of the distinct requests of each part of a plan.

    Args:
        reads: a plan, see `reads.plan_reads`.
        responses: `request_id` and `TOKENS`; one row per request. Requests without a response, or without tokens, are
            not among the `n_counted`.

    Returns:
        One entry per group of `BY`: the values of `BY`, `n_items` (units), `n_requests`, `n_counted`, and the sums of
        `TOKENS` over the counted requests.

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
    """Cost of 1,000 items that are read like the items of a part, in the currency of the prices.

    Discounts for an endpoint's cache, failed calls and second requests are left out. A request whose tokens are not
    known counts with the mean of the requests whose tokens are known.

    Args:
        part: an entry of `tokens`.
        prices: prices of the judge.

    Returns:
        The cost; None if no request has tokens.
    """
    if not part["n_counted"]:
        return None
    counted = prices.cost(*(part[name] for name in TOKENS))
    return counted / part["n_counted"] * part["n_requests"] / part["n_items"] * 1000


def costs(
    parts: Sequence[Mapping[str, Any]], prices: Mapping[str, Any] | None, about: Mapping[str, str]
) -> dict[tuple[Any, ...], tuple[float, str]]:
    """Dictionary from the values of `keys.KEYS` to cost of 1,000 items and currency. Unknown costs are left out.

    Args:
        parts: see `tokens`.
        prices: prices of the judge, as config has them; None without prices.
        about: `study`, `judge` and `dataset` of the parts.
    """
    if prices is None:
        return {}
    judge = Prices.model_validate(prices)
    by_key = {}
    for part in parts:
        if (cost := per_1000_items(part, judge)) is not None:
            profile, condition, strategy, n = (part[name] for name in BY)
            key = (about["study"], about["judge"], profile, condition, about["dataset"], strategy, n)
            by_key[key] = cost, judge.currency or "USD"
    return by_key


def costs_of(scores: Path, prices: Mapping[str, Mapping[str, Any]]) -> dict[tuple[Any, ...], tuple[float, str]]:
    """Costs (see `costs`) from the metadata of one file of scores.

    Args:
        scores: path of the file, STUDY/DATASET/JUDGE.parquet.
        prices: dictionary from judge to prices, for judges that have prices.
    """
    parts_of_path = {"study": scores.parts[-3], "dataset": scores.parts[-2], "judge": scores.stem}
    return costs(parquet.read_metadata(scores).get(METADATA, []), prices.get(parts_of_path["judge"]), parts_of_path)
