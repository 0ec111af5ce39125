"""Rank reversal: against hand-worked rankings, every way to break ties, scipy, and judges without any order effect."""

import itertools

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.methods.agreement import rankings

OPTIONS = {"confidence": 0.95, "seed": 3}
TESTED = ("kendall_tau_b", "top1_flip", "reversed_pairs")
RANKINGS = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(1, 3).map(float), min_size=n, max_size=n)] * 2)
)


def compared(scores, other):
    return {
        name: float(value)
        for name, value in rankings.compare_rankings(np.array(scores), np.array(other))._asdict().items()
    }


def test_rankings_by_hand():
    # 3 > 2 > 1 against 2 > 3 > 1: one of three pairs is turned, and the best candidate is another.
    turned = {"kendall_tau_b": 1 / 3, "top1_flip": 1, "top1_tie": 0, "reversed_pairs": 1 / 3, "tied_pairs": 0}
    assert compared([3.0, 2, 1], [2.0, 3, 1]) == pytest.approx(turned)
    same = {"kendall_tau_b": 1, "top1_flip": 0, "top1_tie": 0, "reversed_pairs": 0, "tied_pairs": 0}
    assert compared([4.0, 2, 3], [40.0, 20, 30]) == pytest.approx(same)


def test_two_equal_rankings_are_no_reversal_however_much_they_tie():
    found = compared([4.0, 4, 3, 3], [4.0, 4, 3, 3])
    assert found["kendall_tau_b"] == 1
    assert found["top1_flip"] == found["reversed_pairs"] == 0
    assert found["top1_tie"] == 0.5  # of two best candidates, each is drawn in half of the cases
    assert found["tied_pairs"] == pytest.approx(2 / 6)


def test_a_tie_for_the_best_is_half_a_flip_by_ties_alone():
    tied = compared([3.0, 2.0], [2.5, 2.5])
    assert (tied["top1_flip"], tied["top1_tie"], tied["reversed_pairs"], tied["tied_pairs"]) == (0, 0.5, 0, 1)
    assert np.isnan(tied["kendall_tau_b"])
    assert compared([2.0, 2, 2], [3.0, 3, 3])["top1_tie"] == pytest.approx(2 / 3)


def broken(scores):
    """Every ranking without ties that agrees with the scores."""
    for order in itertools.permutations(range(len(scores))):
        ranks = np.empty(len(scores))
        ranks[list(order)] = np.arange(len(scores))
        if all((a - b) * (x - y) >= 0 for (a, x), (b, y) in itertools.combinations(zip(scores, ranks, strict=True), 2)):
            yield ranks


@given(RANKINGS)
def test_flips_and_what_ties_add_are_means_over_every_way_to_break_ties(pair):
    ways = list(itertools.product(*map(broken, pair)))
    found = compared(*pair)
    flips = np.mean([x.argmax() != y.argmax() for x, y in ways])
    assert found["top1_flip"] + found["top1_tie"] == pytest.approx(flips, abs=1e-12)
    assert found["top1_flip"] == (not any(x.argmax() == y.argmax() for x, y in ways))
    tau = np.mean([stats.kendalltau(x, y)[0] for x, y in ways])
    assert 1 - found["tied_pairs"] - 2 * found["reversed_pairs"] == pytest.approx(tau, abs=1e-12)


@given(RANKINGS)
def test_tau_is_that_of_scipy(pair):
    assert compared(*pair)["kendall_tau_b"] == pytest.approx(stats.kendalltau(*pair)[0], nan_ok=True)


@given(RANKINGS)
def test_the_order_of_candidates_and_of_rankings_does_not_count(pair):
    found = rankings.compare_rankings(*map(np.array, pair))
    turned = rankings.compare_rankings(*(np.array(scores[::-1]) for scores in reversed(pair)))
    np.testing.assert_allclose(found, turned)


