"""Tables with one row per estimate. A column's type follows from its name, also in a table without rows."""

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
    """A table whose columns have the types of their names: `TEXTS`, counts (`n`, `n_...`, `seed`) as `whole`, other
    columns as real numbers.
    """
    return table.astype(_types(table.columns, types, whole))


def _types(columns: Sequence[str], types: Mapping[str, str] | None, whole: str) -> dict[str, str]:
    def kind(column: str) -> str:
        if column in TEXTS:
            return "str"
        return whole if column in ("n", "seed") or column.startswith("n_") else "float64"

    return {column: kind(column) for column in columns} | dict(types or {})


def join_parts(
    parts: list[tuple[Row, Row]],
    columns: list[str],
    types: Mapping[str, str] | None = None,
    by: Sequence[str] = BY,
) -> pd.DataFrame:
    """One table from many small ones, without the cost of joining them. A part is (values that its rows share, its
    other columns: arrays or one value for all rows).
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


def make_table(rows: list[Row], columns: list[str], types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`; a value that a row lacks is missing."""
    return _sorted(rows, _types(columns, types, "int64"))


def make_table_with_gaps(rows: list[Row], columns: list[str], types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Estimates as in `make_table`; whole numbers, here also `position` and `df`, can be missing."""
    whole = {column: "Int64" for column in ("position", "df") if column in columns}
    return _sorted(rows, _types(columns, whole | dict(types or {}), "Int64"))


def _sorted(rows: list[Row], types: dict[str, str]) -> pd.DataFrame:
    """Rows sorted by `KEYS`, missing keys last."""
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
