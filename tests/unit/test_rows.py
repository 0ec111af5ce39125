"""Rows of a table by what stands in their columns."""

import pandas as pd

from rubric_order.base.rows import places_of, rows_with

TABLE = pd.DataFrame({"judge": ["a", "b", "a", None], "n": [2, 2, 5, 5]})


def test_rows_have_one_value_or_any_of_several():
    assert list(rows_with(TABLE).index) == [0, 1, 2, 3]
    assert list(rows_with(TABLE, judge="a").index) == [0, 2]
    assert list(rows_with(TABLE, judge=["a", "b"], n=2).index) == [0, 1]
    assert list(rows_with(TABLE, judge=("b",), n=5).index) == []
    assert list(rows_with(TABLE.astype({"n": "Int64"}).mask(TABLE["n"] == 5), n=2).index) == [0, 1]


def test_a_table_without_rows_keeps_its_columns():
    assert rows_with(TABLE.iloc[:0], judge="a", n=[2]).dtypes.equals(TABLE.dtypes)


def test_rows_with_the_same_values_are_together_in_the_order_of_the_first_of_them():
    assert places_of(["b", "a", "b", "a"], [1, 1, 1, 2]) == {("b", 1): [0, 2], ("a", 1): [1], ("a", 2): [3]}
    assert places_of([], []) == {}
