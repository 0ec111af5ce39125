"""Paired differences of correlations: against hand-worked cases, plain loops and simulation."""

import numpy as np
import pandas as pd
import pytest
from factories import one_read_each
from scipy import stats

from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.base.keys import KEYS
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

OPTIONS = {"confidence": 0.95}


def difference(first, second, human, clusters=None):
    first, second, human = (np.asarray(values, dtype=float) for values in (first, second, human))
    clusters = np.arange(len(human)) if clusters is None else clusters
    parts = strategy_comparison.paired_differences(first[:, None], second[:, None], human, clusters, confidence=0.95)
    return parts["pearson"]


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
def test_differences_agree_with_a_plain_jackknife_that_leaves_clusters_out(groups):
    rng = np.random.default_rng(2)
    first, second, human = three_scores(rng, 80)
    clusters = np.arange(80) if groups is None else np.arange(80) % groups
    found = difference(first, second, human, clusters)

    def plain(kept):
        return np.corrcoef(first[kept], human[kept])[0, 1] - np.corrcoef(second[kept], human[kept])[0, 1]

    every, n = plain(clusters >= 0), int(clusters.max()) + 1
    squares = sum((plain(clusters != cluster) - every) ** 2 for cluster in range(n))
    reach = stats.t.ppf(0.975, n - 1) * np.sqrt(squares * (n - 1) / n)
    assert [found["estimate"], found["df"]] == pytest.approx([every, n - 1])
    assert [found["ci_low"], found["ci_high"]] == pytest.approx([every - reach, every + reach])


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
    assert found == pytest.approx({"estimate": 0, "ci_low": 0, "ci_high": 0, "p": 1, "df": 49}, abs=1e-9)


def test_a_clear_difference_has_a_small_p_value():
    rng = np.random.default_rng(5)
    quality = rng.normal(size=400)
    found = difference(quality + 0.2 * rng.normal(size=400), quality + 3 * rng.normal(size=400), quality)
    assert 0 < found["p"] < 1e-6
    assert found["ci_low"] > 0


def test_a_constant_score_and_a_single_cluster_have_no_interval():
    human = [1.0, 2, 3, 4]
    constant = difference([2, 2, 2, 2], [1, 2, 2, 4], human)
    assert np.isnan([constant[name] for name in ("estimate", "ci_low", "ci_high", "p")]).all()
    alone = difference([1, 2, 4, 3], [1, 2, 2, 4], human, np.zeros(4, dtype=int))
    assert np.isfinite(alone["estimate"])
    assert np.isnan([alone["ci_low"], alone["ci_high"], alone["p"]]).all()


def test_intervals_cover_no_difference_and_p_values_are_uniform():
    rng = np.random.default_rng(6)
    found = [difference(*three_scores(rng, 100, better=0)) for _ in range(300)]
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
    same = rank_difference(first, first, human)
    assert same == pytest.approx({"estimate": 0, "ci_low": 0, "ci_high": 0, "p": 1, "df": 49})
    constant = rank_difference(np.ones(50), first, human)
    assert np.isnan([constant[name] for name in ("estimate", "ci_low", "ci_high", "p")]).all()
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
    result = strategy_comparison.estimate(random_table(1), **OPTIONS)
    assert list(result.columns) == [
        *(*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"),
        *("df", "effective_clusters", "same_repeats", "flag", "n_items", "n_clusters", "method", "confidence"),
        *("p_holm", "p_bh", "n_tests"),
    ]
    assert not result.duplicated([*KEYS, "baseline", "criterion", "readout", "cluster", "quantity"]).any()
    pairs = set(zip(result["strategy"], result["baseline"], strict=True))
    assert pairs == {("balanced", "random"), ("balanced", "fixed"), ("random", "fixed")}
    assert result.groupby("cluster")["n_clusters"].unique().map(list).to_dict() == {"group": [6], "item": [24]}
    assert result["method"].str.startswith("jackknife over").all()
    empty = strategy_comparison.estimate(random_table(1).head(0), **OPTIONS)
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, result.dtypes)


def test_only_items_that_both_strategies_scored_are_compared():
    human = [1, 2, 3, 4, 5, 3]
    balanced, fixed = [1, 2, 2, 5, 4, None], [None, 1, 4, 3, 5, 2]
    result = strategy_comparison.estimate(one_read_each({"balanced": balanced, "fixed": fixed}, human), **OPTIONS)
    assert set(result["n_items"]) == {4}
    for quantity, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        expected = function(balanced[1:5], human[1:5])[0] - function(fixed[1:5], human[1:5])[0]
        assert result["estimate"][result["quantity"] == quantity].to_numpy() == pytest.approx(expected)


def test_criteria_are_compared_apart_and_pooled_and_adjusted_apart():
    table = pd.concat([random_table(k, criteria=("a", "b"), judge=judge) for k, judge in enumerate(["x", "y", "z"])])
    result = strategy_comparison.estimate(table, **OPTIONS)
    sizes = result.groupby(result["criterion"] == "all")["n_tests"].unique().map(list)
    assert sizes.to_dict() == {False: [6], True: [3]}
    family = result.query("criterion == 'all' and readout == 'hard' and cluster == 'item' and quantity == 'pearson'")
    family = family[family["baseline"] == "random"]
    assert family["p_bh"].to_numpy() == pytest.approx(stats.false_discovery_control(family["p"]))


