"""Paired differences of correlations: against hand-worked cases, plain loops and simulation."""

import numpy as np
import pandas as pd
import pytest
from factories import one_read_each
from scipy import stats

from rubric_order.base.keys import KEYS
from rubric_order.statistics import strategy_comparison

BOOTSTRAP = {"resamples": 200, "confidence": 0.95, "seed": 1}


def difference(first, second, human, clusters=None, *, resamples=2000, confidence=0.95, seed=1):
    first, second, human = (np.asarray(values, dtype=float) for values in (first, second, human))
    clusters = np.arange(len(human)) if clusters is None else clusters
    rng = np.random.default_rng(seed)
    return strategy_comparison.paired_difference(
        first, second, human, clusters, resamples=resamples, confidence=confidence, rng=rng
    )


def three_scores(rng, n_items, *, better=0.5):
    """Two scores of the same quality, of which the first has less noise of its own, and the human one."""
    quality = rng.normal(size=n_items)
    shared = quality + 0.8 * rng.normal(size=n_items)
    return (
        shared + (0.6 - better) * rng.normal(size=n_items),
        shared + 0.6 * rng.normal(size=n_items),
        quality + 0.3 * rng.normal(size=n_items),
    )


def test_difference_of_a_hand_worked_case():
    # Deviations -1, 0, 1 and 0, -1, 1 from human ones of -1, 1, 0: products 1 and -1, over 2.
    found = difference([1, 2, 3], [2, 1, 3], [1, 3, 2])
    assert found["estimate"] == pytest.approx(0.5 - -0.5)


@pytest.mark.parametrize("groups", [None, 20])
def test_differences_agree_with_a_plain_bootstrap(groups):
    rng = np.random.default_rng(2)
    first, second, human = three_scores(rng, 80)
    clusters = np.arange(80) if groups is None else np.arange(80) % groups
    found = difference(first, second, human, clusters, resamples=4000)
    assert found["estimate"] == pytest.approx(
        stats.pearsonr(first, human).statistic - stats.pearsonr(second, human).statistic
    )
    members = [np.flatnonzero(clusters == cluster) for cluster in range(clusters.max() + 1)]
    plain = []
    for _ in range(2000):
        rows = np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])
        plain.append(np.corrcoef(first[rows], human[rows])[0, 1] - np.corrcoef(second[rows], human[rows])[0, 1])
    low, high = np.quantile(plain, [0.025, 0.975])
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high), abs=0.1 * (high - low))
    p = 2 * min(np.mean(np.array(plain) <= 0), np.mean(np.array(plain) >= 0))
    assert found["p"] == pytest.approx(p, abs=0.02)


def test_shift_scale_and_order_change_nothing_and_swapping_turns_the_sign():
    rng = np.random.default_rng(3)
    first, second, human = three_scores(rng, 60)
    found = difference(first, second, human)
    scaled = difference(3 * first + 100, 0.5 * second - 7, human * 10 + 1e4)
    swapped = difference(second, first, human)
    for name in ("estimate", "ci_low", "ci_high", "p"):
        assert scaled[name] == pytest.approx(found[name], abs=1e-8)
    assert swapped["estimate"] == pytest.approx(-found["estimate"])
    assert (swapped["ci_low"], swapped["ci_high"]) == pytest.approx((-found["ci_high"], -found["ci_low"]))
    assert swapped["p"] == pytest.approx(found["p"])


def test_equal_scores_do_not_differ():
    rng = np.random.default_rng(4)
    first, _, human = three_scores(rng, 50)
    found = difference(first, first, human)
    assert found == pytest.approx({"estimate": 0, "ci_low": 0, "ci_high": 0, "p": 1}, abs=1e-12)


def test_a_clear_difference_has_a_p_value_below_what_resamples_can_count():
    rng = np.random.default_rng(5)
    quality = rng.normal(size=400)
    found = difference(quality + 0.2 * rng.normal(size=400), quality + 3 * rng.normal(size=400), quality)
    assert 0 < found["p"] < 1e-6
    assert found["ci_low"] > 0


def test_a_constant_score_and_a_single_cluster_have_no_interval():
    human = [1.0, 2, 3, 4]
    constant = difference([2, 2, 2, 2], [1, 2, 2, 4], human)
    assert np.isnan(list(constant.values())).all()
    alone = difference([1, 2, 4, 3], [1, 2, 2, 4], human, np.zeros(4, dtype=int))
    assert np.isfinite(alone["estimate"])
    assert np.isnan([alone["ci_low"], alone["ci_high"], alone["p"]]).all()


def test_intervals_cover_no_difference_and_p_values_are_uniform():
    rng = np.random.default_rng(6)
    found = [difference(*three_scores(rng, 100, better=0), resamples=300, seed=k) for k in range(300)]
    covered = [row["ci_low"] <= 0 <= row["ci_high"] for row in found]
    assert 0.91 < np.mean(covered) < 0.985
    assert stats.kstest([row["p"] for row in found], "uniform").pvalue > 0.001


def rank_difference(first, second, human, clusters=None):
    clusters = np.arange(len(human)) if clusters is None else clusters
    first, second, human = (np.asarray(values, dtype=float) for values in (first, second, human))
    return strategy_comparison.paired_rank_difference(first, second, human, clusters, confidence=0.95)


