"""Position bias: against hand-worked cases and slow plain versions of the same statistics."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from factories import random_scores, score_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order.analyses.position.position_selection import estimate as position_selection
from rubric_order.methods.position import blocks, selections, uniformity
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

# No deadlines: other work on the machine is no defect.
MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=6)
BOOTSTRAP = {"resamples": 50, "confidence": 0.95, "seed": 1}
KEYS = ["study", "judge", "profile", "condition", "dataset", "strategy", "n"]
QUANTITIES = ["share", "chi2", "cramers_v", "cramers_v_corrected", "cramers_v_squared", "cramers_v_corrected_reads"]
QUANTITIES += ["design_effect", "detectable_v", "commonest_share", "discordant_pairs", "discordant_share", "direction"]
COUNTS = (
    st.integers(2, 9)
    .flatmap(lambda n: st.lists(st.lists(st.integers(0, 12), min_size=n, max_size=n), min_size=1, max_size=12))
    .filter(lambda rows: sum(map(sum, rows)) > 0)
)


def rows_of(statistics, quantity, readout="hard", cluster="item"):
    return statistics.query("quantity == @quantity and readout == @readout and cluster == @cluster")


def estimate(statistics, quantity, readout="hard", column="estimate", cluster="item"):
    return rows_of(statistics, quantity, readout, cluster)[column].to_numpy(dtype=float)


def counts_of(table, readout):
    (block,) = blocks.blocks(table)
    return selections.counts(block, readout)


# Judges without a bias overall, as counts of each position in each item.


def favourite_positions(rng, n_items, n, *, faithful):
    """Every item has its own preferred position, drawn uniformly, and 2n reads that mostly select it."""
    favourite = rng.integers(0, n, (n_items, 1))
    selected = np.where(rng.random((n_items, 2 * n)) < faithful, favourite, rng.integers(0, n, (n_items, 2 * n)))
    return (selected[:, :, None] == np.arange(n)).sum(axis=1)


def independent_positions(rng, n_items, n):
    return rng.multinomial(2 * n, np.full(n, 1 / n), size=n_items)


def rejection_rates(draw, simulations, level=0.05):
    """Rejection rates of `cluster_test` and of the chi-square test over reads."""
    tables = [draw() for _ in range(simulations)]
    return (
        np.mean([uniformity.cluster_test(counts) < level for counts in tables]),
        np.mean([uniformity.count_test(counts.sum(axis=0)).p < level for counts in tables]),
    )


# The chi-square test and Cramer's V.


def test_position_test_of_a_hand_worked_case():
    # Counts 4, 2, 2, 1, 1 of 10: chi2 = (4 + 0 + 0 + 1 + 1) / 2. For 4 degrees of freedom p = exp(-x/2) (1 + x/2).
    chi2, p, cramers_v = uniformity.position_test([1, 1, 1, 1, 2, 2, 3, 3, 4, 5], 5)
    assert chi2 == pytest.approx(3)
    assert p == pytest.approx(math.exp(-1.5) * 2.5)
    assert cramers_v == pytest.approx(math.sqrt(3 / (10 * 4)))


@MANY
@given(
    st.integers(2, 9).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(1, n), min_size=1))), st.randoms()
)
def test_position_test_agrees_with_plain_sums_and_scipy_in_any_order(case, random):
    n, positions = case
    expected = len(positions) / n
    chi2 = sum((positions.count(place) - expected) ** 2 / expected for place in range(1, n + 1))
    found = uniformity.position_test(positions, n)
    assert found.chi2 == pytest.approx(chi2)
    assert found.p == pytest.approx(stats.chisquare([positions.count(place) for place in range(1, n + 1)]).pvalue)
    assert found.cramers_v == pytest.approx(math.sqrt(chi2 / (len(positions) * (n - 1))))
    assert uniformity.position_test(random.sample(positions, len(positions)), n) == found


@pytest.mark.parametrize("n", range(2, 10))
def test_cramers_v_is_0_for_uniform_and_1_for_one_position(n):
    assert uniformity.position_test(list(range(1, n + 1)) * 3, n) == (0, 1, 0)
    assert uniformity.position_test([n] * 20, n).cramers_v == pytest.approx(1)


@MANY
@given(COUNTS, st.integers(2, 50))
def test_cramers_v_does_not_depend_on_how_many_reads_there_are(rows, factor):
    counts = np.sum(rows, axis=0)
    assert uniformity.cramers_v(counts * factor) == pytest.approx(uniformity.cramers_v(counts))
    assert uniformity.count_test(counts * factor).chi2 == pytest.approx(factor * uniformity.count_test(counts).chi2)


def test_cramers_v_takes_many_tables_at_once():
    counts = np.array([[[4, 2, 2, 1, 1], [2, 2, 2, 2, 2]]])
    assert uniformity.cramers_v(counts) == pytest.approx(np.array([[math.sqrt(3 / 40), 0]]))


@pytest.mark.parametrize("positions", [[], [0, 1], [1, 6], [1.5], [1, np.nan], pd.Series([1, None], dtype="Int8")])
def test_positions_off_the_range_are_refused_without_a_warning(positions):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="position"):
            uniformity.position_test(positions, 5)


def test_one_position_is_refused():
    with pytest.raises(ValueError, match="from 1 to 1"):
        uniformity.position_test([1, 1], 1)


# The test that respects items.


def plain_cluster_test(counts):
    """Rao and Scott's second-order correction as it is derived, from the eigenvalues of the design-effect matrix."""
    n = len(counts[0])
    n_reads = sum(map(sum, counts))
    contributions = [[x - sum(row) / n for x in row] for row in counts]
    covariance = np.zeros((n, n))  # of the pooled shares, items being independent and their mean known under uniform
    for row in contributions:
        covariance += np.outer(row, row) / n_reads**2
    # Chi-square is a sum of squared standard normals, each times an eigenvalue; the one along (1, ..., 1) is 0.
    eigenvalues = np.linalg.eigvalsh(covariance * n_reads * n)[1:]
    mean_eigenvalue = eigenvalues.mean()
    variation = ((eigenvalues / mean_eigenvalue - 1) ** 2).mean()  # a squared, of n - 1 eigenvalues
    statistic = stats.chisquare(np.sum(counts, axis=0)).statistic / (mean_eigenvalue * (1 + variation))
    return stats.chi2.sf(statistic, (n - 1) / (1 + variation))


