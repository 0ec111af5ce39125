"""Random-effects summary of estimates for several judges and datasets: mean, variances, and shrunken estimates.

An estimate y of judge j and dataset d is mean + effect of j + effect of d + effect of this pair + sampling error. The
variance of the sampling error is known. Its covariances with the errors of other estimates may be known too. The
effects are random: the judges and datasets are a sample, and the mean is that of their population.
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
    """Summary of several estimates together.

    Attributes:
        mean: mean of all estimates.
        low: lower end of the interval of the mean by Hartung and Knapp.
        high: upper end of the interval of the mean.
        p: p-value of the hypothesis that the mean is 0.
        df: degrees of freedom of the interval.
        sd: dictionary from the name of each factor to the standard deviation of its effects. Key ``rest`` has the
            standard deviation of the effects of single estimates, such as those of pairs of judge and dataset.
        shrunken: dictionary from the name of each factor to the best prediction for each of its levels: the mean plus
            the level's effect, shape (levels,).
        own: best prediction of the true value of each estimate, shape (m,).
        q: Cochran's Q, the summed squared deviations of the estimates from their weighted mean, in units of their
            sampling errors.
        q_p: p-value of the hypothesis that the estimates differ by their sampling errors alone.
    """

    mean: float
    low: float
    high: float
    p: float
    df: float
    sd: dict[str, float]
    shrunken: dict[str, np.ndarray]
    own: np.ndarray
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
    """Random-effects summary of estimates.

    Args:
        estimates: the estimates, shape (m,).
        errors: standard error of each estimate, shape (m,). An error below `LEAST_ERROR` times the largest estimate or
            error is only rounding, and is raised to this product.
        factors: dictionary from a factor's name to the index of each estimate's level, from 0, shape (m,). A factor
            with one level is left out, because its effect is in the mean. A factor with as many levels as there are
            estimates is left out too, because its effect is in the rest.
        confidence: nominal coverage of the interval.
        correlations: correlations of the sampling errors, shape (m, m); 0 by default. Judges that read the same items
            have correlated errors. Values are limited to +- `MOST_CORRELATED`.

    Returns:
        The summary; None for fewer than two estimates. Variances are estimated by restricted maximum likelihood. The
        interval uses Student's t and a rescaled standard error, which is not below the plain standard error. The
        degrees of freedom are 1 less than the number of levels of the factor with the fewest levels. If no factor is
        left, they are 1 less than the number of estimates. If all variances of effects are estimated as 0, the error is
        that of sampling, which is known, and of a variance that so few levels can hide (its `HIDDEN` bound); by
        Satterthwaite's formula there are then more degrees of freedom.

    Source: Viechtbauer (2005), Bias and efficiency of meta-analytic variance estimators; Hartung and Knapp (2001), A
    refined method for the meta-analysis; Searle, Casella and McCulloch (1992), Variance components, for predictions.
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
        own=mean + np.tensordot(variances, parts, axes=1) @ rest,
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
    """Influences as a table with one row for each cluster id; 0 if a column lacks the id. Shape (n_ids, n_columns).

    Args:
        columns: ids and influences of each column.
    """
    place, ids = pd.factorize(np.concatenate([ids for ids, _ in columns]))
    column = np.arange(len(columns)).repeat([len(ids) for ids, _ in columns])
    by_column = np.zeros((len(columns), len(ids)))
    by_column[column, place] = np.concatenate([values for _, values in columns])
    return np.where(np.isnan(by_column), 0.0, by_column).T


def equal_correlations(correlations: np.ndarray) -> np.ndarray:
    """Correlations in which each pair has the mean correlation of all pairs, but at least 0, shape (m, m).

    The certainty of a mean over judges depends on the mean of the correlations. Correlations of single pairs are rough,
    because they come from a few tens of groups. If weights used the correlations of single pairs, the weights would
    follow the errors of these correlations.
    """
    m = len(correlations)
    mean = max((correlations.sum() - np.trace(correlations)) / max(m * (m - 1), 1), 0.0)
    return np.where(np.eye(m, dtype=bool), 1.0, mean)


def _restricted_likelihood(y: np.ndarray, sampling: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Variances of effects, each at least 0, by Fisher scoring within bounds. Shape (parts,).

    Args:
        y: the estimates, shape (m,).
        sampling: covariance of the sampling errors, shape (m, m).
        parts: for each kind of effect, its covariance per unit of variance, shape (m, m). An entry is 1 if two
            estimates share the effect, else 0.
    """
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
    """Minus twice the restricted log-likelihood, up to a constant."""
    covariance = sampling + np.tensordot(variances, stacked, axes=1)
    inverse = np.linalg.inv(covariance)
    weight = inverse.sum(axis=0)
    rest = y - weight @ y / weight.sum()
    return float(np.linalg.slogdet(covariance)[1] + np.log(weight.sum()) + rest @ inverse @ rest)