def test_a_candidate_without_a_score_is_left_out_of_both_rankings():
    without = compared([3.0, np.nan, 2, 1], [1.0, 9, 2, 3])
    assert without == pytest.approx(compared([3.0, 2, 1], [1.0, 2, 3]))
    one = compared([3.0, np.nan], [1.0, 2.0])
    assert np.isnan(one["reversed_pairs"])
    assert one["top1_flip"] == 0
    assert all(np.isnan(value) for value in compared([np.nan, np.nan], [1.0, 2.0]).values())


def test_prompts_are_groups_and_criteria_with_competing_candidates():
    rows = [("g2", "x"), ("g1", "x"), ("g1", "y"), ("g1", "x"), ("g2", "x"), ("g2", "x")]
    items = pd.DataFrame(rows, columns=["group_id", "criterion"])
    groups, places = rankings.prompts(items)
    assert groups.to_numpy().tolist() == [["g1", "x"], ["g2", "x"]]
    assert places.tolist() == [[1, 3, -1], [0, 4, 5]]


def test_halves_are_disjoint_and_every_read_is_equally_often_in_one():
    one, two = rank_reversal.halves(7, 3, 3000, rng=np.random.default_rng(1))
    assert (one.sum(axis=1) == 3).all()
    assert (two.sum(axis=1) == 3).all()
    assert (one * two == 0).all()
    assert stats.chisquare(one.sum(axis=0)).pvalue > 0.001


def test_halves_of_repeated_orderings_have_their_orderings_independently():
    ordering = np.array([0, 1, 2, 0, 1, 2])
    one, two = rank_reversal.halves(6, 2, 4000, ordering=ordering, rng=np.random.default_rng(2))
    assert (one.sum(axis=1) == 2).all()
    assert (one * two == 0).all()
    has = [np.stack([half[:, ordering == o].sum(axis=1) for o in range(3)], axis=1) for half in (one, two)]
    assert max(counts.max() for counts in has) == 1  # two reads of a side are of different orderings
    both = (has[0][:, 0] * has[1][:, 0]).mean()
    assert both == pytest.approx(has[0][:, 0].mean() * has[1][:, 0].mean(), abs=0.03)
    assert rank_reversal.largest_half(6, ordering) == 3
    assert rank_reversal.largest_half(7, np.array([0, 0, 0, 1, 1, 1, 1])) == 3
    assert rank_reversal.largest_half(7, None) == rank_reversal.largest_half(7, np.arange(7)) == 3


def test_reads_of_one_ordering_that_come_as_often_before_are_one_answer():
    same = rank_reversal.same_answers(np.array([12, 21, 12, 21]), np.array([12, 12, 12]))
    assert same.astype(int).tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_drawn_orderings_stand_where_the_other_strategy_has_the_same_answer():
    ordering = np.array([[21, 12, 12, 31], [31, 12, 21, 12], [-1, 32, 32, 31]])
    values = np.array([[1.0, 2, 3, 4], [5, 6, 7, 8], [np.nan, 9, 10, 11]])
    found = rank_reversal.aligned(values, ordering, np.array([12, 21, 12]))
    assert found[:2].tolist() == [[2, 1, 3, 4], [6, 7, 8, 5]]
    np.testing.assert_array_equal(found[2], values[2])
    longer = rank_reversal.aligned(values[:1], ordering[:1], np.array([13, 13, 12, 31, 21]))
    assert longer.tolist() == [[1, 3, 2, 4]]


ROTATIONS, FIXED, BALANCED = np.tile(np.arange(5), 2), np.zeros(10, int), np.arange(10)


