"""Agreement with human scores: against hand-worked and published numbers, scipy and plain sums."""

import functools
import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from factories import random_scores, score_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.methods.agreement import correlations, item_scores
from rubric_order.methods.position import blocks

# No deadlines: other work on the machine is no defect.
MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=6)
random_table = functools.partial(random_scores, n_items=15, n_reads=4, per_group=3, criteria=("coherence", "empathy"))
OPTIONS = {"confidence": 0.95}
KEYS = ["study", "judge", "profile", "condition", "dataset", "strategy", "n"]
# Scores as judges give them, with many ties.
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(3, 15).map(lambda total: total / 3)), min_size=2, max_size=40)


def pearson(x, y):
    return correlations.weighted_pearson(x, y, np.ones(len(x)))


def spearman(x, y):
    return correlations.weighted_spearman(x, y, np.ones(len(x)))


def plain_pearson(x, y):
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / math.sqrt(math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y))


def plain_ranks(x):
    """The number of smaller values, and half the number of equal ones."""
    return [sum(other < value for other in x) + (x.count(value) + 1) / 2 for value in x]


# Correlations.


def test_correlations_of_hand_worked_cases():
    assert pearson(np.array([1, 2, 3]), np.array([1, 3, 2])) == pytest.approx(0.5)
    # Deviations -2, -1, 0, 3 and -1, 0, -1, 2: 8 / sqrt(14 * 6).
    assert pearson(np.array([1, 2, 3, 6]), np.array([2, 3, 2, 5])) == pytest.approx(8 / math.sqrt(84))
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: (2.25 + 0 + 0 + 2.25) / sqrt(4.5 * 5).
    assert spearman(np.array([1, 2, 2, 9]), np.array([0, 8, 7, 9])) == pytest.approx(4.5 / math.sqrt(22.5))


