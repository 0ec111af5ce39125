"""Reading and writing Parquet: a file is whole or absent, and its metadata names the program that wrote it.

Imports pandas and pyarrow, which take long to load.
"""

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rubric_order import __version__
from rubric_order.base.files import atomic, content_hash

SCHEMA_VERSION = 1  # schema version of tables without a contract
GROUP_ROWS = 2048  # rows of each row group, in files from which jobs read only a part


def write(table: pd.DataFrame | pa.Table | Iterable[pa.Table], path: str | Path, **metadata: object) -> None:
    """Write tables of one schema, one in memory at a time, with versions and `metadata`; the bytes depend on nothing
    else.
    """
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    with atomic(path) as temporary:
        _write_parts([table] if isinstance(table, pa.Table) else table, temporary, metadata)


def write_by_content(
    tables: Iterable[pa.Table], folder: str | Path, *, plain: str | None = None, **metadata: object
) -> Path:
    """Write tables of one schema into a file of `folder` named by its `content_hash`, and return its path.

    `plain` names a column that is not compressed: twice the space, read several times as fast.
    """
    written = Path(folder, "new.parquet")

    def content_path(temporary: Path) -> Path:
        nonlocal written
        written = written.with_stem(content_hash(temporary))
        return written

    with atomic(written, rename=content_path) as temporary:
        _write_parts(tables, temporary, metadata, plain)
    return written


def split_row_groups(table: pa.Table, rows: int = GROUP_ROWS) -> Iterator[pa.Table]:
    """A table in parts of `rows` rows, which `write` writes as row groups. An empty table is one part."""
    return (table.slice(start, rows) for start in range(0, max(len(table), 1), rows))


def read_rows(file: pq.ParquetFile, rows: np.ndarray, columns: list[str]) -> Iterator[pa.Table]:
    """Rows by ascending index, in the order of the file: one table per row group; `columns` that the file lacks are
    left out.
    """
    present = [name for name in columns if name in file.schema_arrow.names]
    ends = group_bounds(file)
    bounds: np.ndarray = np.asarray(rows.searchsorted(ends))
    for group in np.flatnonzero(np.diff(bounds)).tolist():
        yield file.read_row_group(group, present).take(rows[bounds[group] : bounds[group + 1]] - ends[group])


def group_bounds(file: pq.ParquetFile) -> np.ndarray:
    """Index of the first row of each row group of a file, then the number of all rows, shape (n_groups + 1,)."""
    sizes = (file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
    return np.cumsum([0, *sizes])


def _write_parts(tables: Iterable[pa.Table], path: Path, metadata: dict[str, Any], plain: str | None = None) -> None:
    parts = iter(tables)
    first = next(parts)
    provenance = {"schema_version": SCHEMA_VERSION, "rubric_order": __version__, **metadata}
    pandas_metadata = first.schema.metadata or {}  # column types, as pandas writes them
    schema = first.schema.with_metadata({**pandas_metadata, b"rubric_order": json.dumps(provenance, sort_keys=True)})
    options = {"compression": "zstd", "write_page_checksum": True}
    if plain is not None:
        columns = [path for name in schema.names for path in (name, f"{name}.list.element") if name != plain]
        options |= {"compression": dict.fromkeys(columns, "zstd") | {plain: "none"}, "use_dictionary": columns}
    with pq.ParquetWriter(path, schema, **options) as writer:
        for part in itertools.chain([first], parts):
            writer.write_table(part.replace_schema_metadata(schema.metadata))


def read_metadata(path: str | Path) -> dict[str, Any]:
    """The metadata that `write` wrote."""
    return metadata_of(pq.read_schema(path))


def metadata_of(schema: pa.Schema) -> dict[str, Any]:
    """The metadata that `write` wrote, from the schema of a file; empty if another program wrote the file."""
    return json.loads((schema.metadata or {}).get(b"rubric_order", "{}"))


def read(paths: list[Path], columns: list[str] | None = None) -> pd.DataFrame:
    """All rows of several Parquet files of the same schema, in the order of the files."""
    tables = [pq.read_table(path, columns=columns) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive").to_pandas()
