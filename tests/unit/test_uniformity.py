"""Distance from uniform under clustering: hand-worked cases, properties, simulation and plain versions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from rubric_order.methods.position import uniformity
from rubric_order.methods.position.uniformity import DIRECTIONS
from rubric_order.methods.uncertainty import resampling

COUNTS = (
    st.integers(2, 9)
    .flatmap(lambda n: st.lists(st.lists(st.integers(0, 12), min_size=n, max_size=n), min_size=2, max_size=12))
    .filter(lambda rows: sum(map(sum, rows)) > 0)
)


def clustered(rng, n_clusters, n_reads, shares, *, same):
    """Counts of clusters in which a share of the reads repeats a choice of the cluster's own."""
    n = len(shares)
    own = rng.choice(n, size=(n_clusters, 1), p=shares)
    fresh = rng.choice(n, size=(n_clusters, n_reads), p=shares)
    selected = np.where(rng.random((n_clusters, n_reads)) < same, own, fresh)
    return (selected[:, :, None] == np.arange(n)).sum(axis=1).astype(float)


def shares_with(v, n):
    """Shares with this Cramer's V, of which only the first differs from the others."""
    away = np.array([1.0] + [-1 / (n - 1)] * (n - 1))
    return 1 / n + away / np.linalg.norm(away) * v * np.sqrt((n - 1) / n)


def resampled(counts, rng, resamples=300):
    return resampling.bootstrap_weights(len(counts), resamples, rng=rng) @ counts


# Variance and design effect.


def test_covariance_of_a_hand_worked_case():
    # Shares 3/4 and 1/4 of 4 reads; residuals (0.5, -0.5) and (-0.5, 0.5), factor 2 / 1: 2 x 0.5 / 16.
    counts = np.array([[2, 0], [1, 1]])
    assert uniformity.share_covariance(counts) == pytest.approx(np.array([[1, -1], [-1, 1]]) / 16)
    assert uniformity.design_effect(counts) == pytest.approx(4 * (2 / 16) / (1 - 10 / 16))


@given(COUNTS)
def test_covariance_agrees_with_plain_sums(rows):
    counts = np.array(rows, dtype=float)
    total, size = counts.sum(axis=0), counts.sum()
    plain = np.zeros((len(total), len(total)))
    for row in counts:
        residual = [x - row.sum() * t / size for x, t in zip(row, total, strict=True)]
        plain += np.outer(residual, residual)
    plain *= len(counts) / (len(counts) - 1) / size**2
    assert uniformity.share_covariance(counts) == pytest.approx(plain, abs=1e-12)


def test_variance_of_shares_is_that_of_many_studies():
    rng = np.random.default_rng(1)
    draws = [clustered(rng, 60, 10, np.array([0.5, 0.3, 0.2]), same=0.6) for _ in range(2000)]
    shares = np.array([counts.sum(axis=0) / counts.sum() for counts in draws])
    estimated = np.mean([uniformity.share_covariance(counts) for counts in draws], axis=0)
    assert estimated == pytest.approx(np.cov(shares, rowvar=False), rel=0.1, abs=2e-5)


def test_design_effect_is_1_for_independent_reads_and_the_cluster_size_for_equal_ones():
    rng = np.random.default_rng(2)
    effects = {same: clustered(rng, 4000, 10, np.full(5, 0.2), same=same) for same in (0, 1)}
    assert uniformity.design_effect(effects[0]) == pytest.approx(1, abs=0.05)
    assert uniformity.design_effect(effects[1]) == pytest.approx(10, rel=0.05)
    # Under balanced orderings a judge that keeps to its score selects every position in every item.
    assert uniformity.design_effect(np.full((50, 5), 2.0)) == pytest.approx(0)


def test_one_cluster_or_one_position_has_no_design_effect():
    assert np.isnan(uniformity.design_effect(np.array([[3.0, 1]])))
    assert np.isnan(uniformity.design_effect(np.array([[3.0, 0], [2, 0]])))
    assert np.isnan(uniformity.squared_v(np.array([[3.0, 1]])))
    assert np.isnan(uniformity.corrected_v(np.array([[3.0, 1]])))


