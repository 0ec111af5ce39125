"""Scores of items under several treatments (orderings, or positions of a score): a level of the item, which is an
intercept, plus a shift of the treatment.

An item may lack treatments and have others several times. Clusters are the sample: a treatment may act on each
differently, and the mean effect is estimated and tested.
"""

import functools
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.methods.uncertainty import rao_scott
from rubric_order.methods.uncertainty.resampling import sum_units

MOST_SIGNS = 2**24  # 128 MB; more signs than this are drawn in parts that fit into the processor's cache
SIGNS_AT_ONCE = 2**18
# Values below this share of the largest value count as rounding; in `no_shift`, values below this number.
ROUNDING = 1e-9
LEAST_IN_TAIL = 10  # draws that reach the observed length; from fewer draws, a p-value is not known well


class Cells(NamedTuple):
    """Weighted sum of the scores of each item under each treatment, and the sum of their weights, shape (m, D)."""

    total: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count


class Shifts(NamedTuple):
    """Least-squares shifts of the treatments, shape (D,), summing to 0, and the mean level of the items.

    By cluster (n_clusters, D): `influence`, the derivative by its weight, and `parts`, what its `departures` give.
    """

    level: float
    shift: np.ndarray
    influence: np.ndarray
    parts: np.ndarray


def cells(
    values: np.ndarray, item: np.ndarray, treatment: np.ndarray, weight: np.ndarray, shape: tuple[int, int]
) -> Cells:
    """Lay out reads, each with an index of item and treatment from 0 and a weight, by item and treatment."""
    cell, size = item * shape[1] + treatment, shape[0] * shape[1]
    sums = (np.bincount(cell, weights=addends, minlength=size) for addends in (weight * values, weight))
    return Cells(*(total.reshape(shape) for total in sums))


def departures(of: Cells) -> np.ndarray:
    """Sums of the scores' departures from the item's mean, shape (m, D); 0 where a cell has no score."""
    size = of.count.sum(axis=1, keepdims=True)
    return of.total - of.count * of.total.sum(axis=1, keepdims=True) / np.maximum(size, 1)


def shifts(of: Cells, clusters: np.ndarray) -> Shifts | None:
    """Fit score = level of the item + shift of the treatment; None if items do not connect all treatments by chains.

    Source: additive two-way model with unequal numbers (Searle, 1971, Linear Models, Section 7.1).
    """
    total, count = of
    size = np.maximum(count.sum(axis=1), 1)
    normal = np.diag(count.sum(axis=0)) - count.T @ (count / size[:, None])
    eigenvalues, vectors = np.linalg.eigh(normal)
    positive = eigenvalues > ROUNDING * max(eigenvalues.max(initial=0.0), 1e-300)
    if positive.sum() < count.shape[1] - 1:
        return None
    inverse = (vectors[:, positive] / eigenvalues[positive]) @ vectors[:, positive].T
    away = departures(of)
    shift = inverse @ away.sum(axis=0)
    item_level = (total.sum(axis=1) - count @ shift) / size
    rest = away - (count * shift - count * (count @ shift / size)[:, None])
    used = count.sum(axis=1) > 0
    influence, parts = (sum_units(values, clusters) @ inverse for values in (rest, away))
    return Shifts(float(item_level[used].mean()), shift, influence, parts)


def sums_of_signs(values: np.ndarray, *, draws: int, seed: int) -> np.ndarray:
    """Sums of values under random signs of clusters, (n_clusters, k) -> (draws, k), equal for equal arguments."""
    n_clusters = len(values)
    if draws * n_clusters <= MOST_SIGNS:
        return _signs(n_clusters, draws, seed) @ values
    bits = _bits(n_clusters, draws, seed, max(1, SIGNS_AT_ONCE // n_clusters))
    parts = (np.unpackbits(part, axis=1, count=n_clusters) for part in bits)
    total = values.sum(axis=0)
    return np.concatenate([2.0 * (part.astype(float) @ values) - total for part in parts])


@functools.lru_cache(maxsize=4)
def _signs(n_clusters: int, draws: int, seed: int) -> np.ndarray:
    drawn = 2.0 * randomness.generator(seed, "signs", n_clusters).integers(0, 2, (draws, n_clusters)) - 1
    drawn.flags.writeable = False
    return drawn


@functools.lru_cache(maxsize=2)
def _bits(n_clusters: int, draws: int, seed: int, step: int) -> tuple[np.ndarray, ...]:
    """The signs of `_signs` as bits, 1 for plus, in parts of `step` draws: a 64th of the memory."""
    rng = randomness.generator(seed, "signs", n_clusters)
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    return tuple(np.packbits(rng.integers(0, 2, (size, n_clusters)).astype(np.uint8), axis=1) for size in sizes)


def no_shift(contributions: np.ndarray, *, draws: int, seed: int) -> float:
    """p-value of no mean effect of any treatment, by random signs of each cluster's summed `departures`.

    Not by permutation: treatments may act on single clusters, and some are alike (orderings rotated by one). Exact if a
    cluster's departures are as likely as their opposites. Below `LEAST_IN_TAIL` draws, the smaller of this p and that
    of `rao_scott.zero_total`.

    Source: the randomisation of signs of Fisher (1935), The Design of Experiments, Section 21, for vectors.
    """
    if len(contributions) < 2:
        return np.nan
    contributions = np.where(np.abs(contributions) > ROUNDING, contributions, 0)
    observed = (contributions.sum(axis=0) ** 2).sum()
    by_chance = (sums_of_signs(contributions, draws=draws, seed=seed) ** 2).sum(axis=1)
    as_far = int((by_chance >= observed * (1 - 1e-9)).sum())
    p = (1 + as_far) / (1 + draws)
    return p if as_far >= LEAST_IN_TAIL else min(p, rao_scott.zero_total(contributions))


def gaps_by_chance(influence: np.ndarray, *, draws: int, seed: int) -> np.ndarray:
    """Draws of the largest gap between two treatments' shifts without a mean effect, by signs as in `no_shift`, shape
    (draws,); NaN for one cluster.
    """
    n_clusters = len(influence)
    if n_clusters < 2:
        return np.full(draws, np.nan)
    largest = np.ptp(sums_of_signs(influence, draws=draws, seed=seed), axis=1)
    return largest * np.sqrt(n_clusters / (n_clusters - 1))
