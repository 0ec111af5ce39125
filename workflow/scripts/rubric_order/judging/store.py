"""The response store: a judge's finished requests, on disk.

A store is a folder of Parquet files. Each file is named by the hash of its content and never changes. Several jobs can
write to a store, and join its files, at the same time. A file is removed only after another file on disk holds all of
its rows.
"""

import contextlib
import errno
import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import PASSING, Response

log = logging.getLogger(__name__)

FULL_FILE_ROWS = 16_384  # a file of this many rows or more is not joined with others

SCHEMA = pa.schema(
    {
        "request_id": pa.string(),
        "text": pa.string(),  # exactly what the judge wrote; null where there is no answer
        "finish_reason": pa.string(),
        "error": pa.string(),  # why there is no answer
        "prompt_tokens": pa.int32(),
        "completion_tokens": pa.int32(),
        "cached_tokens": pa.int32(),
        "option_logprobs": pa.list_(pa.float64()),  # of the labels of each question, where the label was written
        "option_token": pa.int32(),  # index of the generated token at which they were read
        "reasoning": pa.string(),  # what the judge thought, where that is kept apart from the answer
        "refusal": pa.string(),  # what an endpoint says where the model refuses
        "attempts": pa.int32(),  # calls that were sent for it
        "tokens": pa.int64(),  # that these calls used, at most
        "cost": pa.float64(),  # in the currency of the judge's prices
        "model": pa.string(),  # who says to have answered
        "engine": pa.string(),  # what gave the answer: versions and arguments, as JSON
    }
)