def test_cluster_test_of_a_hand_worked_case():
    # Deviations from uniform (1, -1) twice and (-1, 1) once: (1 + 1 - 1)^2 / 3 = 1/3 on 1 degree of freedom, and
    # P(chi2_1 > x) = erfc(sqrt(x / 2)).
    counts = np.array([[3, 1], [3, 1], [1, 3]])
    assert uniformity.cluster_test(counts) == pytest.approx(math.erfc(math.sqrt(1 / 6)))


@MANY
@given(COUNTS)
def test_cluster_test_agrees_with_a_plain_version(rows):
    if all(len(set(row)) == 1 for row in rows):
        assert uniformity.cluster_test(np.array(rows)) == 1
    else:
        assert uniformity.cluster_test(np.array(rows)) == pytest.approx(plain_cluster_test(rows), abs=1e-9)


@MANY
@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_with_one_read_an_item_and_two_positions_both_tests_are_one(first):
    counts = np.array([[1, 0] if is_first else [0, 1] for is_first in first])
    assert uniformity.cluster_test(counts) == pytest.approx(uniformity.count_test(counts.sum(axis=0)).p, abs=1e-12)


def test_with_one_read_an_item_and_many_items_both_tests_nearly_agree():
    rng = np.random.default_rng(1)
    for _ in range(20):
        counts = rng.multinomial(1, np.full(5, 0.2), size=5000)
        assert uniformity.cluster_test(counts) == pytest.approx(uniformity.count_test(counts.sum(axis=0)).p, abs=0.02)


