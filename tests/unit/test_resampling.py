"""The bootstrap and the jackknife."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order.methods.uncertainty import cluster_robust, resampling

# No deadlines: other work on the machine is no defect.
MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_bootstrap_indices_are_drawn_uniformly():
    drawn = resampling.bootstrap_indices(7, 3000, rng=np.random.default_rng(1))
    assert drawn.shape == (3000, 7)
    assert stats.chisquare(np.bincount(drawn.ravel(), minlength=7)).pvalue > 0.001


def test_bootstrap_weights_are_counts_of_units_drawn_with_replacement():
    n, resamples = 6, 20_000
    weights = resampling.bootstrap_weights(n, resamples, rng=np.random.default_rng(1))
    assert weights.shape == (resamples, n)
    assert (weights.sum(axis=1) == n).all()
    # Multinomial: mean 1, variance 1 - 1/n, covariance -1/n.
    assert weights.mean(axis=0) == pytest.approx(np.ones(n), abs=0.03)
    assert np.cov(weights, rowvar=False) == pytest.approx(np.eye(n) - 1 / n, abs=0.04)
    drawn = resampling.bootstrap_indices(n, resamples, rng=np.random.default_rng(2))
    counted = np.array([np.bincount(row, minlength=n) for row in drawn])
    both = [np.bincount(table.ravel(), minlength=n + 1)[:5] for table in (weights, counted)]
    assert both[0] == pytest.approx(both[1], rel=0.1)


def test_percentile_interval_of_known_quantiles():
    low, high = resampling.percentile_interval(np.arange(101.0), 0.9)
    assert (low, high) == (pytest.approx(5), pytest.approx(95))


def test_percentile_interval_agrees_with_scipy():
    data = np.random.default_rng(3).exponential(size=30)
    theirs = stats.bootstrap((data,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(4))
    same_draws = resampling.percentile_interval(theirs.bootstrap_distribution, 0.95)
    assert same_draws == pytest.approx(tuple(theirs.confidence_interval), abs=1e-12)
    weights = resampling.bootstrap_weights(30, 4000, rng=np.random.default_rng(5))
    own_draws = resampling.percentile_interval(weights @ data / 30, 0.95)
    assert own_draws == pytest.approx(tuple(theirs.confidence_interval), abs=0.03)


def test_interval_is_withheld_where_more_than_5_percent_of_resamples_are_undefined():
    values = np.tile(np.arange(100.0)[:, None], (1, 4))
    values[:5, 1] = np.nan  # 5 percent
    values[:6, 2] = np.nan  # 6 percent
    values[:, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = resampling.percentile_interval(values, 0.95)
    assert low.shape == high.shape == (4,)
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, False, True, True]
    assert (low[1], high[1]) == resampling.percentile_interval(np.arange(5.0, 100), 0.95)


@MANY
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms())
def test_interval_does_not_depend_on_the_order_of_resamples(values, random):
    shuffled = random.sample(values, len(values))
    assert resampling.percentile_interval(shuffled, 0.9) == resampling.percentile_interval(values, 0.9)


def test_interval_of_a_mean_covers_it_at_about_its_nominal_rate():
    rng = np.random.default_rng(6)
    covered = 0
    for _ in range(500):
        data = rng.normal(size=80)
        weights = resampling.bootstrap_weights(80, 500, rng=rng)
        low, high = resampling.percentile_interval(weights @ data / 80, 0.9)
        covered += low <= 0 <= high
    assert 0.85 < covered / 500 < 0.94


# Counts and means.


def test_numbers_are_counted_row_by_row():
    assert resampling.counted(np.array([[0, 2, 2], [1, 1, 1]]), 4).tolist() == [[1, 0, 2, 0], [0, 3, 0, 0]]


def test_interval_of_a_mean_of_estimates_of_a_hand_worked_case():
    # Below 0.03 and 0.04 away, above 0.06 and 0.08: roots 0.05 and 0.1, over two.
    estimates, low, high = np.array([0.5, 0.7]), np.array([0.47, 0.66]), np.array([0.56, 0.78])
    assert resampling.interval_of_mean(estimates, low, high) == pytest.approx((0.575, 0.65))
    assert resampling.interval_of_mean(estimates[:1], low[:1], high[:1]) == pytest.approx((0.47, 0.56))
    assert np.isnan(resampling.interval_of_mean(estimates, np.array([np.nan, 0.6]), high)[0])


def test_interval_of_a_mean_of_estimates_covers_it_at_its_nominal_rate():
    rng = np.random.default_rng(9)
    spread = np.array([1.0, 2, 0.5, 1.5])
    found = rng.normal(0, spread, size=(4000, 4))
    ends = [resampling.interval_of_mean(row, row - 1.96 * spread, row + 1.96 * spread) for row in found]
    assert np.mean([low <= 0 <= high for low, high in ends]) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(("n", "resamples"), [(7, 1), (7, 100), (5000, 20), (40_000, 35)])
def test_sums_of_resamples_are_those_of_their_weights(n, resamples):
    values = np.random.default_rng(1).integers(0, 9, size=(n, 3)).astype(float)
    weights = resampling.bootstrap_weights(n, resamples, rng=np.random.default_rng(2))
    found = resampling.bootstrap_sums(values, resamples, rng=np.random.default_rng(2))
    assert found.tolist() == (weights @ values).tolist()


@pytest.mark.parametrize("units", [1, 5, 450])
def test_weights_without_a_part_give_the_sums_without_it(units):
    rng = np.random.default_rng(units)
    unit, table = rng.permutation(np.repeat(np.arange(units), 3)), rng.normal(size=(3 * units, 2))
    weights = resampling.left_out_weights(unit)
    assert weights.shape == (1 + min(units, resampling.MAX_LEFT_OUT), len(unit))
    np.testing.assert_allclose(weights @ table, resampling.left_out_sums(table, unit), atol=1e-9)


def test_a_jackknife_has_no_p_of_two_parts_nor_of_one_value():
    same, two, varied = np.full(4, 0.5), np.array([0.5, 0.4, 0.6]), np.array([0.5, 0.4, 0.6, 0.5])
    assert np.isnan(resampling.jackknife_t(same, 0.95).p)
    assert np.isnan(resampling.jackknife_t(two, 0.95).p)
    assert resampling.jackknife_t(varied, 0.95).p == pytest.approx(2 * stats.t.sf(0.5 / np.sqrt(2 / 3 * 0.02), 2))
    assert resampling.jackknife_t(varied - 0.5, 0.95).p == pytest.approx(1)


# Groups that are not alike.


def unequal(groups):
    """Items of each group: 40 in a tenth of the groups, 2 in the others."""
    return np.r_[np.full(max(1, groups // 10), 40), np.full(groups - max(1, groups // 10), 2)]


@given(st.integers(2, 60), st.integers(1, 9))
def test_equal_parts_have_one_degree_of_freedom_less_than_there_are(parts, size):
    assert resampling.degrees(np.full(parts, size)) == pytest.approx(parts - 1)


def test_degrees_of_freedom_are_those_of_a_plain_double_loop_over_groups():
    """Bell and McCaffrey: twice the squared mean of the sandwich over its variance, from all pairs of groups."""
    sizes = np.array([7.0, 1, 1, 2, 3, 12])
    share = sizes / sizes.sum()
    # Residuals of groups of items: half of an average group's extra variance is `COMMON`.
    variance = 1 / share + cluster_robust.COMMON * len(sizes)
    mean, square = 0.0, 0.0
    for g in range(6):
        for h in range(6):
            total = sum(share[k] ** 2 * variance[k] for k in range(6))
            covariance = (g == h) * variance[g] - share[g] * variance[g] - share[h] * variance[h] + total
            covariance *= share[g] / (1 - share[g]) * share[h] / (1 - share[h])
            mean += covariance if g == h else 0
            square += covariance**2
    assert resampling.degrees(sizes) == pytest.approx(mean**2 / square)
    assert np.isnan(resampling.degrees(np.array([5.0, 0.0])))


@pytest.mark.parametrize(
    ("sizes", "correlation", "expected"),
    [
        (np.full(30, 5), 1.0, 30),
        (np.full(30, 5), 0.3, 30),
        (unequal(40), 0.0, 40),
        (np.array([3, 1]), 1.0, 16 / 10),  # Kish: (3 + 1)^2 / (9 + 1)
        (np.array([3, 1]), 0.5, 1.5 / 2 * 16 / 7),  # variance (3 * 2 + 1 * 1) / 16; of equal clusters of 2: 1.5 / 2
        (np.r_[24.0, np.full(199, 176 / 199)], 1.0, 54.7),  # one group has 12% of the items
    ],
)
def test_effective_clusters_are_the_equal_ones_whose_mean_has_the_same_variance(sizes, correlation, expected):
    assert resampling.effective(sizes, correlation) == pytest.approx(expected, abs=0.05 if expected == 54.7 else 1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.2, 1.0])
def test_a_mean_over_unequal_clusters_varies_as_over_as_many_equal_ones_as_are_effective(correlation):
    rng, sizes = np.random.default_rng(5), np.array([30, 20, 8, 4, 2, 2, 1, 1, 1, 1])
    shared, own = rng.normal(size=(20_000, len(sizes))), rng.normal(size=(20_000, len(sizes)))
    sums = np.sqrt(correlation) * sizes * shared + np.sqrt(1 - correlation) * np.sqrt(sizes) * own
    variance, mean = (sums.sum(axis=1) / sizes.sum()).var(), sizes.mean()
    of_equal = (1 + (mean - 1) * correlation) / mean / resampling.effective(sizes, correlation)
    assert variance == pytest.approx(of_equal, rel=0.04)


def test_a_mean_without_each_cluster_is_that_of_a_plain_loop():
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(6), [1, 4, 2, 2, 9, 3])
    values = rng.normal(size=len(unit))
    influence = np.bincount(unit, values - values.mean()) / len(unit)
    found = resampling.left_out_of_mean(values.mean()[None], influence[:, None], np.bincount(unit))[:, 0]
    assert found == pytest.approx([values.mean(), *(values[unit != cluster].mean() for cluster in range(6))])


@pytest.mark.parametrize(("groups", "common"), [(20, 0.0), (20, 0.5), (40, 0.5), (100, 0.5)])
def test_intervals_of_a_mean_hold_with_a_few_large_groups(groups, common):
    rng, sizes, studies = np.random.default_rng(groups), unequal(groups), 1000
    values = np.sqrt(common + (1 - common) / sizes) * rng.normal(size=(studies, groups))
    share = sizes / sizes.sum()
    means = values @ share
    influence = (values - means[:, None]) * share
    left_out = resampling.left_out_of_mean(means, influence.T, sizes)
    found = resampling.jackknife_t(left_out, 0.95, sizes=sizes)
    held = ((found.low <= 0) & (found.high >= 0)).mean()
    assert held >= 0.93
    before = np.sqrt((influence**2).sum(axis=1) * groups / (groups - 1)) * stats.t.ppf(0.975, groups - 1)
    assert groups == 100 or (np.abs(means) <= before).mean() < 0.93  # what it was: 76% to 90%
