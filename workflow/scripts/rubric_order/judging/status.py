"""Progress of the judges, read from the files of requests, the response stores and the records of batches."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order.base.keys import EVERY
from rubric_order.base.rows import Row
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import versions
from rubric_order.judging.batches import Record, Records
from rubric_order.judging.store import PART_ROWS, Store, may_pass

TOKEN_COLUMNS = ["prompt_tokens", "completion_tokens", "cached_tokens"]
COUNTS = ["done", "failed_passing", "failed_for_good", *TOKEN_COLUMNS, "cost"]
UNSENT = {"made": "not sent yet", "creating": "being created", "created": "sent"}  # before the first look at a batch


def request_files(
    judge: str, studies: Iterable[str], requests: Path, steps: Mapping[str, Sequence[str]], references: Path
) -> dict[str, Path | list[Path]]:
    """Files of a judge's requests, by study, and as ``references of DATASET`` those of the steps of making reference
    answers.
    """
    study_files = {study: requests / study / f"{judge}.parquet" for study in studies}
    return study_files | {
        f"references of {dataset}": [references / dataset / step / "requests" / f"{judge}.parquet" for step in names]
        for dataset, names in steps.items()
    }


def judge_status(requests: Mapping[str, Path | Sequence[Path]], store: Store) -> pd.DataFrame:
    """Progress of one judge, one row per study and one for all; null where requests are not collected yet.

    Each request is `done`, `failed_passing`, `failed_for_good` or `missing`. The row for all has the `cost` of the
    whole store, failed calls and `other` requests (in no study any more) included, and `hours` without killed jobs.
    `mixed` lists several versions. Of several files only those that exist count: requests for reference answers become
    known step by step.
    """
    columns = ["cost", "engine", "model", *TOKEN_COLUMNS]
    rows, ours = [], [np.array([], np.uint64)]
    all_versions: dict[str, Any] = {}
    records = _records(store)
    held = pa.array([sent.request_id for record in records for sent in record.requests], pa.string())
    for study, named in requests.items():
        row: Row = {"study": study}
        paths = [path for path in ([named] if isinstance(named, Path) else named) if path.exists()]
        if paths:
            ids = _names(paths[0])
            for path in paths[1:]:
                more = _names(path)
                ids = pa.chunked_array([*ids.chunks, *more.filter(pc.invert(pc.is_in(more, ids))).chunks], pa.string())
            counted: list[Row] = []
            version_counts: dict[str, Counter[Any]] = {}
            for _, answers in store.each(ids, columns):
                counted.append(_counts(answers))
                ours.append(_hashes(answers["request_id"]))
                for what, versions_ in versions.counts(answers[answers["error"].isna()]).items():
                    version_counts.setdefault(what, Counter()).update(versions_)
            sums = pd.DataFrame(counted, columns=COUNTS)
            row |= sums.sum(min_count=1).to_dict() | sums[COUNTS[:3]].sum().to_dict() | {"requests": len(ids)}
            row["missing"] = len(ids) - sum(numbers["known"] for numbers in counted)
            row["mixed"] = versions.listed_counts(version_counts)
            row["in_batches"] = pc.sum(pc.is_in(ids, held)).as_py() or 0
            for what, versions_ in version_counts.items():
                all_versions.setdefault(what, Counter()).update(versions_)
        rows.append(row)
    table = pd.DataFrame(rows)
    whole = {"study": EVERY} | table.drop(columns=["study", "mixed"], errors="ignore").sum(min_count=1).to_dict()
    whole["mixed"] = versions.listed_counts(all_versions)
    stored_ids = store.column("request_id")
    stored = [_hashes(stored_ids.slice(start, PART_ROWS).to_pandas()) for start in range(0, len(stored_ids), PART_ROWS)]
    whole["other"] = len(np.setdiff1d(np.concatenate([*stored, ours[0]]), np.concatenate(ours)))
    priced = pc.any(pc.is_valid(store.column("cost"))).as_py()
    whole["cost"] = store.spent()["cost"] if priced else None
    whole["hours"] = sum(run["seconds"] for run in store.runs()) / 3600
    whole |= {"open_batches": len(records), "in_batches": len(held)}
    columns = [
        "requests",
        "done",
        "failed_passing",
        "failed_for_good",
        "missing",
        "other",
        *TOKEN_COLUMNS,
        "cost",
        "hours",
        "mixed",
        "open_batches",
        "in_batches",
    ]
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True).reindex(columns=["study", *columns])
    whole_numbers = [name for name in columns if name not in ("cost", "hours", "mixed")]
    return table.astype(dict.fromkeys(whole_numbers, "Int64") | {"cost": float, "hours": float})


def open_batches(store: Store, now: datetime) -> pd.DataFrame:
    """Batches of one judge whose answers are not stored yet, as sent; `state` and `done` are of the last look (before
    it, see `UNSENT`), times in ISO 8601, `age_hours` up to `now`.
    """
    records = Records(store.folder / "batches")
    rows = []
    for record in _records(store):
        look = records.last_look(record)
        rows.append(
            {
                "batch": record.batch or record.key,
                "state": look.status if look else UNSENT[record.state],
                "done": look.done if look else 0,
                "requests": len(record.requests),
                "sent": _written(record.sent),
                "looked": _written(look.at) if look else None,
                "age_hours": (now - record.sent).total_seconds() / 3600 if record.sent else None,
            }
        )
    columns = ["batch", "state", "done", "requests", "sent", "looked", "age_hours"]
    table = pd.DataFrame(rows, columns=columns).astype({"age_hours": float})
    return table.sort_values(["sent", "batch"], kind="stable", ignore_index=True)


def _written(time: datetime | None) -> str | None:
    return time.isoformat(timespec="seconds") if time else None


def _records(store: Store) -> list[Record]:
    return Records(store.folder / "batches").all()


def _names(path: Path) -> pa.ChunkedArray:
    REQUESTS.check(path, columns=["request_id"])
    return pq.read_table(path, columns=["request_id"])["request_id"].cast(pa.string())


def _hashes(names: pd.Series) -> np.ndarray:
    return pd.util.hash_array(names.to_numpy(object), categorize=False)


def _counts(results: pd.DataFrame) -> dict[str, Any]:
    """Number of requests with each outcome, and sums of tokens and cost."""
    passing, failed = may_pass(results["error"]), results["error"].notna()
    answered = results[~failed]
    return {
        "known": len(results),
        "done": len(answered),
        "failed_passing": int(passing.sum()),
        "failed_for_good": int((failed & ~passing).sum()),
        **{name: answered[name].sum(min_count=1) for name in TOKEN_COLUMNS},
        "cost": results["cost"].sum(min_count=1),
    }
