"""Reach of somebody who chooses the order: changes of an item's score, of its rank, and of the best candidate.

An order can be chosen for one item, while its competitors stay in the usual order. Or one order can be chosen for all
items. If reads differ by chance, the largest and the smallest score of an item over orderings are far apart even if the
order has no effect. So the reach is also computed for reads that exchange their orderings within each item. These reads
represent a judge that varies as much, but independently of the order.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

_CELLS_AT_ONCE = 4_000_000


class Moved(NamedTuple):
    """Reach of the orders. Arrays can have further axes in front, for several judges.

    Winners are the candidates of a prompt that are best if all candidates are in the usual order.

    Attributes:
        points: range of each item's score over orderings, shape (..., m).
        points_shared: range of the mean score of all items over orderings, shape (...).
        places: range of each candidate's rank if the order of this candidate alone changes, see `ranks`, shape
            (..., n_prompts, n_candidates); NaN where there is no candidate.
        places_shared: range of each candidate's rank if all candidates have the same order, see `ranks_shared`.
        best: True for prompts in which the order of a single candidate can be chosen such that no winner stays best,
            while the other candidates stay in the usual order, shape (..., n_prompts).
        best_shared: True for prompts in which one order for all candidates can be chosen such that no winner stays
            best, shape (..., n_prompts).
    """

    points: np.ndarray
    points_shared: np.ndarray
    places: np.ndarray
    places_shared: np.ndarray
    best: np.ndarray
    best_shared: np.ndarray


def moved(values: np.ndarray, prompts: np.ndarray, usual: int) -> Moved:
    """Reach of the orders.

    Args:
        values: score of each item in each ordering, shape (..., m, D).
        prompts: items of each prompt, padded with -1, see `rankings.prompts`, shape (n_prompts, n_candidates).
        usual: index of the usual ordering, in which the competitors stay.
    """
    scores = of_candidates(values, prompts)
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


def of_candidates(values: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    """Scores by prompt, shape (..., n_prompts, n_candidates, D); NaN where there is no candidate. See `moved`.

    Args:
        values: score of each item in each ordering, shape (..., m, D).
        prompts: items of each prompt, padded with -1, shape (n_prompts, n_candidates).
    """
    nobody = np.full((*values.shape[:-2], 1, values.shape[-1]), np.nan)
    return np.concatenate([values, nobody], axis=-2)[..., prompts, :]


def ranks(scores: np.ndarray, usual: int) -> np.ndarray:
    """Number of candidates better than each candidate in each ordering, while competitors stay in the usual ordering.

    A competitor with the same score counts as half.

    Args:
        scores: score of each candidate in each ordering, shape (..., n_prompts, n_candidates, D); NaN where there is no
            candidate.
        usual: index of the usual ordering, in which the competitors stay.

    Returns:
        The numbers, of the same shape as `scores`.
    """
    return _better(np.moveaxis(scores, -1, 0), np.broadcast_to(scores[..., usual], np.moveaxis(scores, -1, 0).shape))


def ranks_shared(scores: np.ndarray) -> np.ndarray:
    """Number of candidates better than each candidate in each ordering, if all candidates are read in this ordering.

    A competitor with the same score counts as half.

    Args:
        scores: score of each candidate in each ordering, shape (..., n_prompts, n_candidates, D); NaN where there is no
            candidate.

    Returns:
        The numbers, of the same shape as `scores`.
    """
    by_order = np.moveaxis(scores, -1, 0)
    return _better(by_order, by_order)


def _better(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Number of candidates better than each candidate. The axis of orderings moves from the first to last."""
    above = (others[..., None, :] > own[..., :, None]) + 0.5 * (others[..., None, :] == own[..., :, None])
    above = np.where(np.eye(own.shape[-1], dtype=bool), 0, above).sum(axis=-1)
    return np.moveaxis(np.where(np.isnan(own), np.nan, above), 0, -1)


def _is_best(scores: np.ndarray) -> np.ndarray:
    present = np.where(np.isnan(scores), -np.inf, scores)
    return (present == present.max(axis=-1, keepdims=True)) & ~np.isnan(scores)


def _one_changes(scores: np.ndarray, others: np.ndarray, best: np.ndarray) -> np.ndarray:
    """True for prompts in which a single candidate has an order under which no winner stays best, see `Moved.best`.

    This order puts a candidate that is no winner above the winners, or it puts the only winner below another candidate.
    """
    high, low = (np.where(np.isnan(end), -np.inf, end) for end in (scores.max(axis=-1), scores.min(axis=-1)))
    present = np.where(np.isnan(others), -np.inf, others)
    raised = (high > present.max(axis=-1, keepdims=True)) & ~best
    second = np.where(best, -np.inf, present).max(axis=-1, keepdims=True)
    lowered = best & (best.sum(axis=-1, keepdims=True) == 1) & (low < second)
    return (raised | lowered).any(axis=-1)


