"""Rows of a table by what stands in their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]  # one row of a table: the value of each column


def rows_with(table: pd.DataFrame, /, **values: object) -> pd.DataFrame:
    """Rows of a table that have some values.

    Args:
        values: by column, one value, or a list of several that will do.
    """
    for column, value in values.items():
        table = table[table[column].isin(value) if isinstance(value, list | tuple) else table[column] == value]
    return table
