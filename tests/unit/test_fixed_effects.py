"""Least squares with block levels against hand-worked cases and plain regressions with a dummy a block."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.methods.uncertainty import fixed_effects, rao_scott


def design(seed, *, n_clusters=8, blocks_each=3, size=6, k=3):
    rng = np.random.default_rng(seed)
    blocks = np.repeat(np.arange(n_clusters * blocks_each), size)
    x = rng.normal(size=(len(blocks), k))
    y = rng.normal(size=n_clusters * blocks_each)[blocks] + x @ np.arange(1, k + 1) + rng.normal(size=len(blocks))
    return y, x, blocks, blocks // blocks_each


def plain_fit(y, x, blocks, clusters):
    """Coefficients with a dummy for each block, and their covariance from leaving out each cluster."""

    def coefficients(kept):
        dummies = (blocks[kept, None] == np.unique(blocks[kept])).astype(float)
        return np.linalg.lstsq(np.hstack([x[kept], dummies]), y[kept], rcond=None)[0][: x.shape[1]]

    found, names = coefficients(np.ones(len(y), dtype=bool)), np.unique(clusters)
    moved = np.array([coefficients(clusters != name) - found for name in names])
    return found, moved.T @ moved * (len(names) - 1) / len(names)


def test_fit_of_a_hand_worked_case():
    # Two blocks of two: within them x is -1, 1 and y is -1, 1, then -3, 3: the slope is (1+1+3+3)/4 = 2.
    # Without the first block it is 3, without the second 1: their squared distances from 2 sum to 2, times 1/2.
    y, x = np.array([0, 2, 7, 13.0]), np.array([[5], [7], [5], [7.0]])
    fitted = fixed_effects.fit(y, x, np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    assert fitted.coefficients == pytest.approx([2])
    assert fitted.covariance == pytest.approx(np.array([[1.0]]))
    found = fitted.interval(np.ones(1), 0.95)
    reach = stats.t.ppf(0.975, 1)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((2 - reach, 2 + reach))
    assert found["p"] == pytest.approx(2 * stats.t.sf(2, 1))


@given(st.integers(0, 2**32), st.integers(3, 10), st.integers(1, 3), st.integers(1, 4))
def test_fit_agrees_with_a_dummy_for_each_block(seed, n_clusters, blocks_each, k):
    y, x, blocks, clusters = design(seed, n_clusters=n_clusters, blocks_each=blocks_each, k=k)
    coefficients, covariance = plain_fit(y, x, blocks, clusters)
    fitted = fixed_effects.fit(y, x, blocks, clusters)
    assert fitted.coefficients == pytest.approx(coefficients, abs=1e-9)
    assert fitted.covariance == pytest.approx(covariance, abs=1e-9)
    assert fitted.df(np.eye(k)[:1]) <= n_clusters - 1


def test_what_the_design_does_not_tell_is_not_estimated_but_contrasts_are():
    y, x, blocks, clusters = design(1, k=1)
    group = np.random.default_rng(2).integers(0, 3, len(y))
    dummies = (group[:, None] == np.arange(3)).astype(float)
    fitted = fixed_effects.fit(y, np.hstack([x, dummies]), blocks, clusters)
    assert math.isnan(fitted.contrast(np.array([0, 1, 0, 0.0]))[0])
    coefficients, covariance = plain_fit(y, np.hstack([x, dummies[:, 1:]]), blocks, clusters)
    found = fitted.interval(np.array([0, -1, 1, 0.0]), 0.95)
    assert found["estimate"] == pytest.approx(coefficients[1])
    assert found["se"] == pytest.approx(math.sqrt(covariance[1, 1]))


def test_one_cluster_has_an_estimate_but_no_interval():
    y, x, blocks, _ = design(3)
    fitted = fixed_effects.fit(y, x, blocks, np.zeros(len(y), dtype=int))
    found = fitted.interval(np.eye(3)[0], 0.95)
    assert found["estimate"] == pytest.approx(plain_fit(y, x, blocks, blocks)[0][0])
    assert math.isnan(found["ci_low"])
    assert math.isnan(found["p"])
    assert math.isnan(fixed_effects.no_effect(y, x, x[:, :0], blocks, np.zeros(len(y), dtype=int)))


def test_intervals_cover_their_slope_when_clusters_share_errors():
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        _, x, blocks, clusters = design(int(rng.integers(2**32)), n_clusters=40, k=1)
        shared = rng.normal(size=40)[clusters] * x[:, 0]
        y = rng.normal(size=len(x)) + 0.5 * x[:, 0] + shared
        found = fixed_effects.fit(y, x, blocks, clusters).interval(np.ones(1), 0.95)
        covered += found["ci_low"] <= 0.5 <= found["ci_high"]
    assert 0.92 <= covered / 400 <= 0.98


# The test of no effect.


def test_no_effect_of_a_hand_worked_case():
    # One term, three clusters whose scores are 1, 1 and -1: (1)^2 / 3 on one degree of freedom.
    assert rao_scott.zero_total(np.array([[1.0], [1.0], [-1.0]])) == pytest.approx(stats.chi2.sf(1 / 3, 1))
    assert rao_scott.zero_total(np.zeros((5, 2))) == 1


def test_one_term_has_nearly_the_p_value_of_its_coefficient():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, x, blocks, clusters = design(seed, n_clusters=200, k=2)
        y = y - x @ [1, 2] + rng.normal() * 0.05 * x[:, 0]
        p = fixed_effects.fit(y, x, blocks, clusters).interval(np.eye(2)[0], 0.95)["p"]
        assert fixed_effects.no_effect(y, x[:, :1], x[:, 1:], blocks, clusters) == pytest.approx(p, abs=0.03)


def test_terms_that_others_explain_have_no_p_value():
    y, x, blocks, clusters = design(6, k=2)
    assert math.isnan(fixed_effects.no_effect(y, 3 * x[:, :1], x, blocks, clusters))
    assert math.isnan(fixed_effects.no_effect(y, blocks[:, None].astype(float), x, blocks, clusters))


@pytest.mark.parametrize(("n_clusters", "low"), [(12, 0.0), (96, 0.025)])
def test_no_effect_keeps_its_level_though_clusters_have_their_own_effects(n_clusters, low):
    rng = np.random.default_rng(7)
    rejected = 0
    for _ in range(600):
        blocks = np.repeat(np.arange(2 * n_clusters), 12)
        clusters = blocks // 2
        place = np.tile(np.arange(12) % 6, 2 * n_clusters)
        terms = (place[:, None] == np.arange(6)).astype(float)
        other = rng.normal(size=(len(blocks), 1))
        own = rng.normal(size=(n_clusters, 6))[clusters, place]
        y = 0.5 * other[:, 0] + own + rng.normal(size=len(blocks))
        rejected += fixed_effects.no_effect(y, terms, other, blocks, clusters) < 0.05
    assert low <= rejected / 600 <= 0.075


def test_an_effect_is_found_and_one_that_others_carry_is_not():
    rng = np.random.default_rng(8)
    for _ in range(10):
        y, x, blocks, clusters = design(int(rng.integers(2**32)), n_clusters=60, k=1)
        follower = x + 0.5 * rng.normal(size=x.shape)
        none = x[:, :0]
        assert fixed_effects.no_effect(y, x, none, blocks, clusters) < 1e-6
        assert fixed_effects.no_effect(y, follower, none, blocks, clusters) < 1e-6
        assert fixed_effects.no_effect(y, follower, x, blocks, clusters) > 0.001
