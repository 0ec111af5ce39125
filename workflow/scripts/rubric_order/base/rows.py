"""Rows of a table, selected by the values of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]  # one row of a table: the value of each column


def rows_with(table: pd.DataFrame, /, **values: object) -> pd.DataFrame:
    """Rows of a table that have the given values.

    Args:
        values: for each column the value, or a list of the accepted values.
    """
    for column, value in values.items():
        table = table[table[column].isin(value) if isinstance(value, list | tuple) else table[column] == value]
    return table
