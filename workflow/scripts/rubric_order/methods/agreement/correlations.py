"""Correlations of pairs (x, y), (n,) each, that occur `weights` times, (..., n): a resample is a row of weights."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import resampling

COUNTED_ONE_BY_ONE = 128  # distinct values; with more, values are sorted before they are counted
ROWS_AT_ONCE = 64  # rows of weights that fit into the processor's cache
PAIRS_ONE_BY_ONE = 256  # pairs that are all compared with each other; more pairs are first split by their values
MOST_CELLS = 2**24  # largest total size of the tables of these comparisons
Statistic = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def weighted_pearson(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's r of weighted pairs, (n,), (n,), (..., n) -> (...); NaN where x or y is constant."""
    x, y = x - x.mean(), y - y.mean()  # keeps digits
    total = weights.sum(axis=-1)
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = (weights @ np.column_stack([x, y, x * x, y * y, x * y])).T
    spread_x, spread_y = total * sum_xx - sum_x**2, total * sum_yy - sum_y**2
    # The rounding error of a constant is far less than the smallest step of a score.
    varies = (spread_x > 1e-11 * total**2 * (x * x).mean()) & (spread_y > 1e-11 * total**2 * (y * y).mean())
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (total * sum_xy - sum_x * sum_y) / np.sqrt(spread_x * spread_y)
        return np.where(varies, np.clip(r, -1, 1), np.nan).T


