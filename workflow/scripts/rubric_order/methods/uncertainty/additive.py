"""Scores of items under several treatments, modelled as a level of the item plus a shift of the treatment.

The level of an item is an intercept, not a level of the rubric. The treatment of a read is its ordering, or the
position of one score in this ordering. An item may lack some treatments and have others several times. Clusters (items,
or groups of items) are the sample: reads of one cluster may depend on each other in any way, and a treatment may act on
each cluster differently. The mean effect of each treatment is estimated and tested.
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
    """Scores by item and treatment. A cell holds the scores of one item under one treatment.

    Attributes:
        total: weighted sum of the scores in each cell, shape (m, D).
        count: sum of the weights of these scores, shape (m, D). It is the number of scores if all weights are 1.
    """

    total: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count


class Shifts(NamedTuple):
    """Additive effects of the treatments on the scores, by least squares.

    Attributes:
        level: mean over items of the item's level, which is the item's fitted mean score over all treatments.
        shift: shift of each treatment, shape (D,); the shifts sum to 0.
        influence: derivative of each shift with respect to each cluster's weight, shape (n_clusters, D); columns sum
            to 0.
        parts: part of each shift that comes from the `departures` of each cluster, shape (n_clusters, D); columns sum
            to the shifts.
    """

    level: float
    shift: np.ndarray
    influence: np.ndarray
    parts: np.ndarray


def cells(
    values: np.ndarray, item: np.ndarray, treatment: np.ndarray, weight: np.ndarray, shape: tuple[int, int]
) -> Cells:
    """Lay out reads by item and treatment.

    Args:
        values: score of each read, shape (n_reads,).
        item: index of each read's item, from 0, shape (n_reads,).
        treatment: index of each read's treatment, from 0, shape (n_reads,).
        weight: how much each read counts, shape (n_reads,).
        shape: number of items, and number of treatments.
    """
    cell, size = item * shape[1] + treatment, shape[0] * shape[1]
    sums = (np.bincount(cell, weights=addends, minlength=size) for addends in (weight * values, weight))
    return Cells(*(total.reshape(shape) for total in sums))


def departures(of: Cells) -> np.ndarray:
    """Sums of the scores' departures from the item's mean, shape (m, D); 0 where a cell has no score."""
    size = of.count.sum(axis=1, keepdims=True)
    return of.total - of.count * of.total.sum(axis=1, keepdims=True) / np.maximum(size, 1)


def shifts(of: Cells, clusters: np.ndarray) -> Shifts | None:
    """Fit score = level of the item + shift of the treatment.

    Args:
        of: scores by item and treatment.
        clusters: index of each item's cluster, from 0 and without gaps, shape (m,).

    Returns:
        The fit. None if the items do not connect all treatments. An item connects the treatments under which it has
        scores, and a chain of such items connects the treatments at its ends.

    Source: the additive two-way model with unequal numbers (Searle, 1971, Linear Models, Section 7.1). A cluster's
    influence is the derivative of minus half the cluster's sum of squares, times the inverse of the information of all
    clusters.
    """
    total, count = of
    size = np.maximum(count.sum(axis=1), 1)
    normal = np.diag(count.sum(axis=0)) - count.T @ (count / size[:, None])
    eigenvalues, vectors = np.linalg.eigh(normal)
    kept = eigenvalues > ROUNDING * max(eigenvalues.max(initial=0.0), 1e-300)
    if kept.sum() < count.shape[1] - 1:
        return None
    inverse = (vectors[:, kept] / eigenvalues[kept]) @ vectors[:, kept].T
    away = departures(of)
    shift = inverse @ away.sum(axis=0)
    own = (total.sum(axis=1) - count @ shift) / size
    rest = away - (count * shift - count * (count @ shift / size)[:, None])
    used = count.sum(axis=1) > 0
    influence, parts = (sum_units(values, clusters) @ inverse for values in (rest, away))
    return Shifts(float(own[used].mean()), shift, influence, parts)


def sums_of_signs(values: np.ndarray, *, draws: int, seed: int) -> np.ndarray:
    """Sum the clusters' values, each cluster with a random sign, in each draw.

    The signs are the same in all calls with the same number of clusters, draws and seed.

    Args:
        values: values of each cluster, shape (n_clusters, k).
        draws: number of draws of signs.
        seed: seed of the signs.

    Returns:
        Shape (draws, k).
    """
    n_clusters = len(values)
    if draws * n_clusters <= MOST_SIGNS:
        return _signs(n_clusters, draws, seed) @ values
    bits = _bits(n_clusters, draws, seed, max(1, SIGNS_AT_ONCE // n_clusters))
    parts = (np.unpackbits(part, axis=1, count=n_clusters) for part in bits)
    total = values.sum(axis=0)
    return np.concatenate([2.0 * (part.astype(float) @ values) - total for part in parts])


@functools.lru_cache(maxsize=4)
def _signs(n_clusters: int, draws: int, seed: int) -> np.ndarray:
    """Random sign of each cluster in each draw. Shape (draws, n_clusters); read only."""
    drawn = 2.0 * randomness.generator(seed, "signs", n_clusters).integers(0, 2, (draws, n_clusters)) - 1
    drawn.flags.writeable = False
    return drawn


@functools.lru_cache(maxsize=2)
def _bits(n_clusters: int, draws: int, seed: int, step: int) -> tuple[np.ndarray, ...]:
    """The signs of `_signs` as bits, 1 for plus, in parts of `step` draws. Bits take a 64th of the memory."""
    rng = randomness.generator(seed, "signs", n_clusters)
    sizes = [min(step, draws - start) for start in range(0, draws, step)]
    return tuple(np.packbits(rng.integers(0, 2, (size, n_clusters)).astype(np.uint8), axis=1) for size in sizes)


def no_shift(contributions: np.ndarray, *, draws: int, seed: int) -> float:
    """p-value of no mean effect of any treatment, with clusters as the sample.

    The hypothesis is that all treatments have the same mean score in the population of clusters. A treatment may still
    raise the scores of some clusters and lower the scores of others. So treatments are not permuted within clusters,
    neither item by item nor jointly: that would assume that all orders of the treatments are equally likely in each
    cluster. They are not equally likely if some treatments are alike, such as orderings that are rotated by one.

    Instead, the test uses departures: scores minus the mean score of their item. Each draw keeps or changes the sign of
    all departures of a cluster together, over all of its items and treatments. The test sums the departures over
    clusters. It compares the squared length of this sum with the observed squared length, which is the length without
    changes of signs. The test is exact if a cluster's departures are as likely as their opposites. If fewer than
    `LEAST_IN_TAIL` draws reach the observed length, p is the smaller of two p-values: that of the draws, and that of
    `rao_scott.zero_total`, which has no lower limit.

    Args:
        contributions: summed `departures` of each cluster, shape (n_clusters, k).
        draws: number of draws of signs.
        seed: seed of the signs, see `sums_of_signs`.

    Returns:
        The p-value. 1 where all departures are 0; NaN for one cluster.

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
    """Draws of the largest gap between the shifts of two treatments, if no treatment has a mean effect.

    Each draw gives each cluster a random sign, as in `no_shift`.

    Args:
        influence: influence of each cluster on each shift, shape (n_clusters, D), see `Shifts`.
        draws: number of draws of signs.
        seed: seed of the signs.

    Returns:
        Shape (draws,); NaN for one cluster.
    """
    n_clusters = len(influence)
    if n_clusters < 2:
        return np.full(draws, np.nan)
    largest = np.ptp(sums_of_signs(influence, draws=draws, seed=seed), axis=1)
    return largest * np.sqrt(n_clusters / (n_clusters - 1))
