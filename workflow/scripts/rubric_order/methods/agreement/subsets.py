"""Correlations between human scores and means over subsets of an item's reads."""

import functools
import math
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.methods.uncertainty import distributions

LARGEST_SUBSET = 20  # largest number of reads of a subset
_NO_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Subsets(NamedTuple):
    """Subsets of K reads, sorted by size: `masks` (n_subsets, K), and `pairs` (K(K+1)/2, n_subsets): how often reads j
    <= k occur in the square of a subset's sum.
    """

    masks: np.ndarray
    sizes: np.ndarray
    pairs: np.ndarray


def draw(k: int, most: int, *, rng: np.random.Generator) -> Subsets:
    """Subsets of k reads of every size from 1 to k (at most `LARGEST_SUBSET`); at most `most` of a size, else drawn."""
    of_size = [one_size(k, size, most, rng=rng) for size in range(1, min(k, LARGEST_SUBSET) + 1)]
    sizes: np.ndarray = np.repeat(np.arange(1, len(of_size) + 1), [len(part) for part in of_size])
    masks = np.concatenate(of_size).astype(float)
    first, second = np.triu_indices(k)
    pairs = (masks[:, first] * masks[:, second]).T * np.where(first == second, 1.0, 2.0)[:, None]
    return Subsets(masks, sizes, pairs)


def one_size(k: int, size: int, most: int, *, rng: np.random.Generator) -> np.ndarray:
    """Different subsets of one size, all or `most` at random, shape (at most `most`, k)."""
    if math.comb(k, size) <= most:
        return _all_of_size(k, size)
    distinct: np.ndarray = np.empty((0, k), dtype=np.int8)
    while len(distinct) < most:  # repeated draws are dropped; every subset stays equally likely
        more = rng.permuted(np.tile(np.arange(k) < size, (most, 1)), axis=1).astype(np.int8)
        pool = np.concatenate([distinct, more])
        distinct = pool[np.sort(np.unique(pool, axis=0, return_index=True)[1])][:most]
    return distinct


@functools.lru_cache
def drawn(k: int, most: int, seed: int) -> Subsets:
    """Subsets of k reads, of every size. Calls with the same arguments share one draw."""
    return draw(k, most, rng=randomness.generator(seed, "subsets of reads", k))


@functools.lru_cache
def disjoint(k: int, size: int, count: int, seed: int) -> np.ndarray:
    """Random pairs of disjoint subsets of k reads, as weights of their means, shape (count, 2, k), read-only."""
    rng = randomness.generator(seed, "disjoint subsets of reads", k, size)
    place = rng.permuted(np.tile(np.arange(k), (count, 1)), axis=1)
    masks = np.stack([place < size, (place >= size) & (place < 2 * size)], axis=1) / size
    masks.flags.writeable = False
    return masks


def _all_of_size(k: int, size: int) -> np.ndarray:
    """All subsets of one size, shape (C(k, size), k), grown by rising elements so that none occurs twice."""
    masks: np.ndarray = np.zeros((1, k), dtype=np.int8)
    last = np.array([-1])
    for _ in range(size):
        row, added = np.nonzero(np.arange(k) > last[:, None])
        masks = masks[row]
        masks[np.arange(len(row)), added] = 1
        last = added
    return masks


