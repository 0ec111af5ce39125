"""Rank tests of a difference between treatments, when each block has its own level.

With every treatment in every block, this is Friedman's test. Where blocks lack treatments, it is the test of Skillings
and Mack.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import distributions

FRIEDMAN = "Friedman"
SKILLINGS_MACK = "Skillings-Mack"


class RankTest(NamedTuple):
    """A test of no difference between treatments.

    Attributes:
        statistic: test statistic. It has a chi-square distribution with `df` degrees of freedom if, within every block,
            every order of the observations is equally likely.
        df: number of treatments minus 1; fewer if chains of blocks do not connect all treatments.
        p: p-value of the statistic, if blocks are independent.
        w: Kendall's coefficient of concordance, from 0 to 1: the statistic as a share of its largest value. For
            incomplete blocks, the largest value is taken to be the sum of (observations - 1) over blocks (ours). No
            statistic exceeds this sum. If observations are missing, even blocks that all rank alike do not reach it, so
            W is then somewhat too low.
        n_blocks: number of blocks with two or more observations.
        n_incomplete: number of blocks with two or more observations that lack a treatment.
    """

    statistic: float
    df: int
    p: float
    w: float
    n_blocks: int
    n_incomplete: int

    @property
    def method(self) -> str:
        return SKILLINGS_MACK if self.n_incomplete else FRIEDMAN


def rank_scores(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centred ranks within blocks, weighted by the size of the block.

    Args:
        cells: one value per block and treatment, shape (..., blocks, treatments); NaN where it is missing.

    Returns:
        Scores and variances. Scores have the shape of the cells: sqrt(12 / (k + 1)) (rank - (k + 1) / 2) for the k
        values of a block, where tied values have their mean rank; 0 where there is no value. Variances have shape
        (..., blocks): the variance of each block's scores if every order of the block's values is equally likely.

    Source: Skillings and Mack (1981), A nonparametric test for the incomplete randomized block design, Section 2.
    """
    observed = ~np.isnan(cells)
    size = observed.sum(axis=-1)
    rows = np.where(observed, cells, np.inf).reshape(-1, cells.shape[-1])  # missing values rank last
    ranks = distributions.ranks(rows, axis=1).reshape(cells.shape)
    weight = np.sqrt(12 / (size + 1))
    scores = np.where(observed, weight[..., None] * (ranks - (size[..., None] + 1) / 2), 0.0)
    return scores, (scores**2).sum(axis=-1) / np.maximum(size, 1)


def rank_test(cells: np.ndarray) -> RankTest:
    """Test for a difference between treatments.

    The variance of the scores is computed over all orders of a block's values, ties included. On complete blocks the
    statistic is therefore Friedman's with the correction for ties, like `scipy.stats.friedmanchisquare`. On blocks
    without ties, complete or not, it is the statistic of Skillings and Mack.

    Args:
        cells: one value per block (row) and treatment (column), NaN where it is missing. Blocks with fewer than two
            values say nothing and are left out.
    """
    return of_scores(~np.isnan(cells), *rank_scores(cells))


def of_scores(observed: np.ndarray, scores: np.ndarray, variance: np.ndarray) -> RankTest:
    """The test of `rank_test` from its scores.

    Args:
        observed: True where a block has a value of a treatment, shape (blocks, treatments).
        scores: centred and weighted rank of each value, 0 where there is no value, shape (blocks, treatments), see
            `rank_scores`.
        variance: variance of each block's scores if every order of its values is equally likely, shape (blocks,).
    """
    size = observed.sum(axis=1)
    used = size > 1
    observed, scores, variance, size = observed[used], scores[used], variance[used], size[used]
    total = scores.sum(axis=0)
    # Within a block of k values, any two scores have the covariance -variance / (k - 1).
    pairs = (observed.T * (variance / np.maximum(size - 1, 1))) @ observed
    covariance = -pairs + np.diag(np.diag(pairs)) + np.diag((observed * variance[:, None]).sum(axis=0))
    df = int(np.linalg.matrix_rank(covariance, hermitian=True)) if len(size) else 0
    n_incomplete = int((size < observed.shape[1]).sum())
    if df == 0:  # no blocks, or all values of each block tied
        return RankTest(0.0, 0, 1.0, 0.0 if len(size) else np.nan, len(size), n_incomplete)
    statistic = float(total @ np.linalg.pinv(covariance, hermitian=True) @ total)
    w = statistic / float((size - 1).sum())
    return RankTest(statistic, df, float(distributions.chi_square_tail(statistic, df)), w, len(size), n_incomplete)
