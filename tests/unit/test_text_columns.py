import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base.text_columns import is_among

NAMES = st.lists(st.text("ab", max_size=2), max_size=8)


@given(NAMES, NAMES)
def test_is_among_is_what_pandas_says(names, others):
    expected = pd.Series(names, dtype=str).isin(others).tolist()
    assert is_among(names, others).tolist() == expected
    assert is_among(pd.Series(names, dtype=str), pd.Series(others, dtype=str)).tolist() == expected


def test_a_missing_name_is_among_none():
    assert is_among(pd.Series(["a", None], dtype=str), ["a"]).tolist() == [True, False]
