import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.methods.comparisons import series

# The two reads of a pair, in the order of its candidates and the other way round: what each verdict names.
FIRST = {"A": (1, 1), "B": (2, 2), "C": (0, 0)}  # place, candidate
SECOND = {"A": (1, 2), "B": (2, 1), "C": (0, 0)}


def pair(verdicts):
    (place, winner), (other_place, other) = FIRST[verdicts[0]], SECOND[verdicts[1]]
    return np.array([[place, other_place]]), np.array([[winner, other]])


def fairness(places, winners, p):
    first = series.primacy(places, winners, p=p)
    pcn, rcn = np.nansum(first), np.nansum(1 - first)
    return series.preference_fairness(pcn, rcn, int(series.valid(winners).sum()))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [("AB", 0), ("BA", 0), ("CC", 0), ("AA", -1), ("AC", -1), ("CA", -1), ("BB", 1), ("BC", 1), ("CB", 1)],
)
def test_every_pair_of_verdicts_is_consistent_primacy_or_recency(verdicts, expected):
    places, winners = pair(verdicts)
    assert series.consistent(winners).tolist() == [expected == 0]
    assert series.leaning(places, winners, p=2).tolist() == [expected]
    assert fairness(places, winners, 2) == expected
    strict, soft = series.flips(winners)
    assert (strict[0], soft[0]) == (verdicts in ("AA", "BB"), expected != 0 and "C" in verdicts)


def test_a_series_without_a_choice_in_one_order_counts_nowhere():
    places, winners = np.array([[1, -1], [1, 1]]), np.array([[1, -1], [1, 2]])
    assert np.isnan(series.consistent(winners)[0])
    assert np.isnan(series.leaning(places, winners, p=2)[0])
    assert fairness(places, winners, 2) == -1


def cyclic(p):
    return np.array([[(start + place) % p + 1 for place in range(p)] for start in range(p)])


def lists(rows, p):
    """Places of rows of choices (0: a tie), and the candidates that stood there in cyclic orders."""
    rows = np.array(rows)
    shown = np.column_stack([np.zeros(p, dtype=int), cyclic(p)])
    return rows, shown[np.arange(p), rows]


@given(st.integers(2, 4).flatmap(lambda p: st.lists(st.lists(st.integers(0, p), min_size=p, max_size=p), min_size=1)))
def test_fairness_is_a_difference_of_counts_and_bounded_by_inconsistency(rows):
    p = len(rows[0])
    places, winners = lists(rows, p)
    consistency = series.consistent(winners).mean()
    found = fairness(places, winners, p)
    assert found == pytest.approx(series.leaning(places, winners, p=p).mean())
    assert abs(found) <= 1 - consistency + 1e-12
    mixed = (places > 1).any(axis=1) & (series.consistent(winners) == 0)
    assert (found == 1) == bool((series.primacy(places, winners, p=p) == 0).all())
    assert (found == -1) == bool((series.primacy(places, winners, p=p) == 1).all())
    assert mixed.any() or found <= 0
    # Other names for the candidates change nothing.
    renamed = np.where(winners == 0, 0, p + 1 - winners)
    assert series.leaning(places, renamed, p=p).tolist() == series.leaning(places, winners, p=p).tolist()
    rates = [series.overall_win_rate(winners, candidate=np.full(len(rows), k), p=p).mean() for k in range(1, p + 1)]
    assert sum(rates) == pytest.approx(1)
    if p == 2:  # the arithmetic behind the parabola: a pair that nobody wins twice adds half a win
        assert consistency >= 2 * abs(rates[0] - 0.5) - 1e-12
        swapped = np.where(places == 0, 0, 3 - places)
        assert fairness(swapped, winners, 2) == pytest.approx(-found)


def test_one_and_minus_one_take_a_judge_that_is_never_consistent():
    places, winners = lists([[1, 1, 1], [1, 1, 2], [1, 0, 0]], 3)
    assert fairness(places, winners, 3) == -1
    places, winners = lists([[2, 2, 2], [3, 3, 1], [2, 3, 3]], 3)
    assert fairness(places, winners, 3) == 1
    places, winners = lists([[2, 2, 2], [1, 3, 2]], 3)  # the second series has one winner
    assert series.consistent(winners).tolist() == [0, 1]
    assert fairness(places, winners, 3) == 0.5


@pytest.mark.parametrize(("p", "options"), [(2, (1, 2)), (3, (1, 2, 3)), (3, (0, 1, 2, 3)), (4, (1, 2, 3, 4))])
def test_a_random_judge_of_lists_seems_to_prefer_the_end(p, options):
    rows = list(itertools.product(options, repeat=p))
    places, winners = lists(rows, p)
    consistency, expected = series.random_judge(p, ties=0.0 if 0 not in options else 1 / len(options))
    assert series.consistent(winners).mean() == pytest.approx(consistency)
    assert fairness(places, winners, p) == pytest.approx(expected)
    assert expected == (pytest.approx(0) if p == 2 else pytest.approx((1 - 2 / p) * (1 - consistency)))


def test_stability_is_the_share_of_the_commonest_choice_among_all_reads():
    choices = np.array([1, 1, 2, 0, 0, 0, 1, -1, -1, -1, -1, -1])
    prompt = np.repeat(np.arange(4), 3)
    found, reads = series.stability(choices, prompt, options=2)
    assert found.tolist() == pytest.approx([2 / 3, 1, 1 / 3, 0])
    assert reads.tolist() == [3] * 4


def test_the_first_place_within_pairs_by_a_loop():
    """Six pairs, each a cluster of its own with two reads in each order."""
    won = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
    first, unit = np.tile([True, True, False, False], 6), np.repeat(np.arange(6), 4)
    row = series.within_pairs(first, won.ravel(), unit, unit, 0.95)
    of_first, of_second = won[:, :2].sum(axis=1), won[:, 2:].sum(axis=1)
    same, other = (of_first * (2 - of_second)).sum() / 4, ((2 - of_first) * of_second).sum() / 4
    assert row["estimate"] == pytest.approx(np.log(same / other) / 2)
    scores = [(reads[:2] - reads.mean()).sum() / 2 - (reads[2:] - reads.mean()).sum() / 2 for reads in won]
    t = abs(sum(scores)) / np.sqrt(np.square(scores).sum())
    assert row["p"] == pytest.approx(2 * stats.t.sf(t, 5))
    assert row["ci_high"] - row["estimate"] == pytest.approx(row["estimate"] - row["ci_low"])


def test_disagreement_of_repeats_and_of_orders():
    # Three reads per order. One order: the first candidate twice, the second once; the other: always the second.
    counts = np.array([[[0, 2, 1], [0, 0, 3]], [[0, 3, 0], [0, 3, 0]], [[0, 1, 0], [0, 3, 0]]])
    within, between = series.disagreement(counts)
    assert within[:2] == pytest.approx([(2 / 3 + 0) / 2, 0])
    assert between[:2] == pytest.approx([2 / 3, 0])
    assert np.isnan([within[2], between[2]]).all()  # one order was read once


def test_a_judge_that_draws_alike_in_both_orders_has_no_excess_disagreement():
    rng = np.random.default_rng(20261122)
    chances = rng.dirichlet([1, 1, 0.5], size=4000)
    counts = np.stack([rng.multinomial(3, chances) for _ in range(2)], axis=1)
    within, between = series.disagreement(counts)
    assert (between - within).mean() == pytest.approx(0, abs=0.01)
    assert between.mean() > 0.3
