"""The order of several candidates in a prompt that asks for the best, or for a ranking. Scales are lengths of lists.

Lists share no candidate, and are read with every group that has all of theirs. Source: Shi et al. (2025), Section 3.1:
three lists of three models of MT-Bench.
"""

# Checks of a config read the constants of this module, so slow imports are inside the functions that use them.
from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rubric_order import strategies
from rubric_order.base import randomness
from rubric_order.base.errors import InputError
from rubric_order.probes import Unit, _candidates

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template


class ListOrder(_candidates.Candidates):
    SIZES = range(3, 10)  # each candidate has a letter, and a tie has a letter, too
    PERMUTES = "the answers in a list"
    STRATEGIES = strategies.offered("list_order")
    CONDITIONS = (*_candidates.Candidates.CONDITIONS, _candidates.RANKING)

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
        """Lists of n candidates, by group; InputError if no group has n, or an item lacks what the prompt shows."""
        records, asks = _candidates.records(items), _candidates.criteria(rubrics)
        lists, candidates = {}, drawn(items, n, comparisons["lists"], comparisons["seed"])
        for group, criterion, number, ids in _every_list(items, candidates):
            parts = [group, f"list{number}of{n}", *([criterion] if criterion != "overall" else [])]
            lists["-".join(parts)] = ids
        chosen = _candidates.sampled(list(lists), comparisons)
        for unit_id in (unit_id for unit_id in lists if unit_id in chosen):
            members = [records[item_id] for item_id in lists[unit_id]]
            scores = [item["human_score"] for item in members]
            fields = {
                "candidate": None,
                "baseline": None,
                "human_scores": scores if all(score == score for score in scores) else None,  # none is NaN
            }
            yield _candidates.unit(
                unit_id,
                members,
                fields,
                template=template,
                prompt=comparisons["prompt"],
                criterion=asks.get(members[0]["rubric_id"]),
            )


def _every_list(items: pd.DataFrame, lists: list[list[str]]) -> Iterator[tuple[str, str, int, list[str]]]:
    for (group, criterion), block in items.groupby(["group_id", "criterion"], sort=False):
        of = dict(zip(block["candidate"], block["item_id"], strict=True))
        for number, candidates in enumerate(lists, start=1):
            if of.keys() >= {*candidates}:
                yield group, criterion, number, [of[name] for name in candidates]


def drawn(items: pd.DataFrame, n: int, lists: int, seed: int) -> list[list[str]]:
    """Candidates of each list, drawn from those with the most groups (half or more); InputError if too few."""
    dataset = items["dataset"].iloc[0]
    groups = items.groupby("candidate")["group_id"].nunique()
    largest = sorted(groups[groups == groups.max()].index)
    if len(largest) < n or groups.max() * 2 < items["group_id"].nunique():
        raise InputError(
            f"dataset {dataset!r}: a list takes {n} candidates that answer the same questions; found {len(largest)}"
            f" that answer {groups.max()} of {items['group_id'].nunique()}"
        )
    order = randomness.generator(seed, "lists", dataset, n).permutation(len(largest))
    count = min(lists, len(largest) // n)
    return [[largest[place] for place in sorted(order[k * n : (k + 1) * n])] for k in range(count)]
