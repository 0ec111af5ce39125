"""Random-effects summary of estimates by judge and dataset: mean, variances, and shrunken estimates.

Estimate = mean + random effects of judge, dataset and pair + sampling error of known covariance.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.methods.uncertainty import distributions

MOST_CORRELATED = 0.99  # largest correlation of two errors; two judges whose errors are the same would be one judge
# Share of the largest estimate or error. Smaller errors are only rounding, such as those of a judge that gives the same
# probabilities for every item.
LEAST_ERROR = 1e-6
HIDDEN = 0.7  # confidence of the bound of differences that few levels can hide, where none are estimated
Influence = tuple[np.ndarray, np.ndarray]  # ids of clusters, and what each adds to an estimate


class Summary(NamedTuple):
    """Mean with Hartung and Knapp's interval, and SD of each factor's effects; ``rest`` is that of single estimates.

    `shrunken` and `predictions` are best predictions of levels and estimates; `q` is Cochran's Q with its p.
    """

    mean: float
    low: float
    high: float
    p: float
    df: float
    sd: dict[str, float]
    shrunken: dict[str, np.ndarray]
    predictions: np.ndarray
    q: float
    q_p: float


def summary(
    estimates: np.ndarray,
    errors: np.ndarray,
    factors: Mapping[str, np.ndarray],
    confidence: float,
    *,
    correlations: np.ndarray | None = None,
) -> Summary | None:
    """Random-effects summary by restricted maximum likelihood; None for fewer than two estimates.

    Factors with one level, or one an estimate, are left out. Student's t with an error not below the plain one, on the
    fewest levels less 1; if all variances are 0, that of sampling and of a variance that so few levels can hide
    (`HIDDEN`), by Satterthwaite. `correlations`, as of judges on the same items, are cut at +- `MOST_CORRELATED`.

    Source: Viechtbauer (2005); Hartung and Knapp (2001), A refined method for the meta-analysis; Searle, Casella and
    McCulloch (1992) for predictions.
    """
    m = len(estimates)
    if m < 2:
        return None
    errors = np.maximum(errors, LEAST_ERROR * max(np.abs(estimates).max(), np.max(errors)))
    sampling = np.diag(errors**2)
    if correlations is not None:
        apart = np.clip(correlations, -MOST_CORRELATED, MOST_CORRELATED) * np.outer(errors, errors)
        sampling = np.where(np.eye(m, dtype=bool), sampling, apart)
    used = {name: np.eye(level.max() + 1)[level] for name, level in factors.items() if 1 < level.max() + 1 < m}
    parts = [z @ z.T for z in used.values()] + [np.eye(m)]
    variances = _restricted_likelihood(estimates, sampling, parts)
    covariance = sampling + np.tensordot(variances, parts, axes=1)
    inverse = np.linalg.inv(covariance)
    weight = inverse.sum(axis=0)
    mean = float(weight @ estimates / weight.sum())
    rest = inverse @ (estimates - mean)
    df = min([m, *(z.shape[1] for z in used.values())]) - 1.0
    scale = float((estimates - mean) @ rest) / (m - 1)
    if not variances.any():
        hidden = max(scale * df / distributions.chi_square_critical(HIDDEN, df) - 1, 1e-3)
        df *= (1 + 1 / hidden) ** 2
    se = np.sqrt(max(scale, 1.0) / weight.sum())
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    fixed = np.linalg.inv(sampling)
    away = estimates - fixed.sum(axis=0) @ estimates / fixed.sum()
    q = float(away @ fixed @ away)
    return Summary(
        mean=mean,
        low=mean - reach,
        high=mean + reach,
        p=float(2 * distributions.t_tail(abs(mean) / se, df)),
        df=df,
        sd=dict(zip([*used, "rest"], np.sqrt(variances).tolist(), strict=True)),
        shrunken={name: mean + v * z.T @ rest for (name, z), v in zip(used.items(), variances, strict=False)},
        predictions=mean + np.tensordot(variances, parts, axes=1) @ rest,
        q=q,
        q_p=float(distributions.chi_square_tail(q, m - 1)),
    )


def error_correlations(influences: Sequence[Influence]) -> np.ndarray:
    """Correlations of the errors of estimates that share clusters, equal for all pairs, shape (m, m)."""
    moved = _side_by_side(influences)
    size = np.sqrt((moved**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return equal_correlations(np.nan_to_num(moved.T @ moved / np.outer(size, size)))


def _side_by_side(columns: Sequence[Influence]) -> np.ndarray:
    place, ids = pd.factorize(np.concatenate([ids for ids, _ in columns]))
    column = np.arange(len(columns)).repeat([len(ids) for ids, _ in columns])
    by_column = np.zeros((len(columns), len(ids)))
    by_column[column, place] = np.concatenate([values for _, values in columns])
    return np.where(np.isnan(by_column), 0.0, by_column).T


def equal_correlations(correlations: np.ndarray) -> np.ndarray:
    """Mean correlation of all pairs, at least 0, for each: single ones are rough, and weights would follow them."""
    m = len(correlations)
    mean = max((correlations.sum() - np.trace(correlations)) / max(m * (m - 1), 1), 0.0)
    return np.where(np.eye(m, dtype=bool), 1.0, mean)


def _restricted_likelihood(y: np.ndarray, sampling: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Variances of effects by Fisher scoring, at least 0, (parts,); parts are covariances per unit of variance."""
    stacked, by_chance = np.array(parts), sampling.diagonal().mean()
    variances = np.full(len(parts), max(y.var(ddof=1) - by_chance, 0.1 * by_chance) / len(parts))
    before = _deviance(y, sampling, stacked, variances)
    for _ in range(500):
        inverse = np.linalg.inv(sampling + np.tensordot(variances, stacked, axes=1))
        weight = inverse.sum(axis=0)
        p = inverse - np.outer(weight, weight) / weight.sum()
        py = p @ y
        products = np.einsum("ab,kbc->kac", p, stacked)
        slope = np.einsum("a,kab,b->k", py, stacked, py) - np.einsum("kaa->k", products)
        information = np.einsum("kab,lba->kl", products, products)
        free = (variances > 0) | (slope > 0)
        step = np.zeros(len(parts))
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], slope[free], rcond=None)[0]
        size = 1.0
        while size > 1e-8:
            tried = np.maximum(variances + size * step, 0)
            after = _deviance(y, sampling, stacked, tried)
            if after <= before:
                break
            size /= 2
        else:
            break
        moved = np.abs(tried - variances).max()
        variances, before = tried, after
        if moved <= 1e-10 * (by_chance + variances.max()):
            break
    return variances


def _deviance(y: np.ndarray, sampling: np.ndarray, stacked: np.ndarray, variances: np.ndarray) -> float:
    covariance = sampling + np.tensordot(variances, stacked, axes=1)
    inverse = np.linalg.inv(covariance)
    weight = inverse.sum(axis=0)
    rest = y - weight @ y / weight.sum()
    return float(np.linalg.slogdet(covariance)[1] + np.log(weight.sum()) + rest @ inverse @ rest)