@pytest.mark.parametrize(
    ("left", "right", "size"),
    [
        (ROTATIONS, FIXED, 5),
        (FIXED, ROTATIONS, 5),
        (BALANCED, FIXED, 5),
        (BALANCED, np.zeros(25, int), 5),
        (BALANCED, np.arange(120)[::-1], 5),
        (BALANCED, BALANCED, 5),
        (ROTATIONS, np.tile(np.arange(5), 3), 5),
        (np.tile([12, 21], 2), np.array([12, 21, 21, 12]), 2),
    ],
)
def test_halves_that_are_compared_have_no_answer_in_common(left, right, size):
    same = rank_reversal.same_answers(left, right)
    assert same.any()
    drawn = rank_reversal.halves_of_two([left, right], same, size, 3000, rng=np.random.default_rng(6))
    for one, two in zip(*drawn, strict=True):
        assert (one.sum(axis=1) == size).all()
        assert (two.sum(axis=1) == size).all()
        assert not (one[:, :, None] * same * two[:, None, :]).any()
    for halves, ordering in zip(drawn, (left, right), strict=True):
        assert (halves[0] * halves[1] == 0).all()
        of_each = ordering == np.unique(ordering)[:, None]  # how often each ordering is there
        assert halves.mean(axis=1) @ of_each.T == pytest.approx(np.tile(size * of_each.mean(axis=1), (2, 1)), abs=0.04)


def test_without_a_common_answer_halves_of_two_are_those_of_each():
    dealt = [np.arange(6), np.full(6, 9)]
    drawn = rank_reversal.halves_of_two(dealt, np.zeros((6, 6), bool), 3, 5, rng=np.random.default_rng(7))
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(drawn, [rank_reversal.halves(6, 3, 5, rng=rng) for _ in range(2)])


def of_orderings(n_groups, *, repeats, rng):
    """Scores of four candidates per prompt under six orderings, each of which moves each candidate in its own way."""
    moved = rng.normal(size=(n_groups, 4, 1)) + rng.normal(size=(n_groups, 4, 6))
    values = np.tile(moved, (1, 1, repeats)) + 0.7 * rng.normal(size=(n_groups, 4, 6 * repeats))
    return values.reshape(4 * n_groups, -1), np.tile(np.arange(6), repeats)


def mean_flips(values, size, ordering, rng):
    one, two = (
        rankings.mean_scores(values, chosen)
        for chosen in rank_reversal.halves(values.shape[1], size, 300, ordering=ordering, rng=rng)
    )
    shape = (300, -1, 4)
    return rankings.compare_rankings(one.reshape(shape), two.reshape(shape)).top1_flip.mean()


def test_halves_without_a_common_ordering_differ_more_than_independent_ones():
    rng = np.random.default_rng(5)
    several, ordering = of_orderings(600, repeats=2, rng=rng)
    independent = mean_flips(several, 3, ordering, rng)
    complementary = mean_flips(several[:, :6], 3, None, rng)
    # What two runs that draw three of the six orderings each would differ by: new noise, orderings drawn anew.
    runs = []
    for _ in range(300):
        first, second = rng.permutation(6)[:3], 6 + rng.permutation(6)[:3]
        means = (several[:, chosen].mean(axis=1).reshape(-1, 4) for chosen in (first, second))
        runs.append(rankings.compare_rankings(*means).top1_flip.mean())
    assert independent == pytest.approx(np.mean(runs), abs=0.01)
    assert complementary > np.mean(runs) + 0.03


def test_equal_means_of_different_reads_tie():
    values = np.array([[1, 2, 4, np.nan], [4, 2, np.nan, 1], [2, 5, 0, np.nan]])
    means = rankings.mean_scores(values, np.ones((1, 4)))[0]
    assert means[0] == means[1] == means[2]
    assert np.isnan(rankings.mean_scores(values, np.array([[0.0, 0, 0, 1]]))[0]).tolist() == [True, False, True]


def plain(table, one, two):
    """Table 7 of Xu et al. with loops: mean tau-b and share of prompts of which no candidate is best in both."""
    means = table.groupby(["strategy", "group_id", "criterion", "candidate"])["score"].mean().astype(float)
    tau, flips = [], []
    for _, prompt in table[["group_id", "criterion"]].drop_duplicates().iterrows():
        x, y = (means[strategy, prompt["group_id"], prompt["criterion"]].round(9) for strategy in (one, two))
        tau.append(stats.kendalltau(x, y)[0])
        flips.append(not ((x == x.max()) & (y == y.max())).any())
    return np.nanmean(tau), np.mean(flips)


