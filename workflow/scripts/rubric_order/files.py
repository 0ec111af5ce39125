"""Reading input files with errors that name the place, and writing outputs that are whole or absent."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Hashable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from rubric_order import __version__
from rubric_order.errors import InputError

SCHEMA_VERSION = 1


@contextlib.contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path` that is renamed to it when the block ends well, and removed when it does not."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(descriptor)
    temporary = Path(name)
    temporary.chmod(0o644)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file)  # a power cut leaves the old file or the new one, never an empty one
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(text: str, path: str | Path) -> None:
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_parquet(table: pd.DataFrame | pa.Table, path: str | Path, **metadata: object) -> None:
    """Write a table with the schema version, the program's version and `metadata` in the file's own metadata.

    Bytes depend on the table and the metadata alone.
    """
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    provenance = {"schema_version": SCHEMA_VERSION, "rubric_order": __version__, **metadata}
    kept = table.schema.metadata or {}  # column types, as pandas writes them
    table = table.replace_schema_metadata({**kept, "rubric_order": json.dumps(provenance, sort_keys=True)})
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def read_metadata(path: str | Path) -> dict:
    """What `write_parquet` put into the file's metadata."""
    return json.loads(pq.read_schema(path).metadata[b"rubric_order"])


def read_tables(paths: list[Path], columns: list[str] | None = None) -> pd.DataFrame:
    """Rows of several Parquet files of one schema, one after another."""
    tables = [pq.read_table(path, columns=columns) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive").to_pandas()


def sha256(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: str | Path) -> str:
    """Text of a UTF-8 file.

    Raises:
        InputError: the file is missing or cannot be read, or is not UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        found = error.object[error.start]
        raise InputError(f"{path}: line {line}: expected UTF-8, found byte 0x{found:02x}") from None


def read_json(path: str | Path) -> object:
    """Content of a JSON file.

    Raises:
        InputError: with line and column, where the file is not JSON.
    """
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}, column {error.colno}: malformed JSON: {error.msg}") from None


def read_json_lines(path: str | Path) -> list[tuple[int, object]]:
    """Line numbers (1-based) and contents of the non-blank lines of a JSON Lines file.

    Raises:
        InputError: with the line, where one is not JSON.
    """
    records = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, json.loads(line)))
        except json.JSONDecodeError as error:
            raise InputError(f"{path}: line {number}, column {error.colno}: malformed JSON: {error.msg}") from None
    return records


class _UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a mapping with one key twice, which YAML forbids and PyYAML overlooks."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.MarkedYAMLError(problem=f"key {key!r} is not a word", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"duplicate key {key!r}", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path) -> object:
    """Content of a YAML file.

    Raises:
        InputError: with line and column, where the file is not YAML or repeats a key.
    """
    text = read_text(path)
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InputError(
            f"{path}: line {mark.line + 1}, column {mark.column + 1}: malformed YAML: {error.problem}"
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{path}: line {line}: character {chr(error.character)!r} is not allowed in YAML") from None
    except ValueError as error:  # such as the date 2026-02-31
        raise InputError(f"{path}: malformed YAML: {error}") from None
