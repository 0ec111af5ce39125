"""Positions of options in an ordering, by hand and by reading from left to right."""

import numpy as np
from factories import predecessors
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base import permutations


def test_predecessors_says_what_comes_right_before_each_option():
    rows = np.array([[3, 1, 2], [1, 2, 3]])
    assert predecessors(rows).tolist() == [[3, 1, 0], [0, 1, 2]]


@given(st.permutations(range(1, 10)))
def test_predecessors_agree_with_the_ordering_read_from_left_to_right(ordering):
    found = predecessors(np.array(ordering))
    for place, option in enumerate(ordering):
        assert found[option - 1] == (ordering[place - 1] if place else 0)


def test_positions_of_says_where_each_option_stands():
    assert permutations.positions_of(np.array([[3, 1, 2], [1, 2, 3]])).tolist() == [[2, 3, 1], [1, 2, 3]]


@given(st.permutations(range(1, 10)))
def test_positions_of_inverts_and_is_its_own_inverse(ordering):
    place = permutations.positions_of(np.array(ordering))
    assert [ordering[p - 1] for p in place] == list(range(1, 10))
    assert permutations.positions_of(place).tolist() == ordering