def test_between_strategies_it_is_a_loop_over_prompts():
    table = simulated_reads(groups=15, criteria=("x", "y"), failing=0.05, noise=1.5, seed=4)
    found = rank_reversal.estimate(table.sample(frac=1, random_state=1), **OPTIONS)
    pairs = list(found[["strategy", "other"]].drop_duplicates().itertuples(index=False, name=None))
    assert pairs == [("balanced", "fixed"), ("balanced", "random"), ("fixed", "random")]
    for one, two in pairs:
        rows = found.query("strategy == @one and other == @two and comparison == 'between'").set_index("quantity")
        tau, flips = plain(table, one, two)
        assert rows["estimate"]["kendall_tau_b"] == pytest.approx(tau)
        assert rows["estimate"]["top1_flip"] == pytest.approx(flips)
        assert rows[["n_prompts", "n_groups", "k", "k_other"]].drop_duplicates().to_numpy().tolist() == [
            [30, 15, 10, 10]
        ]
        tested = rows.loc[list(TESTED)]
        assert (tested["ci_low"] < tested["estimate"]).all()
        assert (tested["ci_high"] > tested["estimate"]).all()


def by_noise(one, other):
    """Tau of two noisy measurements of normal scores, from the tau of each with its own repeat."""
    r = [np.sin(np.pi / 2 * tau) for tau in (one, other)]
    return 2 / np.pi * np.arcsin(np.sqrt(r[0] * r[1]))


def test_the_excess_is_the_reversal_between_halves_beyond_the_noise_of_both():
    found = rank_reversal.estimate(simulated_reads(groups=15, noise=1.5), **OPTIONS)
    wide = found.pivot(index=["quantity", "strategy", "other"], columns="comparison", values="estimate")
    tau, flips = wide.loc["kendall_tau_b"], wide.loc["top1_flip"]
    expected = by_noise(tau["within_strategy"], tau["within_other"])
    np.testing.assert_allclose(tau["excess"], expected - tau["between_halves"])
    chance = 1 / 4  # four candidates; what is chosen by chance is the same in a quarter of the prompts
    agreement = {name: (1 - flips[name] - chance) / (1 - chance) for name in rank_reversal.PARTS}
    expected = by_noise(agreement["within_strategy"], agreement["within_other"]) - agreement["between_halves"]
    np.testing.assert_allclose(flips["excess"], (1 - chance) * expected)
    turned, tied = wide.loc["reversed_pairs"], wide.loc["tied_pairs"]
    gamma = {name: 1 - 2 * turned[name] / (1 - tied[name]) for name in rank_reversal.PARTS}
    expected = by_noise(gamma["within_strategy"], gamma["within_other"]) - gamma["between_halves"]
    np.testing.assert_allclose(turned["excess"], (1 - tied["between_halves"]) * expected / 2)
    for ties in (tied, wide.loc["top1_tie"]):
        within = (ties["within_strategy"] + ties["within_other"]) / 2
        np.testing.assert_allclose(ties["excess"], ties["between_halves"] - within, atol=1e-12)
    assert (found[found["comparison"] != "between"][["k", "k_other"]] == 5).all(axis=None)


def test_agreement_by_noise_is_that_of_simulated_normal_scores():
    rng = np.random.default_rng(11)
    true = rng.normal(size=40_000)
    noise = (0.2, 1.1)
    first, second = ([true + sd * rng.normal(size=len(true)) for sd in noise] for _ in range(2))
    own = [stats.kendalltau(*pair)[0] for pair in zip(first, second, strict=True)]
    between = stats.kendalltau(first[0], second[1])[0]
    assert rankings.agreement_by_noise(*own) == pytest.approx(between, abs=0.01)
    assert np.mean(own) > between + 0.04  # which is no reversal
    assert rankings.agreement_by_noise(0.6, 0.6) == pytest.approx(0.6)
    assert rankings.agreement_by_noise(np.array([1.0, -0.1]), np.array([1.0, 0.5])) == pytest.approx([1, 0])


