"""The distinct requests of a judge, made from the reads that need them.

A request is named by the hash of all that determines the answer, so reads of strategies and studies share it.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from jinja2 import Template

from rubric_order import probes
from rubric_order.base import parquet, text_columns
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.probes import Probe, Question, Shown, Unit
from rubric_order.settings.judges.judge import Judge

# Columns of requests that come from plans. The other columns of requests hold the contents of the prompt.
COLUMNS = [name for name in REQUESTS.names if name in PLAN.names]


def namer(judge: Judge, n: int, probe: Probe) -> Callable[[bytes, int], str]:
    """Function that names requests by judge's identity, levels, repeat and message. Never change these: a stored answer
    is found by its name alone.
    """
    identity = [judge.identity(probe.IDENTITY), n]
    head = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16)

    def name(prompt: bytes, repeat: int) -> str:
        digest = head.copy()
        digest.update(b"%d\x1f" % repeat)
        digest.update(prompt)
        return digest.hexdigest()

    return name


def distinct_requests(
    reads: pd.DataFrame, *, owned_elsewhere: Iterable[str], greedy: Collection[str] = ()
) -> pd.DataFrame:
    """The distinct requests that reads need and no earlier study sends, without prompts.

    Sorted so that an engine computes a common beginning once: orderings of a unit, and those with long common prefixes,
    are neighbours. Under `greedy` profiles all repeats are one request.
    """
    table = reads[COLUMNS]
    table = table[~text_columns.is_among(table["request_id"], owned_elsewhere)]
    # If reads share a request, the first read after sorting is kept, whatever the order before.
    # Units of a group stay together, too: candidates share their instruction, which comes before the response.
    orders = zip(table["ordering"], table["levels"], strict=True)
    ordering_key = [bytes(map(int, ordering)) + bytes(map(int, levels)) for ordering, levels in orders]
    repeat = table["repeat"].where(~table["profile"].isin(greedy), 0)
    table = table.assign(ordering_key=ordering_key, repeat=repeat)
    keys = ["dataset", "unit_id", "n", "condition", "ordering_key", "profile", "repeat"]
    table = table.sort_values(keys, kind="stable")
    return table.drop_duplicates("request_id").drop(columns="ordering_key").reset_index(drop=True)


def units_asked(
    requests: pd.DataFrame,
    items: pd.DataFrame,
    rubrics: pd.DataFrame,
    pairs: pd.DataFrame,
    template: Template,
    *,
    probe: str,
    comparisons: Mapping[str, Any] = MappingProxyType({}),
) -> dict[tuple[int, str], Unit]:
    """The units of one dataset that requests are about, by number of levels and unit id."""
    wanted = set(requests[["n", "unit_id"]].drop_duplicates().itertuples(index=False, name=None))
    module = probes.load(probe)
    units = (
        ((n, unit.unit_id), unit)
        for n in sorted({int(n) for n, _ in wanted})
        for unit in module.units(items, rubrics, pairs, n=n, template=template, comparisons=comparisons)
    )
    return {key: unit for key, unit in units if key in wanted}


def render_requests(requests: pd.DataFrame, units: Mapping[tuple[int, str], Unit]) -> pd.DataFrame:
    """Requests with `prompt`, `options` (ids, canonical order) and `questions` (prompt's order), all in memory."""
    prompts: list[str] = []
    options: list[tuple[str, ...]] = []
    questions: list[list[dict[str, Any]]] = []
    records: dict[tuple[Question, ...], list[dict[str, Any]]] = {}
    previous = None
    for row in requests.itertuples():
        unit = units[row.n, row.unit_id]
        view = Shown(tuple(map(int, row.ordering)), tuple(map(int, row.levels)), row.condition)
        if (unit.unit_id, row.n, view) != previous:
            previous, text, asked = (unit.unit_id, row.n, view), unit.prompt(view), unit.questions(view)
            record = records.setdefault(asked, [question._asdict() for question in asked])
        prompts.append(text)
        questions.append(record)
        options.append(unit.options)
    # Plain objects: neighbours share one text, which a column of text would copy.
    return requests.assign(
        prompt=pd.Series(prompts, requests.index, object),
        options=pd.Series(options, requests.index, object),
        questions=questions,
    )


def read_shard(path: Path, shard: int, shards: int) -> pd.DataFrame:
    """The requests of one of `shards` equal shards of whole units; reads only the row groups needed."""
    with pq.ParquetFile(path) as file:
        groups = parquet.group_bounds(file)
        first, last = (_next_unit(file, groups, -(-int(groups[-1]) * part // shards)) for part in (shard - 1, shard))
        inside = range(np.searchsorted(groups, first, side="right") - 1, np.searchsorted(groups, last))
        if first == last:
            return file.schema_arrow.empty_table().to_pandas()
        return file.read_row_groups(list(inside)).slice(first - groups[inside[0]], last - first).to_pandas()


def read_studies(
    paths: Sequence[Path], probes: Sequence[str], shard: int, shards: int
) -> tuple[pd.DataFrame, list[str]]:
    """The requests of one shard's part of each study, with `probe` and `study`; and the study of each."""
    parts = [
        read_shard(path, shard, shards).assign(probe=probe, study=path.parent.name)
        for path, probe in zip(paths, probes, strict=True)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table, table["study"].tolist()


def _next_unit(file: pq.ParquetFile, groups: np.ndarray, row: int) -> int:
    """The first row from `row` on at which a unit begins, or the number of rows."""
    if row in (0, groups[-1]):
        return int(row)
    before = None
    for group in range(np.searchsorted(groups, row - 1, side="right") - 1, len(groups) - 1):
        units = file.read_row_group(group, ["dataset", "unit_id"]).to_pandas()
        start = max(row - 1 - groups[group], 0)
        units = list(units.iloc[start:].itertuples(index=False, name=None))
        before = before or units[0]
        for place, unit in enumerate(units):
            if unit != before:
                return int(groups[group] + start + place)
    return int(groups[-1])
