"""Tables in files of users: CSV, TSV, JSON Lines, JSON and Parquet, as they are or packed by gzip."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from rubric_order.base import files
from rubric_order.base.errors import InputError

if TYPE_CHECKING:  # slow to import, and recorded answers are read before any rule runs
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

SURROGATE = re.compile("[\ud800-\udfff]")
DELIMITERS = {",": ".csv", ";": ".csv", "\t": ".tsv"}
LINES = (".jsonl", ".ndjson")
SUFFIXES = (*DELIMITERS.values(), *LINES, ".json", ".parquet")
HEAD = 2**16  # bytes in which the header of a CSV file is looked for


class Record(NamedTuple):
    """One row of a file: its place for messages, its number in the file from 1, and its fields."""

    where: str
    number: int
    fields: dict[str, Any]


def suffix_of(path: Path) -> str:
    """Ending of a file's name in lower case, without the ``.gz`` after it."""
    return next((end for end in path.suffixes[-2:][::-1] if end.lower() != ".gz"), "").lower()


def records(path: Path, suffix: str) -> Iterator[Record]:
    """Rows of a file, one after the other; cells of a CSV file are texts."""
    files.check_regular(path)
    if suffix == ".csv":
        yield from (Record(f"{path}: line {number}", number, row) for number, row in files.read_csv(path, ()))
    elif suffix == ".parquet":
        for number, row in enumerate(_read_parquet(path, packed=False).to_pylist(), start=1):
            yield Record(f"{path}: row {number}", number, row)
    elif suffix == ".json" and (content := _listed(path)) is not None:
        for number, row in enumerate(content, start=1):
            yield _checked(row, f"{path}: entry {number}", number)
    else:
        for number, row in files.json_lines(path):
            yield _checked(row, f"{path}: line {number}", number)


def _checked(row: object, where: str, number: int) -> Record:
    return Record(where, number, files.check_mapping(row, where))


def read(path: Path, *, packed: bool = False) -> pa.Table | pd.DataFrame:
    """The rows of a file whose name ends in one of `SUFFIXES`, perhaps with ``.gz``: of Parquet as a table of Arrow,
    else of pandas.

    Columns of a CSV file are separated by whichever of `DELIMITERS` its header has most; `packed` makes texts
    categories.
    """
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: expected a file that ends in .csv, .jsonl or .parquet (or .tsv, .json, or .gz after it)"
        )
    files.check_regular(path)
    if suffix == ".parquet":
        return _read_parquet(path, packed=packed)
    return _read_csv(path, packed) if suffix in DELIMITERS.values() else _columns(records(path, suffix), path)


def check_names(columns: Iterable[object], where: str | Path) -> None:
    """Check that no column's name occurs twice, and that UTF-8 can write all of them."""
    seen = set()
    for name in columns:
        if name in seen:
            raise InputError(f"{where}: column {name!r:.60} stands twice; expected once")
        if SURROGATE.search(str(name)):
            raise InputError(f"{where}: column {name!r:.60}: expected a name that UTF-8 can write")
        seen.add(name)


def join_lists(table: pa.Table) -> pa.Table:
    """A table of Arrow in which lists of texts or numbers become texts, with blanks between the entries."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(table.column_names):
        if pa.types.is_list(table[name].type) and not pa.types.is_nested(table[name].type.value_type):
            joined = pc.binary_join(table[name].cast(pa.list_(pa.string())), " ")
            table = table.set_column(place, name, joined)
    return table


def _read_csv(path: Path, packed: bool) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    parse = pa_csv.ParseOptions(newlines_in_values=True, delimiter=_delimiter(path))
    try:
        with files.unpacked(path) as file, pa_csv.open_csv(file, parse_options=parse) as reader:
            columns = reader.schema.names
        check_names(columns, path)
        text = pa.dictionary(pa.int32(), pa.string()) if packed else pa.string()
        convert = pa_csv.ConvertOptions(column_types=dict.fromkeys(columns, text), strings_can_be_null=False)
        with files.unpacked(path) as file:
            return files.strip_marks(pa_csv.read_csv(file, parse_options=parse, convert_options=convert).to_pandas())
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise InputError(f"{path}: malformed CSV: {_first_line(error)}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: line 1: column names: {files.bad_byte(error)}") from None


def head(path: Path) -> str:
    """Beginning of a text file."""
    with files.unpacked(path) as file:
        return file.read(HEAD).decode("utf-8-sig", "replace").lstrip()


def is_one_object(start: str) -> bool:
    """True for the beginning of a JSON file that holds neither a list nor one object per line."""
    first, _, rest = start.partition("\n")
    return not start.startswith("[") and bool(rest.strip()) and not first.rstrip().endswith("}")


def _delimiter(path: Path) -> str:
    bare = re.sub(r'"(?:[^"]|"")*+"', "", head(path)).partition("\n")[0]
    return max(DELIMITERS, key=bare.count)


def _listed(path: Path) -> list[Any] | None:
    start = head(path)
    if is_one_object(start):
        raise InputError(f"{path}: expected a list of objects, or an object per line, found one object")
    content: list[Any] | None = files.parse_json(files.read_text(path), path) if start.startswith("[") else None
    return content


def _columns(rows: Iterable[Record], path: Path) -> pd.DataFrame:
    import pandas as pd

    columns: dict[str, list[Any]] = {}
    for count, row in enumerate(rows):
        for name in [name for name in row.fields if name not in columns]:
            columns[name] = [None] * count
        for name, values in columns.items():
            values.append(row.fields.get(name))
    check_names(columns, path)
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def _read_parquet(path: Path, *, packed: bool) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        texts = [field.name for field in schema if packed and pa.types.is_string(field.type)]
        table = pq.read_table(path, read_dictionary=texts or None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: malformed Parquet: {_first_line(error)}") from None
    check_names(table.column_names, path)
    return table


def _first_line(error: BaseException) -> str:
    return f"{(str(error).splitlines() or ['cannot be read'])[0]:.200}"