@pytest.mark.parametrize("moved", [0, 2])
def test_p_of_the_excess_is_that_of_a_jackknife_that_estimates_without_each_group(moved):
    table = simulated_reads(groups=12, strategies=["fixed", "random"], noise=1.5, failing=0.0, seed=8)
    chosen = (table["strategy"] == "fixed") & table["candidate"].isin(["c1", "c3"])
    table.loc[chosen, "score"] = table["score"][chosen] + moved
    found = rank_reversal.estimate(table, **OPTIONS).query("comparison == 'excess'").set_index("quantity")
    without = []
    for group in table["group_id"].unique():  # the halvings do not depend on the groups
        rows = rank_reversal.estimate(table[table["group_id"] != group], **OPTIONS)
        without.append(rows.query("comparison == 'excess'").set_index("quantity")["estimate"])
    away = pd.concat(without, axis=1).sub(found["estimate"], axis=0)
    error = np.sqrt(11 / 12 * (away**2).sum(axis=1))
    upper = {name: stats.t.sf(found.loc[name, "estimate"] / error[name], 11) for name in (*TESTED, "tied_pairs")}
    for quantity in ("top1_flip", "reversed_pairs"):
        assert found.loc[quantity, "p"] == pytest.approx(upper[quantity])
        reach = stats.t.ppf(0.975, 11) * error[quantity]
        ends = found.loc[quantity, "estimate"] + np.array([-reach, reach])
        assert found.loc[quantity, ["ci_low", "ci_high"]].tolist() == pytest.approx(ends.tolist())
    assert found.loc["kendall_tau_b", "p"] == pytest.approx(max(upper["kendall_tau_b"], upper["reversed_pairs"]))
    one_side = upper["tied_pairs"]
    assert found.loc["tied_pairs", "p"] == pytest.approx(2 * min(one_side, 1 - one_side))
    assert (found.loc["reversed_pairs", "p"] < 0.05) == (moved > 0)


def wavering(groups, *, sure, rng):
    """Reads of four candidates by a judge with one order of them, `sure` times as decisive in the usual ordering."""
    table = simulated_reads(groups=groups, strategies=["fixed", "random"], reads=10, seed=int(rng.integers(2**31)))
    cells = table.groupby(["group_id", "candidate"], sort=True).ngroup().to_numpy()
    opinion = 3 + np.repeat(0.5 * rng.normal(size=groups), 4) + 0.87 * rng.normal(size=4 * groups)
    decisive = np.where(table["strategy"] == "fixed", sure, 1.0)[:, None]
    weight = np.exp(-decisive * (np.arange(1, 6) - opinion[cells][:, None]) ** 2 / (2 * 0.75**2))
    share = (weight / weight.sum(axis=1, keepdims=True)).cumsum(axis=1)
    drawn = 1.0 + (rng.random((len(table), 1)) > share[:, :-1]).sum(axis=1)
    return table.assign(score=drawn, expected_score=np.nan)


@pytest.mark.slow
def test_an_order_that_wavers_around_the_same_ranking_is_no_reversal():
    rng, rows = np.random.default_rng(13), []
    for _ in range(40):
        found = rank_reversal.estimate(wavering(100, sure=10.0, rng=rng), **OPTIONS, halvings=10)
        rows.append(found.query("comparison == 'excess'").set_index("quantity"))
    p = pd.concat([each["p"] for each in rows], axis=1).loc[list(TESTED)]
    assert ((p < 0.05).mean(axis=1) <= 0.1).all()  # of tau it was .98
    excess = np.mean([each.loc["kendall_tau_b", "estimate"] for each in rows])
    assert excess < 0.01  # it was .04
    assert all((each.loc[["kendall_tau_b", "top1_flip"], "p_noise"] < 0.001).all() for each in rows)


def test_scores_on_another_scale_rank_the_same():
    table = simulated_reads(groups=8, strategies=["balanced", "fixed"])
    higher = table.assign(score=table["score"] * 2 + 1)
    np.testing.assert_allclose(*(rank_reversal.estimate(t, **OPTIONS)["estimate"] for t in (table, higher)))


