"""Generators by name, and the bootstrap."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order import resampling

# No deadlines: other work on the machine is no defect.
MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
KEY_PARTS = st.one_of(st.text(st.characters(exclude_characters="\x1f", codec="utf-8")), st.integers())


def raw(seed, *key):
    return resampling.generator(seed, *key).bit_generator.random_raw(4).tolist()


@MANY
@given(seed=st.integers(0, 2**64), key=st.lists(KEY_PARTS, max_size=4))
def test_equal_keys_give_equal_streams(seed, key):
    assert raw(seed, *key) == raw(seed, *key)


@MANY
@given(seed=st.integers(0, 2**32), key=st.lists(KEY_PARTS, min_size=1, max_size=4), other=KEY_PARTS)
def test_a_longer_key_or_another_seed_gives_another_stream(seed, key, other):
    assert raw(seed, *key) != raw(seed, *key, other)
    assert raw(seed, *key) != raw(seed + 1, *key)


def test_parts_of_a_key_do_not_run_together():
    assert raw(1, "ab", "c") != raw(1, "a", "bc")
    assert raw(1, "item", 12, 3) != raw(1, "item", 1, 23)


def test_streams_are_the_same_in_every_process_and_release():
    # Raw bits of PCG64, which numpy keeps stable. If this changes, so does every random ordering of a finished study.
    assert raw(2026, "random orderings", "hanna", "001-CH", 5)[:2] == [10326942110880335434, 2228592476871784081]


def test_streams_of_different_keys_are_uncorrelated():
    draws = np.array([resampling.generator(1, "item", item).random(2000) for item in range(40)])
    correlations = np.corrcoef(draws)[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(2000)
    assert correlations.std() == pytest.approx(1 / np.sqrt(2000), rel=0.1)


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
