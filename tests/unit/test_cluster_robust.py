"""Errors with clusters as the sample: HTZ against the paper's formula, written out over all pairs of clusters."""

import numpy as np
import pytest
from scipy import linalg, stats

from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import cluster_robust


def regression(sizes, k, seed=1):
    """Columns, residual-free response, and cluster of each observation."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(len(cluster), k)) + rng.normal(size=(len(sizes), k))[cluster]
    return x, rng.normal(size=len(cluster)), cluster


def fitted(x, y, cluster):
    right = np.array([x[cluster == g].T @ y[cluster == g] for g in np.unique(cluster)])
    information = np.array([x[cluster == g].T @ x[cluster == g] for g in np.unique(cluster)])
    return cluster_robust.least_squares(right, information).fit()


def plain_htz(x, y, cluster, contrasts):
    """Degrees of freedom and p of HTZ with the adjustment CR3, by matrices of all observations.

    Pustejovsky and Tipton (2018), Section 3.2: eta = q (q + 1) / (sum of the variances of the entries of the
    standardised covariance), and F = (eta - q + 1) / (eta q) Q on q and eta - q + 1 degrees of freedom.
    """
    names, q = np.unique(cluster), len(contrasts)
    bread = np.linalg.inv(x.T @ x)
    hat, n = x @ bread @ x.T, len(names)
    working = linalg.block_diag(
        *(
            np.eye((cluster == g).sum()) + cluster_robust.COMMON * n * x[cluster == g] @ bread @ x[cluster == g].T
            for g in names
        )
    )
    maps = []  # from all errors to what each cluster adds to the contrasts
    for g in names:
        own = cluster == g
        adjusted = np.linalg.inv(np.eye(own.sum()) - hat[np.ix_(own, own)])
        maps.append(contrasts @ bread @ x[own].T @ adjusted @ (np.eye(len(y)) - hat)[own])
    mean = sum(each @ working @ each.T for each in maps)
    standard = linalg.sqrtm(np.linalg.inv(mean)).real
    variances = 0.0
    for one in maps:
        for other in maps:
            p = standard @ one @ working @ other.T @ standard.T
            variances += sum(p[s, s] * p[t, t] + p[s, t] * p[t, s] for s in range(q) for t in range(q))
    eta = q * (q + 1) / variances
    added = np.array([each @ y for each in maps])
    covariance = added.T @ added * (n - 1) / n
    estimate = contrasts @ bread @ x.T @ y
    statistic = estimate @ np.linalg.inv(covariance) @ estimate * (eta - q + 1) / (eta * q)
    return eta, stats.f.sf(statistic, q, eta - q + 1)


@pytest.mark.parametrize("sizes", [[3] * 9, [1, 2, 9, 30, 2, 4, 4, 5, 3, 2, 2, 7], [20, 20, *[2] * 18]])
@pytest.mark.parametrize("q", [1, 2, 3])
def test_htz_is_the_papers_formula_written_out_over_all_pairs_of_clusters(sizes, q):
    x, y, cluster = regression(sizes, 3)
    contrasts = np.array([[1.0, -1, 0], [0, 1, -1], [1, 1, 1]])[:q]
    eta, p = plain_htz(x, y, cluster, contrasts)
    found = fitted(x, y, cluster)
    assert found.df(contrasts) == pytest.approx(min(eta, len(sizes) - 1))
    if eta - q + 1 >= 1:
        assert found.no_effect(contrasts) == pytest.approx(p)


def test_the_degrees_of_freedom_do_not_depend_on_the_scale_of_a_contrast_or_of_a_column():
    x, y, cluster = regression([1, 2, 9, 30, 2, 4, 4, 5], 2)
    found, scaled = fitted(x, y, cluster), fitted(x * [1, 1000], y, cluster)
    row = np.array([[0.0, 1]])
    assert found.df(row) == pytest.approx(found.df(7 * row))
    assert found.df(row) == pytest.approx(scaled.df(row))


def test_of_equal_clusters_the_test_is_hotellings():
    rng = np.random.default_rng(3)
    means = rng.normal(size=(15, 3))
    found = cluster_robust.least_squares(means, np.tile(np.eye(3), (15, 1, 1))).fit()
    assert found.df(np.eye(3)) == pytest.approx(14)
    centred = means - means.mean(axis=0)
    squared = 15 * means.mean(axis=0) @ np.linalg.inv(centred.T @ centred / 14) @ means.mean(axis=0)
    # Leaving a cluster out makes the error larger by 15 / 14 squared, less the factor 14 / 15: by 15 / 14.
    assert found.no_effect(np.eye(3)) == pytest.approx(stats.f.sf(squared * 12 / (3 * 14), 3, 12), rel=0.1)


def test_rounding_does_not_choose_the_test_of_few_equal_clusters():
    """With as many clusters as positions the F test has one degree of freedom left; with fewer there is none."""
    rng = np.random.default_rng(5)
    for clusters in (2, 3, 4):
        moved = rng.normal(size=(clusters, 4))
        assert np.isnan(cluster_robust.all_zero(rng.normal(size=4), moved - moved.mean(axis=0), df=clusters - 1.0))
    estimates, moved = rng.normal(size=4), rng.normal(size=(5, 4))
    moved -= moved.mean(axis=0)
    p = [cluster_robust.all_zero(estimates, moved, df=df) for df in (4 - 1e-12, 4.0, 4 + 1e-12)]
    squared = estimates @ np.linalg.inv(moved.T @ moved * 4 / 5) @ estimates
    assert p == pytest.approx([stats.f.sf(squared / 16, 4, 1)] * 3)
    # An estimate that does not vary asks for no cluster more.
    assert cluster_robust.all_zero(np.r_[estimates, 0], np.c_[moved, np.zeros(5)], df=4.0) == pytest.approx(p[0])


def judged(sizes, n, rng, spread):
    """Reads of a judge that prefers no position on average, though each group does by chance."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    turned = np.array([np.roll(np.arange(n), -step) for step in range(n)])
    places = np.argsort(np.concatenate([turned, turned[:, ::-1]]), axis=1)
    opinion = 3 + rng.normal(size=len(group))
    weight = -((np.linspace(1, 5, n) - opinion[:, None]) ** 2) / 2
    weight = weight[:, None, :] + (spread * rng.normal(size=(len(sizes), n)))[group][:, places]
    share = np.exp(weight).cumsum(axis=2)
    scores = (share / share[..., -1:] < rng.random((*weight.shape[:2], 1))).sum(axis=2)
    return preference.compare_scores(scores.astype(np.int8), np.broadcast_to(places, weight.shape), group)


@pytest.mark.parametrize("heavy", [False, True])
def test_no_preference_is_seldom_rejected_with_few_groups_of_1_to_50_items(heavy):
    rng, studies, rejected = np.random.default_rng(7), 120, 0
    for _ in range(studies):
        sizes = np.r_[40, 40, [2] * 18] if heavy else np.round(50 * rng.random(20) ** 3).astype(int) + 1
        found = preference.preference(judged(sizes, 3, rng, 0.4))
        rejected += found.p_positions < 0.05
    assert rejected <= stats.binom.ppf(0.999, studies, 0.05)  # Hotelling's test rejects in 15% to 20%
