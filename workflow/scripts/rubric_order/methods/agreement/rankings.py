"""Rankings of competing candidates, from scores of their reads, and the agreement of two rankings.

Candidates compete if they answer the same prompt and are judged by the same criterion. Averages of a few whole scores
tie often, and the results depend on how ties count. So each measure says how it treats ties.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.methods.position.blocks import Block


class Rankings(NamedTuple):
    """Agreement of two rankings of each prompt's candidates, each of shape (..., n_prompts); NaN where undefined.

    A tie does not count as a reversal. The effects of ties have measures of their own.

    Attributes:
        kendall_tau_b: tau-b, as `scipy.stats.kendalltau` gives it: 1 for two equal rankings, ties included. NaN if all
            candidates tie in a ranking.
        top1_flip: 1 if no candidate is among the best of both rankings, else 0. NaN without candidates.
        top1_tie: what ties add to the flips if each ranking breaks its ties at random: `top1_random` - `top1_flip`.
        reversed_pairs: share of the pairs of candidates that the two rankings put in opposite orders. NaN with fewer
            than two candidates.
        tied_pairs: share of the pairs that tie in at least one ranking. NaN with fewer than two candidates.
    """

    kendall_tau_b: np.ndarray
    top1_flip: np.ndarray
    top1_tie: np.ndarray
    reversed_pairs: np.ndarray
    tied_pairs: np.ndarray

    @property
    def top1_random(self) -> np.ndarray:
        """Probability that the rankings have different best candidates, if each breaks its ties at random."""
        return self.top1_flip + self.top1_tie


def compare_rankings(scores: np.ndarray, other: np.ndarray) -> Rankings:
    """Compare two rankings of the candidates of each prompt.

    A candidate that lacks a score in one ranking is left out of both.

    Args:
        scores: score of each candidate in the first ranking, shape (..., n_prompts, n_candidates); NaN where there is
            no score.
        other: score of each candidate in the second ranking, in the same form.

    Source: Xu et al. (2026), Section 4.4, Table 7. The treatment of ties is ours: the paper does not describe any.
    """
    missing = np.isnan(scores) | np.isnan(other)
    first, second = np.triu_indices(scores.shape[-1], 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = np.sign(scores[..., first] - scores[..., second])
        y = np.sign(other[..., first] - other[..., second])
        pairs = ~(missing[..., first] | missing[..., second])
        x, y = np.where(pairs, x, 0), np.where(pairs, y, 0)
        product, n_pairs = x * y, pairs.sum(axis=-1)
        tau_b = product.sum(axis=-1) / np.sqrt((x != 0).sum(axis=-1) * (y != 0).sum(axis=-1))
        opposite, tied = (product < 0).sum(axis=-1) / n_pairs, 1 - (product != 0).sum(axis=-1) / n_pairs
    scores, other = np.where(missing, -np.inf, scores), np.where(missing, -np.inf, other)
    best = [_share_of_best(ranking, missing) for ranking in (scores, other)]
    empty = missing.all(axis=-1)
    both = (best[0] * best[1]).sum(axis=-1)
    flip = np.where(empty, np.nan, both == 0)
    return Rankings(tau_b, flip, np.where(empty, np.nan, 1 - both) - flip, opposite, tied)


def agreement_by_noise(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Expected agreement of two noisy measurements of one ranking, from the agreement of each with its own repeat.

    Agreement is 1 for equal rankings and 0 for unrelated rankings. It can be any of these three:

    - Kendall's tau;
    - share of pairs in the same order - share of pairs in opposite orders;
    - (share of equal choices - share by chance) / (1 - share by chance).

    Let tau stand for the agreement. If scores and noise are normal, Pearson's r is sin(tau pi / 2). The r between two
    measurements is the geometric mean of two correlations: those of each measurement with its own repeat. The result is
    the tau that belongs to the r between the measurements. If the noises of the measurements differ, the arithmetic
    mean of the two given taus is larger than this result, and would make the noise of one measurement look like a
    reversal.

    Args:
        one: agreement of the first measurement with its own repeat, any shape. Values below 0 count as 0.
        other: agreement of the second measurement with its own repeat, of the same shape. Values below 0 count as 0.

    Source: Greiner's relation (Kendall and Gibbons, 1990, Rank Correlation Methods, Chapter 10); Spearman (1904), The
    proof and measurement of association between two things, for the geometric mean.
    """
    product = np.prod([np.sin(np.pi / 2 * np.clip(agreement, 0, 1)) for agreement in (one, other)], axis=0)
    return 2 / np.pi * np.arcsin(np.sqrt(product))


def _share_of_best(scores: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Probability that each candidate is the best candidate, if ties are broken at random."""
    best = (scores == scores.max(axis=-1, keepdims=True)) & ~missing
    return best / np.maximum(best.sum(axis=-1, keepdims=True), 1)


def mean_scores(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mean score of each item over chosen reads. Reads without a score are left out.

    Each sum is divided only once, so that equal means tie.

    Args:
        values: scores, items by reads, shape (n_items, K); NaN for a read without a score.
        chosen: choices of reads, 1 for a chosen read and 0 for other reads, shape (count, K).

    Returns:
        Shape (count, n_items); NaN where no chosen read has a score.
    """
    scored = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return (chosen @ np.where(scored, values, 0).T) / (chosen @ scored.T.astype(float))


def prompts(items: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Prompts with at least two candidates, and the rows of their items.

    Args:
        items: one row per item, with `group_id` and `criterion`.

    Returns:
        The group and criterion of each prompt; and the rows of each prompt's items, padded with -1, shape (n_prompts,
        n_candidates).
    """
    group, criterion = (
        pd.factorize(items[name], sort=True, use_na_sentinel=False)[0] for name in ("group_id", "criterion")
    )
    _, number, sizes = np.unique(group * (criterion.max() + 1) + criterion, return_inverse=True, return_counts=True)
    rows = np.full((len(sizes), sizes.max()), -1)
    rows[np.arange(sizes.max()) < sizes[:, None]] = np.argsort(number, kind="stable")
    rows = rows[sizes > 1]
    return items[["group_id", "criterion"]].take(rows[:, 0]).reset_index(drop=True), rows


def same_items(
    one: Block, two: Block, left: np.ndarray, right: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The items that both strategies read, and the scores of each strategy for these items, items by reads.

    Args:
        one: reads of the first strategy.
        two: reads of the second strategy.
        left: scores of the first strategy, items by reads, in the order of the items of `one`.
        right: scores of the second strategy, items by reads, in the order of the items of `two`.
    """
    _, rows, others = np.intersect1d(one.items["item_id"], two.items["item_id"], return_indices=True)
    return one.items.iloc[rows].reset_index(drop=True), left[rows], right[others]
