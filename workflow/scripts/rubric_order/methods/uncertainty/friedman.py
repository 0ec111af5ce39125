"""Rank tests of treatments within blocks: Friedman's, and Skillings and Mack's where blocks lack treatments."""

from typing import NamedTuple

import numpy as np

from rubric_order.methods.uncertainty import distributions

FRIEDMAN = "Friedman"
SKILLINGS_MACK = "Skillings-Mack"


class RankTest(NamedTuple):
    """A test of no difference: chi-square on `df`, fewer than treatments less 1 if blocks do not connect them.

    `w` is Kendall's W, the statistic over its largest value; for incomplete blocks over the sum of (observations - 1),
    ours and somewhat low. Blocks count with two or more observations.
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
    """Centred mid-ranks times sqrt(12 / (k + 1)), 0 where missing, and their variance by block over all orders.

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
    """Test of blocks (rows) by treatments, NaN where missing; Friedman's corrected for ties on complete blocks,
    Skillings and Mack's without ties.
    """
    return score_test(~np.isnan(cells), *rank_scores(cells))


def score_test(observed: np.ndarray, scores: np.ndarray, variance: np.ndarray) -> RankTest:
    """The test of `rank_test` from its `rank_scores`."""
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
