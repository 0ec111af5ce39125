"""Least squares with an intercept for each block (a text under a criterion), and clusters of blocks as the sample."""

import numpy as np

from rubric_order.methods.uncertainty import cluster_robust, rao_scott
from rubric_order.methods.uncertainty.resampling import sum_units

ROUNDING = 1e-9  # values below this share of the largest count as rounding


def within(values: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Values minus the mean of their block, shape (n,) or (n, k)."""
    columns = values.reshape(len(blocks), -1)
    size = np.maximum(np.bincount(blocks), 1)
    return (columns - (sum_units(columns, blocks) / size[:, None])[blocks]).reshape(values.shape)


def fit(y: np.ndarray, x: np.ndarray, blocks: np.ndarray, clusters: np.ndarray) -> cluster_robust.Fit:
    """Fit y = intercept of the block + x @ coefficients. Blocks lie in clusters: intercepts cost no degrees.

    Source: Cameron and Miller (2015), A practitioner's guide to cluster-robust inference, Sections III.A and VI.
    """
    x, y = within(x, blocks), within(y, blocks)
    k = x.shape[1]
    one, other = np.triu_indices(k)
    sums = sum_units(np.column_stack([x * y[:, None], x[:, one] * x[:, other]]), clusters)
    information = np.empty((len(sums), k, k))
    information[:, one, other] = information[:, other, one] = sums[:, k:]
    return cluster_robust.least_squares(sums[:, :k], information).fit()


def _inverse(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    positive = eigenvalues > ROUNDING * max(eigenvalues.max(initial=0.0), 1e-300)
    basis = vectors[:, positive]
    return (basis / eigenvalues[positive]) @ basis.T, basis @ basis.T


def no_effect(y: np.ndarray, tested: np.ndarray, others: np.ndarray, blocks: np.ndarray, clusters: np.ndarray) -> float:
    """p-value of no effect of `tested` terms given `others`: a score test by `rao_scott.zero_total` of residual
    products; NaN if collinear.

    Source: Boos (1992), On generalized score tests, with Rao and Scott's (1981) second-order correction.
    """
    y, tested, others = within(y, blocks), within(tested, blocks), within(others, blocks)
    inverse, _ = _inverse(others) if others.shape[1] else (np.zeros((0, 0)), None)
    for_y, for_tested = inverse @ (others.T @ y), inverse @ (others.T @ tested)
    rest = tested - others @ for_tested
    if (rest**2).sum() <= ROUNDING * max((tested**2).sum(), 1e-300):
        return np.nan
    totals = sum_units(rest * (y - others @ for_y)[:, None], clusters)
    return rao_scott.zero_total(totals) if len(totals) > 1 else np.nan