@pytest.mark.parametrize("groups", [None, 40])
@pytest.mark.slow
def test_rank_differences_are_those_of_scipy_with_intervals_as_wide_as_the_bootstraps(groups):
    rng = np.random.default_rng(12)
    first, second, human = (np.round(2 * scores) for scores in three_scores(rng, 200))  # with ties
    clusters = np.arange(200) if groups is None else np.arange(200) % groups
    found = rank_difference(first, second, human, clusters)
    plain = stats.spearmanr(first, human)[0] - stats.spearmanr(second, human)[0]
    assert found["estimate"] == pytest.approx(plain)
    members = [np.flatnonzero(clusters == cluster) for cluster in range(clusters.max() + 1)]
    again = []
    for _ in range(1000):
        rows = np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])
        again.append(stats.spearmanr(first[rows], human[rows])[0] - stats.spearmanr(second[rows], human[rows])[0])
    width = 2 * stats.t.ppf(0.975, len(members) - 1) * np.std(again)
    assert found["ci_high"] - found["ci_low"] == pytest.approx(width, rel=0.15)
    assert found["ci_low"] + found["ci_high"] == pytest.approx(2 * plain)


def test_rank_differences_of_equal_constant_and_lone_scores():
    rng = np.random.default_rng(13)
    first, _, human = three_scores(rng, 50)
    assert rank_difference(first, first, human) == {"estimate": 0, "ci_low": 0, "ci_high": 0, "p": 1}
    assert np.isnan(list(rank_difference(np.ones(50), first, human).values())).all()
    alone = rank_difference(first, first[::-1], human, np.zeros(50, dtype=int))
    assert np.isfinite(alone["estimate"])
    assert np.isnan([alone["ci_low"], alone["ci_high"], alone["p"]]).all()


@pytest.mark.slow
def test_p_values_of_rank_differences_are_uniform_where_there_is_none():
    rng = np.random.default_rng(14)
    p = [rank_difference(*three_scores(rng, 100, better=0))["p"] for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 0.001


# The table.


def random_table(seed, *, strategies=("fixed", "balanced", "random"), **options):
    rng = np.random.default_rng(seed)
    human = rng.integers(3, 16, 24) / 3
    scores = {name: np.clip(np.round(human + rng.normal(size=24)), 1, 5).astype(int).tolist() for name in strategies}
    return one_read_each(scores, human, **options)


def test_strategy_comparison_has_the_documented_columns_and_rows():
    result = strategy_comparison.estimate(random_table(1), **BOOTSTRAP)
    assert list(result.columns) == [
        *(*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"),
        *("n_items", "n_clusters", "method", "confidence", "seed", "p_holm", "p_bh", "n_tests"),
    ]
    assert not result.duplicated([*KEYS, "baseline", "criterion", "readout", "cluster", "quantity"]).any()
    pairs = set(zip(result["strategy"], result["baseline"], strict=True))
    assert pairs == {("balanced", "random"), ("balanced", "fixed"), ("random", "fixed")}
    assert result.groupby("cluster")["n_clusters"].unique().map(list).to_dict() == {"group": [6], "item": [24]}
    assert result["method"][result["quantity"] == "pearson"].str.contains("200 resamples").all()
    assert result["method"][result["quantity"] == "spearman"].str.startswith("infinitesimal jackknife").all()
    empty = strategy_comparison.estimate(random_table(1).head(0), **BOOTSTRAP)
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, result.dtypes)


def test_only_items_that_both_strategies_scored_are_compared():
    human = [1, 2, 3, 4, 5, 3]
    balanced, fixed = [1, 2, 2, 5, 4, None], [None, 1, 4, 3, 5, 2]
    result = strategy_comparison.estimate(one_read_each({"balanced": balanced, "fixed": fixed}, human), **BOOTSTRAP)
    assert set(result["n_items"]) == {4}
    for quantity, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        expected = function(balanced[1:5], human[1:5])[0] - function(fixed[1:5], human[1:5])[0]
        assert result["estimate"][result["quantity"] == quantity].to_numpy() == pytest.approx(expected)


def test_criteria_are_compared_apart_and_pooled_and_adjusted_apart():
    table = pd.concat([random_table(k, criteria=("a", "b"), judge=judge) for k, judge in enumerate(["x", "y", "z"])])
    result = strategy_comparison.estimate(table, **BOOTSTRAP)
    sizes = result.groupby(result["criterion"] == "all")["n_tests"].unique().map(list)
    assert sizes.to_dict() == {False: [6], True: [3]}
    family = result.query("criterion == 'all' and readout == 'hard' and cluster == 'item' and quantity == 'pearson'")
    family = family[family["baseline"] == "random"]
    assert family["p_bh"].to_numpy() == pytest.approx(stats.false_discovery_control(family["p"]))


def test_tables_one_after_another_in_any_row_order_give_the_same():
    parts = [random_table(1, judge="a"), random_table(2, judge="b")]
    whole = strategy_comparison.estimate(pd.concat(parts), **BOOTSTRAP)
    pd.testing.assert_frame_equal(strategy_comparison.estimate(iter(parts), **BOOTSTRAP), whole)
    shuffled = pd.concat(parts).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(strategy_comparison.estimate(shuffled, **BOOTSTRAP), whole)


def test_one_strategy_or_no_human_scores_have_nothing_to_compare():
    assert strategy_comparison.estimate(random_table(1, strategies=("balanced",)), **BOOTSTRAP).empty
    assert strategy_comparison.estimate(random_table(1).assign(human_score=np.nan), **BOOTSTRAP).empty
