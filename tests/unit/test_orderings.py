from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base import randomness
from rubric_order.prompts import orderings

ns = st.integers(2, 9)


def test_balanced_gives_the_ten_orderings_of_the_papers_for_five_scores():
    assert orderings.balanced(5).tolist() == [
        [1, 2, 3, 4, 5],
        [2, 3, 4, 5, 1],
        [3, 4, 5, 1, 2],
        [4, 5, 1, 2, 3],
        [5, 1, 2, 3, 4],
        [5, 4, 3, 2, 1],
        [4, 3, 2, 1, 5],
        [3, 2, 1, 5, 4],
        [2, 1, 5, 4, 3],
        [1, 5, 4, 3, 2],
    ]


def test_balanced_with_two_scores_repeats_both_orderings():
    assert orderings.balanced(2).tolist() == [[1, 2], [2, 1], [2, 1], [1, 2]]


@given(ns)
def test_balanced_puts_every_score_in_every_position_equally_often(n):
    chosen = orderings.balanced(n)
    assert chosen.shape == (2 * n, n)
    for position in range(n):
        assert np.bincount(chosen[:, position], minlength=n + 1).tolist() == [0] + [2] * n


@given(ns)
def test_balanced_never_repeats_an_ordering_of_three_or_more_scores(n):
    distinct = len({tuple(row) for row in orderings.balanced(n).tolist()})
    assert distinct == (2 if n == 2 else 2 * n)


def predecessor_counts(rows):
    """Counts of each option (column, 1..n) right before each other (row, 1..n), one by one."""
    n = len(rows[0])
    counts = np.zeros((n, n), dtype=int)
    for row in rows.tolist():
        for before, after in pairwise(row):
            counts[after - 1, before - 1] += 1
    return counts


def test_williams_design_of_four_by_hand():
    assert orderings.balanced_williams(4)[:4].tolist() == [[1, 2, 4, 3], [2, 3, 1, 4], [3, 4, 2, 1], [4, 1, 3, 2]]


def test_williams_design_of_three_by_hand():
    rows = [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 3, 2], [2, 1, 3], [3, 2, 1]]
    assert orderings.balanced_williams(3).tolist() == rows


@pytest.mark.parametrize("n", range(2, 10))
def test_williams_designs_balance_positions_and_predecessors(n):
    whole = orderings.balanced_williams(n)
    # Of an even number, each half is a design by itself.
    for rows, times in [(whole, 2), *([(whole[:n], 1), (whole[n:], 1)] if n % 2 == 0 else [])]:
        assert rows.shape == (times * n, n)
        assert np.sort(rows, axis=1).tolist() == [list(range(1, n + 1))] * len(rows)
        for position in range(n):
            assert np.bincount(rows[:, position], minlength=n + 1).tolist() == [0] + [times] * n
        assert predecessor_counts(rows).tolist() == (times * (1 - np.eye(n, dtype=int))).tolist()


@pytest.mark.parametrize("n", range(4, 10))
def test_rotations_balance_positions_but_put_each_option_after_two_others_only(n):
    counts = predecessor_counts(orderings.balanced(n))
    assert ((counts > 0).sum(axis=1) == 2).all()
    assert ((counts > 0).sum(axis=0) == 2).all()


@pytest.mark.parametrize("n", range(3, 10))
def test_the_williams_design_of_the_budget_of_balanced_repeats_no_ordering(n):
    assert len({tuple(row) for row in orderings.balanced_williams(n).tolist()}) == 2 * n


@pytest.mark.parametrize("n", [1, 0, -3])
def test_fewer_than_two_options_have_no_williams_design(n):
    with pytest.raises(ValueError, match=f"at least 2 options, got {n}"):
        orderings.balanced_williams(n)


@given(ns, st.integers(2, 4))
def test_repeated_rotations_read_each_rotation_equally_often(n, times):
    rows = orderings.choose("repeated_rotations", n, budget=times * n)
    assert rows.tolist() == orderings.rotations(n).tolist() * times
    assert orderings.choose("repeated_rotations", n).shape == (2 * n, n)


