"""Tables from files of users: CSV, TSV, JSON Lines, JSON and Parquet, as they are or packed by gzip."""

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from rubric_order.base import files
from rubric_order.base.errors import InputError

GZIP = b"\x1f\x8b"  # first bytes of a gzip file
SURROGATE = re.compile("[\ud800-\udfff]")
DELIMITERS = {",": ".csv", ";": ".csv", "\t": ".tsv"}
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
PAGE = "docs/audit.md"  # says what a file needs
ONE_ORDER = (
    "no ordering is recorded, and scores in one order say nothing of positions; 'rubric-order relog' asks the judge"
    f" again in several orders, where the log has its prompts (docs/relog.md; Logs without an ordering, {PAGE})"
)
HEAD = 2**16  # bytes in which the header of a CSV file is looked for


def read(path: str | Path, *, packed: bool = False) -> pa.Table | pd.DataFrame:
    """The rows of a file, as they are written there.

    Args:
        path: path that ends in one of `SUFFIXES`, optionally followed by ``.gz``. Columns of a CSV file are separated
            by commas, semicolons or tabs, whichever its header has most often. A JSON file holds a list of objects.
        packed: whether texts are categories, which take a tenth of the memory.

    Returns:
        A table of Arrow from a Parquet file, else a table of pandas.

    Raises:
        InputError: the file is missing or malformed, or has another ending.
    """
    path = Path(path)
    suffix = next((end for end in path.suffixes[-2:][::-1] if end.lower() != ".gz"), "").lower()
    if suffix == ".eval":
        raise InputError(f"{path}: a log of Inspect: {ONE_ORDER}")
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: expected a file that ends in .csv, .jsonl or .parquet (or .tsv, .json, or .gz after it)"
        )
    files.check_regular(path)
    if suffix == ".parquet":
        return _read_parquet(path, packed)
    try:
        return _read_csv(path, packed) if suffix in DELIMITERS.values() else _of_records(_records(path, suffix), path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: broken gzip file: {_first_line(error)}") from None


def check_names(columns: Iterable[object], where: str | Path) -> None:
    """Check the names of columns.

    Raises:
        InputError: a name occurs twice, or cannot be written in UTF-8.
    """
    seen = set()
    for name in columns:
        if name in seen:
            raise InputError(f"{where}: column {name!r:.60} stands twice; expected once")
        if SURROGATE.search(str(name)):
            raise InputError(f"{where}: column {name!r:.60}: expected a name that UTF-8 can write")
        seen.add(name)


def is_packed(path: Path) -> bool:
    """Tell whether a file is packed by gzip, whatever its name."""
    with path.open("rb") as file:
        return file.read(2) == GZIP


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if is_packed(path) else path.open("rb")


def _read_csv(path: Path, packed: bool) -> pd.DataFrame:
    parse = pa_csv.ParseOptions(newlines_in_values=True, delimiter=_delimiter(path))
    try:
        with _open(path) as file, pa_csv.open_csv(file, parse_options=parse) as reader:
            columns = reader.schema.names
        check_names(columns, path)
        text = pa.dictionary(pa.int32(), pa.string()) if packed else pa.string()
        convert = pa_csv.ConvertOptions(column_types=dict.fromkeys(columns, text), strings_can_be_null=False)
        with _open(path) as file:
            return files.without_marks(pa_csv.read_csv(file, parse_options=parse, convert_options=convert).to_pandas())
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise InputError(f"{path}: malformed CSV: {_first_line(error)}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InputError(f"{path}: line 1: expected column names in UTF-8, found byte 0x{byte:02x}") from None


def _delimiter(path: Path) -> str:
    """The character that separates the columns: the delimiter that the header has most often outside of quotes."""
    with _open(path) as file:
        header = file.read(HEAD).decode("utf-8", "replace")
    bare = re.sub(r'"(?:[^"]|"")*+"', "", header).partition("\n")[0]
    return max(DELIMITERS, key=bare.count)


def _records(path: Path, suffix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and content of each object of a file of JSON Lines, or of a list in a JSON file."""
    if suffix == ".json" and (content := _list_of(path)) is not None:
        places = ((f"{path}: entry {number}", record) for number, record in enumerate(content, start=1))
    else:
        places = ((f"{path}: line {number}", record) for number, record in _json_lines(path))
    for where, record in places:
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected a mapping, found {record!r:.60}")
        yield where, record


def _list_of(path: Path) -> list[Any] | None:
    """The list that a JSON file holds; None if it holds one object per line."""
    with _open(path) as file:
        start = file.read(HEAD).decode("utf-8-sig", "replace").lstrip()
        if not start.startswith("["):
            first, _, rest = start.partition("\n")
            if rest.strip() and not first.rstrip().endswith("}"):
                if '"results"' in start:
                    raise InputError(f"{path}: results of promptfoo: {ONE_ORDER}")
                raise InputError(f"{path}: expected a list of objects, or an object per line, found one object")
            return None
    with _text(path) as lines:
        content = files.parse_json(_whole(lines, path), path)
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of objects, found {content!r:.60}")
    return content


def _whole(lines: IO[str], path: Path) -> str:
    try:
        return lines.read()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8, found byte 0x{error.object[error.start]:02x}") from None


def _text(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="\n")


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    with _open(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                byte = f"0x{error.object[error.start]:02x}"
                raise InputError(f"{path}: line {number}: expected UTF-8, found byte {byte}") from None
            if line.strip():
                yield number, files.parse_json(line.rstrip("\n"), path, number)


def _of_records(records: Iterable[tuple[str, dict[str, Any]]], path: Path) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {}
    for count, (_, record) in enumerate(records):
        for name in [name for name in record if name not in columns]:
            columns[name] = [None] * count
        for name, values in columns.items():
            values.append(record.get(name))
    check_names(columns, path)
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _read_parquet(path: Path, packed: bool) -> pa.Table:
    try:
        schema = pq.read_schema(path)
        texts = [field.name for field in schema if packed and pa.types.is_string(field.type)]
        table = pq.read_table(path, read_dictionary=texts or None)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise InputError(f"{path}: malformed Parquet: {_first_line(error)}") from None
    check_names(table.column_names, path)
    return table


def joined_lists(table: pa.Table) -> pa.Table:
    """A table of Arrow in which lists of texts or numbers become texts, with blanks between the entries."""
    for place, name in enumerate(table.column_names):
        if pa.types.is_list(table[name].type) and not pa.types.is_nested(table[name].type.value_type):
            joined = pc.binary_join(table[name].cast(pa.list_(pa.string())), " ")
            table = table.set_column(place, name, joined)
    return table


def _first_line(error: BaseException) -> str:
    return f"{(str(error).splitlines() or ['cannot be read'])[0]:.200}"
