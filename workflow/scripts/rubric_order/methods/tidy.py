"""Tables of estimates, with one row per estimate, from the results of statistics."""

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row


def from_parts(parts: list[tuple[Row, Row]], columns: list[str]) -> pd.DataFrame:
    """One table from many small tables, without the cost of joining them.

    Args:
        parts: two dictionaries for each small table: the values that all its rows share, and its own columns. Each own
            column is an array, or one value for all rows of the small table. A column must be in the same dictionary of
            all parts that have it.
        columns: columns of the result. The rows of a part that lacks a column have no value there.
    """
    if not parts:
        return pd.DataFrame(columns=columns)
    lengths = [max(np.size(values) for values in part.values()) for _, part in parts]
    table = pd.DataFrame([shared for shared, _ in parts])
    table = table.loc[np.repeat(table.index, lengths)].reset_index(drop=True)
    for name in dict.fromkeys(name for _, part in parts for name in part):
        values = (np.atleast_1d(part.get(name, np.nan)) for _, part in parts)
        values = (value.astype(object) if value.dtype.kind == "U" else value for value in values)
        table[name] = np.concatenate(
            [value if len(value) == n else value.repeat(n) for value, n in zip(values, lengths, strict=True)]
        )
    return table.reindex(columns=columns)


def from_rows(rows: list[Row], columns: list[str], words: list[str]) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`. A table without rows has the same column types.

    Args:
        rows: one row per estimate. A column that a row lacks is missing there.
        columns: columns of the table. `n` and the counts (``n_...``) are whole numbers. The others in `KEYS`, and those
            in `words`, are texts. All other columns are real numbers.
    """
    texts = dict.fromkeys([*KEYS[:-1], *words], "str")
    counts = {column: int for column in columns if column == "n" or column.startswith("n_")}
    numbers = {column: float for column in columns if column not in texts | counts}
    table = pd.DataFrame(rows, columns=columns)
    types = {column: kind for column, kind in (texts | counts | numbers).items() if column in columns}
    return table.astype(types).sort_values([key for key in KEYS if key in columns], kind="stable", ignore_index=True)


def from_rows_with_gaps(rows: list[Row], columns: list[str], words: list[str]) -> pd.DataFrame:
    """Estimates as a table sorted by `KEYS`, in which whole numbers can be missing.

    A table without rows has the same column types.

    Args:
        rows: one row per estimate. A column that a row lacks is missing there.
        columns: columns of the table. Counts (`n`, ``n_...``), `position`, `df` and `seed` are whole numbers. The
            others in `KEYS`, and those in `words`, are texts. All other columns are real numbers.
    """
    whole = {"n", "position", "df", "seed"}

    def kind(column: str) -> str:
        if column in {*KEYS, *words} - {"n"}:
            return "str"
        return "Int64" if column in whole or column.startswith("n_") else "float64"

    table = pd.DataFrame(rows, columns=columns).astype({column: kind(column) for column in columns})
    return table.sort_values(KEYS, kind="stable", ignore_index=True)