def test_a_strategy_compared_with_its_copy_has_no_reversal_between():
    table = simulated_reads(groups=10, strategies=["fixed"], noise=1.5)
    both = pd.concat([table, table.assign(strategy="random")], ignore_index=True)
    rows = rank_reversal.estimate(both, **OPTIONS).query("comparison == 'between'").set_index("quantity")["estimate"]
    assert rows["kendall_tau_b"] == 1
    assert rows["top1_flip"] == rows["reversed_pairs"] == 0
    assert rows["top1_tie"] >= 0


def test_single_reads_of_whole_scores_that_agree_are_no_reversal():
    # Two strategies with the same answer to each item: with ties at random, 30% of the best candidates would change.
    one, two = (
        simulated_reads(groups=200, strategies=["fixed"], reads=1, noise=0, seed=1).assign(strategy=name)
        for name in ("fixed", "random")
    )
    rows = rank_reversal.estimate(pd.concat([one, two]), **OPTIONS).set_index("quantity")["estimate"]
    assert (rows["top1_flip"], rows["reversed_pairs"], rows["kendall_tau_b"]) == (0, 0, 1)
    assert rows["top1_tie"] > 0.2


def test_only_halves_of_orderings_that_are_not_repeated_depend_on_each_other():
    found = rank_reversal.estimate(simulated_reads(groups=6, noise=1.5), **OPTIONS)
    about = found.drop_duplicates(["strategy", "other", "comparison"]).set_index(["strategy", "other", "comparison"])
    independent = about["independent"]
    assert not independent["balanced", "fixed", "within_strategy"]
    assert not independent["balanced", "random", "excess"]
    assert independent["balanced", "fixed", "within_other"]
    assert independent["fixed", "random", "excess"]


@pytest.mark.slow
@pytest.mark.parametrize("strategies", [["fixed", "repeated_rotations"], ["balanced", "random"]])
def test_answers_that_two_strategies_share_do_not_move_the_excess(strategies):
    excess = []
    for seed in range(5):
        table = simulated_reads(groups=400, strategies=strategies, reads=8, noise=2, n=4, seed=seed)
        table["prompt"] = table["ordering"].map(str)
        table["repeat"] = table.groupby(["strategy", "item_id", "prompt"]).cumcount()
        table["score"] = table.groupby(["item_id", "prompt", "repeat"])["score"].transform("first")
        found = rank_reversal.estimate(table, **OPTIONS, halvings=5)
        excess.append(found[found["comparison"] == "excess"].set_index("quantity")["estimate"])
    excess = pd.concat(excess, axis=1).loc[list(TESTED)]
    assert (excess.std(axis=1) / np.sqrt(5) < 0.006).all()
    assert (excess.mean(axis=1).abs() < 0.013).all()


@pytest.mark.slow
def test_without_an_order_effect_the_excess_is_0_however_much_rankings_change():
    excess = []
    for seed in range(60):
        table = simulated_reads(groups=25, strategies=["random", "fixed"], noise=2, seed=seed, reads=6)
        found = rank_reversal.estimate(table, **OPTIONS, halvings=10)
        expected = found[found["quantity"].isin(TESTED)]
        excess.append(expected.set_index(["comparison", "quantity"])["estimate"])
    excess = pd.concat(excess, axis=1)
    assert (excess.loc["between", "top1_flip"] > 0.2).all()
    for quantity in TESTED:
        draws = excess.loc["excess", quantity]
        assert abs(draws.mean()) < 3 * draws.std() / np.sqrt(len(draws))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [18, 40])
def test_the_interval_of_the_excess_covers_0_where_there_is_no_order_effect(groups):
    covered = []
    for seed in range(300):
        table = simulated_reads(groups=groups, strategies=["random", "fixed"], noise=2, seed=seed, reads=6)
        found = rank_reversal.estimate(table, **OPTIONS, halvings=5)
        rows = found[(found["comparison"] == "excess") & found["quantity"].isin(TESTED)]
        covered.append(((rows["ci_low"] <= 0) & (rows["ci_high"] >= 0)).to_numpy())
    assert (np.mean(covered, axis=0) > 0.92).all()


