"""The conditional logit: by hand, against statsmodels, and where it has no answer."""

import math

import numpy as np
import pytest
import statsmodels.api as api
from scipy import optimize, stats

from rubric_order.methods.uncertainty import cluster_robust, conditional_logit

# Of version 0.14.6, on the data of `drawn`.
RECORDED = {
    "coefficients": [0.381432336, -0.356393607, 0.098836391],
    "errors": [0.132821758, 0.104880464, 0.128626082],
}


def drawn(seed=0, comparisons=600, clusters=25, b=(0.8, -0.3, 0.1), spread=0.7):
    """Rows of comparisons that are won, their clusters and weights; each cluster has coefficients of its own."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, (comparisons, len(b))).astype(float)
    cluster = np.arange(comparisons) % clusters
    own = np.array(b) + spread * rng.normal(size=(clusters, len(b)))
    won = rng.random(comparisons) < 1 / (1 + np.exp(-(x * own[cluster]).sum(axis=1)))
    return np.where(won[:, None], x, -x), cluster, rng.integers(1, 4, comparisons)


def unpenalised(x, cluster, weight=None):
    return conditional_logit.fit(conditional_logit.comparisons(x, cluster, weight), penalised=False)


def test_one_coefficient_is_the_logarithm_of_the_odds():
    x = np.repeat([[1.0], [-1.0]], [30, 10], axis=0)
    cluster = np.tile([0, 1, 2, 3], 10)
    found = unpenalised(x, cluster)
    assert found.coefficients == pytest.approx([math.log(3)])
    # Each cluster of ten won as often as any other, or two fewer and two more: scores of clusters are won less .75 n.
    lost = np.array([(x[cluster == g] < 0).sum() for g in range(4)])
    score, information = 0.25 * (10 - lost) - 0.75 * lost, np.full(4, 10 * 0.75 * 0.25)
    expected = score / (information.sum() - information)
    np.testing.assert_allclose(found.influence[:, 0], expected, atol=1e-12)


def test_with_the_penalty_each_side_of_a_logarithm_of_odds_is_seen_half_a_time_more():
    x = np.repeat([[1.0], [-1.0]], [30, 10], axis=0)
    found = conditional_logit.fit(conditional_logit.comparisons(x, np.tile([0, 1, 2, 3], 10)))
    assert found.coefficients == pytest.approx([math.log(30.5 / 10.5)])
    assert not found.separated


def test_a_fit_whose_plain_estimate_is_far_out_has_a_penalised_one():
    """Choices between two candidates and a tie in two orders: the plain search ends where all answers are certain."""
    x, weight = np.array([[0.141, -2.825], [-0.141, 2.825], [-1.342, -1.483]]), np.array([1.0, 4.0, 1.0])
    found = conditional_logit.fit(conditional_logit.comparisons(x, np.arange(3), weight))
    assert found.coefficients == pytest.approx(jeffreys(x, weight), abs=1e-4)


def jeffreys(x, weight):
    """The maximum of the penalised likelihood by SciPy, which knows nothing of leverages or Newton's steps."""

    def loss(b):
        margin = x @ b
        information = (x * (weight / (2 + 2 * np.cosh(margin)))[:, None]).T @ x
        return weight @ np.log1p(np.exp(-margin)) - np.log(np.linalg.det(information)) / 2

    simplex = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    return optimize.minimize(loss, np.zeros(x.shape[1]), method="Nelder-Mead", options=simplex).x


@pytest.mark.parametrize("comparisons", [8, 30, 600])
def test_penalised_coefficients_are_at_the_maximum_of_the_penalised_likelihood(comparisons):
    x, cluster, weight = drawn(seed=4, comparisons=comparisons)
    found = conditional_logit.fit(conditional_logit.comparisons(x, cluster, weight))
    np.testing.assert_allclose(found.coefficients, jeffreys(x, weight), atol=2e-7)


def test_the_penalty_gives_a_number_where_one_side_always_wins():
    x = np.abs(drawn(seed=5, comparisons=12)[0])
    found = conditional_logit.fit(conditional_logit.comparisons(x, np.arange(12)))
    assert found.separated
    np.testing.assert_allclose(found.coefficients, jeffreys(x, np.ones(12)), atol=2e-6)
    one = conditional_logit.fit(conditional_logit.comparisons(np.ones((8, 1)), np.arange(8)))
    assert one.coefficients == pytest.approx([math.log(8.5 / 0.5)])
    # Eight clusters that say the same do not vary; the error is that of eight independent comparisons.
    p = 8.5 / 9
    assert one.interval(np.ones(1), 0.95)["se"] == pytest.approx(1 / math.sqrt(8 * p * (1 - p)))
    assert np.square(one.contrast(np.ones(1))[1]).sum() * 7 / 8 == pytest.approx(1 / (8 * p * (1 - p)))


