"""Two one-sided tests: by hand, with their error at the margin, and from other statistics to the table."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads
from scipy import stats

from rubric_order.methods import additive, equivalence, resampling
from rubric_order.statistics import condition_comparison, position_preference, score_effects, strategy_comparison
from rubric_order.statistics import equivalence as statistic
from rubric_order.tables import equivalence as tables

MARGINS = {"level": 0.05, "points": 0.1, "log_odds": 0.2, "r": 0.02}
DRAWN = {"confidence": 0.95, "seed": 1}


def estimates(table):
    return statistic.estimate(
        score_effects=score_effects.estimate(table, sign_changes=100, **DRAWN),
        position_preference=position_preference.estimate(table, confidence=0.95, sampling_temperatures={}),
        strategy_comparison=strategy_comparison.estimate(table, resamples=200, **DRAWN),
        condition_comparison=condition_comparison.estimate(table, confidence=0.95),
        **MARGINS,
    )


def others():
    """The statistics that a test is not about, without a row."""
    return {
        "position_preference": position_preference.estimate([], confidence=0.95, sampling_temperatures={}),
        "condition_comparison": condition_comparison.estimate([], confidence=0.95),
    }


def test_both_one_sided_tests_are_those_of_scipy():
    values = np.random.default_rng(1).normal(0.03, 0.2, 30)
    error = values.std(ddof=1) / np.sqrt(30)
    low, high = stats.t.interval(0.95, 29, values.mean(), error)
    found = equivalence.error_of_interval(np.array([low]), np.array([high]), np.array([29]), 0.95)
    assert found == pytest.approx(error)
    p = equivalence.p_values(values.mean()[None], found, np.array([29]), 0.1)[0]
    above = stats.ttest_1samp(values, -0.1, alternative="greater").pvalue
    below = stats.ttest_1samp(values, 0.1, alternative="less").pvalue
    assert p == pytest.approx(max(above, below))
    ends = equivalence.interval(values.mean()[None], found, np.array([29]), 0.05)
    assert np.ravel(ends) == pytest.approx(stats.t.interval(0.9, 29, values.mean(), error))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ([-0.05, 0], [0.05, 0.09], "shown"),
        ([-0.05, 0.02], [0.05, 0.12], "undecided"),
        ([-0.05, 0.11], [0.05, 0.2], "not shown"),
        ([-0.3, -0.05], [-0.1, 0.05], "not shown"),
        ([-0.05, np.nan], [0.05, np.nan], "undecided"),
        ([], [], "undecided"),
    ],
)
def test_a_verdict_is_about_every_effect(low, high, verdict):
    assert equivalence.verdict(np.array(low, dtype=float), np.array(high, dtype=float), 0.1) == verdict


@pytest.mark.parametrize("groups", [40, 96])
def test_an_effect_at_the_margin_is_shown_to_be_small_in_at_most_one_of_twenty_studies(groups):
    """Whole scores under four orderings; one of them adds the margin on average, other effects differ by group."""
    rng, margin, studies = np.random.default_rng(groups), 0.1, 4000
    shift = np.array([margin, -margin / 3, -margin / 3, -margin / 3])
    own = 0.1 * rng.normal(size=(studies, groups, 1, 4)) + 0.05 * rng.normal(size=(studies, groups, 4, 4))
    mean = 3.3 + shift + own - own.mean(axis=-1, keepdims=True)
    scores = np.floor(mean) + (rng.random(mean.shape) < mean % 1)
    first = (scores[..., 0] - scores.mean(axis=-1)).mean(axis=2)
    error = first.std(axis=1, ddof=1) / np.sqrt(groups)
    found = additive.shifts(
        additive.Cells(scores[0].reshape(-1, 4), np.ones((4 * groups, 4))), np.arange(groups).repeat(4)
    )
    assert found.shift[0] == pytest.approx(first[0].mean())
    assert resampling.jackknife_error(found.influence)[0] == pytest.approx(error[0])
    wrong = (equivalence.p_values(first.mean(axis=1), error, np.full(studies, groups - 1), margin) <= 0.05).mean()
    assert 0.03 < wrong <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / studies)


def test_a_judge_without_preference_is_shown_to_be_small_and_one_with_a_strong_one_is_not():
    near = simulated_reads(groups=150, candidates=8, strategies=["balanced", "random"], noise=0.2, seed=2)
    far = simulated_reads(groups=30, strategies=["balanced", "random"], preference=[2, 0, 0, 0, 0], judge="far")
    few = simulated_reads(groups=5, strategies=["balanced", "random"], judge="few")
    found = estimates(pd.concat([near, far, few])).query("cluster == 'group' and dataset == 'd'")
    verdicts = found.query("strategy == 'balanced'").set_index(["judge", "quantity"])["verdict"]
    assert verdicts["j", "points"] == verdicts["j", "r"] == "shown"
    assert verdicts["far", "points"] == "not shown"
    odds = found.query("quantity == 'log_odds' and strategy == 'balanced'").set_index("judge")["verdict"]
    assert odds["j"] == "shown"
    assert odds["far"] == "not shown"
    assert verdicts["few", "points"] == "undecided"
    row = found.query("judge == 'j' and quantity == 'points'").iloc[0]
    assert row["n_effects"] == 10
    assert -0.1 < row["low"] < row["estimate"] < row["high"] < 0.1
    assert row["p"] < 0.05


def test_the_verdict_is_that_of_the_interval_at_twice_the_level():
    table = simulated_reads(groups=60, strategies=["balanced"], preference=[0.2, 0, 0, 0, 0], seed=5)
    effects = score_effects.estimate(table, sign_changes=100, confidence=0.9, seed=1)
    none = strategy_comparison.estimate(table, resamples=100, **DRAWN)
    found = statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
    row = found.query("quantity == 'usual_minus_balanced' and cluster == 'group' and dataset == 'd'").iloc[0]
    usual = effects.query("quantity == 'usual_minus_balanced' and cluster == 'group' and dataset == 'd'").iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([usual["ci_low"], usual["ci_high"]])


def test_few_groups_show_nothing_to_be_small():
    noisy = simulated_reads(groups=20, candidates=60, strategies=["balanced"], noise=0.2)
    effects = score_effects.estimate(noisy, sign_changes=100, **DRAWN)
    none = strategy_comparison.estimate(noisy, resamples=100, **DRAWN)
    found = statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
    row = found.query("quantity == 'points' and cluster == 'group' and dataset == 'd'").iloc[0]
    assert row["p"] < 0.05
    assert row["verdict"] == "undecided"


def test_a_judge_that_never_varies_is_undecided_and_flagged():
    found = estimates(score_table([[5] * 10] * 40, human=[1, 2, 3, 4] * 10))
    points = found.query("quantity == 'points' and readout == 'hard'")
    assert set(points["verdict"]) == {"undecided"}
    assert points["flag"].str.contains("saturated").all()


def test_the_table_names_both_strategies():
    found = estimates(simulated_reads(groups=12))
    rows = tables.table(found, study="s")
    printed = tables.for_print(rows)
    assert set(printed["strategy"]) == {"balanced", "random", "balanced - random"}
    assert set(printed["quantity"]) == {"points", "usual", "log-odds", "log-odds by score", "r"}
    assert tables.table(found, study="other").empty


def test_two_conditions_are_shown_to_be_alike_or_not():
    """Items of the same seed are the same; the scores of one condition are a level higher."""
    reads = simulated_reads(groups=60, candidates=4, strategies=["balanced"], noise=0.5, seed=3)
    higher = reads.assign(condition="higher", score=(reads["score"] + 1).clip(upper=5))
    again = simulated_reads(groups=60, candidates=4, strategies=["balanced"], noise=0.5, seed=3)
    found = estimates(pd.concat([reads, higher, again.assign(condition="again")], ignore_index=True))
    rows = found[(found["other"] == "baseline") & (found["cluster"] == "group")].set_index(["condition", "quantity"])
    assert rows.loc[("higher", "condition_points"), "verdict"] == "not shown"
    assert rows.loc[("higher", "condition_points"), "margin"] == MARGINS["points"]
    assert rows.loc[("again", "condition_r"), "margin"] == MARGINS["r"]
    assert set(found.loc[found["other"] == "again", "condition"]) == set()
    printed = tables.for_print(tables.table(found, study="s"))
    assert {"points against baseline", "r against baseline"} <= set(printed["quantity"])
