import numpy as np
import pytest
from scipy import stats

from rubric_order.methods.uncertainty import shares


def test_a_share_of_independent_values_has_the_interval_of_clopper_and_pearson():
    values = np.repeat([1.0, 0.0], [30, 90])
    found = shares.share(values, np.arange(120), 0.95)
    exact = stats.binomtest(30, 120).proportion_ci(0.95, method="exact")
    assert found.estimate == 0.25
    assert (found.n, found.n_clusters) == (120, 120)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=2e-3)


def test_what_never_varies_still_has_an_interval_that_depends_on_the_clusters():
    found = shares.share(np.ones(100), np.arange(100) // 10, 0.95)
    assert (found.estimate, found.high) == (1, 1)
    assert found.low == pytest.approx(0.025 ** (1 / 10))
    both = shares.mean(np.zeros(100), np.arange(100) // 10, 0.95, bounds=(-1, 1))
    assert (both.low, both.high) == pytest.approx((-(1 - 0.025**0.1), 1 - 0.025**0.1))


def test_values_between_0_and_1_have_the_interval_of_their_own_variance():
    rng = np.random.default_rng(20261128)
    values = rng.choice([0.0, 0.5, 1.0], p=[0.1, 0.5, 0.4], size=400)
    found = shares.share(values, np.arange(400), 0.95)
    reach = 1.96 * values.std() / 20
    assert (found.high - found.low) / 2 == pytest.approx(reach, rel=0.08)


def test_few_clusters_and_no_values():
    assert np.isnan(shares.share(np.ones(3), np.zeros(3), 0.95).low)
    assert np.isnan(shares.share(np.array([np.nan]), np.zeros(1), 0.95).estimate)
    assert shares.mean(np.array([1.0, np.nan]), np.arange(2), 0.95, bounds=(-1, 1)).n == 1


@pytest.mark.parametrize("clusters", [8, 40])
@pytest.mark.parametrize("level", [0.8, 0.97])
def test_intervals_cover_with_effects_of_clusters(clusters, level):
    rng = np.random.default_rng(20261122)
    hits = [0, 0]  # of shares; of leanings, as of a judge that is as often inconsistent towards either end
    for _ in range(400):
        chance = rng.beta(5 * level, 5 * (1 - level), clusters)
        values = (rng.random((clusters, 14)) < chance[:, None]).astype(float).ravel()
        unit = np.repeat(np.arange(clusters), 14)
        found = shares.share(values, unit, 0.95)
        hits[0] += found.low <= level <= found.high
        towards = np.where(rng.random(len(values)) < 0.7, 1, -1)
        found = shares.mean((1 - values) * towards, unit, 0.95, bounds=(-1, 1))
        hits[1] += found.low <= 0.4 * (1 - level) <= found.high
    assert hits[0] / 400 >= 0.92
    assert hits[1] / 400 >= 0.9
