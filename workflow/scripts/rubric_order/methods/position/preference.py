"""Position preference: how much a position in the prompt adds to the log-odds of the score that is shown there.

Score s of item i at position p has log-weight a[i, s] + b[p]. The log-odds that one of two reads of an item gave u and
the other v, and not the reverse, are b[u in 1] + b[v in 2] - b[v in 1] - b[u in 2]: a logistic regression without
intercept, or least squares where probabilities give the log-odds.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base import permutations
from rubric_order.base.readouts import Readout
from rubric_order.methods.position.blocks import Block, matrix_of
from rubric_order.methods.position.selections import READOUTS
from rubric_order.methods.uncertainty import cluster_robust, conditional_logit, rao_scott

PAIRS_AT_ONCE = 2_000_000
CELLS_AT_ONCE = 4_000_000


class Hard(NamedTuple):
    """Comparisons of two reads of an item that gave different scores: lower, higher, their positions in the read that
    gave the lower, and in the other; all from 0. Items and reads have two usable reads or more.
    """

    n: int
    data: conditional_logit.Comparisons
    items: int
    reads: int
    pairs: int

    @property
    def discordant(self) -> int:
        """Number of pairs of reads that gave different scores, if at least one of these scores changed its position."""
        return int(self.data.weight.sum())

    def regroup(self, cluster: np.ndarray) -> "Hard":
        """The same pairs in larger clusters, given for each cluster of these, shape (n_clusters,)."""
        data = self.data._replace(cluster=cluster[self.data.cluster], n_clusters=int(cluster.max(initial=-1)) + 1)
        return self._replace(data=data)


class Soft(NamedTuple):
    """Log-probabilities of options (items, K, n), their positions from 0, and clusters, by dataset in `parts`.

    A score with probability 0 in one read of an item is NaN in all of its reads; so is a read without probabilities.
    """

    n: int
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    n_clusters: int
    items: int
    reads: int
    pairs: int

    @property
    def discordant(self) -> int:
        """Number of all pairs: with probabilities, each pair is informative."""
        return self.pairs

    def regroup(self, cluster: np.ndarray) -> "Soft":
        """The same reads in larger clusters, see `Hard.regroup`."""
        parts = [(values, places, cluster[unit]) for values, places, unit in self.parts]
        return self._replace(parts=parts, n_clusters=int(cluster.max(initial=-1)) + 1)


class Preference(NamedTuple):
    """Fit of b, which sums to 0; fit with a last coefficient for score times position, both from -1 to 1; p of no
    preference (`no_preference`), and of an equal effect on every score, by terms for each score at each position.
    """

    positions: cluster_robust.Fit
    interaction: cluster_robust.Fit
    p_positions: float
    p_interaction: float


class Sums(NamedTuple):
    """Sums over each cluster, for the fits. `alike` is the score (derivative) for b at b = 0, (n_clusters, n);
    `further` that for n * n terms at the estimate, None if they tell nothing beyond b.
    """

    positions: cluster_robust.Sums
    interaction: cluster_robust.Sums
    alike: np.ndarray
    further: np.ndarray | None

    def regroup(self, cluster: np.ndarray | None) -> Preference:
        """The preference with larger clusters as the sample, see `cluster_robust.Sums`; None keeps the clusters."""
        cluster = np.arange(len(self.alike)) if cluster is None else cluster
        fit = self.positions.regroup(cluster).fit()
        further = self.further if self.further is None else cluster_robust.together(self.further, cluster)
        return Preference(
            fit,
            self.interaction.regroup(cluster).fit(),
            no_preference(fit, cluster_robust.together(self.alike, cluster)),
            np.nan if further is None or len(further) < 2 else rao_scott.zero_total(further),
        )


def compared(block: Block, readout: Readout) -> Hard | Soft:
    """The reads of a block, laid out for comparison; its items are the clusters."""
    shape = len(block.items), int(block.column.max(initial=-1)) + 1, block.n
    places: np.ndarray = np.zeros(shape, dtype=np.int8)
    items = np.arange(shape[0])
    places[block.item, block.column] = permutations.positions_of(block.shown) - 1
    column = block.table[READOUTS[readout]]
    usable = np.flatnonzero(column.notna())
    cells, orders = (block.item[usable], block.column[usable]), block.shown[usable]
    if readout == Readout.HARD:
        scores = np.full(shape[:2], -1, dtype=np.int8)
        at = column.to_numpy(dtype=float, na_value=np.nan)[usable].astype(int) - 1
        scores[cells] = np.take_along_axis(orders, at[:, None], axis=1)[:, 0] - 1
        return compare_scores(scores, places, items)
    probabilities, rows = np.full(shape, np.nan), np.empty(orders.shape)
    if len(usable):
        np.put_along_axis(rows, orders - 1, matrix_of(column.to_numpy()[usable]), axis=1)
    probabilities[cells] = rows
    return compare_probabilities(probabilities, places, items)


def identifies(block: Block) -> bool:
    """True if a block has several orderings. With one ordering, effects of position and score cannot be told apart."""
    return len(block.orderings[0]) > 1


def compare_scores(scores: np.ndarray, places: np.ndarray, unit: np.ndarray) -> Hard:
    """Comparisons of scores (items, K), from 0, -1 without one, at positions (items, K, n)."""
    n = places.shape[2]
    first, second = np.triu_indices(scores.shape[1], 1)
    step = max(1, PAIRS_AT_ONCE // max(len(first), 1))
    chunks = [
        _cells(scores[rows], places[rows], unit[rows], first, second)
        for rows in (slice(start, start + step) for start in range(0, len(scores), step))
    ]
    keys, counts = (np.concatenate(part) for part in zip(*chunks, strict=True))
    codes, row = np.unique(keys % n**6, return_inverse=True)
    rows = np.stack(np.unravel_index(codes, (n,) * 6), axis=1)
    data = conditional_logit.Comparisons(rows, keys // n**6, row, counts.astype(float), int(unit.max(initial=-1)) + 1)
    return Hard(n, data, *_sizes((scores >= 0).sum(axis=1)))


def compare_probabilities(probabilities: np.ndarray, places: np.ndarray, unit: np.ndarray) -> Soft:
    """Log-probabilities, from probabilities (items, K, n): NaN in unknown reads, 0 for scores not named."""
    usable = ~np.isnan(probabilities).any(axis=2)
    possible = ((probabilities > 0) | ~usable[..., None]).all(axis=1)
    several = (possible.sum(axis=1) > 1) & (usable.sum(axis=1) > 1)
    used = usable[:, :, None] & possible[:, None, :] & several[:, None, None]
    values = np.log(probabilities, out=np.full(probabilities.shape, np.nan), where=used)
    sizes = _sizes(np.where(several, usable.sum(axis=1), 0))
    return Soft(places.shape[2], [(values, places, unit)], int(unit.max(initial=-1)) + 1, *sizes)


def _sizes(reads: np.ndarray) -> tuple[int, int, int]:
    several = reads > 1
    return int(several.sum()), int(reads[several].sum()), int((reads * (reads - 1) // 2).sum())


def _cells(
    scores: np.ndarray, places: np.ndarray, unit: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of comparisons in clusters (cluster times n^6, plus `Hard`'s six columns), and how often each occurs."""
    n = places.shape[2]
    item, pair = np.nonzero(
        (scores[:, first] != scores[:, second]) & (scores[:, first] >= 0) & (scores[:, second] >= 0)
    )
    one, other = first[pair], second[pair]
    swapped = scores[item, one] > scores[item, other]
    low_read, high_read = np.where(swapped, other, one), np.where(swapped, one, other)
    low, high = scores[item, low_read], scores[item, high_read]
    at = [places[item, row, score] for row in (low_read, high_read) for score in (low, high)]
    moved = (at[0] != at[2]) | (at[1] != at[3])
    parts = [part[moved].astype(np.int64) for part in (low, high, *at)]
    code = np.ravel_multi_index(parts, (n,) * 6)
    return np.unique(unit[item[moved]] * np.int64(n) ** 6 + code, return_counts=True)


