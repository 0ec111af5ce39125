"""Rows of a table, selected by the values of their columns."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

Row = dict[str, Any]  # one row of a table: the value of each column


def rows_with(table: pd.DataFrame, /, **values: object) -> pd.DataFrame:
    """Rows that have the given value, or one of a list of values, in each column."""
    chosen = [
        table[column].isin(value) if isinstance(value, list | tuple) else table[column] == value
        for column, value in values.items()
    ]
    if not chosen:
        return table
    return table[reduce(and_, (rows.to_numpy(dtype=bool, na_value=False) for rows in chosen))]


def blocks_by(keys: Sequence[str], tables: pd.DataFrame | Iterable[pd.DataFrame]) -> Iterator[tuple[Row, pd.DataFrame]]:
    """Values of the keys and block of rows that have them, in each table for itself, in the order of the keys."""
    import pandas as pd

    for table in [tables] if isinstance(tables, pd.DataFrame) else tables:
        for key, block in table.groupby([*keys], sort=True):
            yield dict(zip(keys, key, strict=True)), block


def places_of(*columns: Iterable[Any]) -> dict[tuple[Any, ...], list[int]]:
    """Indices of the rows that have the same values, for each combination of values, in the order of their first rows.

    >>> places_of(["a", "b", "a"], [1, 1, 1])
    {('a', 1): [0, 2], ('b', 1): [1]}
    """
    places: dict[tuple[Any, ...], list[int]] = {}
    for place, values in enumerate(zip(*columns, strict=True)):
        places.setdefault(values, []).append(place)
    return places