def moments(scores: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Moments of each item for correlations of any mean of reads with human scores, shape (m, 3 + 2K + K(K+1)/2).

    Columns: 1, y, y^2, reads s_j, s_j y, and s_j s_k for j <= k, centred against rounding. Their sums over items, with
    any weights, give means and covariances.
    """
    y = human - human.mean()
    s = scores - scores.mean()
    first, second = np.triu_indices(s.shape[1])
    return np.column_stack([np.ones(len(y)), y, y * y, s, s * y[:, None], s[:, first] * s[:, second]])


def pearson_of_subsets(sums: np.ndarray, chosen: Subsets) -> np.ndarray:
    """Pearson's r of the mean over each subset with the human scores, from sums of `moments`, shape (..., n_subsets);
    NaN if either does not vary.

    The variance of a sum is a sum of covariances, so a subset costs a few products however many items there are.
    """
    k = chosen.masks.shape[1]
    count, y, yy = (sums[..., place, None] for place in range(3))
    with np.errstate(invalid="ignore", divide="ignore"):
        s, sy, ss = np.split(sums[..., 3:] / count, [k, 2 * k], axis=-1)
        y, yy = y / count, yy / count
        first, second = np.triu_indices(k)
        covariance = (sy - s * y) @ chosen.masks.T
        variance = (ss - s[..., first] * s[..., second]) @ chosen.pairs
        human = yy - y * y
        r = covariance / np.sqrt(variance * human)
    return np.where((variance > _NO_VARIANCE) & (human > _NO_VARIANCE), np.clip(r, -1, 1), np.nan)


class RankCurve(NamedTuple):
    """Spearman's rho of each subset, and the derivative of each size's mean by each item's weight, (m, n_sizes)."""

    rho: np.ndarray
    influence: np.ndarray


def spearman_of_subsets(scores: np.ndarray, human: np.ndarray, chosen: Subsets) -> RankCurve:
    """Spearman's rho of the mean over each subset of reads, shape (m, K), with human scores. Sums are ranked, because
    ties of means depend on rounding.

    Source: infinitesimal jackknife (Efron, 1982, Chapter 6) of the correlation of mid-distribution functions.
    """
    m, (masks, sizes, _) = len(human), chosen
    # Mid-ranks about 0 in units of the sample size: rho is the correlation of u (of sums) with v (of human scores).
    _, y, y_count = np.unique(human, return_inverse=True, return_counts=True)
    v_table = (y_count.cumsum() - y_count / 2) / m - 0.5
    v = v_table[y]
    v_spread = v @ v / m
    v_above = _above(y_count * v_table) / m
    by_y = np.argsort(y, kind="stable")
    y_starts = np.flatnonzero(np.diff(y[by_y], prepend=-1))
    rho = np.full(len(masks), np.nan)
    influence = np.zeros((m, sizes[-1]))
    per_chunk = max(1, 1_000_000 // m)
    for start in range(0, len(masks), per_chunk):
        part = masks[start : start + per_chunk]
        column = np.arange(len(part))
        x, width = _codes(scores @ part.T)
        cell = (x + width * column).ravel()
        counts = np.bincount(cell, minlength=width * len(part)).reshape(len(part), width)
        v_of_x = np.bincount(cell, weights=np.repeat(v, len(part)), minlength=width * len(part)).reshape(
            len(part), width
        )
        u = (counts.cumsum(axis=1) - counts / 2) / m - 0.5
        u_spread = (counts * u * u).sum(axis=1) / m
        product = (u * v_of_x).sum(axis=1) / m
        scale = np.sqrt(u_spread * v_spread)
        varies = scale > _NO_VARIANCE
        if not varies.any():
            continue
        scale, u_spread = np.where(varies, scale, 1), np.where(varies, u_spread, 1)
        part_rho = product / scale
        rho[start : start + per_chunk] = np.where(varies, part_rho, np.nan)
        # Derivative of rho: derivative of covariance / `scale`, minus rho / 2 times the derivative of each log
        # variance.
        of_size = (sizes[start : start + per_chunk, None] == np.arange(1, sizes[-1] + 1)) * varies[:, None].astype(
            float
        )
        per_x = _above(v_of_x) / m / scale[:, None]
        per_x -= (part_rho / 2 / u_spread)[:, None] * (u * u + 2 * _above(counts * u) / m)
        slope = u / scale[:, None]
        slope_of_item = slope.ravel()[cell].reshape(m, -1) @ of_size
        influence += per_x.ravel()[cell].reshape(m, -1) @ of_size
        influence += v[:, None] * slope_of_item
        influence += (_above(np.add.reduceat(slope_of_item[by_y], y_starts, axis=0).T).T / m)[y]
        influence -= ((v * v + 2 * v_above[y]) / v_spread)[:, None] * (part_rho / 2 @ of_size)
    sized = (sizes[:, None] == np.arange(1, sizes[-1] + 1)) & ~np.isnan(rho)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = (influence - influence.mean(axis=0)) / sized.sum(axis=0)
    return RankCurve(rho, influence)


def _codes(totals: np.ndarray) -> tuple[np.ndarray, int]:
    if (totals == np.rint(totals)).all():
        lowest = totals.min()
        return (totals - lowest).astype(np.int64), int(totals.max() - lowest) + 1
    ranks: np.ndarray = distributions.ranks(totals.round(9), axis=0, ties="dense").astype(np.int64) - 1
    return ranks, int(ranks.max()) + 1


def _above(weights: np.ndarray) -> np.ndarray:
    return weights.sum(axis=-1, keepdims=True) - weights.cumsum(axis=-1) + weights / 2


def mean_over_subsets(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Mean over the subsets of each size that have a value, shape (..., n_subsets) -> (..., n_sizes)."""
    starts = np.flatnonzero(np.diff(sizes, prepend=0))
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.add.reduceat(np.where(defined, values, 0), starts, axis=-1) / np.add.reduceat(
            defined, starts, axis=-1, dtype=float
        )


def curve(sums: np.ndarray, chosen: Subsets) -> np.ndarray:
    """Mean of Pearson's r over each size's subsets, from sums of `moments` in each sample, shape (samples, n_sizes)."""
    chunk = max(1, 100_000 // len(chosen.sizes))  # a chunk stays in the processor's cache
    parts = [sums[start : start + chunk] for start in range(0, len(sums), chunk)]
    return np.concatenate([mean_over_subsets(pearson_of_subsets(part, chosen), chosen.sizes) for part in parts])
