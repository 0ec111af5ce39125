"""Rankings of candidates that answer the same prompt under the same criterion, and the agreement of two rankings.

Averages of a few whole scores tie often: each measure says how it treats ties.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.methods.position.blocks import Block


class Rankings(NamedTuple):
    """Agreement of two rankings of each prompt's candidates, (..., n_prompts). A tie is no reversal.

    `top1_flip` is 1 if no candidate is among the best of both, `top1_tie` what random tie-breaking adds; pairs are
    reversed, or tied in at least one ranking.
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
    """Compare two rankings of each prompt's candidates, (..., n_prompts, n_candidates), that have both scores.

    Source: Xu et al. (2026), Section 4.4, Table 7; ties are ours (the paper does not say).
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
    """Expected agreement (0 unrelated, 1 equal) of two noisy measurements, from that of each with its repeat.

    sin(tau pi / 2) is Pearson's r of normal scores, and r between measurements the geometric mean of each with its
    repeat; the mean of the two taus would take noise for reversals.

    Source: Greiner's relation (Kendall and Gibbons, 1990, Chapter 10); Spearman (1904).
    """
    product = np.prod([np.sin(np.pi / 2 * np.clip(agreement, 0, 1)) for agreement in (one, other)], axis=0)
    return 2 / np.pi * np.arcsin(np.sqrt(product))


def _share_of_best(scores: np.ndarray, missing: np.ndarray) -> np.ndarray:
    best = (scores == scores.max(axis=-1, keepdims=True)) & ~missing
    return best / np.maximum(best.sum(axis=-1, keepdims=True), 1)


def mean_scores(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mean scores over chosen reads, (n_items, K), (count, K) -> (count, n_items); divided once: equal means tie."""
    scored = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return (chosen @ np.where(scored, values, 0).T) / (chosen @ scored.T.astype(float))


def prompts(items: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Prompts with two candidates or more, and their items' rows, padded with -1, (n_prompts, n_candidates)."""
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
    """Items that both strategies read, and the scores of each strategy for these, items by reads."""
    _, rows, others = np.intersect1d(one.items["item_id"], two.items["item_id"], return_indices=True)
    return one.items.iloc[rows].reset_index(drop=True), left[rows], right[others]
