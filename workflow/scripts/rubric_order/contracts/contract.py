"""A contract: the columns of a kind of table, and the one place where such tables are written, read and checked.

pyarrow and pandas are imported when used: checks of a config read names of columns, and must be fast.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rubric_order.base.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ABSENT = "no such column"


class ContractError(Exception):
    """Defect of the program: a stage hands on a table that its contract does not allow."""


@dataclass(frozen=True)
class Column:
    """Column of a table, or field of a struct: Arrow `type`, with `fields` of a ``struct``.

    Neither `meaning` (one sentence) nor `unit` is part of the code's hash. `nullable`: values may be missing;
    `optional`: the column may be.
    """

    name: str
    type: str
    _: KW_ONLY
    meaning: str
    unit: str = ""
    nullable: bool = False
    optional: bool = False
    fields: tuple[Column, ...] = ()

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        if self.type.startswith("list<"):
            return pa.list_(replace(self, type=self.type[5:-1]).arrow)
        if self.type == "struct":
            return pa.struct({field.name: field.arrow for field in self.fields})
        return pa.dictionary(pa.int32(), pa.string()) if self.type == "dictionary" else pa.type_for_alias(self.type)


@dataclass(frozen=True)
class Contract:
    """Columns of one kind of table, and where such tables lie; `meaning` describes a row, and is not part of the code's
    hash.

    `exact`: types as in `schema`, otherwise pandas chooses widths. `open`: other columns may follow. `ordered`: these
    columns stand first, in this order.
    """

    name: str
    path: str
    columns: tuple[Column, ...]
    _: KW_ONLY
    meaning: str
    version: int = 1
    exact: bool = False
    open: bool = False
    ordered: bool = True

    @functools.cached_property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @functools.cached_property
    def schema(self) -> pa.Schema:
        import pyarrow as pa

        return pa.schema({column.name: column.arrow for column in self.columns})

    def table(self, frame: pd.DataFrame) -> pa.Table:
        """Arrow table of a frame whose names fit the contract; values are checked by `write`."""
        import pyarrow as pa

        self._check_names(list(frame.columns))
        schema = self.schema if self.exact else None
        try:
            return pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        except (pa.ArrowException, OverflowError) as error:
            raise ContractError(f"contract {self.name}: {': '.join(map(str, error.args))}") from error

    def write(self, rows: pd.DataFrame | pa.Table | Iterable[pa.Table], path: Path, /, **metadata: object) -> None:
        """Write tables that the contract allows, see `parquet.write`; only one is in memory at a time."""
        import pandas as pd
        import pyarrow as pa

        from rubric_order.base import parquet

        rows = self.table(rows) if isinstance(rows, pd.DataFrame) else rows
        tables = [rows] if isinstance(rows, pa.Table) else rows
        parquet.write(map(self._checked, tables), path, schema_version=self.version, **metadata)

    def read(self, *paths: Path, columns: Sequence[str] | None = None, where_there: Sequence[str] = ()) -> pd.DataFrame:
        """Rows of files in their order; `where_there` names columns that are read if all files have them.

        An open contract reads `columns` that it does not list.
        """
        from rubric_order.base import parquet

        schemas = [self._schema_of(path, columns) for path in paths]
        if columns is not None and where_there:
            present = set.intersection(*(set(schema.names) for schema in schemas))
            columns = [*columns, *(name for name in where_there if name in present and name not in columns)]
        return parquet.read(list(paths), None if columns is None else list(columns))

    def read_each(
        self, paths: Iterable[Path], columns: Sequence[str] | None = None, *, where_there: Sequence[str] = ()
    ) -> Iterator[pd.DataFrame]:
        """The rows of each file, see `read`, file by file. Only one file is in memory at a time."""
        return (self.read(path, columns=columns, where_there=where_there) for path in paths)

    def check(self, *paths: Path, columns: Sequence[str] | None = None) -> None:
        """Check that files have the columns that are read; None for all that are not optional.

        A file whose metadata name no version of the schema is checked for columns only.
        """
        for path in paths:
            self._schema_of(path, columns)

    def check_schema(self, schema: pa.Schema, path: Path, columns: Sequence[str] | None = None) -> None:
        """Check one file by its schema, see `check`."""
        from rubric_order.base import files, parquet

        version = parquet.metadata_of(schema).get("schema_version", self.version)
        if version != self.version:
            raise InputError(f"{path}: schema_version of {self.name}: expected {self.version}, found {version}")
        wanted = [column.name for column in self.columns if not column.optional] if columns is None else columns
        for name in wanted:
            if name not in schema.names:
                types = {column.name: str(column.arrow) for column in self.columns}
                expected, present = types.get(name, "one"), files.listed(schema.names)
                raise InputError(f"{path}: column {name!r}: expected {expected}, found {ABSENT} among {present}")
        for name, expected, actual in self._mismatches(schema, exact=False):
            if columns is None or name in columns:
                raise InputError(f"{path}: column {name!r}: expected {expected}, found {actual}")

    def _schema_of(self, path: Path, columns: Sequence[str] | None) -> pa.Schema:
        """Schema of one file, if it passes `check`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            schema = pq.read_schema(path)
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not a readable Parquet file: {' '.join(str(error).split()):.200}") from None
        self.check_schema(schema, path, columns)
        return schema

    def _mismatches(self, schema: pa.Schema, *, exact: bool) -> Iterator[tuple[str, str, str]]:
        for column in self.columns:
            if column.name in schema.names:
                actual = schema.field(column.name).type
                if not (actual == column.arrow if exact else _fits(actual, column.arrow, column.nullable)):
                    yield column.name, str(column.arrow), str(actual)

    def _check_names(self, names: Sequence[str]) -> None:
        for column in self.columns:
            if column.name not in names and not column.optional:
                self._refuse(column.name, column.type, ABSENT)
        for name in names if not self.open else ():
            if name not in self.names:
                self._refuse(name, ABSENT, "one")
        present = [name for name in self.names if name in names] if self.ordered else []
        for place, (name, actual) in enumerate(zip(present, names, strict=False), start=1):
            if name != actual:
                self._refuse(name, f"as column {place}", f"{actual!r} there")

    def _checked(self, table: pa.Table) -> pa.Table:
        self._check_names(table.column_names)
        for mismatch in self._mismatches(table.schema, exact=self.exact):
            self._refuse(*mismatch)
        for column in self.columns:
            if not column.nullable and column.name in table.column_names and (nulls := table[column.name].null_count):
                self._refuse(column.name, f"{column.type} without nulls", f"{nulls} in {len(table)} rows")
        return table

    def _refuse(self, column: str, expected: str, actual: str) -> None:
        raise ContractError(f"contract {self.name}: column {column!r}: expected {expected}, found {actual}")


def _fits(actual: pa.DataType, expected: pa.DataType, nullable: bool) -> bool:
    """True if a type is of the expected kind, with any width. The type of a column without values always fits."""
    from pyarrow import types

    actual, expected = (kind.value_type if types.is_dictionary(kind) else kind for kind in (actual, expected))
    if types.is_null(actual):
        return True
    if types.is_list(expected):
        return types.is_list(actual) and _fits(actual.value_type, expected.value_type, nullable)
    if types.is_struct(expected):
        if not types.is_struct(actual) or {field.name for field in actual} != {field.name for field in expected}:
            return False
        return all(_fits(actual.field(field.name).type, field.type, nullable) for field in expected)
    if types.is_string(expected):
        return bool(types.is_string(actual) or types.is_large_string(actual))
    if types.is_integer(expected):  # pandas makes floats of whole numbers where some are missing
        return bool(types.is_integer(actual) or (nullable and types.is_floating(actual)))
    if types.is_floating(expected):
        return bool(types.is_floating(actual) or types.is_integer(actual))
    return bool(actual == expected)
