"""Random-effects summaries: against published numbers, an independent optimiser, and planted variances."""

import numpy as np
import pytest
from scipy import optimize

from rubric_order.methods.uncertainty import random_effects

# Tuberculosis and no tuberculosis, vaccinated and not, in 13 trials of the BCG vaccine: Colditz et al. (1994).
BCG = np.array(
    [
        *((4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761)),
        *((180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232)),
        *((17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)),
    ],
    dtype=float,
)


def test_the_vaccine_trials_give_the_published_numbers():
    # Viechtbauer (2010), Conducting meta-analyses in R with the metafor package: REML 0.3132, mean -0.7145, Q 152.23;
    # with test="knha" the interval is -1.1084 to -0.3206.
    a, b, c, d = BCG.T
    risk = np.log(a / (a + b)) - np.log(c / (c + d))
    found = random_effects.summary(risk, np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)), {}, 0.95)
    assert found.sd["rest"] ** 2 == pytest.approx(0.3132, abs=5e-5)
    assert (found.mean, found.low, found.high) == pytest.approx((-0.7145, -1.1084, -0.3206), abs=5e-5)
    assert found.q == pytest.approx(152.23, abs=5e-3)
    assert found.df == 12


def crossed(rng, judges=6, datasets=5, *, between=(0.5, 0.3, 0.2), error=0.1):
    judge, dataset = (axis.ravel() for axis in np.indices((judges, datasets)))
    errors = error * rng.uniform(0.5, 1.5, judges * datasets)
    effects = [
        sd * rng.normal(size=count) for sd, count in zip(between, (judges, datasets, judges * datasets), strict=True)
    ]
    y = 0.4 + effects[0][judge] + effects[1][dataset] + effects[2] + errors * rng.normal(size=len(judge))
    return y, errors, {"judge": judge, "dataset": dataset}


def restricted_deviance(y, errors, factors, variances):
    z = [np.equal.outer(level, level).astype(float) for level in factors.values()] + [np.eye(len(y))]
    v = np.diag(errors**2) + sum(s * part for s, part in zip(variances, z, strict=True))
    one = np.ones((len(y), 1))
    inverse = np.linalg.inv(v)
    p = inverse - inverse @ one @ np.linalg.inv(one.T @ inverse @ one) @ one.T @ inverse
    return np.linalg.slogdet(v)[1] + np.linalg.slogdet(one.T @ inverse @ one)[1] + y @ p @ y


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_variances_are_those_of_a_general_optimiser(seed):
    y, errors, factors = crossed(np.random.default_rng(seed))
    found = random_effects.summary(y, errors, factors, 0.95)
    best = optimize.minimize(
        lambda v: restricted_deviance(y, errors, factors, v), [0.1, 0.1, 0.1], bounds=[(0, None)] * 3, tol=1e-12
    )
    assert np.array(list(found.sd.values())) ** 2 == pytest.approx(best.x, abs=1e-4)
    assert list(found.sd) == ["judge", "dataset", "rest"]
    assert found.df == 4


def test_a_balanced_mean_is_the_mean_and_predictions_lie_between_it_and_the_estimates():
    y, _, factors = crossed(np.random.default_rng(5))
    found = random_effects.summary(y, np.full(len(y), 0.1), factors, 0.95)
    assert found.mean == pytest.approx(y.mean())
    raw = np.array([y[factors["judge"] == j].mean() for j in range(6)])
    share = (found.shrunken["judge"] - found.mean) / (raw - found.mean)
    assert share == pytest.approx(np.full(6, share[0]))
    assert 0 < share[0] < 1


def test_without_variance_between_them_all_are_the_weighted_mean():
    errors = np.array([0.1, 0.2, 0.4])
    found = random_effects.summary(np.array([1.0, 1.05, 0.95]), errors, {}, 0.95)
    assert found.sd == {"rest": 0.0}
    assert found.mean == pytest.approx(np.average([1.0, 1.05, 0.95], weights=errors**-2))
    assert found.predictions == pytest.approx([found.mean] * 3)


def test_one_estimate_has_no_summary_and_a_factor_of_one_level_is_left_out():
    assert random_effects.summary(np.array([1.0]), np.array([0.1]), {}, 0.95) is None
    y, errors, factors = crossed(np.random.default_rng(6), datasets=1)
    assert list(random_effects.summary(y, errors, factors, 0.95).sd) == ["rest"]


def test_planted_variances_are_found_and_intervals_cover():
    inside, sd = [], []
    for seed in range(200):
        found = random_effects.summary(*crossed(np.random.default_rng(seed)), 0.95)
        inside.append(found.low <= 0.4 <= found.high)
        sd.append(list(found.sd.values()))
    assert 0.91 < np.mean(inside) <= 1.0
    assert (np.array(sd) ** 2).mean(axis=0) == pytest.approx([0.25, 0.09, 0.04], rel=0.2)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("errors", [[1e-17] * 4, [1e-17, 1e-17, 0.1, 0.1], [1e-17, 2e-18, 3e-17, 0.05]])
@pytest.mark.parametrize("values", [[0.1, 0.3, 0.1, 0.3], [0.25] * 4, [0.31, 0.12, 0.5, 0.44]])
def test_exact_estimates_have_a_summary_and_rounding_is_no_difference(values, errors, correlation):
    """A judge with the same probabilities for every item has estimates whose standard errors are rounding alone."""
    factors = {"judge": np.array([0, 1, 0, 1]), "dataset": np.array([0, 0, 1, 1])}
    correlations = np.where(np.eye(4, dtype=bool), 1.0, correlation)
    estimates = np.array(values) + np.array([0, 1e-17, -1e-17, 3e-17])
    summary = random_effects.summary(estimates, np.array(errors), factors, 0.95, correlations=correlations)
    assert min(values) - 1e-9 <= summary.mean <= max(values) + 1e-9
    assert np.isfinite([summary.low, summary.high, summary.p, *summary.sd.values()]).all()
    if len(set(values)) == 1:
        assert summary.q_p > 0.99
        assert max(summary.sd.values()) < 1e-6
    elif max(errors) < 1e-9:
        assert summary.q_p < 1e-9
        assert summary.mean == pytest.approx(np.mean(values), abs=1e-6)
