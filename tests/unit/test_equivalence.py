"""Two one-sided tests: by hand, with their error at the margin, and from other statistics to the table."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads
from scipy import stats

from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.position.equivalence import estimate as statistic
from rubric_order.analyses.position.equivalence import table as tables
from rubric_order.analyses.position.position_preference import estimate as position_preference
from rubric_order.analyses.position.score_effects import estimate as score_effects
from rubric_order.analyses.scoring.condition_comparison import estimate as condition_comparison
from rubric_order.methods.uncertainty import additive, equivalence, resampling

MARGINS = {"level": 0.05, "points": 0.1, "log_odds": 0.2, "r": 0.02}
DRAWN = {"confidence": 0.95, "seed": 1}


def estimates(table):
    return statistic.estimate(
        score_effects=score_effects.estimate(table, sign_changes=100, **DRAWN),
        position_preference=position_preference.estimate(table, confidence=0.95, sampling_temperatures={}),
        strategy_comparison=strategy_comparison.estimate(table, confidence=0.95),
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
    left_out = resampling.left_out_of_mean(found.shift, found.influence, np.full(groups, 4))
    assert resampling.jackknife_t(left_out, 0.95).error[0] == pytest.approx(error[0])
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
    none = strategy_comparison.estimate(table, confidence=0.95)
    found = statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
    row = found.query("quantity == 'usual_minus_balanced' and cluster == 'group' and dataset == 'd'").iloc[0]
    usual = effects.query("quantity == 'usual_minus_balanced' and cluster == 'group' and dataset == 'd'").iloc[0]
    assert [row["low"], row["high"]] == pytest.approx([usual["ci_low"], usual["ci_high"]])


def test_few_groups_show_nothing_to_be_small():
    noisy = simulated_reads(groups=20, candidates=60, strategies=["balanced"], noise=0.2)
    effects = score_effects.estimate(noisy, sign_changes=100, **DRAWN)
    none = strategy_comparison.estimate(noisy, confidence=0.95)
    found = statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
    row = found.query("quantity == 'points' and cluster == 'group' and dataset == 'd'").iloc[0]
    assert -0.1 < row["low"] < row["high"] < 0.1
    assert row["verdict"] == "undecided"


def test_a_judge_that_never_varies_is_undecided_and_flagged():
    found = estimates(score_table([[5] * 10] * 40, human=[1, 2, 3, 4] * 10))
    points = found.query("quantity == 'points' and readout == 'hard'")
    assert set(points["verdict"]) == {"undecided"}
    assert points["flag"].str.contains("saturated").all()


def test_the_table_names_both_strategies():
    found = estimates(simulated_reads(groups=12))
    rows = tables.TABLE.table(found, study="s")
    printed = tables.TABLE.printout(rows)
    assert set(printed["strategy"]) == {"balanced", "random", "balanced - random"}
    assert set(printed["quantity"]) == {"points", "usual", "log-odds", "log-odds by score", "r"}
    assert tables.TABLE.table(found, study="other").empty


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
    printed = tables.TABLE.printout(tables.TABLE.table(found, study="s"))
    assert {"points against baseline", "r against baseline"} <= set(printed["quantity"])


@pytest.mark.parametrize(("shift", "share"), [(1.0, 0.1), (2.0, 0.05), (3.6, 0.1 / 3.6)])
@pytest.mark.parametrize("groups", [30, 60, 120, 200])
def test_a_shift_at_the_margin_that_few_groups_carry_is_seldom_shown_to_be_small(shift, share, groups):
    """All other groups stay where they are; Student's t alone shows it to be small in 8% to 45% of the studies."""
    rng, studies = np.random.default_rng(groups), 300
    moved = shift * (rng.random((groups, studies)) < share)
    p = equivalence.p_bounded(moved, np.ones(groups), margin=0.1, largest=3.6)
    assert (p <= 0.05).mean() <= stats.binom.ppf(0.999, studies, 0.05) / studies


def test_the_bound_for_few_groups_is_the_exact_binomial_test_where_groups_move_fully_or_not():
    for carriers in (0, 1, 2):
        moved = np.zeros((300, 1))
        moved[:carriers] = 2.0
        expected = stats.binom.cdf(carriers, 300, 0.1 / 2)
        found = equivalence.p_bounded(moved, np.ones(300), margin=0.1, largest=2.0)
        assert found == pytest.approx([expected], rel=0.05)
        assert equivalence.p_bounded(-moved, np.ones(300), margin=0.1, largest=2.0) == pytest.approx(found)


def test_the_bound_for_few_groups_is_the_probability_of_random_weights():
    rng = np.random.default_rng(3)
    values, sizes = rng.normal(0.02, 0.3, 60), rng.integers(1, 9, 60).astype(float)
    z = np.r_[sizes * (values - 0.1), (4 - 0.1) * (sizes**2).sum() / sizes.sum()]
    drawn = (rng.exponential(size=(100_000, 61)) @ z >= 0).mean()
    found = equivalence.p_bounded(values[:, None], sizes, margin=0.1, largest=4.0)[0]
    assert found == pytest.approx(drawn, abs=0.01)


def test_of_many_groups_that_all_vary_the_bound_is_that_of_students_t():
    values = np.random.default_rng(4).normal(0.05, 0.5, 1000)
    found = equivalence.p_bounded(values[:, None], np.ones(1000), margin=0.1, largest=3.6)[0]
    plain = stats.ttest_1samp(values, 0.1, alternative="less").pvalue
    assert plain < found < 3 * plain


def test_a_shift_that_one_item_of_150_carries_is_undecided():
    """The other items never change; in one the usual ordering gives four points more: Student's t is sure."""
    scores = [[3] * 10 for _ in range(150)]
    scores[0] = [5, *[1] * 9]
    found = estimates(score_table(scores, human=[1, 2, 3, 4, 5] * 30))
    row = found.query("quantity == 'usual_minus_balanced' and readout == 'hard' and cluster == 'item'").iloc[0]
    assert abs(row["estimate"]) < 0.05
    assert -0.1 < row["low"] < row["high"] < 0.1  # by which it was shown
    assert row["verdict"] == "undecided"


def test_unequal_groups_that_say_no_more_than_few_equal_ones_show_nothing_to_be_small():
    reads = simulated_reads(groups=60, candidates=40, strategies=["balanced"], noise=0.2, seed=2)
    group = reads["group_id"].factorize(sort=True)[0]
    candidate = reads.groupby("group_id")["item_id"].transform(lambda ids: ids.factorize(sort=True)[0])
    kept = reads[(candidate < 2) | (group < 3)]
    effects = score_effects.estimate(kept, sign_changes=100, **DRAWN)
    none = strategy_comparison.estimate(kept, confidence=0.95)
    found = statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
    row = found.query("quantity == 'points' and cluster == 'group' and dataset == 'd'").iloc[0]
    assert row["n_clusters"] == 60
    assert row["verdict"] == "undecided"


def test_a_margin_other_than_that_of_the_effects_is_refused():
    table = simulated_reads(groups=30, strategies=["balanced"], seed=5)
    effects = score_effects.estimate(table, sign_changes=100, points=0.2, **DRAWN)
    none = strategy_comparison.estimate(table, confidence=0.95)
    with pytest.raises(ValueError, match=r"margin 0\.2, not of 0\.1"):
        statistic.estimate(score_effects=effects, strategy_comparison=none, **others(), **MARGINS)
