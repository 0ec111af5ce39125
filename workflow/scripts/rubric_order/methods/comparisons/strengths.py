"""Strengths of candidates from choices among them: Bradley-Terry, Davidson, Luce and Plackett-Luce, with positions.

Candidate c at position p has log-weight theta_c + b_p; a tie on offer has nu plus the mean of the thetas shown. A
ranking is a sequence of choices among those left.

Source: Davidson and Beaver (1977), On extending the Bradley-Terry model; Plackett (1975), The analysis of permutations.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from rubric_order.base import flags
from rubric_order.methods.uncertainty import cluster_robust, conditional_logit

TIE = 0
NOT_CONNECTED = "not connected"
MOST_STEPS = 60
AT_ONCE = 4096  # choices that are processed together


class Choices(NamedTuple):
    """Candidates by position (reads, p), positions chosen, best first (reads, 1 or p; p for a tie), ties on offer."""

    shown: np.ndarray
    chosen: np.ndarray
    tie: np.ndarray
    cluster: np.ndarray

    def rows(self, kept: np.ndarray) -> "Choices":
        return Choices(*(part[kept] for part in self))


class Strengths(NamedTuple):
    """A fit whose coefficients are `count` strengths, (with `places`) positions, and the tie; only contrasts are
    determined. `connected` candidates have a strength.
    """

    fit: cluster_robust.Fit
    connected: np.ndarray
    reads: int


def connected(choices: Choices, count: int) -> np.ndarray:
    """True for the largest set in which chains of wins (a tie is one for both) join all candidates; outside it, no
    strength is finite. False throughout if the largest is not unique or a single candidate.

    Source: Ford (1957), Solution of a ranking problem from binary comparisons.
    """
    reads, p = choices.shown.shape
    tied = choices.chosen[:, 0] == p
    best = choices.shown[np.arange(reads), np.where(tied, 0, choices.chosen[:, 0])]
    pairs = [(best[~tied], choices.shown[~tied][:, k]) for k in range(p)]
    one, other = np.triu_indices(p, 1)
    for a, b in (*zip(one, other, strict=True), *zip(other, one, strict=True)):
        pairs.append((choices.shown[tied][:, a], choices.shown[tied][:, b]))
    if choices.chosen.shape[1] > 1:
        order = np.take_along_axis(choices.shown[~tied], choices.chosen[~tied], axis=1)
        pairs += [(order[:, a], order[:, b]) for a, b in zip(one, other, strict=True)]
    winner, loser = (np.concatenate(part) for part in zip(*pairs, strict=True))
    graph = sparse.coo_array((np.ones(len(winner)), (winner, loser)), shape=(count, count))
    _, label = csgraph.connected_components(graph, directed=True, connection="strong")
    seen = np.bincount(choices.shown.ravel(), minlength=count) > 0
    sizes = np.bincount(label[seen], minlength=label.max() + 1)
    alone = sizes.max() > 1 and (sizes == sizes.max()).sum() == 1
    return (label == sizes.argmax()) & seen if alone else np.zeros(count, dtype=bool)


def fit(choices: Choices, count: int, *, places: bool) -> Strengths:
    """Strengths by maximum likelihood over clusters; problem `NOT_CONNECTED`, or ``separated`` positions or ties.

    If ties are offered and never chosen, all is estimated as if none were.
    """
    inside = connected(choices, count)
    among = choices.rows(inside[choices.shown].all(axis=1))
    if not (among.chosen[:, 0] == choices.shown.shape[1]).any():
        among = among._replace(tie=np.zeros(len(among.tie), dtype=bool))
    n_clusters = int(choices.cluster.max(initial=-1)) + 1
    p = choices.shown.shape[1]
    k = count + (p if places else 0) + 1
    if not inside.any() or not len(among.shown):
        return Strengths(cluster_robust.nothing((n_clusters, k), NOT_CONNECTED), np.zeros(count, dtype=bool), 0)
    x, offered, chosen, cluster = _events(among, count, k, places)
    b = _maximum(x, offered, chosen)
    if b is None:
        return Strengths(cluster_robust.nothing((n_clusters, k), flags.SEPARATED), inside, len(among.shown))
    share = _shares(x, offered, b)
    mean = np.einsum("eo,eok->ek", share, x)
    score = x[np.arange(len(x)), chosen] - mean
    information = np.zeros((n_clusters, k, k))
    for start in range(0, len(x), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        by_event = np.einsum("eo,eok,eol->ekl", share[part], x[part], x[part], optimize=True)
        by_event -= mean[part, :, None] * mean[part, None, :]
        information += cluster_robust.sums_by(cluster[part], np.arange(len(by_event)), None, n_clusters, by_event)
    score = cluster_robust.sums_by(cluster, np.arange(len(x)), None, n_clusters, score)
    return Strengths(cluster_robust.Sums(b, score, information).fit(), inside, len(among.shown))


def _events(
    choices: Choices, count: int, k: int, places: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One row per choice: columns (events, p + 1, k), options on offer (events, p + 1), index chosen, cluster."""
    reads, p = choices.shown.shape
    x = np.zeros((reads, p + 1, k))
    row = np.arange(reads)
    for place in range(p):
        x[row, place, choices.shown[:, place]] = 1
        if places:
            x[:, place, count + place] = 1
    x[:, p, :count] = x[:, :p, :count].mean(axis=1)
    x[:, p, -1] = 1
    offered = np.ones((reads, p + 1), dtype=bool)
    offered[:, p] = choices.tie
    steps = [(x, offered, choices.chosen[:, 0], choices.cluster)]
    for step in range(1, choices.chosen.shape[1] - 1):
        ranked = choices.chosen[:, 0] < p
        left = offered[ranked].copy()
        left[:, p] = False
        np.put_along_axis(left, choices.chosen[ranked][:, :step], False, axis=1)
        steps.append((x[ranked], left, choices.chosen[ranked][:, step], choices.cluster[ranked]))
    return tuple(np.concatenate(part) for part in zip(*steps, strict=True))


