"""Estimates of several judges and datasets taken together: mean, variances between them, and shrunken estimates.

An estimate y of judge j and dataset d is mean + effect of j + effect of d + effect of both + sampling error, whose
variance is known. The effects are random: the mean is of all judges and datasets of which these are a sample.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rubric_order.methods import distributions


class Summary(NamedTuple):
    """What several estimates say together.

    Attributes:
        mean, low, high: of all, with its interval by Hartung and Knapp.
        p: of a mean of 0. df: degrees of freedom of the interval.
        sd: standard deviation of the effects of each factor, and of ``rest``, by name.
        shrunken: best prediction of each level of each factor: mean plus its effect, shape (levels,), by name.
        own: best prediction of what each estimate is of, shape (m,).
        q, q_p: Cochran's Q and the p-value of there being no variance but that of sampling.
    """

    mean: float
    low: float
    high: float
    p: float
    df: int
    sd: dict[str, float]
    shrunken: dict[str, np.ndarray]
    own: np.ndarray
    q: float
    q_p: float


def summary(
    estimates: np.ndarray, errors: np.ndarray, factors: Mapping[str, np.ndarray], confidence: float
) -> Summary | None:
    """Random-effects summary of estimates.

    Args:
        estimates: shape (m,). errors: their standard errors, above 0.
        factors: number of the level of each estimate, from 0, shape (m,), by name of the factor. A factor with one
            level, or as many levels as estimates, is left out: its effect is in the mean, or in the rest.
        confidence: of the interval.

    Returns:
        None for less than two estimates. Variances are by restricted maximum likelihood. The interval is Student's t
        with a rescaled standard error (not less than the plain one), and as many degrees of freedom as the smallest
        factor has levels, less 1.

    Source: Viechtbauer (2005), Bias and efficiency of meta-analytic variance estimators; Hartung and Knapp (2001), A
    refined method for the meta-analysis; Searle, Casella and McCulloch (1992), Variance components, for predictions.
    """
    m = len(estimates)
    if m < 2:
        return None
    sampling = np.asarray(errors, dtype=float) ** 2
    used = {name: np.eye(level.max() + 1)[level] for name, level in factors.items() if 1 < level.max() + 1 < m}
    parts = [z @ z.T for z in used.values()] + [np.eye(m)]
    variances = _restricted_likelihood(estimates, sampling, parts)
    covariance = np.diag(sampling) + np.tensordot(variances, parts, axes=1)
    inverse = np.linalg.inv(covariance)
    weight = inverse.sum(axis=0)
    mean = float(weight @ estimates / weight.sum())
    rest = inverse @ (estimates - mean)
    df = min([m, *(z.shape[1] for z in used.values())]) - 1
    scale = max(float((estimates - mean) @ rest) / (m - 1), 1.0)
    se = np.sqrt(scale / weight.sum())
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    fixed = 1 / sampling
    q = float((fixed * (estimates - fixed @ estimates / fixed.sum()) ** 2).sum())
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


def _restricted_likelihood(y: np.ndarray, sampling: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Variances of effects, each at least 0, by Fisher scoring within bounds. Shape (parts,)."""
    stacked = np.array(parts)
    found = np.full(len(parts), max(y.var(ddof=1) - sampling.mean(), 0.1 * sampling.mean()) / len(parts))
    before = _deviance(y, sampling, stacked, found)
    for _ in range(500):
        inverse = np.linalg.inv(np.diag(sampling) + np.tensordot(found, stacked, axes=1))
        weight = inverse.sum(axis=0)
        p = inverse - np.outer(weight, weight) / weight.sum()
        py = p @ y
        products = np.einsum("ab,kbc->kac", p, stacked)
        slope = np.einsum("a,kab,b->k", py, stacked, py) - np.einsum("kaa->k", products)
        information = np.einsum("kab,lba->kl", products, products)
        free = (found > 0) | (slope > 0)
        step = np.zeros(len(parts))
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], slope[free], rcond=None)[0]
        size = 1.0
        while size > 1e-8:
            tried = np.maximum(found + size * step, 0)
            after = _deviance(y, sampling, stacked, tried)
            if after <= before:
                break
            size /= 2
        else:
            break
        moved = np.abs(tried - found).max()
        found, before = tried, after
        if moved <= 1e-10 * (sampling.mean() + found.max()):
            break
    return found


def _deviance(y: np.ndarray, sampling: np.ndarray, stacked: np.ndarray, variances: np.ndarray) -> float:
    """Minus twice the restricted log-likelihood, but for a constant."""
    covariance = np.diag(sampling) + np.tensordot(variances, stacked, axes=1)
    inverse = np.linalg.inv(covariance)
    weight = inverse.sum(axis=0)
    rest = y - weight @ y / weight.sum()
    return float(np.linalg.slogdet(covariance)[1] + np.log(weight.sum()) + rest @ inverse @ rest)