def weighted_spearman(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Spearman's rho of weighted pairs by mid-ranks, (n,), (n,), (..., n) -> (...); NaN where x or y is constant."""
    rows, first, second = weights.reshape(-1, len(x)), _Values(x), _Values(y)
    parts = [
        _spearman(first, second, rows[start : start + ROWS_AT_ONCE]) for start in range(0, len(rows), ROWS_AT_ONCE)
    ]
    return np.concatenate(parts).reshape(weights.shape[:-1])


def _spearman(x: "_Values", y: "_Values", weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=1, keepdims=True)
    covariance, spreads = weights, []
    for values in (x, y):
        copies = values.copies(weights)
        # The mean rank of w copies after c smaller values is c + (w + 1) / 2. All ranks have the mean (N + 1) / 2.
        rank = np.cumsum(copies, axis=1) - copies / 2 - total / 2
        spreads.append(np.einsum("ij,ij,ij->i", copies, rank, rank))
        covariance = covariance * rank[:, values.code]
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = covariance.sum(axis=1) / np.sqrt(spreads[0] * spreads[1])
        return np.where((spreads[0] > 1e-9) & (spreads[1] > 1e-9), np.clip(rho, -1, 1), np.nan)


def weighted_kendall(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of weighted pairs, (n,), (n,), (..., n) -> (...), in n log k for k distinct values.

    Pairs are halved by the values of the score with fewer, until groups are small enough to compare all pairs.
    """
    rows, values = weights.reshape(-1, len(x)), [_Values(x), _Values(y)]
    few, many = sorted(values, key=lambda each: each.n_values)
    bits = _halved_bits(few.code)
    levels, blocks = list(_halvings(few.code, many.code, bits)), list(_blocks(few.code, many.code, bits))
    starts = range(0, len(rows), ROWS_AT_ONCE)
    parts = [_kendall(levels, blocks, values, rows[start : start + ROWS_AT_ONCE]) for start in starts]
    return np.concatenate(parts).reshape(weights.shape[:-1])


class _Halving(NamedTuple):
    """Pairs (x, y) grouped by one score, each group to be split in halves: sorted `order`, and where its cells (same
    group, other score, half), runs (same group, other score) and groups begin.
    """

    order: np.ndarray
    cells: np.ndarray
    runs: np.ndarray
    groups: np.ndarray
    group: np.ndarray
    upper: np.ndarray


def _halved_bits(few: np.ndarray) -> range:
    bits = int(few.max(initial=0)).bit_length()
    most = min(PAIRS_ONE_BY_ONE, MOST_CELLS // max(len(few), 1))
    last = next((bit for bit in reversed(range(bits + 1)) if np.bincount(few >> bit, minlength=1).max() <= most), 0)
    return range(last, bits)


def _blocks(few: np.ndarray, many: np.ndarray, bits: range) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if bits.start:
        group = few >> bits.start
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            signs = [np.sign(code[rows, None] - code[rows], dtype=np.float32, casting="unsafe") for code in (few, many)]
            yield rows, signs[0] * signs[1]


def _halvings(few: np.ndarray, many: np.ndarray, bits: range) -> Iterator[_Halving]:
    """Steps that split a score's values in halves, bit after bit: pairs that differ in `bits` are parted once."""
    for bit in reversed(bits):
        group, half = few >> (bit + 1), few >> bit & 1
        order = np.lexsort((half, many, group))
        group, other, half = group[order], many[order], half[order]
        first: np.ndarray = np.ones(len(order), dtype=bool)
        new_group, new_run, new_cell = first.copy(), first.copy(), first.copy()
        new_group[1:] = group[1:] != group[:-1]
        new_run[1:] = new_group[1:] | (other[1:] != other[:-1])
        new_cell[1:] = new_run[1:] | (half[1:] != half[:-1])
        cells, runs = np.flatnonzero(new_cell), np.flatnonzero(new_run)
        groups = np.asarray(np.searchsorted(runs, np.flatnonzero(new_group)))
        of_run = np.cumsum(new_group)[runs] - 1
        yield _Halving(order, cells, np.asarray(np.searchsorted(cells, runs)), groups, of_run, half[cells] == 1)


def _kendall(
    levels: list[_Halving],
    blocks: list[tuple[np.ndarray, np.ndarray]],
    values: list["_Values"],
    weights: np.ndarray,
) -> np.ndarray:
    excess = np.zeros(len(weights))  # concordant minus discordant pairs
    by_pair = np.ascontiguousarray(weights.T, dtype=np.float32)  # exact for whole numbers up to 2^24
    for level in levels:
        copies = _sums(by_pair[level.order], level.cells)
        upper = _sums(copies * level.upper[:, None], level.runs)
        lower = _sums(copies * ~level.upper[:, None], level.runs)
        # A pair of the lower half is concordant with a pair of the upper half if its other score is smaller, and
        # discordant if its other score is greater.
        until = np.cumsum(lower, axis=0)
        total = np.add.reduceat(lower, level.groups, axis=0)
        outside = total + 2 * (np.cumsum(total, axis=0) - total)
        excess += np.einsum("ij,ij->j", upper, 2 * until - lower - outside[level.group], dtype=float)
    for pairs, concordant in blocks:
        excess += np.einsum("ij,ij->j", concordant @ by_pair[pairs], by_pair[pairs], dtype=float) / 2
    total = weights.sum(axis=1)
    untied = [total**2 - column.squares(weights) for column in values]
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = 2 * excess / np.sqrt(untied[0] * untied[1])
        return np.where((untied[0] > 1e-9) & (untied[1] > 1e-9), np.clip(tau, -1, 1), np.nan)


def _sums(table: np.ndarray, begins: np.ndarray) -> np.ndarray:
    return table if len(begins) == len(table) else np.add.reduceat(table, begins, axis=0)


class _Values:
    """Values of one score among weighted pairs, numbered from the least; `code` has shape (n,)."""

    def __init__(self, values: np.ndarray) -> None:
        distinct, code = np.unique(values, return_inverse=True)
        self.code = code.astype(np.int32)
        self.n_values = len(distinct)
        self._order = np.argsort(self.code, kind="stable")
        self._first = np.searchsorted(self.code[self._order], np.arange(self.n_values))

    def copies(self, weights: np.ndarray) -> np.ndarray:
        """Number of copies of each value, shape (..., n) -> (..., n_values)."""
        if self.n_values <= COUNTED_ONE_BY_ONE:
            return weights @ (self.code[:, None] == np.arange(self.n_values)).astype(weights.dtype)
        ordered = weights[..., self._order]
        return ordered if self.n_values == len(self.code) else np.add.reduceat(ordered, self._first, axis=-1)

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Sum over values of the squared number of copies, shape (..., n) -> (...)."""
        copies = weights if self.n_values == len(self.code) else self.copies(weights)
        return np.einsum("...i,...i->...", copies, copies)


def weighted_kappa(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Quadratic-weighted kappa of pairs of whole numbers, (n,), (n,), (..., n) -> (...); NaN if constant.

    Source: Cohen (1968), Weighted kappa; with moments, as by Fleiss and Cohen (1973).
    """
    x, y = x.astype(float), y.astype(float)
    moments = (weights @ np.column_stack([x, y, x * x + y * y, x * y])).T
    total = weights.sum(axis=-1).T
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = moments[2] - 2 * moments[0] * moments[1] / total
        return np.where(by_chance > 1e-9, 1 - (moments[2] - 2 * moments[3]) / by_chance, np.nan).T


class Pairs:
    """Distinct pairs of scores with their counts, in clusters that can be left out."""

    def __init__(self, x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> None:
        pairs, self._pair = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
        self.x, self.y = pairs.T
        self.n_clusters = int(clusters.max()) + 1
        self._clusters = clusters
        self.once = self._counts(np.zeros_like(clusters))[0]

    def _counts(self, rows: np.ndarray) -> np.ndarray:
        n_pairs, n_rows = len(self.x), rows.max() + 1
        return np.bincount(rows * n_pairs + self._pair, minlength=n_rows * n_pairs).reshape(n_rows, -1).astype(float)

    def left_out(self) -> np.ndarray:
        """Count of each pair without each cluster, shape (n_clusters, n_pairs); from `resampling.MAX_LEFT_OUT` on,
        without every such cluster in turn.
        """
        return self.once - self._counts(self._clusters % resampling.MAX_LEFT_OUT)

    def interval(self, statistic: Statistic, confidence: float) -> Interval:
        """A statistic, such as `weighted_pearson`, with a jackknife's interval over clusters on Fisher's z."""
        values = statistic(self.x, self.y, np.vstack([self.once, self.left_out()]))
        if self.n_clusters < 2:
            return Interval(float(values[0]))
        sizes = resampling.part_sizes(self._clusters)
        return resampling.jackknife_t(values, confidence, sizes=sizes, scale=np.arctanh, back=np.tanh).interval