def by_chance(reads: np.ndarray, prompts: np.ndarray, usual: int, *, count: int, rng: np.random.Generator) -> Moved:
    """Mean reach if the reads of each item exchange their orderings at random.

    All differences between the reads of an item count as chance, including effects of the orderings.

    Args:
        reads: scores of r reads of each item in each ordering, shape (m, D, r).
        prompts: items of each prompt, padded with -1, see `rankings.prompts`, shape (n_prompts, n_candidates).
        usual: index of the usual ordering, in which the competitors stay.
        count: number of exchanges over which the reach is averaged.
        rng: generator of the exchanges.
    """
    sums: list[np.ndarray] = []
    for part in _exchanged(reads, prompts, count, rng):
        totals = [np.sum(table, axis=0) for table in moved(part, prompts, usual)]
        sums = [total + more for total, more in zip(sums, totals, strict=True)] if sums else totals
    return Moved(*(total / count for total in sums))


def _exchanged(reads: np.ndarray, prompts: np.ndarray, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Mean scores by ordering after exchanges, shape (..., m, D), several exchanges at once. Rounded means can tie."""
    items, orderings, repeats = reads.shape
    step = max(1, _CELLS_AT_ONCE // max(reads.size, prompts.size * prompts.shape[1] * orderings))
    flat = reads.reshape(items, -1)
    for start in range(0, count, step):
        mixed = rng.permuted(np.tile(flat, (min(step, count - start), 1, 1)), axis=-1)
        yield mixed.reshape(-1, items, orderings, repeats).mean(axis=-1).round(9)


def reached(choose: tuple[np.ndarray, np.ndarray], judge: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Difference between two orderings in one half of the reads, where the other half chooses the orderings.

    One half of the reads chooses the orderings with the largest and the smallest value. The other half gives the
    difference of their values. The result is the mean over both roles of the halves. It is 0 on average if the order
    has no effect.

    Args:
        choose: values by which orderings are chosen, for each item in each ordering: a table of shape (..., D) for each
            half.
        judge: values of which the difference is taken, for each item in each ordering: a table of shape (..., D) for
            each half.

    Returns:
        Shape (...).
    """
    ways = [_at_ends(choose[first], judge[1 - first]) for first in (0, 1)]
    return (ways[0] + ways[1]) / 2


def _at_ends(choose: np.ndarray, judge: np.ndarray) -> np.ndarray:
    places = np.stack([choose.argmax(axis=-1), choose.argmin(axis=-1)], axis=-1)
    ends = np.take_along_axis(judge, places, axis=-1)
    return ends[..., 0] - ends[..., 1]


def reached_by_all(means: np.ndarray, group: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Difference of an item's scores in two orderings: those with the highest and the lowest mean over other folds.

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        group: index of each item's group, from 0, shape (m,).
        fold: index of each group's fold, from 0, shape (n_groups,); at least two folds.

    Returns:
        Shape (m,); 0 on average if the order has no effect.
    """
    own = fold[group]
    sums = np.zeros((int(fold.max()) + 1, means.shape[1]))
    np.add.at(sums, own, means)
    return _at_ends((sums.sum(axis=0) - sums)[own], means)


def reached_by_all_draws(means: np.ndarray, group: np.ndarray, fold: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Mean over items of `reached_by_all` in each resample of groups. Each resample chooses the orderings anew.

    Args:
        means: mean score of each item in each ordering, shape (m, D).
        group: index of each item's group, from 0, shape (m,).
        fold: index of each group's fold, from 0, shape (n_groups,); at least two folds.
        weights: number of times that each group is in each resample, shape (resamples, n_groups).

    Returns:
        Shape (resamples,).
    """
    count = np.bincount(group)
    sums = np.zeros((len(count), means.shape[1]))
    np.add.at(sums, group, means)
    members = np.arange(int(fold.max()) + 1)[:, None] == fold
    of_fold = np.einsum("rg,fg,gd->rfd", weights, members, sums, optimize=True)
    reached = _at_ends(of_fold.sum(axis=1, keepdims=True) - of_fold, of_fold)
    return reached.sum(axis=1) / (weights @ count)
