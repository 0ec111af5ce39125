"""Recorded answers of a judge as reads and responses, like those of a live judge."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.contracts.reads import PLAN
from rubric_order.contracts.responses import STORE
from rubric_order.intake.recorded import formats
from rubric_order.intake.recorded.discovery import COMPARES, LISTS, SCALE, STRATEGY, title
from rubric_order.probes._comparisons import ABOUT
from rubric_order.prompts import orderings

log = logging.getLogger(__name__)

DUPLICATES = ("keep_and_report", "keep", "refuse")
UNKNOWN = ("refuse", "skip")

# Fields that distinguish one prompt from another.
_IDENTITY = (
    *("format", "judge", "prompt_style", "benchmark", "item_id", "group_id", "candidate", "criterion"),
    *("shown_first", "shown_second", "ordering", "ordering_index"),
)
_OF_LISTS = (*_IDENTITY, "shown")


def read(
    paths: str | Path | Iterable[str | Path],
    *,
    judge: str | None = None,
    prompt_style: str | None = None,
    duplicates: str = "keep_and_report",
    labels: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Recorded answers of one judge, one row per record with `formats.COLUMNS`; with a judge, no style means those
    without one.

    Duplicates in item, ordering and repeat become repeats 0, 1, ... by their repeats and then as in the files, or are
    refused.
    """
    _check_option("duplicates", duplicates, DUPLICATES)
    listed = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    records = [
        record
        for path in listed
        for record in formats.read(path, labels)
        if judge is None or (record["judge"], record["prompt_style"]) == (judge, prompt_style)
    ]
    if not records:
        wanted = "" if judge is None else f" of judge {title(judge, prompt_style)}"
        raise InputError(f"{', '.join(map(str, listed)) or 'no files'}: no recorded answer{wanted}")
    _number_duplicates(records, duplicates)
    for record in records:
        content = [record[name] for name in (*_identity(record), "repeat", "response")]
        record["request_id"] = hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()
    return pd.DataFrame({name: pd.Series([r[name] for r in records], dtype=_dtype(name)) for name in formats.COLUMNS})


