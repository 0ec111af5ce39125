"""Versions that gave a judge's answers: engine, weights, address. Different versions may be different judges."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from rubric_order.base.errors import InputError

# Fields of an engine's description that may change answers, although the ids of requests do not depend on them.
TOLD = {
    "engine_version": "version of the engine",
    "server_version": "version of the server",
    "model_revision": "revision",
    "weights": "weights",
    "base_url": "base_url",
}
ANSWERED = "version of the model"  # as the endpoint names it in its answers


def counts(answers: pd.DataFrame, *, names: Collection[str] = ()) -> dict[str, Counter[str]]:
    """Number of answers from each version, by part that has versions; `names` of the model do not distinguish them.
    `answers` have columns `engine` (JSON) and `model`, without failed requests.
    """
    by_kind: dict[str, Counter[str]] = {}
    columns = answers[["engine", "model"]].astype(object)
    for (engine, model), number in columns.value_counts(dropna=False).items():
        for what, version in _told(engine, model, names):
            by_kind.setdefault(what, Counter())[version] += number
    return by_kind


def _told(engine: object, model: object, names: Collection[str]) -> Iterator[tuple[str, str]]:
    described: Mapping[str, Any] = json.loads(engine) if isinstance(engine, str) else {}
    for key, what in TOLD.items():
        # The version of the client of an endpoint says nothing about the model behind the endpoint.
        if described.get(key) and not (key == "engine_version" and described.get("engine") == "openai"):
            yield what, str(described[key])
    if isinstance(model, str) and model not in names:
        yield ANSWERED, model


def listed(answers: pd.DataFrame, *, names: Collection[str] = ()) -> str:
    """Versions of each part that has several, on one line with their numbers of answers."""
    return listed_counts(counts(answers, names=names))


def listed_counts(counted: Mapping[str, Counter[str]]) -> str:
    mixed = {what: numbers for what, numbers in counted.items() if len(numbers) > 1}
    return "; ".join(
        f"{what} {', '.join(f'{version} ({number})' for version, number in sorted(numbers.items()))}"
        for what, numbers in mixed.items()
    )


def check(answers: pd.DataFrame, *, names: Collection[str] = ()) -> None:
    refuse(counts(answers, names=names))


def refuse(counted: Mapping[str, Counter[str]]) -> None:
    if mixed := listed_counts(counted):
        raise InputError(
            f"judge: the answers come from several versions: {mixed}; set accept_mixed: true to take them as one"
            " judge's, or remove its folder in results/store to ask all again"
        )
