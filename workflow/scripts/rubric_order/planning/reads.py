"""Reads, planned from items: one row for each judge answer that a study needs."""

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jinja2 import Template

from rubric_order import probes, strategies
from rubric_order.base import randomness
from rubric_order.base.errors import InputError, UnfitError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.contracts.reads import PLAN
from rubric_order.planning import requests
from rubric_order.probes import Probe, Shown, Unit
from rubric_order.prompts import orderings
from rubric_order.settings.judges.judge import Judge

DRAWN = strategies.names(lambda strategy: strategy.drawn)  # strategies that draw orderings for each unit
IN_TURN = strategies.names(lambda strategy: strategy.in_turn)  # strategies in which units take orderings in turn


class Design(NamedTuple):
    """Reads that a study wants of each unit. `budget` None is that of `strategies.Wanted.reads`; `comparisons` as in
    `Probe.units`; `sample` is groups a dataset.

    `crossed` also varies the levels' order. Orderings depend on seed, strategy, dataset, unit and scale alone; all
    conditions share them.
    """

    scales: Sequence[int]
    strategies: Sequence[str]
    budget: int | None = None
    seed: int = 0
    conditions: Sequence[str] = (BASELINE,)
    crossed: bool = False
    comparisons: Mapping[str, Any] = MappingProxyType({})
    sample: int | None = None


class _Read(NamedTuple):
    """One read of a unit, without its judge's profile."""

    unit_id: str
    condition: str
    strategy: str
    n: int
    read_index: int
    ordering: tuple[int, ...]
    levels: tuple[int, ...]
    repeat: int
    request_ids: tuple[str, ...]  # one for each profile


def plan_reads(
    items: pd.DataFrame,
    rubrics: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    study: str,
    judge_id: str,
    judge: Judge,
    template: Template,
    design: Design,
    probe: str,
    profiles: Sequence[str] = (DEFAULT_PROFILE,),
) -> pd.DataFrame:
    """Every read of a study's units by one judge, with `contracts.reads.PLAN`; profiles read the same orderings.

    InputError if a rubric lacks the scale, a strategy has too many orderings, or no unit fits any condition.
    """
    module, items = probes.load(probe), draw_sample(items, sample=design.sample, seed=design.seed)
    variants = [judge.under(profile) for profile in profiles]
    reads: list[_Read] = []
    facts: dict[str, Mapping[str, object]] = {}
    for n in design.scales:
        namers = [(requests.namer(variant, n, module), variant.reuses_greedy) for variant in variants]
        try:
            units = module.units(items, rubrics, pairs, n=n, template=template, comparisons=design.comparisons)
            for number, unit in enumerate(units):
                facts.setdefault(unit.unit_id, unit.about)
                reads += _reads_of(unit, number, n, module, design, namers)
        except (InputError, UnfitError) as error:
            raise InputError(f"study {study}: {error}") from None
    if not reads:
        named = ", ".join(items["dataset"].unique())
        raise InputError(
            f"study {study}: nothing of dataset {named} is read: none of its {len(items)} items fits a condition of the"
            f" study ({', '.join(design.conditions)}). Conditions that show a reference answer read items that have one"
        )
    return _as_table(reads, facts, profiles, design).assign(study=study, judge=judge_id, probe=probe).pipe(_tidy)


def draw_sample(items: pd.DataFrame, *, sample: int | None, seed: int) -> pd.DataFrame:
    """The items of some groups, drawn by seed and dataset; a larger sample contains each smaller one."""
    groups = sorted(items["group_id"].unique())
    if sample is None or sample >= len(groups):
        return items
    rng = randomness.generator(seed, "sample of groups", str(items["dataset"].iloc[0]))
    drawn = {groups[place] for place in rng.permutation(len(groups))[:sample]}
    return items[items["group_id"].isin(drawn)]


