"""Test that other tests with clusters as the sample are based on."""

import numpy as np

from rubric_order.methods.uncertainty import distributions


def zero_total(contributions: np.ndarray) -> float:
    """p-value of the hypothesis that contributions of independent clusters have a mean of 0.

    The test adds the contributions over clusters, and takes the squared length of this sum. It multiplies this square
    by a factor, and chooses degrees of freedom, so that the product has the mean and variance of a chi-square variable
    with these degrees of freedom. This works for any covariance. `uniformity.cluster_test` is this test for counts.

    Args:
        contributions: contribution of each cluster, shape (n_clusters, k).

    Source: Rao and Scott (1981), second-order correction.
    """
    scatter = contributions.T @ contributions
    spread = np.trace(scatter)
    if spread <= 1e-12:
        return 1.0
    total = contributions.sum(axis=0)
    df = spread**2 / (scatter**2).sum()
    return float(distributions.chi_square_tail(df * (total @ total) / spread, df))