def _identity(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Fields that distinguish a record's prompt from others.

    Only lists have the field `shown`, so that the request ids of other records stay as they were.
    """
    return _IDENTITY if record["shown"] is None else _OF_LISTS


def _dtype(column: str) -> object:
    return {"repeat": "int64", "line": "int64", "ordering_index": "Int64"}.get(column, object)


def _number_duplicates(records: list[dict[str, Any]], duplicates: str) -> None:
    """Number the records of one item and ordering as repeats 0, 1, ..., if two of them have the same repeat."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(json.dumps([record[name] for name in _identity(record)]), []).append(record)
    repeated = 0
    for group in groups.values():
        extra = len(group) - len({record["repeat"] for record in group})
        if not extra:
            continue  # repeats as recorded, even if they do not begin at 0
        if duplicates == "refuse":
            seen: dict[int, dict[str, Any]] = {}
            for record in group:
                if record["repeat"] in seen:
                    description = f"{formats.describe(record)}, repeat {record['repeat']}"
                    first = formats.place(seen[record["repeat"]])
                    raise InputError(f"{formats.place(record)}: {description}, is already recorded at {first}")
                seen[record["repeat"]] = record
        repeated += extra
        for repeat, record in enumerate(sorted(group, key=lambda record: record["repeat"])):
            record["repeat"] = repeat
    if repeated and duplicates == "keep_and_report":
        log.warning(
            "%d of %d records repeat an earlier one's item and ordering; kept as repeats", repeated, len(records)
        )


def about(records: pd.DataFrame, adapter: str, benchmark: str | None = None) -> pd.DataFrame:
    """The records that are about a dataset, by its adapter, and by the benchmark that they name, unless it is None."""
    related = records[[formats.adapter_of(record) in (None, adapter) for record in records.to_dict("records")]]
    if benchmark is None:
        return related
    named = related[related["benchmark"] == benchmark]
    if named.empty:
        listed_names = files.listed(sorted({str(name) for name in related["benchmark"]})) if len(related) else "none"
        raise InputError(f"no recorded comparison is of benchmark {benchmark!r:.60}; found {listed_names}")
    return named


def plan(
    items: pd.DataFrame,
    records: pd.DataFrame,
    *,
    study: str,
    judge_id: str,
    n: int = SCALE,
    unknown: str = "refuse",
) -> pd.DataFrame:
    """The reads of recorded answers, as `planning.reads.plan_reads` gives them, in the order of scales, items and
    records.

    Without an ordering, `ordering_index` is a row of `orderings.balanced(n)`, else the order is canonical.
    """
    _check_option("unknown", unknown, UNKNOWN)
    _check_kind(records, compare=False)
    matched = _match_items(items, records, unknown)
    if matched.empty:
        raise InputError(f"judge {judge_id}: no recorded answer is of an item of dataset {_dataset(items)}")
    unread = len(items) - matched["item_id"].nunique()
    if unread:
        log.warning("judge %s: %d of %d items have no recorded answer", judge_id, unread, len(items))
    reads = matched[["item_id", "repeat", "request_id"]].copy()
    reads["ordering"] = pd.Series(
        [_shown(record, n) for record in matched.to_dict("records")], matched.index, dtype=object
    )
    reads["n"] = reads["ordering"].map(len).astype("int64")
    reads["place"] = reads["item_id"].map({item_id: place for place, item_id in enumerate(items["item_id"])})
    reads = reads.sort_values(["n", "place"], kind="stable")
    reads["read_index"] = reads.groupby(["n", "item_id"]).cumcount().astype("int64")
    keys = items[["dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]]
    reads = reads.merge(keys, on="item_id", validate="many_to_one")
    reads["study"], reads["judge"], reads["probe"], reads["strategy"] = study, judge_id, "score_order", STRATEGY
    reads["request_id"] = reads["request_id"].astype("str")
    reads = reads.assign(profile=DEFAULT_PROFILE, unit_id=reads["item_id"], condition=BASELINE)
    return reads.assign(levels=[[]] * len(reads))[[*PLAN.names, "item_id"]]


def _check_kind(records: pd.DataFrame, *, compare: bool) -> None:
    """Check that all records compare texts (`compare`), or that all score one text."""
    others = records[records["format"].map(formats.compares) != compare]
    if len(others):
        first = others.iloc[0]
        does, expected = ("scores one text", "compare two") if compare else ("compares two texts", "score one")
        raise InputError(
            f"{formats.place(first)}: format {first['format']!r} {does}, and the study's records {expected}; give "
            "those that differ another prompt style, so that they are another judge"
        )


def _match_items(items: pd.DataFrame, records: pd.DataFrame, unknown: str) -> pd.DataFrame:
    """The records with the ids of their items. Records whose item is not in the dataset are left out, or refused."""
    matched = records.assign(item_id=_item_ids(items, records))
    absent = matched["item_id"].isna()
    if not absent.any():
        return matched
    first = records[absent.to_numpy()].iloc[0]
    message = f"{formats.describe(first)} is not among the items of dataset {_dataset(items)}"
    if unknown == "refuse":
        raise InputError(f"{formats.place(first)}: {message}")
    log.warning(
        "%d of %d records left out; the first: %s: %s", absent.sum(), len(records), formats.place(first), message
    )
    return matched[~absent]


def _item_ids(items: pd.DataFrame, records: pd.DataFrame) -> list[str | None]:
    """Id of each record's item, None if the dataset lacks it. Candidates and criteria match in upper or lower case."""
    ids = set(items["item_id"])
    by_key: dict[tuple[Any, ...], str] = {}
    for item_id, *key in zip(items["item_id"], *(items[name] for name in _KEY), strict=True):
        by_key.setdefault(_folded(key), item_id)
    twice = len(items) - len(by_key)
    matched = []
    for record in records.to_dict("records"):
        if isinstance(record["item_id"], str):
            matched.append(record["item_id"] if record["item_id"] in ids else None)
            continue
        if twice:
            raise InputError(
                f"{formats.place(record)}: names an item by group, candidate and criterion, which {twice} items of "
                f"dataset {_dataset(items)} share with another"
            )
        matched.append(by_key.get(_folded([record[name] for name in _KEY])))
    return matched


_KEY = ("group_id", "candidate", "criterion")


def plan_comparisons(
    records: pd.DataFrame, *, study: str, judge_id: str, dataset: str, probe: str = COMPARES
) -> pd.DataFrame:
    """The reads of recorded comparisons of two candidates, or of more where the probe is `LISTS`; they need no items.

    Candidates are in alphabetical order, after the one that is in all pairs of a benchmark; `labels` has a tie's last.
    """
    _check_kind(records, compare=True)
    lists = records["shown"].notna() if "shown" in records else pd.Series(False, records.index)
    records = records[lists if probe == LISTS else ~lists].reset_index(drop=True)
    if records.empty and len(lists):
        many = "three candidates or more" if probe == LISTS else "two candidates"
        raise InputError(f"judge {judge_id}: no recorded answer compares {many}, as studies of {probe!r} do")
    nothing = pd.Series([None] * len(records), dtype=object)
    if probe == LISTS:
        orders, baseline = [[*names] for names in records["shown"]], nothing
    else:
        first, second = records["shown_first"].astype(str), records["shown_second"].astype(str)
        orders, baseline = (
            [[*pair] for pair in zip(first, second, strict=True)],
            _baselines(records["benchmark"], first, second),
        )
    canonical = [
        sorted(names, key=lambda name: (name != base, name)) for names, base in zip(orders, baseline, strict=True)
    ]
    human, lengths = (
        [
            values and [values[names.index(name)] for name in ranked]
            for values, names, ranked in zip(records[column], orders, canonical, strict=True)
        ]
        for column in ("human_scores", "lengths")
    )
    unit = [
        "-".join([group, *([task] if task or probe != LISTS else []), *names])
        for group, task, names in zip(records["group_id"], records["task"], canonical, strict=True)
    ]
    reads = pd.DataFrame(
        {"study": study, "judge": judge_id, "profile": DEFAULT_PROFILE, "dataset": dataset, "unit_id": unit}
        | {"item_id": unit, "criterion": records["criterion"], "human_score": float("nan"), "condition": BASELINE}
        | {"candidate": pd.Series([names[1] for names in canonical], dtype=object).where(baseline.notna(), None)}
        | {"probe": probe, "strategy": STRATEGY, "n": pd.Series(map(len, orders), dtype="int64")}
        | {
            "ordering": [
                [ranked.index(name) + 1 for name in names] for names, ranked in zip(orders, canonical, strict=True)
            ]
        }
        | {"repeat": records["repeat"], "request_id": records["request_id"].astype("str")}
        | {name: records[name] for name in ("group_id", "benchmark", "task", "source_id")}
        | {"candidates": canonical, "baseline": baseline, "human_scores": pd.Series(human, dtype=object)}
        | {"lengths": pd.Series(lengths, dtype=object), "input_length": np.nan, "labels": records["options"]}
    ).assign(levels=[[]] * len(records))
    reads["turned"] = reads["ordering"].map(tuple)
    reads = reads.sort_values(["n", "unit_id", "repeat", "turned"], kind="stable", ignore_index=True)
    reads["read_index"] = reads.groupby(["n", "unit_id"]).cumcount().astype("int64")
    return reads[[*PLAN.names, *ABOUT, "labels"]]


def _baselines(benchmark: pd.Series, first: pd.Series, second: pd.Series) -> pd.Series:
    """The candidate that is in all comparisons of a record's benchmark; None if no candidate is, or if two are."""
    baselines = pd.Series([None] * len(benchmark), dtype=object)
    for name in benchmark.unique():
        rows = np.flatnonzero(benchmark == name)
        shared = set.intersection(*({*pair} for pair in zip(first[rows], second[rows], strict=True)))
        if len(shared) == 1:
            baselines[rows] = shared.pop()
    return baselines


def _folded(key: list[str]) -> tuple[str, str, str]:
    group, candidate, criterion = key
    return group, candidate.lower(), criterion.lower()


def _shown(record: dict[str, Any], n: int) -> list[int]:
    """The ordering in which a record's options were shown."""
    if pd.api.types.is_list_like(record["ordering"]):
        return [int(score) for score in record["ordering"]]
    if pd.isna(record["ordering_index"]):
        return list(range(1, n + 1))
    rows = orderings.balanced(n)
    if record["ordering_index"] >= len(rows):
        raise InputError(
            f"{formats.place(record)}: field 'ordering_index': expected 0 to {len(rows) - 1} for {n} options, "
            f"found {record['ordering_index']}"
        )
    return rows[record["ordering_index"]].tolist()


def _dataset(items: pd.DataFrame) -> str:
    return repr(items["dataset"].iloc[0]) if len(items) else "without items"


def responses(records: pd.DataFrame) -> pd.DataFrame:
    """Recorded answers as a table of `contracts.responses.STORE`; `engine` names file and line, a live judge's columns
    are null.
    """
    places = zip(records["file"], records["line"], strict=True)
    table = pa.Table.from_pydict(
        {
            **{name: [None] * len(records) for name in STORE.names},
            "request_id": records["request_id"].tolist(),
            "text": records["response"].tolist(),
            "reasoning": records["written"].tolist(),
            "engine": [
                json.dumps({"engine": "recorded", "file": Path(file).name, "line": int(line)}, sort_keys=True)
                for file, line in places
            ],
        },
        schema=STORE.schema,
    )
    return table.to_pandas()


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"option {name!r}: expected {', '.join(known)}, found {value!r:.60}")