def _shares(x: np.ndarray, offered: np.ndarray, b: np.ndarray) -> np.ndarray:
    return special.softmax(np.where(offered, x @ b, -np.inf), axis=1)


def _maximum(x: np.ndarray, offered: np.ndarray, chosen: np.ndarray) -> np.ndarray | None:
    """Coefficients of the maximum, by Newton's method with halved steps; None if their range exceeds `FURTHEST`."""
    row, b = np.arange(len(x)), np.zeros(x.shape[2])

    def loss(b: np.ndarray) -> float:
        weights = np.where(offered, x @ b, -np.inf)
        return float((special.logsumexp(weights, axis=1) - weights[row, chosen]).sum())

    before = loss(b)
    for _ in range(MOST_STEPS):
        share = _shares(x, offered, b)
        mean = np.einsum("eo,eok->ek", share, x)
        slope = (x[row, chosen] - mean).sum(axis=0)
        second = np.einsum("eok,eol->kl", x * share[..., None], x, optimize=True) - mean.T @ mean
        step = np.linalg.lstsq(second, slope, rcond=1e-12)[0]
        size, after = 1.0, loss(b + step)
        while size > 1e-6 and after > before + 1e-9:
            size /= 2
            after = loss(b + size * step)
        b, before = b + size * step, after
        if np.ptp(b) > conditional_logit.FURTHEST:
            return None
        if np.abs(size * step).max() < 1e-9:
            return b
    return b


def rao_kupper(choices: Choices, count: int) -> cluster_robust.Fit:
    """Strengths of pairs with ties by Rao and Kupper's model (wins at d - eta and -d - eta), to check Davidson's.

    Coefficients: strengths, first position over the second, eta; none if not connected, or a read is no pair with a tie
    on offer. Source: Rao and Kupper (1967), Ties in paired-comparison experiments.
    """
    n_clusters, k = int(choices.cluster.max(initial=-1)) + 1, count + 2
    if choices.shown.shape[1] != 2 or not choices.tie.all() or not connected(choices, count).all():
        return cluster_robust.nothing((n_clusters, k), NOT_CONNECTED)
    one = np.eye(count)
    x = np.column_stack([one[choices.shown[:, 0]] - one[choices.shown[:, 1]], np.ones(len(choices.shown))])
    outcome = choices.chosen[:, 0]
    b = np.append(np.zeros(count + 1), 0.5)
    for _ in range(MOST_STEPS):
        score, information = _threshold_derivatives(b, x, outcome)
        step = np.linalg.lstsq(information.sum(axis=0), score.sum(axis=0), rcond=1e-12)[0]
        step *= min(1.0, 2 / np.abs(step).max())
        b = b + step
        b[-1] = max(b[-1], 1e-6)
        if np.abs(step).max() < 1e-9:
            break
    if np.ptp(b) > conditional_logit.FURTHEST:
        return cluster_robust.nothing((n_clusters, k), flags.SEPARATED)
    score, information = (
        cluster_robust.sums_by(choices.cluster, np.arange(len(x)), None, n_clusters, part)
        for part in _threshold_derivatives(b, x, outcome)
    )
    return cluster_robust.Sums(b, score, information).fit()


def _threshold_derivatives(b: np.ndarray, x: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of each read's log-likelihood, and Fisher's expected information of each read."""
    d = x @ b[:-1]
    first, second = special.expit(d - b[-1]), special.expit(-d - b[-1])
    up, down = first * (1 - first), second * (1 - second)
    share = np.column_stack([first, second, np.maximum(1 - first - second, 1e-12)])
    by_d = np.column_stack([up, -down, down - up])
    by_eta = np.column_stack([-up, -down, up + down])
    row = np.arange(len(x))
    seen = share[row, outcome]
    score = np.column_stack([x * (by_d[row, outcome] / seen)[:, None], by_eta[row, outcome] / seen])
    information = np.empty((len(x), x.shape[1] + 1, x.shape[1] + 1))
    information[:, :-1, :-1] = x[:, :, None] * x[:, None, :] * (by_d**2 / share).sum(axis=1)[:, None, None]
    mixed = x * (by_d * by_eta / share).sum(axis=1)[:, None]
    information[:, :-1, -1] = information[:, -1, :-1] = mixed
    information[:, -1, -1] = (by_eta**2 / share).sum(axis=1)
    return score, information


def ranks(strengths: np.ndarray) -> np.ndarray:
    """Rank of each strength, 1 for the strongest, mean ranks for equals. NaN changes no rank; its own is 0.5."""
    order = strengths[..., :, None]
    return (
        1 + (order < strengths[..., None, :]).sum(axis=-1) + ((order == strengths[..., None, :]).sum(axis=-1) - 1) / 2
    )


def reversed_pairs(one: np.ndarray, other: np.ndarray) -> tuple[int, int]:
    """Number of pairs with opposite orders in two sets of strengths, and number of all pairs."""
    a, b = np.triu_indices(len(one), 1)
    return int((np.sign(one[a] - one[b]) * np.sign(other[a] - other[b]) < 0).sum()), len(a)