@MANY
@given(COUNTS, st.randoms(), st.integers(2, 20))
def test_cluster_test_ignores_order_names_empty_items_and_repeated_reads(rows, random, factor):
    counts = np.array(rows)
    p = pytest.approx(uniformity.cluster_test(counts), abs=1e-9)
    assert uniformity.cluster_test(counts[random.sample(range(len(counts)), len(counts))]) == p
    positions = random.sample(range(counts.shape[1]), counts.shape[1])
    assert uniformity.cluster_test(counts[:, positions]) == p
    assert uniformity.cluster_test(np.vstack([counts, np.zeros_like(counts)])) == p
    assert uniformity.cluster_test(counts * factor) == p  # the same answers again are no further evidence


def test_cluster_test_is_1_for_exactly_uniform_items_up_to_rounding():
    assert uniformity.cluster_test(np.full((80, 5), 2)) == 1
    assert uniformity.cluster_test(np.full((80, 5), 0.1) * 3 + 1e-16 * np.arange(5)) == 1


def test_cluster_test_of_unknown_counts_is_unknown():
    assert math.isnan(uniformity.cluster_test(np.array([[1, np.nan], [2, 3]])))


def test_cluster_test_finds_bias_that_does_not_vary_between_items():
    always_first = np.tile([10, 0, 0, 0, 0], (80, 1))
    assert uniformity.cluster_test(always_first) < 1e-10
    rng = np.random.default_rng(2)
    six_of_ten_first = np.hstack([np.full((80, 1), 6), rng.multinomial(4, [0.25] * 4, size=80)])
    never_last = np.hstack([rng.multinomial(10, [0.25] * 4, size=80), np.zeros((80, 1), dtype=int)])
    for counts in (six_of_ten_first, never_last):
        assert uniformity.cluster_test(counts) < 1e-10
        assert uniformity.cluster_test(counts) == pytest.approx(uniformity.cluster_test(counts[:, ::-1]))


@pytest.mark.parametrize("n_items", [1, 2, 3])
def test_cluster_test_never_calls_a_few_items_significant(n_items):
    assert uniformity.cluster_test(np.tile([10, 0, 0, 0, 0], (n_items, 1))) > 0.05


@pytest.mark.parametrize(("n_items", "n", "least"), [(320, 5, 0.025), (80, 5, 0.025), (80, 9, 0.015), (12, 9, 0)])
def test_items_with_their_own_favourite_position_mislead_only_the_test_over_reads(n_items, n, least):
    rng = np.random.default_rng(n_items)
    cluster, naive = rejection_rates(lambda: favourite_positions(rng, n_items, n, faithful=0.95), 800)
    assert least <= cluster <= 0.075
    assert naive > 0.8


@pytest.mark.parametrize("n_items", [80, 320])
def test_both_tests_keep_their_level_when_reads_are_independent(n_items):
    rng = np.random.default_rng(n_items)
    cluster, naive = rejection_rates(lambda: independent_positions(rng, n_items, 5), 800)
    assert 0.025 <= cluster <= 0.075
    assert 0.025 <= naive <= 0.075


def test_cluster_test_keeps_its_level_when_items_have_different_numbers_of_reads():
    rng = np.random.default_rng(3)

    def draw():
        preferences = rng.dirichlet(np.ones(5), size=80)
        return rng.multinomial(rng.integers(0, 11, size=80), preferences)

    assert 0.02 <= rejection_rates(draw, 800)[0] <= 0.075


def test_cluster_test_finds_a_planted_bias_and_more_so_with_more_items():
    rng = np.random.default_rng(4)

    def draw(n_items):
        preferences = rng.dirichlet([0.5, 0.25, 0.25, 0.25, 0.25], size=n_items)  # the first position twice as often
        return rng.multinomial(10, preferences)

    few, many = (rejection_rates(lambda size=size: draw(size), 300)[0] for size in (20, 80))
    assert 0.15 < few < 0.45
    assert many > 0.85