def together(parts: Sequence[Hard | Soft]) -> Hard | Soft:
    """Join the comparisons of several datasets, which have no cluster in common."""
    sizes = {name: sum(getattr(part, name) for part in parts) for name in ("items", "reads", "pairs")}
    counts = [part.n_clusters if isinstance(part, Soft) else part.data.n_clusters for part in parts]
    first = np.cumsum([0, *counts])
    moved = [part.regroup(np.arange(count) + at) for part, count, at in zip(parts, counts, first, strict=False)]
    if isinstance(parts[0], Soft):
        chunks = [chunk for part in moved if isinstance(part, Soft) for chunk in part.parts]
        return parts[0]._replace(parts=chunks, n_clusters=int(first[-1]), **sizes)
    data = [part.data for part in moved if isinstance(part, Hard)]
    rows, row = conditional_logit.distinct(np.concatenate([part.rows for part in data]))
    at = np.cumsum([0, *(len(part.rows) for part in data)])
    row = np.concatenate([row[part.row + start] for part, start in zip(data, at, strict=False)])
    cluster, weight = (np.concatenate([getattr(part, name) for part in data]) for name in ("cluster", "weight"))
    return parts[0]._replace(data=conditional_logit.Comparisons(rows, cluster, row, weight, int(first[-1])), **sizes)