@pytest.mark.parametrize("budget", [5, 8, 11])
def test_rotations_that_cannot_be_repeated_equally_often_are_refused(budget):
    with pytest.raises(ValueError, match="at least 10, in steps of 5; got"):
        orderings.choose("repeated_rotations", 5, budget=budget)


@given(ns)
def test_rotations_are_an_integer_square_in_which_each_row_is_the_last_one_turned_by_one(n):
    rows = orderings.rotations(n)
    assert rows.shape == (n, n)
    assert np.issubdtype(rows.dtype, np.integer)
    assert rows[0].tolist() == list(range(1, n + 1))
    for row, following in pairwise(rows):
        assert following.tolist() == [*row[1:].tolist(), row[0]]


@pytest.mark.parametrize("n", [1, 0, -3])
def test_fewer_than_two_options_have_no_rotations(n):
    with pytest.raises(ValueError, match=f"at least 2 options, got {n}"):
        orderings.rotations(n)


@given(ns, st.integers(1, 30), st.integers(0, 2**32))
def test_random_gives_permutations_that_the_seed_alone_decides(n, reads, seed):
    first = orderings.random_orderings(n, reads, rng=np.random.default_rng(seed))
    again = orderings.random_orderings(n, reads, rng=np.random.default_rng(seed))
    assert first.tolist() == again.tolist()
    assert first.shape == (reads, n)
    assert np.sort(first, axis=1).tolist() == orderings.fixed(n, reads).tolist()


def test_random_draws_of_one_item_do_not_depend_on_other_items():
    def draw(item):
        rng = randomness.generator(7, "random orderings", "demo", item, 5)
        return orderings.choose("random", 5, rng=rng).tolist()

    alone = draw("b")
    draw("a")
    assert draw("b") == alone
    assert draw("a") != alone


def test_random_draws_every_ordering_about_equally_often():
    drawn = orderings.random_orderings(3, 60_000, rng=np.random.default_rng(1))
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert counts / 10_000 == pytest.approx(1, abs=0.05)


def test_a_longer_budget_of_random_changes_none_of_the_first_draws_seeded_alike():
    # Not promised by numpy for other methods: a change of budget would otherwise ask every judge again.
    short = orderings.random_orderings(5, 10, rng=np.random.default_rng(3))
    long = orderings.random_orderings(5, 20, rng=np.random.default_rng(3))
    assert long[:10].tolist() == short.tolist()


@given(ns, st.integers(1, 20))
def test_fixed_is_the_canonical_ordering_as_often_as_asked(n, budget):
    assert orderings.choose("fixed", n, budget=budget).tolist() == [list(range(1, n + 1))] * budget


@given(ns)
def test_single_is_the_canonical_ordering_once_whatever_the_budget(n):
    assert orderings.choose("single", n, budget=12).tolist() == [list(range(1, n + 1))]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_all_is_every_permutation_in_lexicographic_order(n):
    assert [tuple(row) for row in orderings.choose("all", n).tolist()] == list(permutations(range(1, n + 1)))


def test_all_of_seven_is_the_most_that_is_allowed():
    assert len(orderings.choose("all", 7)) == 5040
    with pytest.raises(ValueError, match="8 options has 40320 orderings; use 'random'"):
        orderings.choose("all", 8)


@pytest.mark.parametrize("strategy", ["random", "fixed"])
def test_the_default_budget_is_that_of_balanced(strategy):
    assert len(orderings.choose(strategy, 4, rng=np.random.default_rng(0))) == len(orderings.choose("balanced", 4))


def test_an_unknown_strategy_is_named_with_those_that_there_are():
    with pytest.raises(ValueError, match="unknown strategy 'sorted'; expected one of balanced, random, all"):
        orderings.choose("sorted", 5)


@pytest.mark.parametrize("strategy", orderings.STRATEGIES)
def test_every_strategy_gives_permutations(strategy):
    chosen = orderings.choose(strategy, 4, budget=8, rng=np.random.default_rng(0))
    assert {tuple(row) for row in np.sort(chosen, axis=1).tolist()} == {(1, 2, 3, 4)}
