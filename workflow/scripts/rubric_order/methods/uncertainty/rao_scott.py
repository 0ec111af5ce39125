"""Test that other tests with clusters as the sample are based on."""

import numpy as np

from rubric_order.methods.uncertainty import distributions


def zero_total(contributions: np.ndarray) -> float:
    """p-value of contributions of independent clusters, (n_clusters, k), having a mean of 0, for any covariance.

    The sum's squared length is scaled to a chi-square's mean and variance: Rao and Scott (1981), second order.
    """
    scatter = contributions.T @ contributions
    spread = np.trace(scatter)
    if spread <= 1e-12:
        return 1.0
    total = contributions.sum(axis=0)
    df = spread**2 / (scatter**2).sum()
    return float(distributions.chi_square_tail(df * (total @ total) / spread, df))