def test_the_rotation_test_is_made_where_there_are_few_clusters(monkeypatch):
    monkeypatch.setattr(uniformity, "ENOUGH_CLUSTERS", 12)  # the table has 12 items in 3 groups
    result = position_selection.estimate(random_scores(1), **BOOTSTRAP)
    tests = result[(result["quantity"] == "chi2") & (result["readout"] == "hard")].set_index("cluster")["p_rotation"]
    assert 0 < tests["group"] <= 1
    assert np.isnan(tests["item"])


# From reads to counts.


def test_item_counts_are_in_the_order_of_ids_with_zeros_where_nothing_is_usable():
    table = score_table([[1, 1], [None, None], [2, None]], n=2, shown=[[1, 2], [2, 1]])
    table = table.iloc[::-1]
    for readout in selections.READOUTS:
        assert counts_of(table, readout).tolist() == [[1, 1], [0, 0], [0, 1]]


def test_an_item_of_which_one_read_has_a_score_can_be_compared_with_nothing():
    one = [5] + [None] * 9
    found = position_selection.estimate(score_table([one, [5] * 10, [None] * 10], soft=False), **BOOTSTRAP)
    (row,) = rows_of(found, "chi2").itertuples()
    assert (row.n_items, row.n_clusters, row.n_reads, row.n_failed) == (1, 1, 10, 19)


def evened(table, readout="hard"):
    (block,) = blocks.blocks(table)
    return selections.evened(block, readout)


def test_each_ordering_counts_once_for_an_item_however_often_it_was_read():
    more = [[1, 2], [1, 2], [1, 2], [2, 1]]
    shares = [[[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.2, 0.8]]]
    table = score_table([[1, 1, 2, 2]], n=2, shown=more, probabilities=shares)
    assert evened(table) == pytest.approx(np.array([[2 / 3 + 1, 1 / 3]]))
    assert evened(table, "soft") == pytest.approx(np.array([[0.7 + 0.8, 0.3 + 0.2]]))


def test_where_reads_are_lost_selections_are_compared_with_what_the_others_showed():
    turns = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    # In the orderings that are left score 2 stands at 1 and 3, score 3 at 2 and 1, score 1 at 3 and 2.
    always_first, faithful = [None, 2, 3], [None, 3, 3]
    both = evened(score_table([always_first, faithful, [None, None, 1]], n=3, shown=turns, strategy="recorded"))
    assert both == pytest.approx(np.array([[2, 0, 0], [2 / 3] * 3, [0, 0, 0]]))


@pytest.mark.parametrize("strategy", ["balanced", "all"])
def test_reads_that_are_spread_evenly_are_taken_as_they_are(strategy):
    table = random_scores(5, n=4, n_reads=48, failing=0, shown=orderings.choose(strategy, 4), strategy=strategy)
    raw = counts_of(table, "hard")
    assert evened(table) == pytest.approx(raw * len(orderings.choose(strategy, 4)) / 48)


def test_soft_counts_are_summed_probabilities_of_positions():
    table = score_table([[1, 2]], n=2, shown=[[1, 2], [2, 1]], probabilities=[[[0.9, 0.1], [0.3, 0.7]]])
    assert counts_of(table, "soft") == pytest.approx(np.array([[0.9 + 0.7, 0.1 + 0.3]]))
    assert counts_of(table, "hard").tolist() == [[2, 0]]


# The table of estimates.