# What chance adds to V.


@pytest.mark.parametrize("same", [0, 0.8, 1])
@pytest.mark.parametrize(("v", "n"), [(0, 5), (0.1, 5), (0, 2), (0.3, 9)])
def test_squared_v_is_unbiased_whatever_the_dependence_within_clusters(v, n, same):
    rng = np.random.default_rng(3)
    draws = [clustered(rng, 80, 10, shares_with(v, n), same=same) for _ in range(1500)]
    found = np.array([uniformity.squared_v(counts) for counts in draws])
    assert found.mean() == pytest.approx(v**2, abs=4 * found.std() / np.sqrt(len(found)))
    naive = np.mean([uniformity.cramers_v(counts.sum(axis=0)) ** 2 for counts in draws])
    assert naive > v**2 + 3 * found.std() / np.sqrt(len(found))


def test_correction_for_independent_reads_is_exactly_unbiased():
    # Every outcome of 4 reads of 3 positions, with its probability.
    shares, n_reads = np.array([0.5, 0.3, 0.2]), 4
    expected = 0.0
    for first in range(n_reads + 1):
        for second in range(n_reads + 1 - first):
            counts = np.array([first, second, n_reads - first - second])
            v2 = (n_reads * uniformity.cramers_v(counts) ** 2 - 1) / (n_reads - 1)
            expected += stats.multinomial.pmf(counts, n_reads, shares) * v2
    assert expected == pytest.approx(uniformity.cramers_v(shares) ** 2)


def test_corrected_v_of_reads_of_hand_worked_cases():
    assert uniformity.corrected_v_of_reads(np.array([10, 0])) == 1
    assert uniformity.corrected_v_of_reads(np.array([5, 5])) == 0
    assert uniformity.corrected_v_of_reads(np.array([8, 2])) == pytest.approx(np.sqrt((10 * 0.36 - 1) / 9))
    assert np.isnan(uniformity.corrected_v_of_reads(np.array([1, 0])))


def test_with_one_read_a_cluster_both_corrections_are_one():
    counts = np.eye(5)[np.random.default_rng(4).choice(5, size=200, p=[0.4, 0.3, 0.1, 0.1, 0.1])]
    assert uniformity.corrected_v(counts) == pytest.approx(uniformity.corrected_v_of_reads(counts.sum(axis=0)))


# Power.


def test_detectable_v_agrees_with_a_search_for_the_noncentrality():
    critical = stats.chi2.ppf(0.95, 4)
    noncentrality = optimize.brentq(lambda x: stats.ncx2.sf(critical, 4, x) - 0.8, 0.1, 100)
    found = uniformity.detectable_v(3200, 5, deff=1.5)
    assert found == pytest.approx(np.sqrt(noncentrality * 1.5 / (3200 * 4)))
    # Cohen (1988), Table 8.3.15 and others: w = 0.1 at 80% power needs 785 of 1 and 1194 of 4 degrees of freedom.
    assert uniformity.detectable_v(785, 2, deff=1) == pytest.approx(0.1, abs=0.0001)
    assert uniformity.detectable_v(1194, 5, deff=1) == pytest.approx(0.1 / np.sqrt(4), abs=0.0001)


@pytest.mark.parametrize("same", [0, 0.7])
def test_a_bias_as_large_as_the_detectable_one_is_found_in_four_of_five_studies(same):
    rng = np.random.default_rng(5)
    deff = uniformity.design_effect(clustered(rng, 20_000, 10, np.full(5, 0.2), same=same))
    smallest = uniformity.detectable_v(3200, 5, deff=deff)
    shares = shares_with(smallest, 5)
    found = [uniformity.cluster_test(clustered(rng, 320, 10, shares, same=same)) < 0.05 for _ in range(600)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)


# Interval of V.


