"""Tests that decide a bias card, and answers drawn from probabilities."""

import math

import numpy as np
import pytest

from rubric_order.base.intervals import UNKNOWN
from rubric_order.methods.position import order_tests, sampling
from rubric_order.methods.position.order_tests import Deciding
from rubric_order.methods.uncertainty import multiplicity

ALL = {(readout, test): 0.1 * place for place, test in enumerate(order_tests.TESTS, 1) for readout in ("hard", "soft")}


@pytest.mark.parametrize(
    ("known", "log_odds", "points"),
    [
        ({"hard": True, "known": 0.0, "drawn": False}, "hard", "hard"),
        ({"hard": True, "known": 0.49, "drawn": True}, "hard", "hard"),
        ({"hard": True, "known": 0.5, "drawn": False}, "soft", "hard"),
        ({"hard": True, "known": 1.0, "drawn": True}, "soft", "soft"),
        ({"hard": False, "known": 0.1, "drawn": False}, "soft", "soft"),
    ],
)
def test_probabilities_decide_log_odds_and_points_where_answers_are_drawn_from_them(known, log_odds, points):
    assert order_tests.deciding(**known) == Deciding(log_odds, points)


@pytest.mark.parametrize(
    ("n", "by", "expected"),
    [
        (5, ("hard", "hard"), [("hard", test) for test in order_tests.TESTS]),
        (5, ("soft", "hard"), [("soft", "preference"), ("soft", "interaction"), ("hard", "points"), ("hard", "usual")]),
        (5, ("soft", "soft"), [("soft", test) for test in order_tests.TESTS[1:]]),
        (2, ("hard", "hard"), [("hard", "points")]),
        (2, ("soft", "hard"), [("soft", "preference"), ("hard", "points")]),
        (2, ("soft", "soft"), [("soft", "preference")]),
    ],
)
def test_the_tests_that_decide_are_adjusted_for_their_number_and_others_are_not_there(n, by, expected):
    found = order_tests.adjusted(ALL, n, Deciding(*by))
    assert [*found] == expected
    assert [*found.values()] == pytest.approx(multiplicity.holm(np.array([ALL[key] for key in expected])))


def test_of_two_levels_another_test_stands_in_for_one_that_could_not_be_made():
    p = ALL | {("hard", "points"): math.nan}
    assert [*order_tests.adjusted(p, 2, Deciding("hard", "hard"))] == [("hard", "selection")]
    assert order_tests.adjusted({}, 2, Deciding("hard", "hard")) == {}


@pytest.mark.parametrize(
    ("low", "high", "temperature", "drawn"),
    [
        (0.95, 1.05, math.nan, True),
        (0.95, 1.05, 1.0, True),
        (0.95, 1.05, 0.0, False),
        (0.79, 1.05, 1.0, False),
        (0.95, 1.26, 1.0, False),
        (1.01, 1.1, math.nan, False),
        (math.nan, math.nan, 1.0, False),
    ],
)
def test_answers_are_drawn_as_they_are_only_where_that_is_shown(low, high, temperature, drawn):
    assert order_tests.drawn_as_they_are(low, high, temperature) is drawn


def drawn_reads(power, *, reads=4000, n=4, seed=1):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n), size=reads)
    weights = shares**power
    edges = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    return shares, (edges < rng.random((reads, 1))).sum(axis=1).clip(max=n - 1), np.arange(reads) // 4


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_power_of_the_probabilities_that_answers_are_drawn_from_is_found(power):
    found = sampling.exponent(*drawn_reads(power))
    assert found.low < power < found.high
    assert found.high - found.low < 0.3 * power
    shares, chosen, _ = drawn_reads(power)
    grid = np.linspace(found.estimate - 0.05, found.estimate + 0.05, 101)
    powers = shares[..., None] ** grid
    logs = np.log(powers / powers.sum(axis=1, keepdims=True))[np.arange(len(chosen)), chosen].sum(axis=0)
    assert grid[logs.argmax()] == pytest.approx(found.estimate, abs=2e-3)


def test_of_most_probable_answers_no_power_is_known():
    shares, _, cluster = drawn_reads(1.0)
    certain = np.eye(3)[[0, 1, 2] * 3]
    for most_probable, cluster_of in ((shares, cluster), (certain, np.arange(9))):
        found = sampling.exponent(most_probable, most_probable.argmax(axis=1), cluster_of)
        assert math.isnan(found.estimate)
        assert (found.low, found.high) == (sampling.GREATEST, math.inf)
    equal = np.full((8, 2), 0.5)
    assert sampling.exponent(equal, np.arange(8) % 2, np.arange(8)) == pytest.approx(UNKNOWN, nan_ok=True)


def test_no_power_is_known_of_answers_that_do_not_follow_the_probabilities():
    shares, chosen, cluster = drawn_reads(1.0, n=9)
    three = np.where(shares >= np.sort(shares, axis=1)[:, -3:-2], shares, 0)  # probabilities of the three most probable
    three /= three.sum(axis=1, keepdims=True)
    assert (np.take_along_axis(three, chosen[:, None], axis=1) == 0).mean() > 0.05
    for answers in (chosen, shares.argmin(axis=1)):
        assert sampling.exponent(three, answers, cluster) == pytest.approx(UNKNOWN, nan_ok=True)


def test_an_option_without_probability_is_none_unless_it_was_written():
    shares, chosen, cluster = drawn_reads(1.0, n=3)
    none = np.zeros((len(shares), 1))
    assert sampling.exponent(np.hstack([shares, none]), chosen, cluster) == pytest.approx(
        sampling.exponent(shares, chosen, cluster)
    )
    written = np.where(np.arange(len(chosen)) < 100, 3, chosen)
    assert sampling.exponent(np.hstack([shares, none]), written, cluster).high < 0.8