def test_position_selection_has_the_documented_columns_and_one_row_an_estimate():
    result = position_selection.estimate(random_scores(1), **BOOTSTRAP)
    assert list(result.columns) == [
        *(*KEYS, "readout", "cluster", "quantity", "position", "estimate", "ci_low", "ci_high", "sim_low", "sim_high"),
        *("bound_low", "bound_high", "p", "p_cluster", "p_rotation", "label", "flag"),
        *("saturated", "n_items", "n_clusters", "n_reads", "n_failed", "method", "confidence", "seed"),
        *("p_holm", "p_bh", "n_tests"),
    ]
    assert not result.duplicated([*KEYS, "readout", "cluster", "quantity", "position"]).any()
    has = {
        "estimate": set(QUANTITIES) - {"direction"},
        "ci_low": {"share", "cramers_v", "cramers_v_corrected"},
        "ci_high": {"share", "cramers_v", "cramers_v_corrected"},
        "sim_low": {"share"},
        "sim_high": {"share"},
        "bound_low": {"share", "cramers_v"},
        "bound_high": {"share", "cramers_v"},
        **{column: {"chi2"} for column in ("p", "p_cluster", "p_rotation", "p_holm", "p_bh", "n_tests")},
    }
    for _, rows in result.groupby(["readout", "cluster"]):
        assert rows["quantity"].tolist() == ["share"] * 5 + QUANTITIES[1:]
        assert rows["position"].dropna().tolist() == [1, 2, 3, 4, 5]
        for column, quantities in has.items():
            assert set(rows.loc[rows[column].notna(), "quantity"]) == quantities
        assert set(rows.loc[rows["label"] != "", "quantity"]) == {"direction"}
    assert result.groupby("cluster")["n_clusters"].unique().map(list).to_dict() == {"group": [3], "item": [12]}
    assert set(result["confidence"]) == {0.95}
    assert set(result["seed"]) == {1}
    assert result.loc[result["ci_low"].notna(), "method"].str.contains("50 resamples").all()


def test_groups_are_the_sample_where_they_are_asked_for():
    table = random_scores(4, n_items=24, failing=0)
    result = position_selection.estimate(table, **BOOTSTRAP)
    alone = position_selection.estimate(
        table.assign(item_id=table["group_id"], read_index=range(len(table))), **BOOTSTRAP
    )
    for quantity, columns in (
        ("share", ["estimate", "sim_low", "sim_high"]),
        ("chi2", ["estimate", "p", "p_cluster"]),
        *((name, ["estimate"]) for name in QUANTITIES[3:-4]),
    ):
        grouped = rows_of(result, quantity, cluster="group")[columns].to_numpy()
        assert grouped == pytest.approx(rows_of(alone, quantity, cluster="item")[columns].to_numpy())
    of_items = rows_of(result, "chi2")["p_cluster"].item()
    assert rows_of(result, "chi2", cluster="group")["p_cluster"].item() != pytest.approx(of_items)


def test_p_values_are_adjusted_over_judges_and_scales_of_a_study_and_strategy():
    parts = [random_scores(k, judge=judge, n=n) for k, (judge, n) in enumerate([("a", 3), ("a", 5), ("b", 5)])]
    table = pd.concat([*parts, parts[0].assign(strategy="random"), parts[1].assign(study="another")])
    tests = position_selection.estimate(table, **BOOTSTRAP).query("quantity == 'chi2'")
    sizes = tests.groupby(["study", "strategy", "readout", "cluster"])["n_tests"].unique().map(list)
    assert sizes.to_dict() == {
        (*family, readout, cluster): [size]
        for family, size in ((("s", "balanced"), 3), (("s", "random"), 1), (("another", "balanced"), 1))
        for readout in selections.READOUTS
        for cluster in ("group", "item")
    }
    family = tests.query("study == 's' and strategy == 'balanced' and readout == 'hard' and cluster == 'item'")
    p = family["p_cluster"].to_numpy()
    assert family["p_bh"].to_numpy() == pytest.approx(stats.false_discovery_control(p))
    assert family["p_holm"].min() == pytest.approx(min(3 * p.min(), 1))


