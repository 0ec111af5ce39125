"""Least squares with a level for each block, and clusters of blocks as the sample.

A block is what is compared with itself only, such as the reads of one text under one criterion. Observations of one
cluster may depend on each other in any way.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods import distributions, rao_scott
from rubric_order.methods.resampling import sum_units

ROUNDING = 1e-9  # what is smaller than this share of the largest is taken for rounding


class Fit(NamedTuple):
    """Coefficients of a linear model.

    Attributes:
        coefficients: shape (k,); of all that fit equally well, the shortest.
        covariance: shape (k, k), from how clusters vary.
        space: projection onto the contrasts that the design tells, shape (k, k).
        df: number of clusters less 1, for Student's t.
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    space: np.ndarray
    df: int

    def contrast(self, weights: np.ndarray) -> tuple[float, float]:
        """A weighted sum of coefficients, and its standard error; NaN where the design does not tell it."""
        if np.abs(self.space @ weights - weights).max() > 1e-6:
            return np.nan, np.nan
        return float(weights @ self.coefficients), float(np.sqrt(max(weights @ self.covariance @ weights, 0.0)))

    def interval(self, weights: np.ndarray, confidence: float) -> dict:
        """`estimate` of a contrast, its standard error `se`, `ci_low`, `ci_high`, and `p` of no effect."""
        estimate, se = self.contrast(weights)
        if self.df < 1 or not se > 0:
            return {"estimate": estimate, "se": np.nan, "ci_low": np.nan, "ci_high": np.nan, "p": np.nan}
        reach = distributions.t_quantile((1 + confidence) / 2, self.df) * se
        p = 2 * distributions.t_tail(abs(estimate) / se, self.df)
        return {"estimate": estimate, "se": se, "ci_low": estimate - reach, "ci_high": estimate + reach, "p": float(p)}


def within(values: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Values less the mean of their block. Shape (n,) or (n, k); blocks are numbered from 0."""
    columns = values.reshape(len(blocks), -1)
    size = np.maximum(np.bincount(blocks), 1)
    return (columns - (sum_units(columns, blocks) / size[:, None])[blocks]).reshape(values.shape)


def fit(y: np.ndarray, x: np.ndarray, blocks: np.ndarray, clusters: np.ndarray) -> Fit:
    """Fit y = level of the block + x @ coefficients.

    Args:
        y: shape (n,).
        x: shape (n, k).
        blocks, clusters: number of each observation's block and cluster, from 0 and without gaps; a block lies in one
            cluster.

    Returns:
        See `Fit`. The covariance is the sandwich over clusters with the factor G / (G - 1) (n - 1) / (n - k) for G
        clusters (CR1; the levels do not count as coefficients, since blocks lie in clusters).

    Source: Cameron and Miller (2015), A practitioner's guide to cluster-robust inference, Sections II.B and III.A.
    """
    x, y = within(x, blocks), within(y, blocks)
    inverse, space = _inverse(x)
    coefficients = inverse @ (x.T @ y)
    residuals = y - x @ coefficients
    totals = sum_units(x * residuals[:, None], clusters)
    n, k, n_clusters = len(y), round(np.trace(space)), len(totals)
    if n_clusters < 2 or n <= k:
        covariance = np.full_like(inverse, np.nan)
    else:
        factor = n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
        covariance = factor * inverse @ (totals.T @ totals) @ inverse
    return Fit(coefficients, covariance, space, n_clusters - 1)


def _inverse(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pseudo-inverse of x.T @ x, and the projection onto its rows."""
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    kept = eigenvalues > ROUNDING * max(eigenvalues.max(initial=0.0), 1e-300)
    return (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T, vectors[:, kept] @ vectors[:, kept].T


def no_effect(y: np.ndarray, tested: np.ndarray, others: np.ndarray, blocks: np.ndarray, clusters: np.ndarray) -> float:
    """p-value of no effect of some terms, given others: a score test with clusters as the sample.

    The terms, less what blocks and the other terms say of them, are multiplied with what is left of y when it is
    explained without them, and summed over clusters; see `rao_scott.zero_total`.

    Args:
        y, blocks, clusters: see `fit`.
        tested, others: terms, shapes (n, k) and (n, m); m can be 0.

    Returns:
        The p-value; NaN where the terms say nothing beyond the others, or there is one cluster.

    Source: the score test of Boos (1992), On generalized score tests, with the second-order correction of Rao and Scott
    (1981) in place of an inverse.
    """
    y, tested, others = within(y, blocks), within(tested, blocks), within(others, blocks)
    inverse, _ = _inverse(others) if others.shape[1] else (np.zeros((0, 0)), None)
    for_y, for_tested = inverse @ (others.T @ y), inverse @ (others.T @ tested)
    rest = tested - others @ for_tested
    if (rest**2).sum() <= ROUNDING * max((tested**2).sum(), 1e-300):
        return np.nan
    totals = sum_units(rest * (y - others @ for_y)[:, None], clusters)
    return rao_scott.zero_total(totals) if len(totals) > 1 else np.nan