def contrasts(n: int) -> dict[str, np.ndarray]:
    """Weights of contrasts of n positions: first minus last; for n > 2, ends minus middle."""
    one = np.eye(n)
    weights = {"first_last": one[0] - one[-1]}
    if n > 2:
        weights["ends_middle"] = (one[0] + one[-1]) / 2 - one[1:-1].mean(axis=0)
    return weights


def preference(of: Hard | Soft) -> Preference:
    """Position preference of a judge, with clusters as the sample.

    `soft` is in log-odds of the model's probabilities; `hard` of drawn answers, 1 / T times these at temperature T, and
    at 0 by how much an item's prompts differ otherwise.
    """
    return sums(of).regroup(None)


def sums(of: Hard | Soft) -> Sums:
    """Sums over each cluster, from which `preference` is computed. Clusters can be merged without another fit."""
    return _selection_sums(of) if isinstance(of, Hard) else _log_sums(of)


def positions(of: Hard | Soft) -> cluster_robust.Sums:
    """Sums over each cluster, for the fit of b alone, see `preference`."""
    if isinstance(of, Soft):
        right, information = _normal(of)
        return cluster_robust.least_squares(right[:, : of.n], information[:, : of.n, : of.n])
    return conditional_logit.sums(of.data._replace(rows=rows_of_places(of)))


def alike(of: Hard | Soft) -> np.ndarray:
    """Score of each cluster for b at b = 0 (no position is preferred), see `cluster_robust`, shape (n_clusters, n)."""
    if isinstance(of, Soft):
        return _normal(of)[0][:, : of.n]
    return conditional_logit.scores_of_nothing(of.data._replace(rows=rows_of_places(of)))


def no_preference(fit: cluster_robust.Fit, scores: np.ndarray | None) -> float:
    """p-value of equal coefficients of b: HTZ over clusters (`cluster_robust.all_zero`), or a score test by `scores` if
    the fit is separated or clusters too few or unequal.
    """
    n = len(fit.coefficients)
    p = np.nan if fit.separated else fit.no_effect(np.eye(n) - 1 / n)
    if fit.problem or scores is None or not np.isnan(p):
        return p
    return rao_scott.zero_total(scores) if len(scores) > 1 else np.nan


def rows_of_places(of: Hard) -> np.ndarray:
    """Factor of each position in the log-odds of each distinct comparison's outcome, shape (n_rows, n)."""
    _, _, low_at, high_at, low_then, high_then = of.data.rows.T
    one = np.eye(of.n)
    return one[low_at] + one[high_then] - one[high_at] - one[low_then]


