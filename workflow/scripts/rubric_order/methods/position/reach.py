"""Reach of somebody who chooses the order: changes of an item's score, of its rank, and of the best candidate.

An order is chosen for one item, competitors in the usual order, or for all. Chance alone spreads scores over orderings,
so reads that exchange their orderings within an item give the reach of a judge that varies as much without the order.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

_CELLS_AT_ONCE = 4_000_000


class Moved(NamedTuple):
    """Reach of the orders, shapes (..., m), (...), (..., n_prompts, n_candidates), (..., n_prompts); `shared` if all
    candidates have the same order.

    `best`: an order can be chosen so that no winner of the usual order stays best.
    """

    points: np.ndarray
    points_shared: np.ndarray
    places: np.ndarray
    places_shared: np.ndarray
    best: np.ndarray
    best_shared: np.ndarray


def moved(values: np.ndarray, prompts: np.ndarray, usual: int) -> Moved:
    """Reach of the orders, from scores (..., m, D); `usual` is the ordering in which competitors stay."""
    scores = candidate_scores(values, prompts)
    others = scores[..., usual]
    best = _is_best(others)
    by_order = np.moveaxis(_is_best(np.moveaxis(scores, -1, 0)) & best, 0, -1)
    return Moved(
        np.ptp(values, axis=-1),
        np.ptp(values.mean(axis=-2), axis=-1),
        np.ptp(ranks(scores, usual), axis=-1),
        np.ptp(ranks_shared(scores), axis=-1),
        _one_changes(scores, others, best),
        ~by_order.any(axis=-2).all(axis=-1),
    )


def candidate_scores(values: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    """Scores by prompt, shape (..., n_prompts, n_candidates, D); NaN where there is no candidate."""
    nobody = np.full((*values.shape[:-2], 1, values.shape[-1]), np.nan)
    return np.concatenate([values, nobody], axis=-2)[..., prompts, :]


def ranks(scores: np.ndarray, usual: int) -> np.ndarray:
    """Number of candidates better than each in each ordering, competitors in the usual one; equals count half."""
    return _better(np.moveaxis(scores, -1, 0), np.broadcast_to(scores[..., usual], np.moveaxis(scores, -1, 0).shape))


def ranks_shared(scores: np.ndarray) -> np.ndarray:
    """As `ranks`, if all candidates are read in the ordering."""
    by_order = np.moveaxis(scores, -1, 0)
    return _better(by_order, by_order)


def _better(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    above = (others[..., None, :] > own[..., :, None]) + 0.5 * (others[..., None, :] == own[..., :, None])
    above = np.where(np.eye(own.shape[-1], dtype=bool), 0, above).sum(axis=-1)
    return np.moveaxis(np.where(np.isnan(own), np.nan, above), 0, -1)


def _is_best(scores: np.ndarray) -> np.ndarray:
    present = np.where(np.isnan(scores), -np.inf, scores)
    return (present == present.max(axis=-1, keepdims=True)) & ~np.isnan(scores)


def _one_changes(scores: np.ndarray, others: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Prompts in which a loser's order puts it above the winners, or an only winner's below another."""
    high, low = (np.where(np.isnan(end), -np.inf, end) for end in (scores.max(axis=-1), scores.min(axis=-1)))
    present = np.where(np.isnan(others), -np.inf, others)
    raised = (high > present.max(axis=-1, keepdims=True)) & ~best
    second = np.where(best, -np.inf, present).max(axis=-1, keepdims=True)
    lowered = best & (best.sum(axis=-1, keepdims=True) == 1) & (low < second)
    return (raised | lowered).any(axis=-1)


def chance_reach(reads: np.ndarray, prompts: np.ndarray, usual: int, *, count: int, rng: np.random.Generator) -> Moved:
    """Mean reach if each item's reads (m, D, r) exchange orderings: all differences count as chance."""
    sums: list[np.ndarray] = []
    for part in _exchanged(reads, prompts, count, rng):
        totals = [np.sum(table, axis=0) for table in moved(part, prompts, usual)]
        sums = [total + more for total, more in zip(sums, totals, strict=True)] if sums else totals
    return Moved(*(total / count for total in sums))


def _exchanged(reads: np.ndarray, prompts: np.ndarray, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Mean scores by ordering after exchanges, shape (..., m, D), several at once. Rounded means can tie."""
    items, orderings, repeats = reads.shape
    step = max(1, _CELLS_AT_ONCE // max(reads.size, prompts.size * prompts.shape[1] * orderings))
    flat = reads.reshape(items, -1)
    for start in range(0, count, step):
        mixed = rng.permuted(np.tile(flat, (min(step, count - start), 1, 1)), axis=-1)
        yield mixed.reshape(-1, items, orderings, repeats).mean(axis=-1).round(9)


def reached(choose: tuple[np.ndarray, np.ndarray], judge: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Largest less smallest value over orderings (..., D), chosen by one half of the reads and taken from the other,
    mean over both roles: 0 on average without an effect.
    """
    ways = [_end_difference(choose[first], judge[1 - first]) for first in (0, 1)]
    return (ways[0] + ways[1]) / 2


def _end_difference(choose: np.ndarray, judge: np.ndarray) -> np.ndarray:
    places = np.stack([choose.argmax(axis=-1), choose.argmin(axis=-1)], axis=-1)
    ends = np.take_along_axis(judge, places, axis=-1)
    return ends[..., 0] - ends[..., 1]


def reached_by_all(means: np.ndarray, group: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Difference between the orderings that other folds' means choose, (m,); 0 on average without an effect."""
    item_fold = fold[group]
    sums = np.zeros((int(fold.max()) + 1, means.shape[1]))
    np.add.at(sums, item_fold, means)
    return _end_difference((sums.sum(axis=0) - sums)[item_fold], means)


def reached_by_all_draws(means: np.ndarray, group: np.ndarray, fold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean over items of `reached_by_all` in each resample of groups, which chooses anew, shape (resamples,)."""
    count = np.bincount(group)
    sums = np.zeros((len(count), means.shape[1]))
    np.add.at(sums, group, means)
    members = np.arange(int(fold.max()) + 1)[:, None] == fold
    of_fold = np.einsum("rg,fg,gd->rfd", weights, members, sums, optimize=True)
    reached = _end_difference(of_fold.sum(axis=1, keepdims=True) - of_fold, of_fold)
    return reached.sum(axis=1) / (weights @ count)