def test_a_v_that_may_be_0_and_one_of_few_clusters_are_flagged():
    rng = np.random.default_rng(8)
    fair = score_table(rng.integers(1, 6, (80, 10)).tolist())
    biased = score_table([orderings.balanced(5)[:, 0].tolist()] * 20)
    fair, biased = (rows_of(position_selection.estimate(table, **BOOTSTRAP), "cramers_v") for table in (fair, biased))
    assert (fair["flag"].item(), biased["flag"].item()) == ("reaches 0", "few clusters")
    assert fair["ci_low"].item() == 0


def test_failed_reads_widen_bounds_of_shares_and_v():
    table = score_table([[1, 2, None], [1, 1, None]], n=2, shown=[[1, 2], [2, 1], [2, 1]])
    shares = rows_of(position_selection.estimate(table, **BOOTSTRAP), "share")
    # 3 and 1 of 4 reads; 2 more could select either position.
    assert shares["bound_low"].tolist() == pytest.approx([3 / 6, 1 / 6])
    assert shares["bound_high"].tolist() == pytest.approx([5 / 6, 3 / 6])
    v = rows_of(position_selection.estimate(table, **BOOTSTRAP), "cramers_v")
    assert v[["bound_low", "bound_high"]].to_numpy().tolist() == [pytest.approx([0, 2 / 3])]


def test_position_selection_agrees_with_plain_counts():
    table = random_scores(2, failing=0)
    result = position_selection.estimate(table, **BOOTSTRAP)
    selected = [int(position) for position in table["position"] if not pd.isna(position)]
    test = uniformity.position_test(selected, 5)
    assert estimate(result, "share") == pytest.approx([selected.count(p) / len(selected) for p in range(1, 6)])
    assert estimate(result, "chi2") == pytest.approx(stats.chisquare(np.bincount(selected)[1:]).statistic)
    assert estimate(result, "chi2", column="p") == pytest.approx(test.p)
    assert estimate(result, "cramers_v") == pytest.approx(test.cramers_v)
    by_item = [
        [sum(place == p for place in reads["position"].dropna()) for p in range(1, 6)]
        for _, reads in table.groupby("item_id")
    ]
    assert estimate(result, "chi2", column="p_cluster") == pytest.approx(plain_cluster_test(by_item))
    assert set(result["n_items"]) == {12}
    assert set(result["n_reads"]) == {len(selected)}
    assert set(result["n_failed"]) == {120 - len(selected)}


def test_intervals_agree_with_a_plain_bootstrap_over_items():
    table = random_scores(3, n_items=25, failing=0)
    result = position_selection.estimate(table, resamples=4000, confidence=0.9, seed=1)
    reads_of = [reads["position"].dropna().tolist() for _, reads in table.groupby("item_id")]

    def first_share(items):
        drawn = [place for item in items for place in reads_of[int(item)]]
        return drawn.count(1) / len(drawn)

    theirs = stats.bootstrap(
        (np.arange(25),),
        first_share,
        vectorized=False,
        method="percentile",
        n_resamples=3000,
        confidence_level=0.9,
        rng=np.random.default_rng(1),
    ).confidence_interval
    first = rows_of(result, "share").iloc[0]
    width = theirs.high - theirs.low
    assert first["ci_low"] == pytest.approx(theirs.low, abs=0.1 * width)
    assert first["ci_high"] == pytest.approx(theirs.high, abs=0.1 * width)
    assert first["ci_low"] < first["estimate"] < first["ci_high"]


@pytest.mark.parametrize(("faithful", "n_items"), [(0.9, 80), (0.0, 80)])
def test_intervals_of_shares_cover_them_at_about_their_nominal_rate(faithful, n_items):
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(200):
        counts = favourite_positions(rng, n_items, 5, faithful=faithful)
        resampled = resampling.bootstrap_weights(n_items, 400, rng=rng) @ counts
        low, high = resampling.percentile_interval(resampled / resampled.sum(axis=1, keepdims=True), 0.95)
        covered.append((low <= 0.2) & (high >= 0.2))
    assert 0.91 < np.mean(covered) < 0.975