@pytest.mark.parametrize("same", [0, 0.7])
@pytest.mark.parametrize("v", [0, 0.03, 0.2])
def test_interval_of_v_covers_it_also_near_0_where_percentiles_do_not(v, same):
    rng = np.random.default_rng(6)
    covered, by_percentiles = [], []
    for _ in range(250):
        counts = clustered(rng, 80, 10, shares_with(v, 5), same=same)
        drawn = resampled(counts, rng)
        low, high = uniformity.v_interval(counts, drawn, 0.95)
        assert low <= uniformity.cramers_v(counts.sum(axis=0)) <= high + 1e-9
        covered.append(low <= v + 1e-12 and v <= high + 1e-12)
        low, high = resampling.percentile_interval(uniformity.cramers_v(drawn), 0.95)
        by_percentiles.append(low <= v <= high)
    assert 0.9 < np.mean(covered) <= 1
    if v == 0:
        assert np.mean(by_percentiles) < 0.1


def test_interval_of_v_far_from_0_is_the_basic_bootstrap_interval():
    rng = np.random.default_rng(7)
    counts = clustered(rng, 2000, 10, shares_with(0.4, 5), same=0.3)
    drawn = resampled(counts, rng, 4000)
    v = uniformity.cramers_v(counts.sum(axis=0))
    low, high = resampling.percentile_interval(uniformity.cramers_v(drawn), 0.95)
    assert uniformity.v_interval(counts, drawn, 0.95) == pytest.approx((2 * v - high, 2 * v - low), abs=0.001)


def test_interval_of_v_of_two_positions_folds_that_of_the_share():
    # |2 s - 1| with s about normal: the ends solve F(|x| <= observed) = 0.975 and 0.025 for a folded normal.
    rng = np.random.default_rng(8)
    counts = clustered(rng, 200, 10, np.array([0.52, 0.48]), same=0.5)
    drawn = resampled(counts, rng, 20_000)
    v = uniformity.cramers_v(counts.sum(axis=0))
    spread = 2 * np.sqrt(uniformity.share_covariance(counts)[0, 0])

    def up_to_observed(t):
        return stats.norm.cdf((v - t) / spread) - stats.norm.cdf((-v - t) / spread)

    ends = [
        0 if up_to_observed(0) < share else optimize.brentq(lambda t, share=share: up_to_observed(t) - share, 0, 1)
        for share in (0.975, 0.025)
    ]
    assert uniformity.v_interval(counts, drawn, 0.95) == pytest.approx(ends, abs=0.03 * spread)


def test_interval_of_v_of_special_cases():
    rng = np.random.default_rng(9)
    uniform, one = np.full((40, 5), 2.0), np.tile([10.0, 0, 0, 0, 0], (40, 1))
    assert uniformity.v_interval(uniform, resampled(uniform, rng), 0.95) == (0, 0)
    assert uniformity.v_interval(one, resampled(one, rng), 0.95) == pytest.approx((1, 1))
    assert np.isnan(uniformity.v_interval(one[:1], resampled(one[:1], rng), 0.95)).all()


# Simultaneous intervals and direction.


@pytest.mark.parametrize("same", [0, 0.7, 0.95])
@pytest.mark.parametrize("first", [0.2, 0.6, 0.01])
def test_simultaneous_intervals_hold_together_at_about_their_nominal_rate(first, same):
    rng = np.random.default_rng(10)
    shares = np.array([first] + [(1 - first) / 4] * 4)
    covered = []
    for _ in range(300):
        low, high = uniformity.simultaneous_intervals(clustered(rng, 100, 10, shares, same=same), 0.95)
        covered.append(((low <= shares) & (shares <= high)).all())
    assert 0.91 < np.mean(covered) <= 1


def test_simultaneous_intervals_of_independent_reads_are_goodmans():
    counts = np.eye(5)[np.random.default_rng(11).choice(5, size=4000)]
    totals, size = counts.sum(axis=0), 4000
    a = stats.chi2.isf(0.05 / 5, 1)  # Goodman (1965), equations 9 and 10
    root = np.sqrt(a * (a + 4 * totals * (size - totals) / size))
    low, high = uniformity.simultaneous_intervals(counts, 0.95)
    assert low == pytest.approx((a + 2 * totals - root) / (2 * (size + a)), abs=2e-4)
    assert high == pytest.approx((a + 2 * totals + root) / (2 * (size + a)), abs=2e-4)