def _reads_of(
    unit: Unit,
    number: int,
    n: int,
    probe: Probe,
    design: Design,
    namers: Sequence[tuple[Callable[[bytes, int], str], bool]],
) -> Iterator[_Read]:
    """The reads of one unit. Each prompt is rendered and named only once."""
    request_ids: dict[tuple[Shown, int], tuple[str, ...]] = {}
    for condition in filter(unit.offers, design.conditions):
        for strategy in design.strategies:
            rows, levels = _orders(unit, number, n, strategy, probe, design)
            together = probe.asks_together(condition, n)
            if together:
                levels = [tuple(itertools.chain(*rows))] * len(rows)
            seen: dict[Shown, int] = {}
            for index, (ordering, shown_levels) in enumerate(zip(rows, levels, strict=True)):
                # Reads that are asked together share one request, although different questions of it answer them.
                view = Shown(rows[0] if together else ordering, shown_levels, condition)
                repeat = 0 if together else seen.get(view, 0)
                seen[view] = repeat + 1
                if (view, repeat) not in request_ids:
                    prompt = _rendered(unit, view)
                    request_ids[view, repeat] = tuple(name(prompt, 0 if reuses else repeat) for name, reuses in namers)
                ids = request_ids[view, repeat]
                yield _Read(unit.unit_id, condition, strategy, n, index, ordering, shown_levels, repeat, ids)


def _rendered(unit: Unit, shown: Shown) -> bytes:
    try:
        return unit.prompt(shown).encode()
    except (UnfitError, UnicodeEncodeError) as error:
        raise UnfitError(f"unit {unit.unit_id!r:.60}: {error}") from None


def _orders(
    unit: Unit, number: int, n: int, strategy: str, probe: Probe, design: Design
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The orderings of a unit's options and, in a crossed design, of the score levels, for each read."""
    key = (str(unit.about["dataset"]), unit.unit_id, n)
    if strategy in DRAWN:
        rng = randomness.generator(design.seed, f"{strategy} orderings", *key)
        chosen = probe.choose(strategy, len(unit.options), budget=design.budget, rng=rng)
        rows = _as_tuples(chosen)
    else:
        rows = _same_for_all(probe, strategy, len(unit.options), design.budget)
    if strategy in IN_TURN:
        rows = [rows[number % len(rows)]]
    if not design.crossed:
        return rows, [()] * len(rows)
    rng = randomness.generator(design.seed, "random levels", *key)
    return rows, _as_tuples(orderings.levels_beside(strategy, len(rows), n, start=number, rng=rng))


@functools.cache
def _same_for_all(probe: Probe, strategy: str, options: int, budget: int | None) -> list[tuple[int, ...]]:
    return _as_tuples(probe.choose(strategy, options, budget=budget, rng=None))


def _as_tuples(rows: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rows.tolist()]


def _as_table(
    reads: list[_Read], about: Mapping[str, Mapping[str, object]], profiles: Sequence[str], design: Design
) -> pd.DataFrame:
    """Reads of all profiles, sorted, with the columns about their units. Equal reads keep the order of the units."""
    table = pd.DataFrame(reads, columns=_Read._fields)
    parts = [
        table.assign(profile=profile, request_id=[ids[place] for ids in table["request_ids"]])
        for place, profile in enumerate(profiles)
    ]
    table = pd.concat(parts, ignore_index=True).drop(columns="request_ids")
    ranks = {"profile": profiles, "n": design.scales, "condition": design.conditions, "strategy": design.strategies}
    table = table.sort_values(
        list(ranks),
        key=lambda column: column.map({value: rank for rank, value in enumerate(ranks[column.name])}),
        kind="stable",
        ignore_index=True,
    )
    table = table.assign(ordering=table["ordering"].map(list), levels=table["levels"].map(list))
    keys = pd.DataFrame([{"unit_id": unit_id, **facts} for unit_id, facts in about.items()])
    return table.merge(keys, on="unit_id", validate="many_to_one") if len(keys) else table


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    further = [name for name in table if name not in PLAN.names]
    return table.reindex(columns=[*PLAN.names, *further])
