"""Records of strategies: their orders, which tables and cards depend on, and that each can be used."""

import numpy as np
import pytest

from rubric_order import probes, strategies
from rubric_order.strategies import STRATEGIES, Wanted


def test_the_order_in_which_strategies_are_compared_stays():
    assert (
        *("balanced", "balanced_williams", "all", "swap", "cyclic", "latin", "repeated_rotations"),
        *("random", "fixed", "single", "descending", "rotated"),
    ) == strategies.COMPARED
    assert strategies.EVERY_POSITION == ("balanced", "random", "all", "balanced_williams", "repeated_rotations")
    assert strategies.fitting("deviation") == ("balanced", "random", "all", "repeated_rotations", "fixed")


@pytest.mark.parametrize("attribute", ["compared", "look", "words"])
def test_no_two_strategies_share_a_place_a_look_or_words(attribute):
    values = [str(value) for one in STRATEGIES.values() if (value := getattr(one, attribute)) is not None]
    assert len(set(values)) == len(values) >= 11
    heads = [one.head.place for one in STRATEGIES.values() if one.head]
    assert len(set(heads)) == len(heads)


@pytest.mark.parametrize("name", strategies.names(lambda strategy: strategy.orderings))
def test_what_a_record_says_of_its_orderings_is_so(name):
    strategy, n = STRATEGIES[name], 2 if name == "swap" else 4
    candidates = "score_order" not in strategy.probes

    def made(seed):
        rows = strategy.orderings(Wanted(n, 400 if name == "random" else 8, candidates, np.random.default_rng(seed)))
        return rows[1:2] if strategy.in_turn else rows  # the second unit has the second one alone

    rows = made(1)
    assert (np.sort(rows, axis=1) == np.arange(1, n + 1)).all()
    counts = np.array([np.bincount(column, minlength=n + 1)[1:] for column in rows.T])
    assert (counts.min() > 0) == (strategy.every_position or candidates)
    assert strategy.drawn == (rows != made(2)).any()
    assert strategy.one_ordering == (rows == np.arange(1, n + 1)).all()
    if strategy.one_ordering_a_read:
        assert not strategy.drawn
        assert len(np.unique(rows, axis=0)) > 1
    if strategy.rounds:
        with pytest.raises(ValueError, match=name):
            strategy.orderings(Wanted(n, strategy.rounds * n + 1, candidates, np.random.default_rng(1)))


def test_every_strategy_of_ours_is_offered_by_a_probe_that_there_is():
    named = {probe for strategy in STRATEGIES.values() for probe in strategy.probes}
    assert named == set(probes.REGISTRY.names())
    for probe in named:
        assert strategies.offered(probe) == probes.load(probe).STRATEGIES