def test_correlations_of_published_data():
    # Anscombe (1973), data set 1: r = 0.816.
    x = np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    assert pearson(x, y) == pytest.approx(0.816, abs=0.0005)
    # The example of the Wikipedia article on Spearman's rho, without ties: 1 - 6 * 194 / (10 * 99) = -29/165.
    iq = np.array([106, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    hours = np.array([7, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    assert spearman(iq, hours) == pytest.approx(-29 / 165)


@MANY
@given(PAIRS)
def test_correlations_agree_with_scipy_and_plain_sums(pairs):
    judge, human = (list(column) for column in zip(*pairs, strict=True))
    x, y = np.array(judge), np.array(human)
    if len(set(judge)) == 1 or len(set(human)) == 1:
        assert np.isnan(pearson(x, y))
        assert np.isnan(spearman(x, y))
        return
    assert pearson(x, y) == pytest.approx(plain_pearson(judge, human), abs=1e-9)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(plain_pearson(plain_ranks(judge), plain_ranks(human)), abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


@MANY
@given(PAIRS, st.randoms(), st.floats(0.1, 10), st.floats(-5, 5))
def test_correlations_ignore_order_scale_and_origin_and_are_symmetric(pairs, random, scale, origin):
    x, y = np.array(pairs, dtype=float).T
    order = random.sample(range(len(x)), len(x))
    for statistic in (pearson, spearman):
        same = pytest.approx(statistic(x, y), abs=1e-7, nan_ok=True)
        assert statistic(x[order], y[order]) == same
        assert statistic(y, x) == same
        assert statistic(scale * x + origin, y) == same
        assert -statistic(-x, y) == same


@pytest.mark.parametrize("constant", [3, 3.3, 4.1, 7 / 3, 17 / 7])
@pytest.mark.parametrize("statistic", [pearson, spearman])
def test_a_constant_has_no_correlation_however_its_mean_is_rounded(statistic, constant):
    y = np.random.default_rng(2).integers(1, 6, 1600)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(statistic(np.full(1600, constant), y))
        assert np.isnan(statistic(y, np.full(1600, constant)))
        assert np.isnan(statistic(np.array([constant]), np.array([2.0])))


# Weighted pairs.


WEIGHTED = st.lists(
    st.tuples(st.integers(1, 5), st.integers(3, 15).map(lambda total: total / 3), st.integers(0, 4)),
    min_size=2,
    max_size=30,
).filter(lambda rows: sum(weight for *_, weight in rows) > 1)


def one_weight(statistic, x, y, weights):
    return statistic(x, y, np.asarray(weights, dtype=float)[None])[0]


def plain_kappa(x, y):
    """From the table of joint counts, as it is usually defined."""
    values = sorted({*x, *y})
    observed = np.array([[sum(a == i and b == j for a, b in zip(x, y, strict=True)) for j in values] for i in values])
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(x)
    penalty = np.array([[(i - j) ** 2 for j in values] for i in values])
    return 1 - (penalty * observed).sum() / (penalty * expected).sum()


@MANY
@given(WEIGHTED)
def test_weights_are_copies(rows):
    x, y, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    long_x, long_y = np.repeat(x, weights.astype(int)), np.repeat(y, weights.astype(int))
    defined = len(set(long_x)) > 1 and len(set(long_y)) > 1
    theirs = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    for name, statistic in zip(("pearson", "spearman", "kendall"), theirs, strict=True):
        found = one_weight(human_agreement.STATISTICS[name], x, y, weights)
        assert np.isnan(found) == (not defined)
        if defined:
            assert found == pytest.approx(statistic(long_x, long_y).statistic, abs=1e-9)
    levels = human_agreement.rounded(long_y)
    found = one_weight(correlations.weighted_kappa, x, human_agreement.rounded(y), weights)
    if len({*long_x, *levels}) > 1:
        assert found == pytest.approx(plain_kappa(long_x.tolist(), levels.tolist()), abs=1e-9)
    else:
        assert np.isnan(found)


@pytest.mark.parametrize("name", human_agreement.STATISTICS)
@pytest.mark.parametrize("distinct", [6, 200, 3000])
def test_many_weights_at_once_are_the_same_as_one_after_another(name, distinct):
    rng = np.random.default_rng(1)  # more pairs, and more values, than are looked at in one go
    x, y = rng.integers(0, distinct, (2, 1500)) / 7
    weights = rng.integers(0, 3, (70, 1500)).astype(float)
    statistic = human_agreement.STATISTICS[name]
    together = statistic(x, y, weights)
    assert together.shape == (70,)
    assert together[[0, 3, 69]] == pytest.approx([one_weight(statistic, x, y, weights[k]) for k in (0, 3, 69)])
    copies = weights[3].astype(int)
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    if name in theirs:
        assert together[3] == pytest.approx(theirs[name](np.repeat(x, copies), np.repeat(y, copies)).statistic)


def test_weighted_statistics_of_hand_worked_cases():
    x, y, weights = np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), np.array([1.0, 1, 1])
    assert one_weight(correlations.weighted_pearson, x, y, weights) == pytest.approx(0.5)
    assert one_weight(correlations.weighted_spearman, x, y, weights) == pytest.approx(0.5)
    assert one_weight(correlations.weighted_kendall, x, y, weights) == pytest.approx(1 / 3)
    # Squared differences 0, 1, 1; all nine pairs of 1, 2, 3: 0 thrice, 1 four times, 4 twice.
    assert one_weight(correlations.weighted_kappa, x, y, weights) == pytest.approx(1 - (2 / 3) / (12 / 9))


@pytest.mark.parametrize(("n_x", "n_y"), [(1, 5), (2, 2), (5, 9), (5, 5000), (3000, 7), (5000, 5000)])
def test_weighted_kendall_is_scipys_tau_b_of_all_copies_however_many_values_there_are(n_x, n_y):
    rng = np.random.default_rng(n_x + n_y)
    x = rng.integers(0, n_x, 300).astype(float)
    y = rng.integers(0, n_y, 300) + (x if n_x > 1 else 0.0)
    weights = rng.poisson(1.0, (70, 300)).astype(float)
    found = correlations.weighted_kendall(x, y, weights)
    copies = [(np.repeat(x, row.astype(int)), np.repeat(y, row.astype(int))) for row in weights]
    expected = [stats.kendalltau(*pair).statistic for pair in copies]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert correlations.weighted_kendall(x, y, weights[0]) == pytest.approx(expected[0], nan_ok=True)


@pytest.mark.parametrize("constant", [3, 3.3, 4.1, 7 / 3, 17 / 7])
def test_a_constant_has_no_weighted_correlation_however_its_mean_is_rounded(constant):
    y = np.random.default_rng(2).integers(1, 6, 1600).astype(float)
    x = np.where(np.arange(1600) < 800, constant, constant + 1)
    weights = np.random.default_rng(3).integers(0, 4, (5, 1600)).astype(float)
    weights[:, 800:] = 0  # where x is the one value
    for name in ("pearson", "spearman", "kendall"):
        assert np.isnan(human_agreement.STATISTICS[name](x, y, weights)).all()
        assert np.isnan(human_agreement.STATISTICS[name](y, x, weights)).all()


def test_scores_are_rounded_half_up_and_human_ones_are_brought_to_the_judge_s_scale():
    assert human_agreement.rounded(np.array([2.5, 3.5, 2.4999999999, 7 / 3])).tolist() == [3, 4, 3, 2]
    human = np.array([1, 2, 3, 4, 5.0])
    assert human_agreement.human_levels(human, 5).tolist() == [1, 2, 3, 4, 5]
    assert human_agreement.human_levels(human, 3).tolist() == [1, 2, 2, 3, 3]  # 1, 1.5, 2, 2.5, 3
    assert human_agreement.human_levels(human, 9).tolist() == [1, 3, 5, 7, 9]
    assert np.isnan(human_agreement.human_levels(np.array([1.0, 10]), 5)).all()


# Leaving out clusters of pairs.


def test_without_a_cluster_its_pairs_are_gone():
    x, y, clusters = np.array([1.0, 2, 1, 3]), np.array([1.0, 1, 1, 2]), np.array([0, 0, 1, 2])
    pairs = correlations.Pairs(x, y, clusters)
    assert pairs.once.tolist() == [2, 1, 1]  # (1, 1) twice, (2, 1), (3, 2)
    assert pairs.left_out().tolist() == [[1, 0, 1], [1, 1, 1], [2, 1, 0]]


# Means of items.


def means_of(table, readout="hard"):
    (block,) = blocks.blocks(table)
    return item_scores.item_scores(block, readout).scored


def test_item_means_leave_out_reads_and_items_without_a_score():
    table = score_table([[5, 2, None], [1, 2, 2], [None, None, None], [4, 4, 4]], [4, 2, 3, np.nan])
    means = means_of(table.iloc[::-1])
    assert means.block.items["item_id"].iloc[means.row].tolist() == ["i0000", "i0001"]
    assert means.mean.tolist() == [3.5, 5 / 3]
    assert means.human.tolist() == [4, 2]
    assert (means.n_reads.tolist(), means.n_scored.tolist()) == ([3, 3], [2, 3])


def test_equal_means_of_different_reads_are_equal_to_the_last_bit():
    rng = np.random.default_rng(3)
    selected = [rng.permutation([1, 2, 3, 3, 5, 5, 4]).tolist() for _ in range(50)] + [[3, 3, 3, 3, 3, 4, 4]] * 50
    assert len(set(means_of(score_table(selected, [1.0] * 100)).mean)) == 1


def test_clusters_are_items_or_their_groups():
    means = means_of(random_table(1, n_items=7, failing=0))
    assert means.clusters("item").tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert means.clusters("group").tolist() == [0, 0, 0, 1, 1, 1, 2]


# The table of correlations.


def row_of(result, quantity="pearson", *, readout="hard", cluster="item", criterion="all"):
    found = result.query(
        "quantity == @quantity and readout == @readout and cluster == @cluster and criterion == @criterion"
    )
    assert len(found) == 1
    return found.iloc[0]


def test_human_agreement_has_the_documented_columns_and_rows():
    result = human_agreement.estimate(random_table(1), **OPTIONS)
    assert list(result.columns) == [
        *(*KEYS, "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high"),
        *(
            "bound_low",
            "bound_high",
            "n_items",
            "n_clusters",
            "n_reads",
            "n_failed",
            "flag",
            "method",
            "gold",
            "confidence",
        ),
    ]
    rows = result[["readout", "criterion", "cluster", "quantity"]].itertuples(index=False, name=None)
    quantities = ("pearson", "spearman", "kendall", "kappa")
    assert list(rows) == list(
        itertools.product(("hard", "soft"), ("all", "coherence", "empathy"), ("group", "item"), quantities)
    )
    assert (result["ci_low"] <= result["ci_high"]).all()
    assert result[["ci_low", "ci_high"]].abs().le(1).all(axis=None)
    assert set(result.loc[result["bound_low"].notna(), "quantity"]) == {"pearson"}
    pooled = result[result["criterion"] == "all"]
    assert pooled.groupby("cluster")["n_clusters"].unique().map(list).to_dict() == {"group": [5], "item": [15]}


def test_human_agreement_of_a_hand_worked_case():
    # Means 1.5, 2, 3 are -4/6, -1/6, 5/6 from theirs; human scores 1, 3, 2 are -1, 1, 0: (3/6) / sqrt(42/36 * 2).
    table = score_table([[1, 2, None], [2, 2, 2], [3, None, None]], [1, 3, 2])
    result = human_agreement.estimate(table, **OPTIONS)
    row = row_of(result)
    assert row["estimate"] == pytest.approx(0.5 / math.sqrt(42 / 36 * 2))
    assert row_of(result, "spearman")["estimate"] == pytest.approx(0.5)
    assert row_of(result, "kendall")["estimate"] == pytest.approx(1 / 3)
    # Rounded 2, 2, 3 and 1, 3, 2: squared differences 1, 1, 1; over all nine pairs 1, 1, 0, 1, 1, 0, 4, 0, 1.
    assert row_of(result, "kappa")["estimate"] == pytest.approx(1 - 1 / (9 / 9))
    assert (row["n_items"], row["n_reads"], row["n_failed"]) == (3, 6, 3)


def test_kappa_knows_the_scale_of_the_human_scores():
    table = score_table([[1, 1], [2, 2], [3, 3]], [0, 50, 100]).assign(n=3)
    percent = {table["dataset"].iloc[0]: [0, 100]}
    assert row_of(human_agreement.estimate(table, human_scales=percent, **OPTIONS), "kappa")["estimate"] == 1
    assert np.isnan(row_of(human_agreement.estimate(table, **OPTIONS), "kappa")["estimate"])  # not from 1 to 5


def test_human_agreement_agrees_with_plain_means_and_scipy():
    table = random_table(2)
    result = human_agreement.estimate(table, **OPTIONS)
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for criterion in ("all", "coherence", "empathy"):
        block = table if criterion == "all" else table[table["criterion"] == criterion]
        judge, human = [], []
        for _, of_item in block.groupby("item_id"):
            known = [int(score) for score in of_item["score"] if not pd.isna(score)]
            if known:
                judge.append(sum(known) / len(known))
                human.append(of_item["human_score"].iloc[0])
        for name, statistic in theirs.items():
            row = row_of(result, name, criterion=criterion)
            assert row["estimate"] == pytest.approx(statistic(judge, human).statistic)
            assert row["n_items"] == len(judge)
            assert row["n_reads"] == block["score"].notna().sum()
            assert row["n_failed"] == block["score"].isna().sum()
        rounded = [[math.floor(value + 0.5 + 1e-9) for value in values] for values in (judge, human)]
        assert row_of(result, "kappa", criterion=criterion)["estimate"] == pytest.approx(plain_kappa(*rounded))


def test_intervals_over_groups_are_those_of_a_plain_jackknife_on_fishers_z():
    rng = np.random.default_rng(8)
    shared = np.repeat(rng.normal(size=20), 3)  # items of a group resemble each other
    human = np.clip(3 + shared + 0.3 * rng.normal(size=60), 1, 5)
    selected = np.clip(np.round(human + 0.5 * np.repeat(rng.normal(size=20), 3)), 1, 5).astype(int)
    table = score_table(selected[:, None].tolist(), human.tolist(), per_group=3)
    result = human_agreement.estimate(table, **OPTIONS)
    group = np.arange(60) // 3
    z = np.arctanh([np.corrcoef(selected[group != g], human[group != g])[0, 1] for g in range(20)])
    centre = np.arctanh(np.corrcoef(selected, human)[0, 1])
    reach = stats.t.ppf(0.975, 19) * np.sqrt(19 / 20 * ((z - centre) ** 2).sum())
    row = row_of(result, cluster="group")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((np.tanh(centre - reach), np.tanh(centre + reach)))
    item = row_of(result, cluster="item")
    assert item["ci_high"] - item["ci_low"] < 0.8 * (row["ci_high"] - row["ci_low"])


def test_failed_reads_widen_the_bounds_of_r():
    table = random_table(9, n_items=30, failing=0.1)
    row = row_of(human_agreement.estimate(table, **OPTIONS))
    assert row["bound_low"] < row["estimate"] < row["bound_high"]
    for fill in (1, 3, 5):  # whatever the failed reads would have scored
        filled = table.assign(score=table["score"].fillna(fill))
        found = row_of(human_agreement.estimate(filled, **OPTIONS))
        assert row["bound_low"] <= found["estimate"] <= row["bound_high"]
        assert found["bound_low"] == found["bound_high"] == found["estimate"]


@pytest.mark.parametrize("n_groups", [18, 96])
def test_intervals_cover_the_correlation_also_with_few_groups(n_groups):
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(n_groups), 4)
    covered = 0
    for _ in range(400):
        x, y = (rng.exponential(size=(2, n_groups))[:, group] + rng.exponential(size=(2, len(group)))).tolist()
        y = np.array(x) + np.array(y)  # r is the root of a half
        pairs = correlations.Pairs(np.array(x), y, group)
        _, low, high = pairs.interval(correlations.weighted_pearson, 0.95)
        covered += low <= np.sqrt(0.5) <= high
    assert covered / 400 > 0.925


@FEW
@given(st.integers(0, 1000))
def test_expected_scores_of_one_hot_probabilities_agree_as_the_selected_scores_do(seed):
    result = human_agreement.estimate(random_table(seed), **OPTIONS)
    hard, soft = (result[result["readout"] == readout].reset_index(drop=True) for readout in ("hard", "soft"))
    same = ["criterion", "cluster", "quantity", "estimate", "bound_low", "bound_high", "n_items", "n_reads", "n_failed"]
    pd.testing.assert_frame_equal(hard[same], soft[same])


def test_items_without_a_human_score_change_nothing():
    selected = [[1, 2], [3, 3], [5, 4], [2, 2], [1, 1]]
    rated = human_agreement.estimate(score_table(selected, [1, 2, 5, 3, 1]), **OPTIONS)
    more = score_table([*selected, [5, None]], [1, 2, 5, 3, 1, np.nan])
    pd.testing.assert_frame_equal(human_agreement.estimate(more, **OPTIONS), rated)


def test_one_criterion_is_not_repeated_beside_the_pooled_row():
    result = human_agreement.estimate(random_table(7, criteria=("quality",)), **OPTIONS)
    assert set(result["criterion"]) == {"all"}
    assert len(result) == 2 * 2 * 4


@pytest.mark.parametrize("selected", [[[3, 3]], [[3, 3], [3, 3], [3, None]]], ids=["one item", "one score"])
def test_one_item_or_one_score_has_no_correlation_and_no_interval(selected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = human_agreement.estimate(score_table(selected, [1, 2, 4]), **OPTIONS)
    correlations = result[result["quantity"] != "kappa"]
    columns = ["estimate", "ci_low", "ci_high"]
    assert correlations[columns].isna().all(axis=None)
    assert set(result["n_items"]) == {len(selected)}


def test_one_group_has_no_interval():
    result = human_agreement.estimate(score_table([[1, 2], [3, 4], [4, 5]], [1, 3, 4]), **OPTIONS)
    grouped = result[result["cluster"] == "group"]
    assert grouped["estimate"].notna().all()
    assert grouped[["ci_low", "ci_high"]].isna().all(axis=None)


def test_an_interval_is_withheld_where_one_item_makes_the_correlation():
    table = score_table([[3, 3]] * 9 + [[4, 4]], [1 + k / 3 for k in range(10)])
    result = human_agreement.estimate(table, **OPTIONS)
    row = row_of(result)
    assert row["estimate"] == pytest.approx(plain_pearson([3] * 9 + [4], list(range(10))))
    assert row[["ci_low", "ci_high"]].isna().all()
    assert row_of(result, "spearman")[["ci_low", "ci_high"]].isna().all()