def _selection_sums(of: Hard) -> Sums:
    low, high, low_at, high_at, low_then, high_then = of.data.rows.T
    one, scale = np.eye(of.n), np.linspace(-1, 1, of.n)
    x = rows_of_places(of)
    line = scale[low] * (scale[low_at] - scale[low_then]) + scale[high] * (scale[high_then] - scale[high_at])
    terms = one[low][:, :, None] * (one[low_at] - one[low_then])[:, None, :]
    terms += one[high][:, :, None] * (one[high_then] - one[high_at])[:, None, :]
    data = of.data._replace(rows=x)
    fit = conditional_logit.sums(data)
    further = None
    if not fit.problem:
        further = conditional_logit.scores_of_terms(data, fit.coefficients, terms.reshape(len(x), of.n**2))
    interaction = conditional_logit.sums(data._replace(rows=np.column_stack([x, line])))
    return Sums(fit, interaction, conditional_logit.scores_of_nothing(data), further)


def _chunks(of: Soft) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Some items at a time: log-probabilities and columns (positions, then score times position), both centred over
    reads and scores, positions, clusters.
    """
    scale = np.linspace(-1, 1, of.n)
    for values, places, unit in of.parts:
        step = max(1, CELLS_AT_ONCE // (values.shape[1] * of.n * (of.n + 1)))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            used = ~np.isnan(values[rows])
            at = places[rows]
            columns = np.concatenate([np.eye(of.n)[at], (scale * scale[at])[..., None]], axis=-1)
            aside = centred(columns, used[..., None])
            yield centred(np.where(used, values[rows], 0), used), aside, at, unit[rows]


def centred(values: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Values (items, K, n, ...) centred over the reads and scores of each item, 0 where not `used`; an item's used
    values are of the same scores in each read.
    """
    values = np.where(used, values, 0)
    reads = np.maximum(used.any(axis=2, keepdims=True).sum(axis=1, keepdims=True), 1)
    scores = np.maximum(used.any(axis=1, keepdims=True).sum(axis=2, keepdims=True), 1)
    by_read, by_score = values.sum(axis=2, keepdims=True) / scores, values.sum(axis=1, keepdims=True) / reads
    return np.where(used, values - by_read - by_score + by_read.sum(axis=1, keepdims=True) / reads, 0)


def _log_sums(of: Soft) -> Sums:
    right, information = _normal(of)
    fit = cluster_robust.least_squares(right[:, : of.n], information[:, : of.n, : of.n])
    interaction = cluster_robust.least_squares(right, information)
    further = None if fit.problem else _further_of_logs(of, fit.coefficients)
    return Sums(fit, interaction, cluster_robust.drop_rounding(right[:, : of.n]), further)


def _normal(of: Soft) -> tuple[np.ndarray, np.ndarray]:
    """Arguments of `cluster_robust.least_squares`, for the positions and, last, the product of score and position."""
    k = of.n + 1
    right, information = np.zeros((of.n_clusters, k)), np.zeros((of.n_clusters, k, k))
    for y, x, _, unit in _chunks(of):
        x = x.reshape(len(x), -1, k)
        np.add.at(right, unit, (x * y.reshape(len(y), -1, 1)).sum(axis=1))
        np.add.at(information, unit, x.transpose(0, 2, 1) @ x)
    return right, information


def _further_of_logs(of: Soft, coefficients: np.ndarray) -> np.ndarray | None:
    """The array `Sums.further` from log-probabilities, like `conditional_logit.scores_of_terms`."""
    n, cross, cells = of.n, np.zeros((of.n * of.n, of.n)), np.zeros(of.n_clusters * of.n * of.n)
    information = np.zeros((n, n))
    for y, x, at, unit in _chunks(of):
        x = x[..., :n]
        rest = cluster_robust.drop_rounding(y - x @ coefficients)
        cell = np.arange(n) * n + at
        cells += np.bincount((unit[:, None, None] * n * n + cell).ravel(), rest.ravel(), len(cells))
        cross += np.stack([np.bincount(cell.ravel(), x[..., q].ravel(), n * n) for q in range(n)], axis=1)
        information += np.einsum("irsp,irsq->pq", x, x, optimize=True)
    explained = cells.reshape(of.n_clusters, n, n).sum(axis=1) @ np.linalg.pinv(information, hermitian=True) @ cross.T
    beyond = cells.reshape(of.n_clusters, n * n) - explained
    return None if (beyond**2).sum() <= cluster_robust.ROUNDING * (cells**2).sum() else beyond
