"""The response store: a judge's finished requests, in Parquet files that are named by the hash of their bytes.

Files never change, and go only after another on disk holds all their rows, so several jobs may write and join at a
time. Reading costs by what is read: the ids of all requests, file by file, then the row groups with the wanted ones.
"""

import errno
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order.base import files, locks, parquet
from rubric_order.base.errors import InputError
from rubric_order.contracts.responses import STORE
from rubric_order.judging.engines import PASSING, Response

log = logging.getLogger(__name__)

FULL_FILE_ROWS = 16_384  # a file of this many rows or more is not joined with others
GROUP_ROWS = parquet.GROUP_ROWS
PART_ROWS = 1_048_576  # results in memory at once, if there are very many
SECONDS_TO_WAIT = 60.0  # time to wait for another job that joins files; then this job leaves its own files unjoined

SCHEMA = STORE.schema
KEYS = ["request_id", "error"]  # the request of a row, and the error that says how good its result is


class _Found(NamedTuple):
    """Best rows of some requests: files that hold any, and each request's file (index in `paths`) and row, shape
    (n_found,).
    """

    paths: list[Path]
    file: np.ndarray
    row: np.ndarray


class Store:
    """The finished requests of one judge, in one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()  # a function that judges may change the working directory

    def can_hold(self, response: Response) -> bool:
        try:
            _table([response], None)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            return False
        return True

    def append(self, responses: list[Response], *, engine: str | None = None) -> None:
        """Write finished requests; they are on disk when the method returns."""
        if responses:
            self._write(_groups(_table(responses, engine)))

    def read(self, request_ids: Iterable[str] | None = None, columns: list[str] | None = None) -> pd.DataFrame:
        """Results of requests, in their order, one row per known request (all if None). An answer is preferred to a
        failure for good, and that to one that may pass. `request_id` and `error` are read besides `columns`.
        """
        fields = [name for name in SCHEMA.names if columns is None or name in {*columns, *KEYS}]
        wanted = None if request_ids is None else pa.array(request_ids, pa.string(), from_pandas=True)

        def best() -> pd.DataFrame:
            places = self._find(wanted)
            order = np.lexsort((places.row, places.file))
            of_file: np.ndarray = places.file[order].searchsorted(np.arange(len(places.paths) + 1))
            parts = [_empty(fields)]
            for path, first, last in zip(places.paths, of_file, of_file[1:], strict=False):
                parts += _rows(path, places.row[order[first:last]], fields)
            table = pa.concat_tables(parts).unify_dictionaries().to_pandas()
            return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)

        table = self._whatever_is_joined(best)
        if "engine" in table:  # in an order that does not depend on files
            table["engine"] = table["engine"].cat.set_categories(sorted(table["engine"].cat.categories))
        return table

    def rows_of(self, request_ids: Iterable[str]) -> set[tuple[str, str]]:
        """Pairs of request and engine that have a row."""
        wanted = pa.array(request_ids, pa.string(), from_pandas=True)

        def found() -> pd.DataFrame:
            parts = (self._load(path, ["request_id", "engine"]) for path in self._paths())
            rows = [part.filter(pc.is_in(part["request_id"], wanted)) for part in parts if part is not None]
            return pa.concat_tables([_empty(["request_id", "engine"]), *rows]).unify_dictionaries().to_pandas()

        rows = self._whatever_is_joined(found)
        return set(zip(rows["request_id"], rows["engine"].astype(object), strict=True))

    def spent(self) -> dict[str, float]:
        """``calls``, ``tokens`` and ``cost`` of all calls, failed ones included; unknown tokens count as the most that
        there can be.
        """
        numbers = ["prompt_tokens", "completion_tokens", "attempts", "tokens", "cost"]

        def paid() -> pd.DataFrame:
            parts = [pd.DataFrame({"row": np.array([], np.uint64)} | dict.fromkeys(numbers, np.array([])))]
            for path in self._paths():
                table = self._load(path, [*KEYS, *numbers, "engine"])
                if table is not None:
                    rows = table.to_pandas().astype(dict.fromkeys(numbers, float) | {"engine": object})
                    # Only a hash of each row is kept to find copies: the ids of a large store take gigabytes.
                    parts.append(rows[numbers].assign(row=pd.util.hash_pandas_object(rows, index=False)))
            return pd.concat(parts)

        # A job that was killed while it joined files leaves copies of rows.
        rows = self._whatever_is_joined(paid).drop_duplicates("row")
        tokens = rows["tokens"].fillna(rows["prompt_tokens"].fillna(0) + rows["completion_tokens"].fillna(0))
        return {"calls": int(rows["attempts"].sum()), "tokens": int(tokens.sum()), "cost": float(rows["cost"].sum())}

    def each(self, request_ids: pa.ChunkedArray, columns: list[str]) -> Iterator[tuple[pd.Series, pd.DataFrame]]:
        """Parts of very many requests, each with its results."""
        for start in range(0, len(request_ids), PART_ROWS):
            part = request_ids.slice(start, PART_ROWS).to_pandas()
            yield part, self.read(part, columns)

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all rows, copies included, in no particular order."""

        def parts() -> list[pa.Table]:
            return [part for part in (self._load(path, [name]) for path in self._paths()) if part is not None]

        return pa.concat_tables([_empty([name]), *self._whatever_is_joined(parts)])[name]

    def compact(self, request_ids: Iterable[str] | None = None) -> None:
        """Join the small files that hold some of `request_ids` (default: any), those of killed jobs too, without copies
        of rows. Others may read and write meanwhile; two that joined the same files would both keep all rows, so one
        joins at a time. The best row of each request stays, and the row of every call.
        """
        wanted = None if request_ids is None else pa.array(request_ids, pa.string(), from_pandas=True)
        with locks.only_writer(self.folder / "compaction", patience=SECONDS_TO_WAIT) as alone:
            paths = self._joinable_files(wanted) if alone else []
            if len(paths) > 1:
                joined = self._write(_joined_groups(paths))
                for path in paths:
                    if path != joined:
                        path.unlink(missing_ok=True)

    def fail(self, request_ids: Iterable[str], error: str) -> None:
        """Turn the answers to some requests into failures with an error. Their texts and their use stay."""
        wanted = pa.array(request_ids, pa.string(), from_pandas=True)
        with locks.only_writer(self.folder / "compaction"):
            for path in self._paths():
                table = _read(path, SCHEMA.names) if self._is_sound(path) else _empty(SCHEMA.names)
                errors = table["error"]
                failing = pc.and_(pc.is_in(table["request_id"], wanted), pc.is_null(errors))
                if pc.any(failing).as_py():
                    place = SCHEMA.get_field_index("error")
                    changed = table.set_column(place, SCHEMA.field(place), pc.if_else(failing, error, errors))
                    self._write(_groups(changed))
                    path.unlink()

    def _joinable_files(self, wanted: pa.Array | None) -> list[Path]:
        """Sound files with wanted requests that are small or share a request with another, as written: neighbours stay
        neighbours.
        """
        held = {}
        for path in self._paths():
            table = self._load(path, ["request_id"])
            if table is None:
                continue
            ids = table["request_id"].combine_chunks()
            if wanted is not None:
                ids = ids.filter(pc.is_in(ids, wanted))
            if len(ids) and self._is_sound(path):
                held[path] = ids.unique(), len(table) < FULL_FILE_ROWS
        counts = pa.chunked_array([ids for ids, _ in held.values()], pa.string()).value_counts()
        shared = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        chosen = (path for path, (ids, small) in held.items() if small or pc.any(pc.is_in(ids, shared)).as_py())
        return sorted(chosen, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def note(self, run: dict[str, Any]) -> None:
        text = json.dumps(run, sort_keys=True)
        name = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        files.write_text(text + "\n", self.folder / "runs" / f"{name}.json")

    def runs(self) -> list[dict[str, Any]]:
        """Notes of earlier runs, the oldest first; a killed run has left none."""
        notes = []
        for path in self.folder.glob("runs/[!.]*.json"):
            try:
                notes.append(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError) as error:
                log.warning("%s cannot be read and is ignored: %s", path, " ".join(str(error).split()))
        return sorted(notes, key=lambda run: run["ended"])

    def _write(self, groups: Iterable[pa.Table]) -> Path:
        return parquet.write_by_content(groups, self.folder, plain="request_id", schema_version=STORE.version)

    def _paths(self) -> list[Path]:
        # A file whose name begins with a dot is still being written.
        return sorted(path for path in self.folder.glob("*.parquet") if path.is_file() and path.name[0] != ".")

    def _whatever_is_joined(self, read: Callable[[], Any]) -> Any:
        """Result of `read`, called again if another job has joined and removed a file meanwhile."""
        while True:
            try:
                return read()
            except OSError as error:
                if not _has_gone(error):
                    raise InputError(f"{self.folder}: a file of the response store cannot be read: {error}") from error

    def _find(self, wanted: pa.Array | None) -> _Found:
        """File and row of the best result of each request, in the order of `wanted` (None: all)."""
        paths, keys, places = [], [_empty(KEYS)], []
        for path in self._paths():
            table = self._load(path, KEYS if wanted is None else ["request_id"])
            if table is None:
                continue
            rows = np.arange(len(table))
            if wanted is not None:
                rows = np.flatnonzero(pc.is_in(table["request_id"], wanted).to_numpy())
                if not len(rows) or not self._is_sound(path):
                    continue
                table = _read(path, KEYS).take(rows)
            paths.append(path)
            keys.append(table)
            places.append(rows)
        table = pa.concat_tables(keys)
        best = _best_rows(table, table["request_id"].unique() if wanted is None else wanted)
        file: np.ndarray = np.repeat(np.arange(len(paths)), [len(rows) for rows in places])
        return _Found(paths, file[best], np.concatenate([np.array([], int), *places])[best])

    def _load(self, path: Path, columns: list[str]) -> pa.Table | None:
        """Columns of a file; None where it is damaged, as by a power cut: its requests are asked again."""
        try:
            return _read(path, columns)
        except Exception as error:
            # A damaged file can make pyarrow raise any error. After an error of the system the file may be whole.
            if (isinstance(error, OSError) and error.errno is not None) or files.content_hash(path) == path.stem:
                raise
            _ignored(path, error)
            return None

    def _is_sound(self, path: Path) -> bool:
        if files.content_hash(path) == path.stem:
            return True
        _ignored(path, "its content is not what was written")
        return False


def _ignored(path: Path, reason: object) -> None:
    log.warning("%s cannot be read and is ignored: %s", path, " ".join(str(reason).split()))


def _has_gone(error: OSError) -> bool:
    # ESTALE: another job joined the file after the folder was listed
    return isinstance(error, FileNotFoundError) or error.errno == errno.ESTALE


def _storable(value: object) -> object:
    # an unpaired surrogate, which JSON allows and UTF-8 cannot encode, becomes U+FFFD
    if not isinstance(value, str):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _table(responses: Iterable[Response], engine: str | None) -> pa.Table:
    rows = [{k: _storable(v) for k, v in vars(response).items()} | {"engine": engine} for response in responses]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _opened(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, read_dictionary=["engine"], page_checksum_verification=True)


def _read(path: Path, columns: list[str]) -> pa.Table:
    with _opened(path) as file:
        STORE.check_schema(file.schema_arrow, path, ["request_id"])
        return _aligned(file.read([name for name in columns if name in file.schema_arrow.names]), columns)


def _aligned(table: pa.Table, columns: list[str]) -> pa.Table:
    # columns that files of earlier versions lack are null
    schema = _empty(columns).schema
    there = {name: table[name].cast(schema.field(name).type) for name in table.column_names}
    nulls = (pa.nulls(len(table), schema.field(name).type) for name in columns)
    return pa.table([there.get(name, none) for name, none in zip(columns, nulls, strict=True)], schema=schema)


def _empty(columns: list[str]) -> pa.Table:
    return SCHEMA.empty_table().select(columns)


def _rows(path: Path, rows: np.ndarray, columns: list[str]) -> Iterator[pa.Table]:
    with _opened(path) as file:
        for table in parquet.read_rows(file, rows, columns):
            yield _aligned(table, columns)


def _joined_groups(paths: list[Path]) -> Iterator[pa.Table]:
    """Row groups of a joined file: the best row of each request, and every row of a call once."""
    parts = [_read(path, [*KEYS, "completion_tokens", "attempts", "cost", "engine"]) for path in paths]
    keys = pa.concat_tables(parts).unify_dictionaries()
    rows = keys.to_pandas()
    best = np.isin(np.arange(len(keys)), _best_rows(keys, keys["request_id"].unique()))
    keep = best | (rows["attempts"].notna() & ~rows.duplicated()).to_numpy()
    held: list[pa.Table] = []
    for path, part in zip(paths, np.split(keep, np.cumsum([len(part) for part in parts])[:-1]), strict=True):
        for table in _rows(path, np.flatnonzero(part), SCHEMA.names):
            held.append(table)
            if sum(map(len, held)) >= GROUP_ROWS:
                yield from _groups(pa.concat_tables(held))
                held = []
    if held:
        yield from _groups(pa.concat_tables(held))


def _groups(table: pa.Table) -> Iterator[pa.Table]:
    return parquet.split_row_groups(table.unify_dictionaries().combine_chunks(), GROUP_ROWS)


def _best_rows(table: pa.Table, request_ids: pa.Array) -> np.ndarray:
    """Index of the best row of each known request, in the order of `request_ids`; among equal rows the first."""
    rank = pc.is_valid(table["error"]).to_numpy().astype(int) + _may_pass(table["error"])
    order = np.argsort(rank, kind="stable")
    places = pc.index_in(request_ids, value_set=table["request_id"].take(order)).drop_null()
    return order[places.to_numpy()]


def _may_pass(errors: pa.Array | pa.ChunkedArray) -> np.ndarray:
    reasons = pc.replace_substring_regex(errors, "(?s):.*", "")
    return pc.is_in(reasons, pa.array(sorted(PASSING))).to_numpy(zero_copy_only=False)


def may_pass(errors: pd.Series) -> pd.Series:
    return pd.Series(_may_pass(pa.array(errors, pa.string(), from_pandas=True)), errors.index, dtype=bool)


def asked_again(errors: pd.Series, *, retry_failed: bool) -> pd.Series:
    return errors.notna() if retry_failed else may_pass(errors)
