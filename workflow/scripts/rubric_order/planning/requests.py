"""The distinct requests of a judge, made from the reads that need them.

A request is the call that is sent for a read. The name of a request is the hash of everything that determines the
answer. So reads of several strategies and studies can share a request.
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
from rubric_order.settings.judges import Judge

# Columns of requests that come from plans. The other columns of requests hold the contents of the prompt.
COLUMNS = [name for name in REQUESTS.names if name in PLAN.names]


def namer(judge: Judge, n: int, probe: Probe) -> Callable[[bytes, int], str]:
    """Function that names the requests of one judge, scale and probe.

    Names are hashes over the judge's identity, the number of levels, the repeat index and the message. Never change
    these parts of a name: a stored answer is found by its name alone.
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
    """The distinct requests that reads need and that no earlier study sends, without prompts.

    Requests are sorted so that an engine computes a common beginning of prompts only once. All orderings of a unit are
    neighbours. Among them, orderings with a long common prefix are neighbours.

    Args:
        reads: plans of one study and judge, with `COLUMNS`.
        owned_elsewhere: request ids that an earlier study sends.
        greedy: profiles whose repeats are declared equal. Under such a profile, all repeats of a read are one request,
            with repeat 0.
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
    """Dictionary from number of levels and unit id to the units of one dataset that requests are about.

    Args:
        requests: see `distinct_requests`.
        items, rubrics, pairs: the tables of the dataset.
        template: template of the prompt.
        probe: name of the probe.
        comparisons: see `Probe.units`; the same for all scales.
    """
    wanted = set(requests[["n", "unit_id"]].drop_duplicates().itertuples(index=False, name=None))
    module = probes.load(probe)
    units = (
        ((n, unit.unit_id), unit)
        for n in sorted({int(n) for n, _ in wanted})
        for unit in module.units(items, rubrics, pairs, n=n, template=template, comparisons=comparisons)
    )
    return {key: unit for key, unit in units if key in wanted}


def render_requests(requests: pd.DataFrame, units: Mapping[tuple[int, str], Unit]) -> pd.DataFrame:
    """Requests about one dataset, with their prompts.

    Args:
        requests: some or all requests. The prompts of one call are in memory together.
        units: see `units_asked`.

    Returns:
        The requests with `prompt`, `options` (ids of the options, in canonical order) and `questions` (a list of
        records, in the order of the prompt).
    """
    prompts: list[str] = []
    options: list[tuple[str, ...]] = []
    questions: list[list[dict[str, Any]]] = []
    records: dict[tuple[Question, ...], list[dict[str, Any]]] = {}
    previous = None
    for row in requests.itertuples():
        unit = units[row.n, row.unit_id]
        shown = Shown(tuple(map(int, row.ordering)), tuple(map(int, row.levels)), row.condition)
        if (unit.unit_id, row.n, shown) != previous:
            previous, text, asked = (unit.unit_id, row.n, shown), unit.prompt(shown), unit.questions(shown)
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


def of_reads(
    reads: pd.DataFrame,
    items: pd.DataFrame,
    rubrics: pd.DataFrame,
    pairs: pd.DataFrame,
    template: Template,
    *,
    probe: str,
    greedy: Collection[str] = (),
) -> pd.DataFrame:
    """The distinct requests of reads of one dataset, with their prompts. All of them are in memory together.

    Args:
        reads, greedy: see `distinct_requests`. No other study sends any of these requests.
        items, rubrics, pairs, template, probe: see `units_asked`.
    """
    distinct = distinct_requests(reads, owned_elsewhere=(), greedy=greedy)
    return render_requests(distinct, units_asked(distinct, items, rubrics, pairs, template, probe=probe))


def read_shard(path: Path, shard: int, shards: int) -> pd.DataFrame:
    """The requests of one shard. A shard consists of neighbouring whole units.

    All shards have about the same number of requests. The function reads only the row groups that hold these requests,
    and the row groups in which the shard begins and ends.

    Args:
        path: file of requests.
        shard: index of the shard, from 1 to `shards`.
        shards: number of shards.
    """
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
    """The requests of one shard of several studies, with columns `probe` and `study`, and the study of each request.

    Args:
        paths: file of each study's requests, in a folder with the study's name.
        probes: the probe of each of these studies.
        shard, shards: see `read_shard`. A shard has its part of each study.
    """
    parts = [
        read_shard(path, shard, shards).assign(probe=probe, study=path.parent.name)
        for path, probe in zip(paths, probes, strict=True)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table, table["study"].tolist()


def _next_unit(file: pq.ParquetFile, groups: np.ndarray, row: int) -> int:
    """The first row, from row `row` on, at which a unit begins; the number of rows if no unit begins there."""
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
