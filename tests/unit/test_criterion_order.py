"""Criterion-order bias: tests by text, gaps beside chance, and planted effects that come back."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import CRITERIA, criteria_table, draw_criteria
from scipy import stats

from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.base import permutations
from rubric_order.methods.position import panels
from rubric_order.methods.uncertainty import multiplicity
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 200, "confidence": 0.95, "seed": 1}


def estimate(reads, **options):
    return criterion_order.estimate(reads, **{**OPTIONS, **options})


def one(statistics, quantity, **where):
    for column, value in {"quantity": quantity, **where}.items():
        statistics = statistics[statistics[column] == value]
    return statistics


# Tests by text.


def test_the_position_test_is_friedmans_over_mean_scores_by_position():
    values, shown = draw_criteria(20, 4, rng=np.random.default_rng(1), position=[0.4, 0, 0, 0])
    found = one(estimate(criteria_table(values, shown)), "position_test").set_index("criterion")
    place = permutations.positions_of(shown)
    for number, name in enumerate(CRITERIA[:4]):
        cells = np.array([values[:, place[:, number] == p, number].mean(axis=1) for p in range(1, 5)])
        expected = stats.friedmanchisquare(*cells)
        assert found.loc[name, "statistic"] == pytest.approx(expected.statistic)
        assert found.loc[name, "p"] == pytest.approx(expected.pvalue)
        assert found.loc[name, "estimate"] == pytest.approx(expected.statistic / (20 * 3))
        assert found.loc[name, ["df", "n_blocks", "n_incomplete", "test"]].tolist() == [3, 20, 0, "Friedman"]


def test_failed_answers_make_blocks_incomplete_and_the_test_that_of_skillings_and_mack():
    values, shown = draw_criteria(20, 4, rng=np.random.default_rng(2), failing=0.3)
    found = one(estimate(criteria_table(values, shown)), "position_test")
    assert (found["n_incomplete"] > 0).all()
    assert set(found["test"]) == {"Skillings-Mack"}
    assert (found["n_failed"] == np.isnan(values).sum()).all()


def test_random_orderings_are_incomplete_blocks_too_and_fixed_ones_none():
    values, shown = draw_criteria(20, 4, rng=np.random.default_rng(3), strategy="random")
    found = one(estimate(criteria_table(values, shown, strategy="random")), "position_test")
    assert found["p"].notna().all()
    assert estimate(criteria_table(values, shown, strategy="fixed")).empty
    assert estimate(criteria_table(values, shown).iloc[:0]).dtypes.equals(
        estimate(criteria_table(values, shown)).dtypes
    )


def test_texts_of_one_group_are_not_independent_in_the_test_that_says_so():
    # Five copies of each text: as evidence they are one.
    values, shown = draw_criteria(12, 4, rng=np.random.default_rng(4), position=[0.3, 0, 0, 0])
    copies, groups = np.repeat(values, 5, axis=0), [f"g{number // 5}" for number in range(60)]
    single, several = (
        one(estimate(reads), "position_test").reset_index()
        for reads in (criteria_table(values, shown), criteria_table(copies, shown, groups=groups))
    )
    assert (several["p"] < single["p"]).all()
    assert several["p_cluster"].to_numpy() == pytest.approx(single["p_cluster"].to_numpy())
    assert several["n_groups"].tolist() == [12] * 4


def test_p_values_are_adjusted_over_all_judges_datasets_and_criteria_of_a_study():
    rng = np.random.default_rng(5)
    parts = []
    for judge in ("a", "b"):
        for dataset, n_criteria in (("x", 3), ("y", 4)):
            values, shown = draw_criteria(15, n_criteria, rng=rng, position=np.linspace(0.4, 0, n_criteria))
            parts.append(criteria_table(values, shown, judge=judge, dataset=dataset))
    found = one(estimate(pd.concat(parts)), "position_test")
    assert set(found["n_tests"]) == {14}
    assert found["p_holm"].to_numpy() == pytest.approx(multiplicity.holm(found["p"].to_numpy()))
    assert found["p_bh"].to_numpy() == pytest.approx(stats.false_discovery_control(found["p"]))
    assert found["p_cluster_bh"].to_numpy() == pytest.approx(stats.false_discovery_control(found["p_cluster"]))


def test_the_number_of_tests_is_that_of_texts_also_where_one_group_is_no_sample():
    values, shown = draw_criteria(15, 3, rng=np.random.default_rng(6), position=[0.4, 0, 0])
    found = one(estimate(criteria_table(values, shown, groups=["g"] * 15)), "position_test")
    assert found["p_cluster"].isna().all()
    assert found["n_tests_texts"].tolist() == [3] * 3
    assert found["n_tests"].isna().all()


@pytest.mark.parametrize("column", ["p", "p_cluster"])
@pytest.mark.slow
def test_both_tests_keep_their_level_when_the_order_makes_no_difference(column):
    rng = np.random.default_rng(6)
    rejected = []
    for _ in range(150):
        values, shown = draw_criteria(60, 4, rng=rng, failing=0.2)
        panel = panels.panel(criteria_table(values, shown), "hard")
        found = criterion_order.position_tests(panels.cells(panel.values, panel.positions), panel.groups)
        rejected += [row[column] < 0.05 for row in found]
    assert 0.025 <= np.mean(rejected) <= 0.075


# Means, shifts and gaps.


def test_means_and_shifts_of_a_hand_worked_case():
    # Two criteria, two orderings. Wit scores 4 first and 2 second; plot 3 and 3.
    values = np.array([[[4, 3], [2, 3]], [[4, 3], [2, 3]]], dtype=float)
    statistics = estimate(criteria_table(values, [[1, 2], [2, 1]]))
    assert one(statistics, "mean", criterion="wit")["estimate"].tolist() == [4, 2]
    assert one(statistics, "shift", criterion="wit")["estimate"].tolist() == pytest.approx([1, -1])
    assert one(statistics, "shift", criterion="plot")["estimate"].tolist() == pytest.approx([0, 0])
    assert one(statistics, "gap", criterion="wit")["estimate"].item() == pytest.approx(2)
    assert one(statistics, "mean_gap")["estimate"].item() == pytest.approx(1)
    assert one(statistics, "max_gap")["estimate"].item() == pytest.approx(2)
    assert one(statistics, "shift")["position"].tolist() == [1, 2, 1, 2]
    assert one(statistics, "shift")["n_scores"].tolist() == [2] * 4


def test_the_gap_by_chance_is_that_of_random_signs_of_groups():
    # One text is no sample.
    statistics = estimate(criteria_table(np.array([[[4, 3], [2, 1]]], dtype=float), [[1, 2], [2, 1]]))
    gaps = one(statistics, "gap")
    assert gaps["estimate"].tolist() == pytest.approx([2, 2])
    assert gaps[["ci_low", "ci_high", "null", "excess", "p_cluster"]].isna().all(axis=None)
    # Two texts with opposite answers: the gap is 0, and 2 with half of the signs.
    values = np.array([[[4, 3], [2, 3]], [[2, 3], [4, 3]]], dtype=float)
    reads = criteria_table(values, [[1, 2], [2, 1]], groups=["a", "b"])
    found = one(estimate(reads, resamples=2000), "gap", criterion="wit")
    assert found["estimate"].item() == pytest.approx(0)
    assert found["null"].item() == pytest.approx(1, abs=0.07)
    assert found["p_cluster"].item() == 1


def of_groups(n_groups, *, effect, rng, mean=0.0, per=8, n_criteria=4):
    """Reads of texts in groups, each of which has an effect of every position of its own; `mean` of them on average."""
    shown = orderings.choose("balanced", n_criteria, rng=rng)
    group = np.repeat(np.arange(n_groups), per)
    shift = mean + np.repeat(effect * rng.normal(size=(n_groups, n_criteria)), per, axis=0)
    opinion = 3 + 0.5 * (rng.normal(size=(len(group), 1, 1)) + rng.normal(size=(len(group), 1, n_criteria)))
    noise = 0.5 * rng.normal(size=(len(group), len(shown), n_criteria))
    values = opinion + shift[:, permutations.positions_of(shown) - 1] + noise
    positions = np.broadcast_to(permutations.positions_of(shown), values.shape)
    values, human = np.clip(np.round(values), 1, 5), np.full((len(group), n_criteria), np.nan)
    return panels.Panel(
        CRITERIA[:n_criteria], np.arange(len(group)), group, group, values, positions, 0 * positions, human
    )


def rejections(n_groups, *, studies, seed, **options):
    """Share of studies in which each test of the first criterion rejects at 5%."""
    rng = np.random.default_rng(seed)
    rejected = []
    for _ in range(studies):
        panel = of_groups(n_groups, rng=rng, **options)
        cells = panels.cells(panel.values[..., :1], panel.positions[..., :1])  # one criterion is looked at
        gap = criterion_order.gaps(panels.position_effects(cells)[1])
        chance = criterion_order.gaps(panels.flipped_shifts(cells, panel.groups, 199, rng=rng))
        (test,) = criterion_order.position_tests(cells, panel.groups)
        found = criterion_order._gap("gap", gap[0], gap, chance[:, 0], 0.95)["p_cluster"], test["p"], test["p_cluster"]
        rejected.append(np.array(found) <= 0.05)
    return dict(zip(("gap", "texts", "groups"), np.mean(rejected, axis=0), strict=True))


def test_order_effects_of_single_groups_make_only_the_test_of_texts_reject():
    rates = rejections(18, studies=150, seed=1, effect=0.3)
    assert rates["texts"] > 0.3
    assert rates["gap"] < 0.12
    assert rates["groups"] < 0.12
    assert rejections(18, studies=40, seed=2, effect=0.3, mean=np.array([0.5, 0, 0, -0.5]))["gap"] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [18, 40, 96])
@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_tests_of_groups_keep_their_level_under_order_effects_of_groups(n_groups, effect):
    rates = rejections(n_groups, studies=3000, seed=3, effect=effect)
    assert 0.035 <= rates["gap"] <= 0.065  # two standard errors of 3000 studies: 0.8 points
    assert 0.03 <= rates["groups"] <= 0.065


@pytest.mark.slow
def test_without_an_effect_gaps_are_what_chance_gives_and_their_p_values_uniform():
    rng = np.random.default_rng(7)
    p_values, excess = [], []
    for seed in range(40):
        values, shown = draw_criteria(30, 4, rng=rng)
        found = estimate(criteria_table(values, shown), resamples=100, seed=seed)
        p_values.append(one(found, "max_gap")["p_cluster"].item())
        excess.append(one(found, "mean_gap")["excess"].item())
        assert one(found, "mean_gap")["estimate"].item() > 0.05  # the best less the worst of four is never 0
    assert stats.kstest(p_values, "uniform").pvalue > 0.001
    assert abs(np.mean(excess)) < 3 * np.std(excess) / math.sqrt(40)


def test_what_one_answer_has_in_common_does_not_pass_for_an_effect():
    # Every answer is lenient or strict as a whole: gaps of criteria go together, and so does the largest of them.
    rng = np.random.default_rng(8)
    shown = orderings.balanced(4)
    values = 3 + np.repeat(rng.integers(-1, 2, (30, 8, 1)), 4, axis=2).astype(float)
    found = estimate(criteria_table(values, shown))
    assert one(found, "max_gap")["p_cluster"].item() > 0.01


def test_planted_position_effects_come_back():
    rng = np.random.default_rng(9)
    planted = np.array([0.5, 0.1, 0.0, -0.6])
    values, shown = draw_criteria(400, 4, rng=rng, position=planted, rounded=False)
    reads = criteria_table(np.clip(np.round(values), 1, 5), shown, soft=values)
    statistics = estimate(reads)
    shifts = one(statistics, "shift", readout="soft")
    for name in CRITERIA[:4]:
        found = shifts[shifts["criterion"] == name]
        assert found["estimate"].to_numpy() == pytest.approx(planted - planted.mean(), abs=0.08)
    inside = (shifts["ci_low"] <= np.tile(planted, 4)) & (np.tile(planted, 4) <= shifts["ci_high"])
    assert inside.mean() > 0.7
    assert one(statistics, "mean_gap", readout="soft")["estimate"].item() == pytest.approx(1.1, abs=0.1)
    assert (one(statistics, "position_test")["p_cluster_holm"] < 1e-6).all()
    assert (one(statistics, "gap")["p_cluster"] < 0.01).all()


@pytest.mark.slow
def test_intervals_of_shifts_cover_at_their_nominal_rate():
    rng = np.random.default_rng(10)
    planted = np.array([0.4, 0.0, -0.4])
    covered = []
    for seed in range(60):
        values, shown = draw_criteria(40, 3, rng=rng, position=planted, rounded=False, failing=0.1)
        reads = criteria_table(np.ones_like(values), shown, soft=values)
        found = one(estimate(reads, resamples=300, seed=seed), "shift", readout="soft")
        covered += ((found["ci_low"] <= np.tile(planted, 3)) & (np.tile(planted, 3) <= found["ci_high"])).tolist()
    assert 0.92 <= np.mean(covered) <= 0.975
