"""From items to reads, and from reads to distinct requests.

A read is one judge answer that a study needs. A request is what is really sent for it; it is named by the hash of all
that determines the answer, so that reads of several strategies and studies share one.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from jinja2 import Template

from rubric_order import probes
from rubric_order.base import randomness, text_columns
from rubric_order.base.errors import InputError
from rubric_order.config import judges
from rubric_order.probes import Unit
from rubric_order.prompts import orderings

COLUMNS = ["study", "judge", "profile", "dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]
COLUMNS += ["probe", "strategy", "n", "read_index", "ordering", "repeat", "request_id"]


def request_names(judge: Mapping, n: int, probe: str = "score_order"):
    """A function that names the requests of one judge, scale and probe.

    Names are hashes over the judge's identity, the number of levels, the repeat index and the message.
    """
    head = hashlib.blake2b(json.dumps([judges.identity(judge, probe), n], sort_keys=True).encode(), digest_size=16)

    def name(prompt: bytes, repeat: int) -> str:
        digest = head.copy()
        digest.update(b"%d\x1f" % repeat)
        digest.update(prompt)
        return digest.hexdigest()

    return name


def request_ids(judge: Mapping, prompts_: Iterable[str], repeats: Iterable[int], n: int) -> list[str]:
    """Names of requests, see `request_names`."""
    name = request_names(judge, n)
    return [name(prompt.encode(), repeat) for prompt, repeat in zip(prompts_, repeats, strict=True)]


def plan_reads(
    items: pd.DataFrame,
    rubric_table: pd.DataFrame,
    *,
    study: str,
    judge_id: str,
    judge: Mapping,
    template: Template,
    scales: list[int],
    strategies: list[str],
    budget: int | None,
    seed: int,
    probe: str = "score_order",
    profiles: Sequence[str] = (judges.DEFAULT_PROFILE,),
    crossed: bool = False,
) -> pd.DataFrame:
    """Every read of a study's items by one judge.

    Args:
        items, rubric_table: the tables of one dataset.
        scales: numbers of score levels.
        strategies: see `orderings.choose`.
        budget: reads per item of `random` and `fixed`; by default as many as `balanced` has.
        seed: of the random orderings; they also depend on dataset, item and scale, and on nothing else.
        probe: what is permuted, see `probes`.
        profiles: the judge's profiles; each reads the same orderings.
        crossed: whether to vary the order of the score levels together with that of the criteria.

    Returns:
        One row a read, in the order of the items: the study's keys, `strategy`, `n`, `read_index` within the item,
        `ordering` (list), `repeat` (how often that ordering came before) and `request_id`; and what else the probe says
        of its units.

    Raises:
        InputError: a rubric has no such scale, or a strategy has too many orderings.
    """
    module = probes.load(probe)
    keys = module.keys(items, rubric_table)
    dataset = str(items["dataset"].iloc[0]) if len(items) else ""
    settings = [judges.with_profile(judge, profile) for profile in profiles]
    same_for_all = functools.cache(functools.partial(orderings.choose, budget=budget))
    parts = []
    for n in scales:
        namers = [(request_names(each, n, probe), judges.reuses_greedy(each)) for each in settings]
        try:
            for number, unit in enumerate(module.units(items, rubric_table, n=n, template=template)):
                rng_key = ("random orderings", dataset, unit.item_id, n)
                chosen = {
                    strategy: orderings.choose(
                        strategy, unit.options, budget=budget, rng=randomness.generator(seed, *rng_key)
                    )
                    if strategy == "random"
                    else same_for_all(strategy, unit.options)
                    for strategy in strategies
                }
                if crossed:
                    rng = randomness.generator(seed, "random levels", *rng_key[1:])
                    chosen = {
                        strategy: orderings.cross(rows, strategy, n, start=number, rng=rng)
                        for strategy, rows in chosen.items()
                    }
                chosen = {strategy: rows.tolist() for strategy, rows in chosen.items()}
                parts.append((n, unit.item_id, chosen, _name_requests(unit, chosen, namers)))
        except (InputError, ValueError) as error:
            raise InputError(f"study {study}: {error}") from None
    reads = _as_table(parts, profiles, strategies)
    reads = reads.merge(keys, on="item_id", validate="many_to_one")
    further = [name for name in keys if name not in COLUMNS]
    return reads.assign(study=study, judge=judge_id, probe=probe)[[*COLUMNS, *further]]


def _name_requests(unit: Unit, chosen: Mapping[str, list], namers: list) -> dict[tuple, list[str]]:
    """The names of the requests of one unit, a list over profiles for each ordering and repeat."""
    names: dict[tuple, list[str]] = {}
    for rows in chosen.values():
        for row, repeat in zip(rows, _repeats(rows), strict=True):
            if (key := (tuple(row), repeat)) not in names:
                prompt = unit.prompt(row).encode()
                names[key] = [name(prompt, 0 if reuses else repeat) for name, reuses in namers]
    return names


def _repeats(rows: list[list[int]]) -> Iterator[int]:
    """How often each row came before."""
    seen: dict[tuple, int] = {}
    for row in map(tuple, rows):
        yield seen.get(row, 0)
        seen[row] = seen.get(row, 0) + 1


def _as_table(parts: list[tuple], profiles: Sequence[str], strategies: Sequence[str]) -> pd.DataFrame:
    """Reads sorted by profile, scale and strategy, then as the units stand."""
    columns: dict[str, list] = {name: [] for name in ("item_id", "read_index", "ordering", "repeat", "request_id")}
    varied: dict[str, list] = {"profile": [], "strategy": [], "n": []}
    for place, profile in enumerate(profiles):
        for n in dict.fromkeys(n for n, *_ in parts):
            for strategy in strategies:
                for scale, item_id, chosen, names in parts:
                    if scale != n:
                        continue
                    rows = chosen[strategy]
                    repeats = list(_repeats(rows))
                    columns["item_id"] += [item_id] * len(rows)
                    columns["read_index"] += range(len(rows))
                    columns["ordering"] += rows
                    columns["repeat"] += repeats
                    columns["request_id"] += [
                        names[tuple(row), repeat][place] for row, repeat in zip(rows, repeats, strict=True)
                    ]
                    for name, value in (("profile", profile), ("strategy", strategy), ("n", n)):
                        varied[name] += [value] * len(rows)
    return pd.DataFrame(columns | varied)


def distinct_requests(
    reads: pd.DataFrame, *, owned_elsewhere: Iterable[str], greedy: set[str] = frozenset()
) -> pd.DataFrame:
    """The requests that reads need and no earlier study asks for, each once, without their prompts.

    They are sorted so that what prompts share is computed once: all orderings of an item are neighbours, and among them
    those with the longest common prefix.

    Args:
        reads: plans of one study and judge.
        owned_elsewhere: request ids that an earlier study sends.
        greedy: profiles whose repeats are declared equal: they are one request, with repeat 0.
    """
    table = reads[["request_id", "profile", "dataset", "item_id", "n", "ordering", "repeat"]]
    table = table[~text_columns.is_among(table["request_id"], owned_elsewhere)]
    # Of the reads that share a request the same one is kept, whatever their order: the first after sorting.
    # Groups of an item stay together too: candidates share their instruction, which stands before the response.
    ordering_key = table["ordering"].map(lambda ordering: bytes(map(int, ordering)))
    repeat = table["repeat"].where(~table["profile"].isin(greedy), 0)
    table = table.assign(ordering_key=ordering_key, repeat=repeat)
    table = table.sort_values(["dataset", "item_id", "n", "ordering_key", "profile", "repeat"], kind="stable")
    return table.drop_duplicates("request_id").drop(columns="ordering_key").reset_index(drop=True)


def render_requests(
    requests: pd.DataFrame, items: pd.DataFrame, rubric_table: pd.DataFrame, template: Template, *, probe: str
) -> pd.DataFrame:
    """Requests about one dataset, with `prompt` and `criteria` (names as the prompt asks them; null for one score)."""
    module = probes.load(probe)
    asked = [""] * len(requests)
    criteria: list[list[str] | None] = [None] * len(requests)
    rows_of = dict(iter(requests.reset_index(drop=True).groupby(["n", "item_id"])))
    for n in requests["n"].unique():
        for unit in module.units(items, rubric_table, n=int(n), template=template):
            block = rows_of.get((n, unit.item_id))
            if block is None:
                continue
            previous, text = None, ""
            for place, ordering in zip(block.index, block["ordering"], strict=True):
                row = list(ordering)
                if row != previous:
                    previous, text = row, unit.prompt(row)
                asked[place] = text
                if unit.criteria:
                    criteria[place] = [unit.criteria[option - 1] for option in row[: unit.options]]
    # As plain objects: neighbours share one text, which columns of text would copy.
    return requests.assign(prompt=pd.Series(asked, requests.index, object), criteria=criteria)


def shard_of(requests: pd.DataFrame, shard: int, shards: int) -> pd.DataFrame:
    """The rows of one shard: neighbouring items, about equally many requests a shard, no item split.

    Args:
        shard: from 1 to `shards`.
    """
    item = (requests[["dataset", "item_id"]] != requests[["dataset", "item_id"]].shift()).any(axis=1).cumsum()
    first_row = requests.groupby(item.to_numpy()).cumcount().rsub(np.arange(len(requests)))
    return requests[(first_row * shards // max(len(requests), 1) == shard - 1).to_numpy()].reset_index(drop=True)