@pytest.mark.parametrize("many", [100, 1e4, 1e6])
@pytest.mark.parametrize("ulps", [-1, 0, 1])
def test_an_alternative_that_loses_its_few_comparisons_is_separated_beside_many_others(many, ulps):
    """Rounding takes the information of the few before their log-odds are large; any processor rounds its own way."""
    x = np.array([[1.0, -1, 0], [-1, 1, 0], [0, 1, -1], [1, 0, -1]])
    weight = np.array([many, 0.6 * many * (1 + ulps * 2**-52), 3, 1])
    data = conditional_logit.comparisons(np.repeat(x, 4, axis=0), np.tile(np.arange(4), 4), np.repeat(weight / 4, 4))
    assert conditional_logit.fit(data, penalised=False).problem == "separated"
    found = conditional_logit.fit(data)
    assert found.separated
    basis = np.array([[1, -1, 0], [1, 1, -2.0]]) / np.sqrt([[2], [6]])
    np.testing.assert_allclose(found.coefficients, jeffreys(x @ basis.T, weight) @ basis, atol=1e-5)


def test_the_error_is_never_smaller_than_that_of_independent_comparisons():
    x = np.repeat([[1.0], [-1.0]], [30, 10], axis=0)
    # Ten clusters that win three of four each.
    alike = conditional_logit.fit(conditional_logit.comparisons(x, np.tile(np.arange(10), 4)))
    p = 30.5 / 41
    reach = 1.959964 / math.sqrt(40 * p * (1 - p))
    interval = alike.interval(np.ones(1), 0.95)
    found = math.log(30.5 / 10.5)
    assert [interval["ci_low"], interval["ci_high"]] == pytest.approx([found - reach, found + reach])
    # Four clusters of ten that agree vary more than that: Student's t.
    apart = conditional_logit.fit(conditional_logit.comparisons(x, np.arange(40) // 10))
    plain = cluster_robust.interval(apart.coefficients[0], apart.influence[:, 0], 0.95)
    assert apart.interval(np.ones(1), 0.95) == pytest.approx(plain)
    # Of those that always agree it is not known how they vary.
    never = conditional_logit.fit(conditional_logit.comparisons(np.ones((40, 1)), np.arange(40) // 10))
    p = 40.5 / 41
    high = math.log(40.5 / 0.5) + stats.t.ppf(0.975, 3) / math.sqrt(40 * p * (1 - p))
    assert never.interval(np.ones(1), 0.95)["ci_high"] == pytest.approx(high)


def test_coefficients_and_errors_are_those_of_statsmodels():
    x, cluster, weight = drawn()
    found = unpenalised(x, cluster, weight)
    repeated, groups = np.repeat(x, weight, axis=0), np.repeat(cluster, weight)
    order = np.argsort(groups, kind="stable")
    repeated, groups = repeated[order], groups[order]
    sign = np.where(np.arange(len(groups)) % 2, 1.0, -1.0)  # which alternative is called the first does not matter
    won = (sign > 0).astype(float)
    logit = api.Logit(won, sign[:, None] * repeated).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(found.coefficients, logit.params, rtol=1e-6)
    model = api.GEE(won, sign[:, None] * repeated, groups=groups, family=api.families.Binomial())
    # Mancl and DeRouen's covariance has no factor (G - 1) / G, which the jackknife has.
    gee = model.fit(cov_type="bias_reduced", ctol=1e-12, maxiter=200)
    np.testing.assert_allclose(found.covariance, gee.cov_params() * 24 / 25, rtol=1e-6)


def test_coefficients_and_errors_are_those_that_statsmodels_gave():
    x, cluster, weight = drawn()
    found = unpenalised(x, cluster, weight)
    np.testing.assert_allclose(found.coefficients, RECORDED["coefficients"], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance) * 25 / 24), RECORDED["errors"], rtol=1e-6)


def test_a_weight_is_so_many_comparisons():
    x, cluster, weight = drawn(seed=1)
    once = conditional_logit.fit(conditional_logit.comparisons(x, cluster, weight))
    rows = np.repeat(np.arange(len(x)), weight)
    often = conditional_logit.fit(conditional_logit.comparisons(x[rows], cluster[rows]))
    np.testing.assert_allclose(once.coefficients, often.coefficients)
    np.testing.assert_allclose(once.influence, often.influence)


def test_influence_is_nearly_what_leaving_a_cluster_out_changes():
    x, cluster, weight = drawn(seed=2, comparisons=2000)
    all_of_them = conditional_logit.fit(conditional_logit.comparisons(x, cluster, weight))
    for left_out in (0, 7):
        kept = cluster != left_out
        rest = conditional_logit.fit(conditional_logit.comparisons(x[kept], cluster[kept], weight[kept]))
        change = all_of_them.coefficients - rest.coefficients
        np.testing.assert_allclose(all_of_them.influence[left_out], change, atol=0.1 * np.abs(change).max())


def test_without_the_penalty_what_always_wins_has_no_number():
    x, cluster, _ = drawn()
    data = conditional_logit.comparisons(np.column_stack([x, np.abs(x[:, 0])]), cluster)
    found = conditional_logit.fit(data, penalised=False)
    assert found.problem == "separated"
    assert np.isnan(found.interval(np.eye(4)[0], 0.95)["estimate"])
    assert np.isnan(found.no_effect(np.eye(4)))
    assert np.isnan(conditional_logit.further_terms(data, found, data.rows[:, :1] ** 2))


def test_comparisons_of_alternatives_that_do_not_differ_say_nothing():
    found = conditional_logit.fit(conditional_logit.comparisons(np.zeros((5, 2)), np.arange(5)))
    assert found.problem == "no comparisons"
    assert np.isnan(found.coefficients).all()


def test_a_contrast_that_the_design_does_not_tell_is_no_number():
    x, cluster, _ = drawn()
    doubled = np.column_stack([x, x[:, 0]])  # the first and the last are always together
    found = conditional_logit.fit(conditional_logit.comparisons(doubled, cluster))
    alone = conditional_logit.fit(conditional_logit.comparisons(x, cluster))
    assert np.isnan(found.interval(np.array([1.0, 0, 0, 0]), 0.95)["estimate"])
    assert found.interval(np.array([1.0, 0, 0, 1]), 0.95) == pytest.approx(alone.interval(np.eye(3)[0], 0.95))
    assert found.no_effect(np.eye(4)) == pytest.approx(alone.no_effect(np.eye(3)[1:]))


def test_one_cluster_has_an_estimate_and_no_interval():
    x, cluster, _ = drawn()
    found = conditional_logit.fit(conditional_logit.comparisons(x, np.zeros(len(x), dtype=int)))
    several = conditional_logit.fit(conditional_logit.comparisons(x, cluster))
    interval = found.interval(np.eye(3)[0], 0.95)
    assert np.isnan(found.influence).all()  # no other cluster tells anything
    assert interval["estimate"] == pytest.approx(several.coefficients[0])
    assert np.isnan(interval["ci_low"])
    assert np.isnan(found.no_effect(np.eye(3)))


def test_clusters_that_add_nothing_do_not_count():
    x, cluster, _ = drawn()
    few = conditional_logit.fit(conditional_logit.comparisons(x, cluster))
    data = conditional_logit.comparisons(x, cluster)._replace(n_clusters=1000)
    many = conditional_logit.fit(data)
    assert many.interval(np.eye(3)[0], 0.95) == pytest.approx(few.interval(np.eye(3)[0], 0.95))
    assert many.no_effect(np.eye(3)) == pytest.approx(few.no_effect(np.eye(3)))


def test_hotelling_of_one_estimate_is_students_t():
    x, cluster, _ = drawn(b=(0.2,))
    found = conditional_logit.fit(conditional_logit.comparisons(x, cluster))
    assert found.no_effect(np.eye(1)) == pytest.approx(found.interval(np.eye(1)[0], 0.95)["p"])


def test_terms_that_matter_are_found_and_others_are_not():
    x, cluster, _ = drawn(comparisons=3000, clusters=100, b=(0.8, -0.3, 0.5), spread=0.0)
    data = conditional_logit.comparisons(x, cluster)
    first_two = data._replace(rows=data.rows[:, :2])
    found = conditional_logit.fit(first_two)
    assert conditional_logit.further_terms(first_two, found, data.rows[:, 2:]) < 1e-6
    assert np.isnan(conditional_logit.further_terms(first_two, found, data.rows[:, :1] - data.rows[:, 1:2]))
    ps = []
    for seed in range(200):
        x, cluster, _ = drawn(seed, comparisons=400, clusters=40, b=(0.8, -0.3, 0.0), spread=0.0)
        data = conditional_logit.comparisons(x, cluster)
        first_two = data._replace(rows=data.rows[:, :2])
        ps.append(conditional_logit.further_terms(first_two, conditional_logit.fit(first_two), data.rows[:, 2:]))
    assert 0.01 <= np.mean(np.array(ps) < 0.05) <= 0.1


def test_least_squares_is_that_of_numpy():
    rng = np.random.default_rng(3)
    x, y, cluster = rng.normal(size=(90, 3)), rng.normal(size=90), np.arange(90) % 9
    parts = [(x[cluster == g], y[cluster == g]) for g in range(9)]
    right, information = (np.array(part) for part in zip(*((a.T @ b, a.T @ a) for a, b in parts), strict=True))
    found = cluster_robust.least_squares(right, information).fit()
    np.testing.assert_allclose(found.coefficients, np.linalg.lstsq(x, y, rcond=None)[0])
    for left_out in range(9):  # exact for least squares
        kept = cluster != left_out
        rest = np.linalg.lstsq(x[kept], y[kept], rcond=None)[0]
        np.testing.assert_allclose(found.influence[left_out], found.coefficients - rest, atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (1, 2), (50, 1), (200, 4), (3, 0)])
def test_distinct_rows_are_those_of_numpy(shape):
    x = np.random.default_rng(1).integers(-1, 2, size=shape).astype(float)
    rows, number = conditional_logit.distinct(x)
    expected, expected_number = np.unique(x, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(number, expected_number.ravel())