def test_an_empty_position_has_an_interval_and_a_certain_one_too():
    low, high = uniformity.simultaneous_intervals(np.tile([10.0, 0, 0], (30, 1)), 0.95)
    assert low[1] == pytest.approx(0)
    assert 0.05 < high[1] < 0.4  # 30 items, not 300 reads, say that it is rare
    assert 0.6 < low[0] < 0.95
    assert high[0] == pytest.approx(1)
    exact = uniformity.simultaneous_intervals(np.full((30, 4), 5.0), 0.95)
    assert np.array(exact) == pytest.approx(np.full((2, 4), 0.25))
    assert np.isnan(uniformity.simultaneous_intervals(np.array([[3.0, 1]]), 0.95)).all()


@pytest.mark.parametrize(
    ("middles", "half", "label"),
    [
        # Xu et al. (2026), Table 2 and Section 5.1; about the intervals of 576 items with independent reads
        ([0.250, 0.2, 0.18, 0.176, 0.194], 0.015, DIRECTIONS.first),  # GPT-OSS-20B, HANNA
        ([0.174, 0.19, 0.19, 0.203, 0.243], 0.014, DIRECTIONS.last),  # Qwen3.5-27B
        ([0.186, 0.2, 0.2, 0.204, 0.210], 0.013, DIRECTIONS.none),  # GPT-OSS-120B, "almost near-uniform"
        ([0.30, 0.15, 0.1, 0.15, 0.30], 0.02, DIRECTIONS.ends),
        ([0.10, 0.2, 0.4, 0.2, 0.10], 0.02, DIRECTIONS.middle),
        ([0.2, 0.3, 0.2, 0.1, 0.2], 0.02, DIRECTIONS.other),
        ([0.35, 0.2, 0.15, 0.15, 0.15], 0.16, DIRECTIONS.unknown),  # the largest share alone says nothing
        ([0.2, 0.2, 0.2, 0.2, 0.2], 0.1, DIRECTIONS.unknown),  # too wide to say that there is none
        ([0.6, 0.4], 0.05, DIRECTIONS.first),
        ([0.4, 0.6], 0.05, DIRECTIONS.last),
        ([0.5, 0.5], 0.05, DIRECTIONS.none),
    ],
)
def test_direction_of_known_intervals(middles, half, label):
    middles = np.array(middles)
    assert uniformity.direction(middles - half, middles + half) == label


def test_direction_turns_with_the_positions_and_depends_on_the_margin():
    low, high = np.array([0.28, 0.15, 0.1, 0.15, 0.15]), np.array([0.32, 0.19, 0.14, 0.19, 0.19])
    assert uniformity.direction(low, high) == DIRECTIONS.first
    assert uniformity.direction(low[::-1], high[::-1]) == DIRECTIONS.last
    near = np.full(5, 0.2) - 0.03, np.full(5, 0.2) + 0.03
    assert uniformity.direction(*near, near=0.2) == DIRECTIONS.none
    assert uniformity.direction(*near, near=0.1) == DIRECTIONS.unknown
    assert uniformity.direction(np.full(5, np.nan), np.full(5, np.nan)) == DIRECTIONS.unknown


def test_a_judge_without_bias_is_seldom_given_a_direction_though_its_reads_repeat():
    rng = np.random.default_rng(12)
    labels = []
    for _ in range(300):
        counts = clustered(rng, 80, 40, np.full(5, 0.2), same=0.9)
        labels.append(uniformity.direction(*uniformity.simultaneous_intervals(counts, 0.95)))
    biased = [label for label in labels if label not in (DIRECTIONS.unknown, DIRECTIONS.none)]
    assert len(biased) < 0.09 * len(labels)


# The rotation test.


def rotated_p(counts, rotations=1999, seed=1):
    return uniformity.rotation_test(np.asarray(counts), rotations=rotations, rng=np.random.default_rng(seed))


