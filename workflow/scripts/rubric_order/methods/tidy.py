"""Tables of estimates, with one row per estimate, from the results of statistics."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row


def from_parts(parts: list[tuple[Row, Row]], columns: list[str]) -> pd.DataFrame:
    """One table from many small tables, without the cost of joining them.

    Args:
        parts: a pair of dictionaries for each small table. The first dictionary has the values that all rows of the
            small table share. The second has its other columns: an array, or one value for all rows. A column that is
            in the first dictionary of one part must not be in the second dictionary of another part.
        columns: columns of the result. A row has no value in a column that its part lacks.
    """
    if not parts:
        return pd.DataFrame(columns=columns)
    lengths = [max(np.size(values) for values in part.values()) for _, part in parts]
    shared = pd.DataFrame([shared for shared, _ in parts])
    part_of_row: np.ndarray = np.repeat(np.arange(len(parts)), lengths)
    table: dict[str, Any] = {name: column.array.take(part_of_row) for name, column in shared.items()}
    for name in dict.fromkeys(name for _, part in parts for name in part):
        values: list[np.ndarray] = [np.ravel(part.get(name, np.nan)) for _, part in parts]
        values = [value.astype(object) if value.dtype.kind == "U" else value for value in values]
        values = [value if value.size == n else np.repeat(value, n) for value, n in zip(values, lengths, strict=True)]
        table[name] = np.concatenate(values)
    return pd.DataFrame(table).reindex(columns=columns)


def from_rows(
    rows: list[Row], columns: list[str], words: list[str], types: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`. A table without rows has the same column types.

    Args:
        rows: one row per estimate. A row without a value for a column has a missing value there.
        columns: columns of the table. `n` and the counts (``n_...``) are whole numbers. The other columns of `KEYS`,
            and the columns of `words`, are texts. All further columns are real numbers.
        words: columns of text beside `KEYS`.
        types: dictionary from column to type, for columns that are exceptions to the types under `columns`.
    """
    texts = {*KEYS[:-1], *words}

    def kind(column: str) -> str:
        if column in texts:
            return "str"
        return "int64" if column == "n" or column.startswith("n_") else "float64"

    return _sorted(rows, {column: kind(column) for column in columns} | dict(types or {}))


def from_rows_with_gaps(rows: list[Row], columns: list[str], words: list[str]) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`, in which whole numbers can be missing.

    A table without rows has the same column types.

    Args:
        rows: one row per estimate. A row without a value for a column has a missing value there.
        columns: columns of the table. Counts (`n`, ``n_...``), `position`, `df` and `seed` are whole numbers. The
            other columns of `KEYS`, and the columns of `words`, are texts. All further columns are real numbers.
        words: columns of text beside `KEYS`.
    """
    whole = {"n", "position", "df", "seed"}

    def kind(column: str) -> str:
        if column in {*KEYS, *words} - {"n"}:
            return "str"
        return "Int64" if column in whole or column.startswith("n_") else "float64"

    return _sorted(rows, {column: kind(column) for column in columns})


def _sorted(rows: list[Row], types: dict[str, str]) -> pd.DataFrame:
    """Rows as a table with columns of the given types, sorted by `KEYS`. A missing key is sorted to the end."""
    keys = [key for key in KEYS if key in types]

    def place(row: Row) -> list[tuple[bool, Any]]:
        values = [row.get(key) for key in keys]
        return [
            (True, 0) if pd.isna(value) else (False, str(value) if types[key] == "str" else value)
            for key, value in zip(keys, values, strict=True)
        ]

    rows = sorted(rows, key=place)
    table: dict[str, Any] = {}
    for name, kind in types.items():
        values = [row.get(name) for row in rows]
        table[name] = np.array(values, dtype=kind) if kind in ("float64", "int64") else pd.array(values, dtype=kind)
    return pd.DataFrame(table)
