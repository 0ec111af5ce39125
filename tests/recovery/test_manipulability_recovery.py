"""Reach of a chosen order against what is known: nothing where there is no effect, the range of true means else."""

import numpy as np
import pytest
from scipy import stats

from rubric_order.analyses.position.manipulability import estimate as statistic
from rubric_order.methods.position import reach
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

OPTIONS = {"resamples": 100, "confidence": 0.95, "exchanges": 30}
JUDGES = {
    "first": Simulation(preference="first", preference_strength=2.0, group_positions=0.3),
    "indecisive, by item": Simulation(decisiveness=0.3, item_positions=0.8, prompts=0.5),
    "interaction": Simulation(preference="u_shaped", interaction=1.0, group_positions=0.5),
}


def study(of, *, groups, seed, strategy="balanced", budget=None):
    """Reads of groups of one to four items."""
    reads = studies.read_items(of, n=5, strategies=[strategy], groups=groups, candidates=4, seed=seed, budget=budget)
    size = np.random.default_rng(seed).choice([1, 2, 2, 4], groups)
    kept = np.tile(np.arange(4), groups) < np.repeat(size, 4)
    table = studies.as_scores(reads, candidates=4)
    return table[np.repeat(kept, reads[strategy].shown.shape[1])].reset_index(drop=True)


def written(table):
    """Reads whose probabilities are not known."""
    return table.drop(columns="position_probabilities").assign(expected_score=np.nan)


def true_means(of, strategy, *, groups=4000):
    """Expected score of many items in each ordering, by probabilities, shape (m, D)."""
    budget = 10 if strategy == "repeated_rotations" else None
    reads = studies.read_items(of, n=5, strategies=[strategy], groups=groups, seed=99, budget=budget)[strategy]
    orderings = 5 if strategy == "repeated_rotations" else 10
    return (reads.probabilities * reads.shown).sum(axis=2)[:, :orderings]


def value(rows, quantity, choice, part, readout="hard"):
    chosen = rows[(rows["quantity"] == quantity) & (rows["choice"] == choice) & (rows["part"] == part)]
    (row,) = chosen[chosen["readout"] == readout].to_dict("records")
    return row


@pytest.mark.parametrize("name", JUDGES)
def test_expected_scores_have_the_range_of_their_true_means(name):
    of = JUDGES[name]
    means = true_means(of, "balanced")
    own, shared = [], []
    for seed in range(6):
        rows = statistic.estimate(study(of, groups=60, seed=seed).assign(score=np.nan), **OPTIONS, seed=seed)
        own.append(value(rows, "points", "own", "reached", "soft")["estimate"])
        shared.append(value(rows, "points", "shared", "reached", "soft")["estimate"])
    truth = np.ptp(means, axis=1).mean()
    assert np.mean(own) == pytest.approx(truth, abs=4 * np.std(own) / np.sqrt(5) + 0.02 * truth)
    truth = np.ptp(means.mean(axis=0))
    assert np.mean(shared) < truth + 4 * np.std(shared) / np.sqrt(5)
    if name == "first":  # with a clear highest and lowest one, all of it is reached
        assert np.mean(shared) == pytest.approx(truth, abs=4 * np.std(shared) / np.sqrt(5) + 0.02 * truth)


@pytest.mark.parametrize("name", JUDGES)
def test_halves_of_repeats_reach_no_more_than_there_is_and_what_is_seen_is_far_more(name):
    of = JUDGES[name]
    truth = np.ptp(true_means(of, "repeated_rotations"), axis=1).mean()
    seen, reached, beyond = [], [], []
    for seed in range(6):
        table = written(study(of, groups=60, seed=seed, strategy="repeated_rotations", budget=20))
        rows = statistic.estimate(table, **OPTIONS, seed=seed)
        for part, values in (("seen", seen), ("reached", reached), ("beyond", beyond)):
            values.append(value(rows, "points", "own", part)["estimate"])
    for values in (reached, beyond):
        assert 0 < np.mean(values) < truth + 4 * np.std(values) / np.sqrt(5)
    assert np.mean(seen) > truth + 4 * np.std(seen) / np.sqrt(5)


@pytest.mark.slow
def test_without_an_effect_nothing_is_beyond_chance_or_reached():
    """The judge varies by chance alone, and by what all reads of an item or group share; groups are few and unequal."""
    of, count = Simulation(group_scores=0.5, item_scores=0.5, decisiveness=0.7), 30
    found, wrong = {}, {}
    for seed in range(count):
        for strategy, budget in (("balanced", None), ("repeated_rotations", 10)):
            table = written(study(of, groups=20, seed=seed, strategy=strategy, budget=budget))
            rows = statistic.estimate(table, **OPTIONS, seed=seed)
            for row in rows[rows["part"].isin(["beyond", "reached"])].to_dict("records"):
                key = strategy, row["quantity"], row["choice"], row["part"]
                found.setdefault(key, []).append(row["estimate"])
                wrong[key] = wrong.get(key, 0) + (row["ci_low"] > 0 or row["ci_high"] < 0)
    assert {part for *_, part in found} == {"beyond", "reached"}
    for key, values in found.items():
        assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(count - 1), key
        assert wrong[key] <= stats.binom.ppf(1 - 1e-4, count, 0.05), (key, wrong[key])


def test_an_order_that_moves_all_candidates_alike_moves_no_rank():
    """Without noise, candidates far from the ends of the scale keep their ranks, though all scores move."""
    found = reach.moved(np.array([[2.0, 2.6], [3.0, 3.6], [4.0, 4.6]]), np.array([[0, 1, 2]]), 0)
    assert found.points_shared == pytest.approx(0.6)
    assert found.places_shared.max() == found.places.max() == 0
    assert not found.best_shared.any()
    noisy = reach.chance_reach(
        np.array([[2.0, 2.6], [2.3, 2.9]])[:, :, None], np.array([[0, 1]]), 0, count=200, rng=np.random.default_rng(1)
    )
    assert noisy.places_shared.mean() > 0.3  # exchanges take the common move for chance


def test_a_saturated_judge_cannot_be_moved():
    of = Simulation(preference="first", preference_strength=1.5, decisiveness=200)
    rows = statistic.estimate(study(of, groups=30, seed=1), **OPTIONS, seed=1)
    assert (rows["estimate"].abs() < 0.1).all()
