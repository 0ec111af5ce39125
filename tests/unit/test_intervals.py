"""An estimate with its interval, and the columns that it has in a table."""

import doctest
import math

import numpy as np

from rubric_order.base import intervals
from rubric_order.base.intervals import Interval


def test_the_examples_run():
    assert doctest.testmod(intervals).failed == 0


def test_columns_of_a_row_and_back():
    interval = Interval(0.5, 0.4, 0.7)
    assert Interval.of({"judge": "a", "ci_high": np.float64(0.7), "ci_low": 0.4, "estimate": 0.5}) == interval
    assert Interval.of(interval.columns()) == interval


def test_what_is_not_known():
    assert (Interval().known, Interval(0.5).known, Interval(0.5).bounded, Interval(0, 0, 0).bounded) == (
        False,
        True,
        False,
        True,
    )
    assert all(map(math.isnan, -Interval()))