def every_rotation(counts):
    """The p-value over all rotations and reflections of all clusters, one by one."""
    deviation = np.asarray(counts, dtype=float)
    deviation = deviation - deviation.mean(axis=1, keepdims=True)
    n = deviation.shape[1]
    turns = [[np.roll(row[::step], k) for k in range(n) for step in (1, -1)] for row in deviation]
    observed = (deviation.sum(axis=0) ** 2).sum()
    sums = [(np.sum(chosen, axis=0) ** 2).sum() for chosen in itertools.product(*turns)]
    return np.mean(np.array(sums) >= observed - 1e-9)


@pytest.mark.parametrize(
    "counts",
    [
        [[3, 1, 0], [2, 2, 0], [4, 0, 0]],
        [[1, 3, 2, 2, 2], [2, 2, 2, 3, 1]],
        [[0, 4], [1, 3], [4, 0]],
        [[5, 1, 1, 1, 2], [5, 0, 1, 2, 2], [4, 1, 1, 2, 2]],
    ],
)
def test_the_rotation_test_is_the_share_of_all_rotations_that_are_as_far_from_uniform(counts):
    assert rotated_p(counts, rotations=40_000) == pytest.approx(every_rotation(counts), abs=0.012)


def test_the_rotation_test_of_a_hand_worked_case():
    # Each of two clusters prefers one position of three; the other's is the same in one of three rotations.
    assert rotated_p([[6, 0, 0], [6, 0, 0]], rotations=40_000) == pytest.approx(1 / 3, abs=0.01)
    assert rotated_p([[2, 2, 2], [2, 2, 2]]) == 1
    assert rotated_p(np.zeros((0, 3))) == 1


def test_the_rotation_test_leaves_clusters_out_that_are_uniform_and_does_not_depend_on_memory(monkeypatch):
    counts = np.random.default_rng(1).multinomial(6, [0.4, 0.2, 0.2, 0.1, 0.1], size=12)
    p = rotated_p(counts)
    assert rotated_p(np.vstack([counts, np.full((30, 5), 2)])) == p
    assert rotated_p(counts * 3) == p  # the same answers again are no further evidence
    assert rotated_p(counts[:, ::-1]) == pytest.approx(p, abs=0.03)
    assert rotated_p(np.roll(counts, 2, axis=1)) == pytest.approx(p, abs=0.03)


def test_the_rotation_test_finds_a_bias_with_few_clusters():
    assert rotated_p(np.tile([6, 1, 1, 1, 1], (10, 1))) == 1 / 2000
    rng = np.random.default_rng(3)
    found = np.mean(
        [rotated_p(rng.multinomial(10, [0.4, 0.15, 0.15, 0.15, 0.15], size=15), 199) <= 0.05 for _ in range(200)]
    )
    assert found > 0.8


def test_the_rotation_test_keeps_its_level_with_few_clusters_that_keep_to_a_position():
    rng = np.random.default_rng(4)
    tables = 10 * np.eye(5)[rng.integers(0, 5, size=(1500, 15))]
    assert np.mean([rotated_p(table, 199) <= 0.05 for table in tables]) == pytest.approx(0.05, abs=0.018)


def test_neighbouring_positions_that_waver_together_mislead_a_free_permutation_but_not_rotations():
    # Each cluster has four neighbours of nine positions: rotations keep them together, free permutations do not.
    rng = np.random.default_rng(5)
    first = rng.integers(0, 9, size=(600, 40, 1))
    tables = np.eye(9)[(first + np.arange(4)) % 9].sum(axis=2)

    def permuted_p(table):
        total = [(rng.permuted(table, axis=1).sum(axis=0) ** 2).sum() for _ in range(199)]
        return (1 + np.sum(total >= (table.sum(axis=0) ** 2).sum() - 1e-9)) / 200

    assert np.mean([rotated_p(table, 199) <= 0.05 for table in tables]) == pytest.approx(0.05, abs=0.03)
    assert np.mean([permuted_p(table) <= 0.05 for table in tables]) > 0.08
