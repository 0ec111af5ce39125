"""Corrected means of simulated people whose means are known; the script beside this file prints them at length."""

import numpy as np
import pytest
from corrected_recovery import POPULATIONS, run, study, truth
from scipy import stats

from rubric_order.extras.one_read.methods import corrected

SETTINGS = [
    ("groups of 4", 20),
    ("unequal groups, larger ones worse", 20),
    ("unequal groups, larger ones worse", 50),
    ("unequal groups and exposure", 30),
    ("judge by chance", 20),
    ("most pass", 50),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "labelled"), SETTINGS)
def test_intervals_cover_the_mean_the_difference_and_the_pass_rate(name, labelled):
    studies = 120
    rows = {(row["target"], row["estimator"]): row for row in run(POPULATIONS[name], labelled, studies)}
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], studies, 0.95) / studies
    for target in ("mean", "difference", "pass rate"):
        assert low <= rows[target, "corrected"]["coverage"] <= high, (target, rows[target, "corrected"])
    assert rows["mean", "judge"]["coverage"] < 0.5
    if name == "judge by chance":
        assert rows["Rogan-Gladen", "corrected"]["told"] < 0.1
        assert rows["mean", "corrected"]["width"] < 1.1 * rows["mean", "labels"]["width"]
    else:
        assert rows["mean", "corrected"]["width"] < rows["mean", "labels"]["width"]


@pytest.mark.slow
def test_labels_of_better_groups_make_every_estimate_wrong():
    """Sensitivity too: a judge errs less on what passes clearly, and better groups have more of that."""
    rows = {(row["target"], row["estimator"]): row for row in run(POPULATIONS["better groups labelled"], 100, 60)}
    assert rows["mean", "labels"]["coverage"] < 0.2
    assert rows["mean", "corrected"]["coverage"] < 0.8
    assert rows["mean", "corrected"]["error"] > 0.05
    assert rows["mean", "corrected"]["error"] < rows["mean", "labels"]["error"]
    assert rows["Rogan-Gladen", "corrected"]["coverage"] < 0.9


def test_a_saturated_judge_gives_labels_alone_in_every_study():
    for seed in range(3):
        items = study(POPULATIONS["saturated judge"], 20, np.random.default_rng(seed))
        sums = corrected.sums(items.human, items.judge, items.group)
        assert corrected.corrected(sums, 0.95) == corrected.corrected(sums, 0.95, weight=0.0)


def test_the_truth_of_equal_groups_is_what_the_population_says():
    """People prefer a by 0.2 on average, a little less on a scale with ends."""
    assert 0.15 < truth(POPULATIONS["single items"])["difference"] < 0.2
