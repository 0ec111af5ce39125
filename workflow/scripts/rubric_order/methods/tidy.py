"""Tables of estimates, with one row per estimate, from the results of statistics.

The type of a column follows from its name, so a table without rows has the same types as any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row

# Columns of text. A statistic in which one of these names has another meaning gives its type.
TEXTS = {*KEYS[:-1]} | set(
    """
    about advice baseline basis benchmark by calibration candidate cause causes choice cluster compared comparison
    config copies criterion design detail estimator failures flag goal gold golden group_id how item_id kind known_from
    label method model offered one option order ordering other other_style our_judge outcome part perturbation
    policy quantity readout reason removed repeats_of repetition_from rule scores_of source status style suite sweep
    swept_judge task term test unit unit_id varied verdict version what
""".split()  # noqa: SIM905
)
BY = (*KEYS, "readout")  # columns by which tables of parts are sorted


def typed(table: pd.DataFrame, types: Mapping[str, str] | None = None, *, whole: str = "int64") -> pd.DataFrame:
    """A table whose columns have the types of their names.

    Args:
        types: dictionary from column to type, for exceptions. Otherwise `TEXTS` are texts; `n`, `seed` and the counts
            (``n_...``) are whole numbers; all other columns are real numbers.
        whole: type of whole numbers; ``Int64`` where some can be missing.
    """
    return table.astype(_types(table.columns, types, whole))


def _types(columns: Sequence[str], types: Mapping[str, str] | None, whole: str) -> dict[str, str]:
    def kind(column: str) -> str:
        if column in TEXTS:
            return "str"
        return whole if column in ("n", "seed") or column.startswith("n_") else "float64"

    return {column: kind(column) for column in columns} | dict(types or {})


def from_parts(
    parts: list[tuple[Row, Row]],
    columns: list[str],
    types: Mapping[str, str] | None = None,
    by: Sequence[str] = BY,
) -> pd.DataFrame:
    """One table from many small tables, without the cost of joining them.

    Args:
        parts: a pair of dictionaries for each small table. The first dictionary has the values that all rows of the
            small table share. The second has its other columns: an array, or one value for all rows. A column that is
            in the first dictionary of one part must not be in the second dictionary of another part.
        columns: columns of the result. A row has no value in a column that its part lacks.
        types: exceptions, see `typed`.
        by: columns by which the rows are sorted, as far as the table has them.
    """
    if not parts:
        return typed(pd.DataFrame(columns=columns), types)
    lengths = [max(np.size(values) for values in part.values()) for _, part in parts]
    shared = pd.DataFrame([shared for shared, _ in parts])
    part_of_row: np.ndarray = np.repeat(np.arange(len(parts)), lengths)
    table: dict[str, Any] = {name: column.array.take(part_of_row) for name, column in shared.items()}
    for name in dict.fromkeys(name for _, part in parts for name in part):
        values: list[np.ndarray] = [np.ravel(part.get(name, np.nan)) for _, part in parts]
        values = [value.astype(object) if value.dtype.kind == "U" else value for value in values]
        values = [value if value.size == n else np.repeat(value, n) for value, n in zip(values, lengths, strict=True)]
        table[name] = np.concatenate(values)
    frame = typed(pd.DataFrame(table).reindex(columns=columns), types)
    by = [column for column in by if column in columns]
    return frame.sort_values(by, kind="stable", ignore_index=True) if by else frame


def from_rows(rows: list[Row], columns: list[str], types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`.

    Args:
        rows: one row per estimate. A row without a value for a column has a missing value there.
        columns: columns of the table.
        types: exceptions, see `typed`.
    """
    return _sorted(rows, _types(columns, types, "int64"))


def from_rows_with_gaps(rows: list[Row], columns: list[str], types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Estimates as in `from_rows`, in which whole numbers can be missing; `position` and `df` are whole numbers too."""
    whole = {column: "Int64" for column in ("position", "df") if column in columns}
    return _sorted(rows, _types(columns, whole | dict(types or {}), "Int64"))


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