class Store:
    """The finished requests of one judge, in one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def append(self, responses: list[Response], *, engine: str | None = None) -> None:
        """Write finished requests, with the description of the engine. They are on disk when this returns."""
        if responses:
            rows = [{k: _storable(v) for k, v in vars(response).items()} | {"engine": engine} for response in responses]
            self._write(pa.Table.from_pylist(rows, schema=SCHEMA))

    def read(self, request_ids: Iterable[str] | None = None, columns: list[str] | None = None) -> pd.DataFrame:
        """Results of requests: one row a request, in the order of `request_ids`. Unknown requests have no row.

        A request can have several rows in the store. An answer is preferred to a failure for good, and a failure for
        good to one that may pass.

        Args:
            request_ids: the requests; None for all in the store.
            columns: columns of `SCHEMA`; None for all. `request_id` and `error` are always there.
        """
        names = [name for name in SCHEMA.names if columns is None or name in {*columns, "request_id", "error"}]
        parts = self._load_all(names)
        wanted = None if request_ids is None else pa.array(request_ids, pa.string(), from_pandas=True)
        if wanted is not None:
            parts = [table.filter(pc.is_in(table["request_id"], wanted)) for table in parts]
        table = pa.concat_tables([SCHEMA.empty_table().select(names), *parts])
        rows = _best_rows(table, table["request_id"].unique() if wanted is None else wanted)
        # Filtering goes part by part: texts of all answers in one array can be more than it holds.
        found = table.filter(np.isin(np.arange(len(table)), rows)).to_pandas()
        return found.iloc[np.searchsorted(np.sort(rows), rows)].reset_index(drop=True)

    def spent(self) -> dict[str, float]:
        """What all calls have used of the judge's budget, failed ones included: ``calls``, ``tokens`` and ``cost``.

        A call with an unknown number of tokens counts with the most that it can have used.
        """
        names = ["request_id", "error", "prompt_tokens", "completion_tokens", "attempts", "tokens", "cost", "engine"]
        rows = pa.concat_tables([SCHEMA.empty_table().select(names), *self._load_all(names)]).to_pandas()
        # A job that was killed while it joined files leaves rows twice.
        rows = rows.drop_duplicates()
        tokens = rows["tokens"].fillna(rows["prompt_tokens"].fillna(0) + rows["completion_tokens"].fillna(0))
        return {"calls": int(rows["attempts"].sum()), "tokens": int(tokens.sum()), "cost": float(rows["cost"].sum())}

    def compact(self) -> None:
        """Join the small files of this store into one file, with one row a request.

        Files that killed jobs left behind are joined too. Other jobs may write and compact at the same time. A failed
        call that was paid for keeps its row beside the answer that came later.
        """
        small = {}
        for path in self._paths():
            # Another job may have joined this file since the folder was listed: its rows are in that job's file. A
            # file that is damaged stays where it is.
            with contextlib.suppress(pa.ArrowInvalid, OSError):
                if pq.read_metadata(path).num_rows < FULL_FILE_ROWS:
                    small[path] = _read(path, SCHEMA.names)
        if len(small) > 1:
            table = pa.concat_tables(small.values())
            keys = table.select(["request_id", "error", "completion_tokens", "attempts", "cost", "engine"]).to_pandas()
            best = np.isin(np.arange(len(table)), _best_rows(table, table["request_id"].unique()))
            paid = (keys["attempts"].notna() & ~keys.duplicated()).to_numpy()
            joined = self._write(table.filter(best | paid))
            for path in small.keys() - {joined}:
                path.unlink(missing_ok=True)

    def note(self, run: dict) -> None:
        """Write a note on a run: its counts of requests and tokens, and its time."""
        text = json.dumps(run, sort_keys=True)
        name = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        files.write_text(text + "\n", self.folder / "runs" / f"{name}.json")

    def runs(self) -> list[dict]:
        """The notes of earlier runs, the oldest first. A run that was killed has left no note."""
        notes = []
        for path in self.folder.glob("runs/[!.]*.json"):
            try:
                notes.append(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                log.warning("%s cannot be read and is ignored: %s", path, " ".join(str(error).split()))
        return sorted(notes, key=lambda run: run["ended"])

    def _write(self, table: pa.Table) -> Path:
        digest = hashlib.blake2b(digest_size=16)
        for batch in table.to_batches():
            digest.update(batch.serialize())
        path = self.folder / f"{digest.hexdigest()}.parquet"
        files.write_parquet(table, path)
        return path

    def _paths(self) -> list[Path]:
        # A name that begins with a dot is that of a file that is being written.
        return sorted(path for path in self.folder.glob("*.parquet") if path.is_file() and path.name[0] != ".")

    def _load_all(self, columns: list[str]) -> list[pa.Table]:
        while True:
            paths = self._paths()
            try:
                return [table for path in paths if (table := self._load(path, columns)) is not None]
            except OSError as error:
                if _has_gone(error):
                    continue
                raise InputError(f"{self.folder}: a file of the response store cannot be read: {error}") from error

    def _load(self, path: Path, columns: list[str]) -> pa.Table | None:
        try:
            return _read(path, columns)
        except (pa.ArrowInvalid, OSError) as error:
            if isinstance(error, OSError) and (_has_gone(error) or error.errno is not None):  # the file may be whole
                raise
            # The file is damaged, as by a power cut: its requests are asked again.
            log.warning("%s cannot be read and is ignored: %s", path, " ".join(str(error).split()))
            return None


def _has_gone(error: OSError) -> bool:
    """Whether the file is gone because another job joined it after the folder was listed."""
    return isinstance(error, FileNotFoundError) or error.errno == errno.ESTALE


def _storable(value: object) -> object:
    """A value that UTF-8 can encode: each unpaired surrogate, which JSON allows, becomes U+FFFD."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read(path: Path, columns: list[str]) -> pa.Table:
    # Files of earlier versions lack some columns; these are null.
    return pq.read_table(path, schema=SCHEMA, columns=columns, page_checksum_verification=True)


def _best_rows(table: pa.Table, request_ids: pa.Array) -> np.ndarray:
    """Index of the best row of each known request, in the order of `request_ids`.

    An answer is better than a failure for good, and that is better than a failure that may pass. Of equals the first
    row is taken.
    """
    rank = pc.is_valid(table["error"]).to_numpy().astype(int) + _may_pass(table["error"])
    order = np.argsort(rank, kind="stable")
    places = pc.index_in(request_ids, value_set=table["request_id"].take(order)).drop_null()
    return order[places.to_numpy()]


def _may_pass(errors: pa.Array | pa.ChunkedArray) -> np.ndarray:
    reasons = pc.replace_substring_regex(errors, "(?s):.*", "")
    return pc.is_in(reasons, pa.array(sorted(PASSING))).to_numpy(zero_copy_only=False)


def may_pass(errors: pd.Series) -> pd.Series:
    """Whether each error is a failure for a reason that may pass. False where there is no error."""
    return pd.Series(_may_pass(pa.array(errors, pa.string(), from_pandas=True)), errors.index, dtype=bool)


def asked_again(errors: pd.Series, *, retry_failed: bool) -> pd.Series:
    """Whether a job asks each request again: where its failure may pass; with `retry_failed` wherever it failed."""
    return errors.notna() if retry_failed else may_pass(errors)
