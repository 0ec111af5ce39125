"""Logistic regression of comparisons without intercept: x @ b are log-odds, x the winner's features less the loser's.

What both share cancels, so no intercepts of items are estimated. Several comparisons an item make a composite
likelihood: its error comes from clusters. Firth's penalty removes most of the bias where a favoured alternative rarely
loses, and always gives an estimate; it takes comparisons as independent (one that does not: docs/recovery.md).
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from rubric_order.base import flags
from rubric_order.methods.uncertainty import cluster_robust, rao_scott

MOST_STEPS = 60
NO_STEP = 1e-8  # after a step this small, the error of Newton's method is of the order of the step's square
FURTHEST = 30.0  # log-odds; an estimate that implies larger log-odds counts as infinite
LONGEST = 5.0  # log-odds; largest change of a comparison's log-odds in one step


class Comparisons(NamedTuple):
    """Comparisons in cells of the same row and cluster, with summed weights; `rows` are distinct."""

    rows: np.ndarray
    cluster: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    n_clusters: int

    @property
    def totals(self) -> np.ndarray:
        """Summed weight of each row, shape (n_rows,)."""
        return np.bincount(self.row, self.weight, len(self.rows))

    def cluster_sums(self, values: np.ndarray) -> np.ndarray:
        """Weighted sums of the rows' values over each cluster's comparisons, (n_rows, ...) -> (n_clusters, ...)."""
        return cluster_robust.sums_by(self.cluster, self.row, self.weight, self.n_clusters, values)


def comparisons(x: np.ndarray, cluster: np.ndarray, weight: np.ndarray | None = None) -> Comparisons:
    """Lay out comparisons (m, k), each a cell, with weights (1 by default)."""
    rows, row = distinct(x)
    weight = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=float)
    return Comparisons(rows, np.asarray(cluster), row, weight, int(np.max(cluster, initial=-1)) + 1)


def distinct(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows in ascending order, and each row's index: `numpy.unique` by axis in a tenth of the time."""
    order = np.lexsort(x.T[::-1]) if x.shape[1] else np.arange(len(x))
    ascending = x[order]
    new: np.ndarray = np.ones(len(x), dtype=bool)  # True if a row differs from the row before
    new[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    number: np.ndarray = np.empty(len(x), dtype=int)
    number[order] = np.cumsum(new) - 1
    return ascending[new], number


def fit(data: Comparisons, *, penalised: bool = True) -> cluster_robust.Fit:
    """Coefficients, with clusters as the sample; `separated` if the likelihood has no finite maximum, which is a
    `problem` without the penalty.

    Source: McFadden (1974), Conditional logit analysis; Varin, Reid and Firth (2011), An overview of composite
    likelihood methods, for the error; Firth (1993) and Heinze and Schemper (2002) for the penalty, half the
    log-determinant of the information.
    """
    return sums(data, penalised=penalised).fit()


def sums(data: Comparisons, *, penalised: bool = True) -> cluster_robust.Sums:
    """Sums of a fit over each cluster, see `fit`; clusters can be merged, see `cluster_robust.Sums`."""
    x: np.ndarray = data.rows.astype(float)
    totals = data.totals
    values, vectors = np.linalg.eigh((x * totals[:, None]).T @ x)
    basis = vectors[:, values > cluster_robust.ROUNDING * max(values.max(initial=0.0), 1e-300)]
    if not basis.shape[1]:
        return cluster_robust.without((data.n_clusters, x.shape[1]), flags.NO_COMPARISONS)
    inner = x @ basis
    coefficients = _maximum(inner, totals, np.zeros(basis.shape[1]), penalty=0.0)
    separated = coefficients is None
    if penalised:
        start = np.zeros(basis.shape[1]) if coefficients is None else coefficients
        coefficients = _maximum(inner, totals, start, penalty=0.5)
    if coefficients is None:
        return cluster_robust.without((data.n_clusters, x.shape[1]), flags.SEPARATED)
    lost = special.expit(-(inner @ coefficients))
    one, other = np.triu_indices(x.shape[1])
    products = x[:, one] * x[:, other] * (lost * (1 - lost))[:, None]
    summed = data.cluster_sums(np.column_stack([x * lost[:, None], products]))
    score = np.ascontiguousarray(summed[:, : x.shape[1]])
    information = np.empty((data.n_clusters, x.shape[1], x.shape[1]))
    information[:, one, other] = information[:, other, one] = summed[:, x.shape[1] :]
    least = basis @ np.linalg.inv(_information(inner, totals * lost * (1 - lost))) @ basis.T
    return cluster_robust.Sums(basis @ coefficients, score, information, least=least, separated=separated)


def _information(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (x * weight[:, None]).T @ x


def _maximum(x: np.ndarray, totals: np.ndarray, start: np.ndarray, *, penalty: float) -> np.ndarray | None:
    """Coefficients of the maximum, by Newton's method with halved steps; None without convergence or, without a
    penalty, beyond `FURTHEST` or if information is lost to rounding.

    Firth's `penalty` (.5) adds half of a comparison's leverage to its wins and half to its losses (Firth, 1993, 3.1).
    """
    b, scale = start, totals.sum()

    def loss(b: np.ndarray) -> float:
        margin = x @ b
        value = totals @ np.logaddexp(0, -margin)
        if penalty:
            varied = special.expit(margin) * special.expit(-margin)
            value -= penalty * np.linalg.slogdet(_information(x, totals * varied))[1]
        return float(value / scale)

    before = loss(b)
    for _ in range(MOST_STEPS):
        lost = special.expit(-(x @ b))
        varied, weight = lost * (1 - lost), totals * lost
        information = _information(x, totals * varied)
        if penalty:
            leverage = 2 * penalty * totals * varied * ((x @ np.linalg.inv(information)) * x).sum(axis=1)
            weight = weight + leverage * (lost - 0.5)
            information = _information(x, (totals + leverage) * varied)
        step, _, rank, _ = np.linalg.lstsq(information / scale, x.T @ weight / scale, rcond=1e-13)
        if not penalty and rank < len(b):
            return None
        if np.abs(step).max() < NO_STEP:
            return b + step
        size = min(1.0, LONGEST / np.abs(x @ step).max())
        after = loss(b + size * step)
        while size > 1e-6 and not after <= before + cluster_robust.ROUNDING * abs(before):
            size /= 2
            after = loss(b + size * step)
        b, before = b + size * step, after
        if not penalty and np.abs(x @ b).max() > FURTHEST:
            return None
    return None


def no_effect(data: Comparisons) -> float:
    """p-value of the hypothesis that all coefficients are 0, see `scores_of_nothing`; NaN for one cluster."""
    return rao_scott.zero_total(scores_of_nothing(data)) if data.n_clusters > 1 else np.nan


def scores_of_nothing(data: Comparisons) -> np.ndarray:
    """Scores of each cluster at coefficients of 0, for `rao_scott.zero_total`, also where a fit is `separated`."""
    return data.cluster_sums(data.rows / 2)


def further_terms(data: Comparisons, found: cluster_robust.Fit, terms: np.ndarray) -> float:
    """p-value of no effect of terms (n_rows, m) that the model `found` lacks; NaN if collinear or for one cluster."""
    usable = not found.problem and data.n_clusters > 1
    scores = scores_of_terms(data, found.coefficients, terms) if usable else None
    return np.nan if scores is None else rao_scott.zero_total(scores)


def scores_of_terms(data: Comparisons, coefficients: np.ndarray, terms: np.ndarray) -> np.ndarray | None:
    """Scores of each cluster for terms that the model lacks, for `rao_scott.zero_total`; None if collinear.

    Source: Boos (1992), On generalized score tests, with Rao and Scott's (1981) second-order correction.
    """
    x: np.ndarray = data.rows.astype(float)
    lost = special.expit(-(x @ coefficients))
    weight = data.totals * lost * (1 - lost)
    rest = terms - x @ (np.linalg.pinv((x * weight[:, None]).T @ x, hermitian=True) @ (x * weight[:, None]).T @ terms)
    if weight @ (rest**2).sum(axis=1) <= cluster_robust.ROUNDING * max(weight @ (terms**2).sum(axis=1), 1e-300):
        return None
    return data.cluster_sums(rest * lost[:, None])