# What of a difference is the order, and what is averaging.


def studied(judge, seed, *, temperature, groups=80, candidates=4):
    """Reads of a study under `balanced` and `fixed`, and the groups of its items."""
    study = {"strategies": ["balanced", "fixed"], "groups": groups, "candidates": candidates, "seed": seed}
    reads = studies.read_items(judge, n=5, temperature=temperature, **study)
    return reads["balanced"], reads["fixed"], np.arange(groups * candidates) // candidates


def parts_of(balanced, fixed, clusters):
    return strategy_comparison.paired_differences(balanced.scores, fixed.scores, fixed.human, clusters, confidence=0.95)


def test_the_parts_of_a_difference_by_plain_correlations():
    rng = np.random.default_rng(3)
    human = rng.normal(size=240)
    first, second = (human[:, None] + rng.normal(size=(240, k)) for k in (4, 3))
    first[0, 1] = second[5, 2] = np.nan

    def plain(values):
        known = ~np.isnan(values)
        return stats.pearsonr(values[known], human[known]).statistic

    singles = [np.mean([plain(column) for column in table.T]) for table in (first, second)]
    means = [plain(np.nanmean(table, axis=1)) for table in (first, second)]
    found = strategy_comparison.paired_differences(first, second, human, np.arange(240), confidence=0.95)
    assert found["order"]["estimate"] == pytest.approx(singles[0] - singles[1])
    assert found["averaging"]["estimate"] == pytest.approx(means[0] - singles[0])
    assert found["averaging_baseline"]["estimate"] == pytest.approx(means[1] - singles[1])
    # The error is that of a jackknife that leaves out one item after another.
    left_out = []
    for item in range(240):
        rest = np.arange(240) != item
        known = strategy_comparison.paired_differences(
            first[rest], second[rest], human[rest], np.arange(239), confidence=0.95
        )
        left_out.append(known["order"]["estimate"])
    error = np.sqrt(239 / 240 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    half = (found["order"]["ci_high"] - found["order"]["ci_low"]) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 239) * error, rel=0.05)


@pytest.mark.parametrize(("groups", "candidates", "effects"), [(80, 4, 0.0), (18, 8, 0.5)])
def test_a_greedy_judge_without_preference_gains_by_averaging_and_not_by_the_order(groups, candidates, effects):
    judge = Simulation(prompts=1.5, item_scores=0.5, group_positions=effects, group_scores=effects)
    gains, orders = [], []
    for seed in range(200):
        balanced, fixed, clusters = studied(judge, seed, temperature=0, groups=groups, candidates=candidates)
        found = parts_of(balanced, fixed, clusters)
        orders.append([found["order"]["estimate"], found["order"]["p"]])
        gains.append(found["averaging"]["estimate"])
        assert found["averaging_baseline"]["estimate"] == 0
        if seed < 10:
            scores = (reads.scores.mean(axis=1) for reads in (balanced, fixed))
            gain = difference(*scores, fixed.human, clusters)
            assert gain["p"] < 0.05  # the difference alone would credit the orderings with it
            assert gain["estimate"] == pytest.approx(found["order"]["estimate"] + found["averaging"]["estimate"])
    estimates, p = np.array(orders).T
    assert np.mean(gains) > 0.08
    assert abs(estimates.mean()) < 3 * estimates.std() / np.sqrt(200)
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], 200, 0.05) / 200
    assert low <= (p < 0.05).mean() <= high


def test_an_order_that_the_usual_ordering_profits_from_is_found():
    judge = Simulation(preference="first", preference_strength=2.5, leniency=-0.5)
    balanced, fixed, clusters = studied(judge, 1, temperature=0)
    assert parts_of(balanced, fixed, clusters)["order"]["ci_high"] < 0  # single orderings agree less than the usual one


def test_parts_are_there_for_single_orderings_and_nearly_equal_repeats_are_marked():
    judge = Simulation(prompts=1.0)
    strategies = ["balanced", "random", "fixed", "single"]
    tables = {}
    for temperature in (0, 1):
        reads = studies.read_items(judge, n=3, strategies=strategies, groups=12, seed=1, temperature=temperature)
        tables[temperature] = strategy_comparison.estimate(studies.as_scores(reads), **OPTIONS)
    greedy = tables[0].query("readout == 'hard' and cluster == 'group'")
    parts = greedy[greedy["quantity"].isin(["order", "averaging", "averaging_baseline"])]
    assert set(zip(parts["strategy"], parts["baseline"], strict=True)) == {
        ("balanced", "fixed"),
        ("balanced", "single"),
    }
    flags = greedy.groupby("baseline")["flag"].agg(set)
    assert flags.to_dict() == {"fixed": {"repeats nearly identical"}, "single": {"one read"}, "random": {""}}
    drawn = tables[1].query("readout == 'hard' and baseline == 'fixed'")
    assert set(drawn["flag"]) == {""}
    assert drawn["same_repeats"].between(0, 0.9).all()
    for found in tables.values():
        wide = found.query("strategy == 'balanced' and baseline == 'fixed'").set_index(
            ["readout", "cluster", "quantity"]
        )
        wide = wide["estimate"].unstack("quantity")
        whole = wide["order"] + wide["averaging"] - wide["averaging_baseline"]
        np.testing.assert_allclose(wide["pearson"], whole)
