"""Test that other tests with clusters as the sample are based on."""

import numpy as np

from rubric_order.methods.uncertainty import distributions


def zero_total(contributions: np.ndarray) -> float:
    """p-value of the hypothesis that contributions of independent clusters, shape (n_clusters, k), have a mean of 0.

    The squared length of the sum is scaled, and its degrees of freedom are chosen, so that it has the mean and variance
    of a chi-square distribution, whatever the covariance; `uniformity.cluster_test` is the case of counts.

    Source: Rao and Scott (1981), second-order correction.
    """
    scatter = contributions.T @ contributions
    spread = np.trace(scatter)
    if spread <= 1e-12:
        return 1.0
    total = contributions.sum(axis=0)
    df = spread**2 / (scatter**2).sum()
    return float(distributions.chi_square_tail(df * (total @ total) / spread, df))
