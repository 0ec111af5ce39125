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
    """Files of a judge's requests, as `judge_status` takes them.

    Args:
        judge: the judge's id.
        studies: studies that ask the judge.
        requests: folder of requests, with one folder per study and one file per judge.
        steps: dictionary from a dataset to the steps of making its reference answers that the judge answers.
        references: folder of reference answers, with the requests of each step.

    Returns:
        Dictionary from each study to its file, and from ``references of DATASET`` to the files of the dataset's steps.
    """
    of_studies = {study: requests / study / f"{judge}.parquet" for study in studies}
    return of_studies | {
        f"references of {dataset}": [references / dataset / step / "requests" / f"{judge}.parquet" for step in names]
        for dataset, names in steps.items()
    }


def judge_status(requests: Mapping[str, Path | Sequence[Path]], store: Store) -> pd.DataFrame:
    """Progress of one judge.

    Args:
        requests: dictionary from a study to the file or files of the judge's requests. A file need not exist yet. Of
            several files only the existing ones count: the requests for making reference answers become known step by
            step.
        store: the judge's response store.

    Returns:
        One row per study, and one row for all studies together. Columns are null for a study whose requests are not
        collected yet.

        - `requests`: number of requests. Each of them is either `done` (answered), `failed_passing` (failed for a
          reason that may pass), `failed_for_good` or `missing`.
        - `prompt_tokens`, `completion_tokens`, `cached_tokens`: tokens of the answered requests.
        - `cost`: money. In the row for all studies it covers the whole store, with failed calls and with requests that
          are in no study any more.
        - `other`: number of requests that are in no study any more, in the row for all studies.
        - `mixed`: versions that the answers come from, if there are several, see `versions.listed`.
        - `hours`: hours of judging, in the row for all studies. Jobs that were killed are not counted.
        - `in_batches`: number of requests that open batches hold.
        - `open_batches`: number of open batches, in the row for all studies.

    Raises:
        InputError: the record of a batch cannot be read.
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
    """Batches of one judge whose answers are not stored yet.

    Args:
        store: the judge's response store.
        now: the present time, with a time zone; ages are counted up to it.

    Returns:
        One row per batch, in the order in which they were sent. Times are in ISO 8601; missing if they are not known.

        - `batch`: the endpoint's id, or the record's key if the batch has no id yet.
        - `looked`: time at which a job last looked at the batch.
        - `state`: state at that time, in the endpoint's word; before the first look, a word of `UNSENT`.
        - `done`: number of requests that were answered at that time.
        - `requests`: number of requests.
        - `sent`: time of sending.
        - `age_hours`: hours since `sent`.

    Raises:
        InputError: the record of a batch cannot be read.
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
    """A time in ISO 8601, to the second."""
    return time.isoformat(timespec="seconds") if time else None


def _records(store: Store) -> list[Record]:
    """Records of the judge's open batches."""
    return Records(store.folder / "batches").all()


def _names(path: Path) -> pa.ChunkedArray:
    REQUESTS.check(path, columns=["request_id"])
    return pq.read_table(path, columns=["request_id"])["request_id"].cast(pa.string())


def _hashes(names: pd.Series) -> np.ndarray:
    """Hashes of 64 bits of request ids, so that millions of requests fit into memory."""
    return pd.util.hash_array(names.to_numpy(object), categorize=False)


def _counts(results: pd.DataFrame) -> dict[str, Any]:
    """Number of requests with each outcome, and sums of tokens and cost, from the known results of requests."""
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