@FEW
@given(st.integers(2, 9), st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_a_judge_that_keeps_to_its_score_has_no_position_bias_under_balanced_reads(n, scores):
    table = score_table([[min(score, n)] * (2 * n) for score in scores], n=n)
    result = position_selection.estimate(table, **BOOTSTRAP)
    for readout in selections.READOUTS:
        assert estimate(result, "share", readout) == pytest.approx([1 / n] * n)
        assert estimate(result, "chi2", readout) == pytest.approx([0])
        assert estimate(result, "cramers_v", readout) == pytest.approx([0])
        assert estimate(result, "chi2", readout, "p_cluster") == [1]


def test_a_judge_that_always_answers_the_first_option_has_full_bias():
    result = position_selection.estimate(score_table([orderings.balanced(5)[:, 0].tolist()] * 30), **BOOTSTRAP)
    assert estimate(result, "share").tolist() == [1, 0, 0, 0, 0]
    assert estimate(result, "cramers_v") == pytest.approx([1])
    assert estimate(result, "chi2", column="p_cluster") < 1e-6


@FEW
@given(st.integers(0, 1000))
def test_one_hot_probabilities_give_the_selected_positions(seed):
    result = position_selection.estimate(random_scores(seed), **BOOTSTRAP)
    hard, soft = (result[result["readout"] == readout].reset_index(drop=True) for readout in selections.READOUTS)
    same = ["quantity", "position", "estimate", "p", "p_cluster", "n_items", "n_reads", "n_failed"]
    pd.testing.assert_frame_equal(hard[same], soft[same])


def test_another_seed_moves_intervals_only():
    table = random_scores(21)
    result = position_selection.estimate(table, **BOOTSTRAP)
    other = position_selection.estimate(table, **BOOTSTRAP | {"seed": 2})
    assert not result["ci_low"].equals(other["ci_low"])
    moved = ["ci_low", "ci_high", "p_rotation", "seed"]
    pd.testing.assert_frame_equal(result.drop(columns=moved), other.drop(columns=moved))


def test_scales_and_strategies_are_kept_apart():
    table = pd.concat(
        [
            random_scores(10, n=3),
            random_scores(11, n=5),
            random_scores(12, n=5).assign(strategy="random"),
        ]
    )
    result = position_selection.estimate(table, **BOOTSTRAP)
    groups = result[["strategy", "n"]].drop_duplicates()
    assert list(groups.itertuples(index=False, name=None)) == [("balanced", 3), ("balanced", 5), ("random", 5)]


def test_a_readout_without_a_usable_read_has_no_rows():
    table = random_scores(14)
    table["position_probabilities"] = None
    assert set(position_selection.estimate(table, **BOOTSTRAP)["readout"]) == {"hard"}
    assert position_selection.estimate(score_table([[None] * 10] * 3), **BOOTSTRAP).empty


def test_items_without_a_usable_read_are_not_counted_and_do_not_move_estimates():
    selected = [[1, 2] * 5, [3, 4] * 5, [5, 5] * 5]
    whole = position_selection.estimate(score_table(selected), **BOOTSTRAP)
    result = position_selection.estimate(score_table([*selected, [None] * 10]), **BOOTSTRAP)
    same = ["quantity", "position", "estimate", "p", "p_cluster", "n_items", "n_reads"]
    pd.testing.assert_frame_equal(result[same], whole[same])
    assert set(result["n_failed"]) == {10}


def test_one_item_has_estimates_and_no_intervals():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = position_selection.estimate(score_table([[1] * 9 + [None]]), **BOOTSTRAP)
    known = result["quantity"].isin(["share", "chi2", "cramers_v", "cramers_v_corrected_reads"])
    known |= result["quantity"].isin(["commonest_share", "discordant_pairs", "discordant_share"])
    assert result.loc[known, "estimate"].notna().all()
    assert result.loc[~known, "estimate"].isna().all()
    assert result[["ci_low", "ci_high", "sim_low", "sim_high"]].isna().all(axis=None)
    assert set(result.loc[result["quantity"] == "direction", "label"]) == {uniformity.DIRECTIONS.saturated}
    assert (estimate(result, "chi2", column="p_cluster") > 0.05).all()


# What selections do not say.


def test_the_variety_of_scores_by_hand():
    # Scores 1 1 2 and 2 2: of four pairs, two differ; three of five reads have score 2.
    (block,) = blocks.blocks(score_table([[1, 1, 2], [2, 2]], n=2, shown=[[1, 2]]))
    found = selections.variety(block, "hard")
    assert found == (3 / 5, 2, 4)
    assert found.discordant_share == 1 / 2
    assert selections.variety(block, "soft") == pytest.approx(found)  # probabilities of 0 and 1
    torn = score_table([[1, 2]], n=2, shown=[[1, 2]], probabilities=[[[0.9, 0.1], [0.5, 0.5]]])
    (block,) = blocks.blocks(torn)
    assert selections.variety(block, "soft") == pytest.approx((1.4 / 2, 0.9 * 0.5 + 0.1 * 0.5, 1))


@pytest.mark.parametrize(
    "scores",
    [[[5] * 10] * 40, [[1 + item % 5] * 10 for item in range(40)], [[5] * 10] * 39 + [[5] * 9 + [4]]],
    ids=["always 5", "one score per item", "one read differs"],
)
def test_a_judge_whose_scores_the_order_cannot_move_is_saturated_not_near_uniform(scores):
    result = position_selection.estimate(score_table(scores), **BOOTSTRAP).query("readout == 'hard'")
    assert result["saturated"].all()
    assert set(result.loc[result["quantity"] == "direction", "label"]) == {uniformity.DIRECTIONS.saturated}
    assert result.loc[result["quantity"] == "detectable_v", "estimate"].isna().all()
    for low, high in (("ci_low", "ci_high"), ("sim_low", "sim_high")):
        assert not (result[low] == result[high]).any()  # NaN is no number
    v = result[result["quantity"] == "cramers_v"]
    assert v["flag"].str.contains("saturated").all()
    assert (v["estimate"] < 0.01).all()


def test_a_judge_that_wavers_is_not_saturated():
    result = position_selection.estimate(random_scores(1, n_items=400), **BOOTSTRAP)
    assert not result["saturated"].any()
    assert set(result.loc[result["quantity"] == "direction", "label"]) == {uniformity.DIRECTIONS.none}
    assert result.loc[result["quantity"] == "detectable_v", "estimate"].gt(0).all()


PREFERENCE = {"preference": [0.8, 0.3, 0.0, -0.3, -0.8], "item_error": 0.5}


def test_v_of_one_preference_depends_on_how_decisive_the_judge_is_and_on_the_number_of_levels():
    by_sureness = [
        studies.true_v(Simulation(decisiveness=decisiveness, **PREFERENCE), 5, items=4000).value
        for decisiveness in (2.0, 1.0, 0.5, 0.2)
    ]
    assert (np.diff(by_sureness) > 0.02).all()  # less decisive, and another V
    by_levels = [studies.true_v(Simulation(**PREFERENCE), n, items=4000).value for n in (2, 3, 5, 9)]
    assert np.ptp(by_levels) > 0.03


def test_v_is_blind_to_a_preference_that_changes_with_the_score():
    judge = Simulation(interaction=1.5)
    reads = studies.read_items(judge, n=5, strategies=["balanced"], groups=4000, seed=1)["balanced"]
    shares = reads.probabilities.sum(axis=(0, 1))
    assert uniformity.cramers_v(shares) < 0.03
    by_ordering = (reads.probabilities * reads.shown).sum(axis=2).mean(axis=0)
    assert np.ptp(by_ordering) > 0.3  # points between orderings
