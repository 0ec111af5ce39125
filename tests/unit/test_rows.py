"""Rows of a table by what stands in their columns."""

import pandas as pd

from rubric_order.base.rows import rows_with

TABLE = pd.DataFrame({"judge": ["a", "b", "a", None], "n": [2, 2, 5, 5]})


def test_rows_have_one_value_or_any_of_several():
    assert list(rows_with(TABLE).index) == [0, 1, 2, 3]
    assert list(rows_with(TABLE, judge="a").index) == [0, 2]
    assert list(rows_with(TABLE, judge=["a", "b"], n=2).index) == [0, 1]
    assert list(rows_with(TABLE, judge=("b",), n=5).index) == []


def test_a_table_without_rows_keeps_its_columns():
    assert rows_with(TABLE.iloc[:0], judge="a", n=[2]).dtypes.equals(TABLE.dtypes)
