"""The order of two candidates in a prompt that asks which is better.

Pairs are the dataset's (its order is canonical), or any two candidates of a group and criterion (items' order).
"""

# Checks of a config read the constants of this module, so slow imports are inside the functions that use them.
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rubric_order import strategies
from rubric_order.base.errors import InputError
from rubric_order.probes import Unit, _candidates

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template

# From the preferred candidate to the points of both candidates of a pair.
POINTS = {"a": (1.0, 0.0), "b": (0.0, 1.0), "tie": (0.5, 0.5)}


class PairOrder(_candidates.Candidates):
    SIZES = (2,)
    PERMUTES = "the two answers that are compared"
    STRATEGIES = strategies.offered("pair_order")

    def units(
        self,
        items: pd.DataFrame,
        rubrics: pd.DataFrame,
        pairs: pd.DataFrame,
        *,
        n: int,
        template: Template,
        comparisons: Mapping[str, Any] = MappingProxyType({}),
    ) -> Iterator[Unit]:
        """The pairs of a dataset; InputError if it has none, or an item lacks what the prompt shows."""
        records, asks = _candidates.records(items), _candidates.criteria(rubrics)
        dataset_pairs = pairs.to_dict("records")
        all_pairs = dataset_pairs if comparisons["pairs"] == "given" else list(_every_pair(items, dataset_pairs))
        if not all_pairs:
            raise InputError(
                f"dataset {items['dataset'].iloc[0]!r} has no pairs; expected `comparisons: {{pairs: all}}`"
            )
        baseline = _baseline(dataset_pairs, records) if dataset_pairs else None
        chosen = _candidates.sampled([pair["pair_id"] for pair in all_pairs], comparisons)
        for pair in (pair for pair in all_pairs if pair["pair_id"] in chosen):
            first, second = records[pair["item_a"]], records[pair["item_b"]]
            candidates = [first["candidate"], second["candidate"]]
            fields = {
                "candidate": next((name for name in candidates if name != baseline), None)
                if baseline in candidates
                else None,
                "criterion": pair["criterion"],
                "baseline": baseline if baseline in candidates else None,
                "human_scores": _human_scores(first, second, pair.get("preference")),
            }
            yield _candidates.unit(
                pair["pair_id"],
                (first, second),
                fields,
                template=template,
                prompt=comparisons["prompt"],
                criterion=asks.get(first["rubric_id"]),
            )


def _every_pair(items: pd.DataFrame, given: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Every two items of a group under one criterion; the dataset's own pair where it gives it."""
    pair_by_items = {frozenset((pair["item_a"], pair["item_b"])): pair for pair in given}
    for (group, criterion), block in items.groupby(["group_id", "criterion"], sort=False):
        rows = zip(block["item_id"], block["candidate"], strict=True)
        for (first, one), (second, other) in itertools.combinations(rows, 2):
            pair_id = "-".join(dict.fromkeys([group, one, other, *([criterion] if criterion != "overall" else [])]))
            yield pair_by_items.get(
                frozenset((first, second)),
                {"pair_id": pair_id, "item_a": first, "item_b": second, "criterion": criterion},
            )


def _baseline(given: list[Mapping[str, Any]], known: Mapping[str, Mapping[str, Any]]) -> str | None:
    shared = set.intersection(*({known[pair[name]]["candidate"] for name in ("item_a", "item_b")} for pair in given))
    return shared.pop() if len(shared) == 1 else None


def _human_scores(first: Mapping[str, Any], second: Mapping[str, Any], preference: str | None) -> list[float] | None:
    scores = [first["human_score"], second["human_score"]]
    if all(score == score for score in scores):  # neither is NaN
        return scores
    return list(POINTS[preference]) if preference in POINTS else None