def test_an_ordering_that_favours_some_candidates_shows_as_excess():
    table = simulated_reads(groups=60, strategies=["random", "fixed"], noise=1, seed=5)
    # Under the canonical ordering every second candidate gets a point more.
    moved = (table["strategy"] == "fixed") & table["candidate"].isin(["c1", "c3"])
    table.loc[moved, "score"] = table["score"][moved] + 2
    rows = rank_reversal.estimate(table, **OPTIONS).query("comparison == 'excess'").set_index("quantity")
    assert (rows.loc[list(TESTED), "ci_low"] > 0.04).all()


def test_prompts_of_one_group_are_drawn_together():
    table = simulated_reads(groups=30, strategies=["fixed", "random"], noise=1.5)
    doubled = pd.concat(
        [table, table.assign(criterion="again", item_id=table["item_id"] + "-again")], ignore_index=True
    )
    one, two = (rank_reversal.estimate(t, **OPTIONS).query("comparison == 'between'") for t in (table, doubled))
    np.testing.assert_allclose(one[["estimate", "ci_low", "ci_high"]], two[["estimate", "ci_low", "ci_high"]])
    assert (two["n_prompts"] == 2 * one["n_prompts"]).all()


def test_one_read_has_no_halves():
    found = rank_reversal.estimate(simulated_reads(groups=5, strategies=["balanced", "single"]), **OPTIONS)
    assert found["comparison"].unique().tolist() == ["between"]
    assert set(found["k_other"]) == {1}


def test_one_group_has_no_interval():
    found = rank_reversal.estimate(simulated_reads(groups=1, strategies=["balanced", "fixed"]), **OPTIONS)
    assert found["estimate"].notna().any()
    assert found[["ci_low", "ci_high"]].isna().all(axis=None)


def tied(table, groups):
    """The table with one score for all candidates of some groups, under `fixed` only."""
    table = table.copy()
    table.loc[table["group_id"].isin(groups) & (table["strategy"] == "fixed"), "score"] = 3
    return table


def test_a_prompt_without_one_of_the_three_rankings_has_no_excess():
    whole = simulated_reads(groups=12, strategies=["fixed", "random"], noise=1.5, seed=8)
    groups = [f"g{number:04d}" for number in range(5)]
    without = whole[~whole["group_id"].isin(groups)]
    found, expected = (
        rank_reversal.estimate(table, **OPTIONS).query("quantity == 'kendall_tau_b'").set_index("comparison")
        for table in (tied(whole, groups), without)
    )
    columns = ["estimate", "ci_low", "ci_high", "n_defined", "n_groups"]
    for comparison in ("between", "between_halves", "excess"):  # the halvings do not depend on the groups
        assert found.loc[comparison, columns].tolist() == pytest.approx(expected.loc[comparison, columns].tolist())
    assert (found.loc["excess", "n_defined"], found.loc["excess", "n_groups"]) == (7, 7)
    assert found.loc["excess", "n_prompts"] == 12


def test_unequal_ties_make_the_excess_of_flips_negative():
    # One strategy ties all candidates: there is no flip between the two, but some within the other one.
    table = tied(
        simulated_reads(groups=30, strategies=["fixed", "random"], noise=2, seed=2), [f"g{n:04d}" for n in range(30)]
    )
    rows = rank_reversal.estimate(table, **OPTIONS).query("comparison == 'excess'").set_index("quantity")
    assert rows.loc["top1_flip", "ci_high"] < 0
    assert rows.loc["top1_flip", "p"] > 0.95
    assert rows.loc[["kendall_tau_b", "reversed_pairs"], "estimate"].isna().all()  # one strategy ranks nothing


def test_the_method_says_on_which_sides_p_is():
    found = rank_reversal.estimate(simulated_reads(groups=3), **OPTIONS)
    assert found["method"].unique().tolist() == [
        "jackknife over groups, Student's t; 50 halvings; expected agreement by Greiner's relation; "
        "p one-sided, of ties two-sided"
    ]
