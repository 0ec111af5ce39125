"""The test that the order moves mean scores: its level where items, groups and prompts differ, and its power."""

import numpy as np
import pytest

from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import additive, resampling
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

EFFECTS = {
    "none": {},
    "item": {"item_positions": 1.0, "item_scores": 0.5},
    "group": {"group_positions": 1.0, "group_scores": 0.5},
    "prompt": {"prompts": 1.0},
    "all": {"item_positions": 0.7, "group_positions": 0.7, "prompts": 0.7},
    "saturated": {"group_positions": 1.0, "leniency": 2.0, "decisiveness": 2.0},
}
SIZES = {18: 4, 40: 8, 96: 4}  # groups: candidates


def departures(groups, candidates, seed, **judge):
    """Departures of each group's items from their means under each ordering, and the positions selected."""
    size = {"groups": groups, "candidates": candidates, "n": 5, "strategies": ["balanced"]}
    reads = studies.read_items(Simulation(seed=seed, **judge), seed=seed, **size)["balanced"]
    away = reads.scores - reads.scores.mean(axis=1, keepdims=True)
    return resampling.sum_units(away, np.repeat(np.arange(groups), candidates)), reads


def rejections(effects, groups, candidates, repetitions, draws=499):
    """Share of studies without a mean effect in which the test rejects at 5%."""
    tests = (
        additive.no_shift(departures(groups, candidates, seed, **effects)[0], draws=draws, seed=0)
        for seed in range(repetitions)
    )
    return np.mean([p <= 0.05 for p in tests])


@pytest.mark.parametrize("name", ["item", "group", "prompt", "saturated"])
def test_it_keeps_its_level(name):
    assert 0.01 <= rejections(EFFECTS[name], 40, 4, 150) <= 0.1  # four standard errors about 5%


@pytest.mark.slow
@pytest.mark.parametrize("groups", SIZES)
@pytest.mark.parametrize("name", EFFECTS)
def test_it_keeps_its_level_exactly(name, groups):
    assert 0.03 <= rejections(EFFECTS[name], groups, SIZES[groups], 2000) <= 0.07


def test_dealing_orderings_item_by_item_does_not_where_groups_have_effects_of_their_own():
    rng, rejected = np.random.default_rng(0), []
    for seed in range(40):
        _, reads = departures(40, 8, seed, **EFFECTS["group"])
        dealt = rng.permuted(np.broadcast_to(reads.scores, (99, *reads.scores.shape)), axis=2).mean(axis=1)
        observed = reads.scores.mean(axis=0).std()
        rejected.append(1 + (dealt.std(axis=1) >= observed).sum() <= 5)
    assert np.mean(rejected) > 0.15


def test_it_sees_a_preference_that_positions_do_not_show():
    found = []
    for seed in range(10):
        away, reads = departures(80, 4, seed, interaction=1.5)
        selected = np.bincount(reads.positions.ravel(), minlength=6)[1:]
        gap = np.ptp(reads.scores.mean(axis=0))
        found.append((uniformity.cramers_v(selected), gap, additive.no_shift(away, draws=499, seed=0)))
    v, gap, p = np.array(found).T
    assert v.mean() < 0.03
    assert gap.mean() > 0.25
    assert (p < 0.01).all()
