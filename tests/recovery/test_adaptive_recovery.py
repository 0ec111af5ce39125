"""Claims at stopping are right as often as they say, for judges of many kinds; intervals for a fixed n are not."""

import numpy as np
import pytest
from adaptive_recovery import JUDGES, LEVEL, NOISE, SCALE, Mixture, judges, reads, several

from rubric_order.extras.one_read.methods.adaptive import boundary, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Goal
from rubric_order.simulation.judge import Simulation

FEW = {"learning": 40, "groups": 20}


@pytest.mark.parametrize("place", [False, True])
@pytest.mark.parametrize("name", ["first", "groups differ", "partly saturated", "saturated"])
def test_claims_about_new_groups_are_right_at_the_level(name, place):
    rows = several(Simulation(**NOISE | JUDGES[name]), 5, place=place, **FEW)
    error = max(rows["learnt wrong"].std(ddof=1) / 5**0.5, 0.01)
    assert rows["learnt wrong"].mean() < 1 - LEVEL + 2.5 * error
    assert rows["sequence wrong"].mean() < 1 - LEVEL
    assert (rows["learnt reads"] < rows["sequence reads"]).all()  # it saves more than what is valid for each item


@pytest.mark.parametrize("learning", [20, 40])
@pytest.mark.parametrize("name", [name for name, of in judges() if isinstance(of, Mixture)])
def test_claims_are_right_where_some_groups_are_unlike_the_others(name, learning):
    rows = several(dict(judges())[name], 8, place=False, learning=learning, groups=20)
    error = max(rows["learnt wrong"].std(ddof=1) / 8**0.5, 0.01)
    assert rows["learnt wrong"].mean() < 1 - LEVEL + 2.5 * error


def test_few_groups_give_a_rule_that_is_no_more_cautious_than_many():
    """20 groups: what one group more adds was taken for 1 of the 1.05 wrong ones that are allowed."""
    few, many = (
        several(Simulation(**NOISE | JUDGES["first"]), 6, place=False, learning=n, groups=20) for n in (20, 80)
    )
    assert few["learnt reads"].mean() < many["learnt reads"].mean() + 0.7
    assert few["factor"].mean() < 1.3 * many["factor"].mean()


def test_intervals_for_a_fixed_n_that_are_looked_at_after_each_read_miss_too_often():
    """The error that a stopping rule must not make: Student's t after each read, stopped when it looks narrow."""
    values, group = reads(Simulation(**NOISE | JUDGES["partly saturated"]), groups=150, seed=5)
    order = stopping.orders(1, [(item,) for item in range(len(values))], 10)
    read = np.take_along_axis(values, order, axis=1)
    t = np.arange(1, 11)
    mean = np.cumsum(read, axis=1) / t
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (np.cumsum(read**2, axis=1) - t * mean**2) / (t - 1)
    reach = 1.96 * np.sqrt(np.maximum(variance, 0) * (10 - t) / (10 * t))
    reach[:, 0] = np.inf
    stops = stopping.stop(2 * reach, 10, 1.0, stopping.grouped(group))
    missed = np.abs(stops.taken(mean) - values.mean(axis=1)) > stops.taken(reach) + 1e-9
    assert missed.mean() > 0.15
    old, old_group = reads(Simulation(**NOISE | JUDGES["partly saturated"]), groups=60, seed=6)
    goal = Goal(1.0, False, 1 - LEVEL)
    rule = boundary.learn(old, old_group, old_group, SCALE, goal, draws=4, rng=np.random.default_rng(1))
    walk = boundary.paths(read, rule.offsets[order], rule.spread, SCALE)
    claimed = boundary.claims(walk, rule.factor, goal, SCALE, stopping.grouped(group))
    assert boundary.wrong(claimed, values.mean(axis=1), stopping.grouped(group)).mean() < 0.06
