"""Learning of calibrations from sums over each group's reads, which can be added for any choice of groups.

A calibration is never applied to groups that it was learnt from, whose noise it has seen. Estimates are shrunk towards
no correction by max(0, 1 - noise / size), see `kept`.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import enough, resampling

CELLS_AT_ONCE = 4_000_000
FEWEST_GROUPS = enough.LEARNING.least


class SoftSums(NamedTuple):
    """Normal equations, by group, of log-probabilities (less the item's and the read's mean) by score and position:
    right sides (groups, n * n) and matrices.
    """

    right: np.ndarray
    information: np.ndarray


class HardSums(NamedTuple):
    """Reads by written score and position, (groups, n, n): number, and sum of targets (item's mean elsewhere).

    `offset` (groups, n, n, n) sums the score at each position less the middle over them, `excess` that times (score -
    target) over all, `information` products of its columns.
    """

    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    total: np.ndarray
    offset: np.ndarray
    excess: np.ndarray
    information: np.ndarray


class Evidence(NamedTuple):
    """Sums over each group's reads, for n levels; None for a readout without any; items and reads of each group."""

    n: int
    soft: SoftSums | None
    hard: HardSums | None
    items: np.ndarray
    reads: np.ndarray


def soft_sums(of: preference.Soft) -> SoftSums:
    """Sums of log-probabilities whose clusters are the groups, see `preference.compare_probabilities`."""
    cells = of.n**2
    right, information = np.zeros((of.n_clusters, cells)), np.zeros((of.n_clusters, cells, cells))
    for values, places, group in of.parts:
        step = max(1, CELLS_AT_ONCE // (values.shape[1] * of.n * cells))
        for start in range(0, len(values), step):
            rows = slice(start, start + step)
            used = ~np.isnan(values[rows])
            y = preference.centred(np.where(used, values[rows], 0), used)
            terms = np.eye(cells)[np.arange(of.n) * of.n + places[rows]]
            x = preference.centred(terms, used[..., None]).reshape(len(y), -1, cells)
            np.add.at(right, group[rows], np.einsum("ikc,ik->ic", x, y.reshape(len(y), -1)))
            np.add.at(information, group[rows], x.transpose(0, 2, 1) @ x)
    return SoftSums(right, information)


def hard_sums(scores: np.ndarray, orderings: np.ndarray, targets: np.ndarray, group: np.ndarray) -> HardSums:
    """Sums of written scores (items, reads), 1 to n, in orderings that all items share (reads, n), with the item's mean
    in other orderings as target.
    """
    n, groups = orderings.shape[1], int(group.max(initial=-1)) + 1
    item, column = np.nonzero(~np.isnan(scores) & ~np.isnan(targets))
    written, target = scores[item, column], targets[item, column]
    place = (orderings[column] == written[:, None]).argmax(axis=1)
    cell = (group[item] * n + written.astype(int) - 1) * n + place
    count, total = (np.bincount(cell, weights, groups * n * n) for weights in (None, target))
    offset, excess = np.zeros((groups * n * n, n)), np.zeros((groups, n))
    middle = orderings - (n + 1) / 2
    np.add.at(offset, cell, middle[column])
    np.add.at(excess, group[item], middle[column] * (written - target)[:, None])
    reads = np.zeros((groups, len(orderings)))
    np.add.at(reads, (group[item], column), 1)
    information = np.einsum("gd,di,dj->gij", reads, middle, middle)
    shape = (groups, n, n)
    return HardSums(
        count.astype(float).reshape(shape), total.reshape(shape), offset.reshape(*shape, n), excess, information
    )


def padded(sums: HardSums, groups: int) -> HardSums:
    """Sums extended to `groups` groups; the added groups have no reads."""
    more = groups - len(sums.count)
    return HardSums(*(np.pad(part, [(0, more), *[(0, 0)] * (part.ndim - 1)]) for part in sums))


def learn(evidence: Evidence, chosen: np.ndarray, *, positions: bool = True, interactions: bool = True) -> Calibration:
    """Learn a calibration from the reads of the `chosen` groups; ValueError below `FEWEST_GROUPS`.

    Without `positions`, log-odds are 0 and `expected` depends on the score alone; `interactions` lets effects differ
    between scores as far as reads support it.
    """
    if len(chosen) < FEWEST_GROUPS:
        raise ValueError(f"expected at least {FEWEST_GROUPS} groups to learn from, got {len(chosen)}")
    n, position, interaction, expected, shift, seen = evidence.n, None, None, None, None, None
    if evidence.soft is not None:
        position, interaction = np.zeros(n), np.zeros((n, n))
        if positions:
            position, interaction = _preference(SoftSums(*(part[chosen] for part in evidence.soft)), n, interactions)
    if evidence.hard is not None:
        sums = HardSums(*(part[chosen] for part in evidence.hard))
        expected = _expected(sums, positions, interactions)
        shift = _shift(sums, expected) if positions else np.zeros(n)
        seen = sums.count.sum(axis=0)
    items, reads = (int(part[chosen].sum()) for part in (evidence.items, evidence.reads))
    return Calibration(n, position, interaction, expected, len(chosen), items, reads, shift, seen)


def _shift(sums: HardSums, expected: np.ndarray) -> np.ndarray:
    """Effect of each position on the mean score that single cells leave, shape (n,): a written score shows the item
    with error, so cells show only part.
    """
    part = expected - expected.mean(axis=1, keepdims=True)
    right = sums.excess + np.einsum("gspi,sp->gi", sums.offset, part)
    return _shrunken(right, sums.information, np.eye(expected.shape[0]) - 1 / expected.shape[0]).shrunken


def kept(size: float, noise: float, groups: float) -> float:
    """Share of an estimate's squared length that is not noise (its expectation at 0, by a jackknife over effective
    `groups`; with few, more is taken off).

    Source: the positive-part estimator of James and Stein (1961), with an estimated variance.

    >>> kept(4.0, 1.0, np.inf), kept(4.0, 1.0, 3.0), kept(1.0, 2.0, 9.0), kept(0.0, 0.0, 9.0)
    (0.75, 0.5, 0.0, 0.0)
    """
    scarce = 1 + 2 / max(groups - 1, 1e-9)
    return max(0.0, 1 - noise * scarce / size) if size > 0 else 0.0


def _preference(sums: SoftSums, n: int, interactions: bool) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of each position (n,), and additional ones of each score at it (n, n), shrunk towards 0."""
    summed = np.tile(np.eye(n), (n, 1))  # from pairs of score and position to positions
    position = _shrunken(sums.right @ summed, summed.T @ sums.information @ summed, np.eye(n) - 1 / n)
    if not interactions:
        return position.shrunken, np.zeros((n, n))
    right = sums.right - sums.information @ (summed @ position.estimate)
    centred = np.kron(np.eye(n) - 1 / n, np.eye(n) - 1 / n)
    return position.shrunken, _shrunken(right, sums.information, centred).shrunken.reshape(n, n)


class _Shrunken(NamedTuple):
    estimate: np.ndarray
    shrunken: np.ndarray


def _shrunken(right: np.ndarray, information: np.ndarray, space: np.ndarray) -> _Shrunken:
    """Least-squares estimate from each group's normal equations, plain and shrunk towards 0 by its noise; `space`
    projects onto what is estimated.
    """
    parts: np.ndarray = np.arange(len(right)) % resampling.MAX_LEFT_OUT
    right, information = (resampling.sum_units(part, parts) for part in (right, information))
    estimate = space @ _solved(information.sum(axis=0), right.sum(axis=0))
    moved = _solved(information.sum(axis=0) - information, right.sum(axis=0) - right) @ space - estimate
    noise = (len(right) - 1) / len(right) * (moved**2).sum()
    worth = resampling.effective(np.trace(information, axis1=1, axis2=2))
    return _Shrunken(estimate, estimate * kept(float((estimate**2).sum()), float(noise), worth))


def _expected(sums: HardSums, positions: bool, interactions: bool) -> np.ndarray:
    """Mean score of items by written score and position, (n, n), shrunk towards the written score.

    Each step fits the residuals of the one before: a line; effects of score and position; the slope by position (a
    preferred one tells less about the item); cells, shrunk by their noise.
    """
    n, groups = sums.count.shape[1], len(sums.count)
    score, place = (axis.ravel() for axis in np.indices((n, n)))
    count, total = sums.count.reshape(groups, -1), sums.total.reshape(groups, -1)
    expected = score + 1.0
    line = np.column_stack([np.ones(n * n), score - (n - 1) / 2])
    expected = expected + _fitted(count, total - count * expected, [line])
    effects = [np.eye(n)[score], np.eye(n)[place]] if positions else [np.eye(n)[score]]
    expected = expected + _fitted(count, total - count * expected, effects)
    if positions:
        slopes = (np.eye(n) - 1 / n)[place] * line[:, 1:]
        expected = expected + _fitted(count, total - count * expected, [slopes])
    if positions and interactions:
        expected = expected + _cells(count, total - count * expected)
    expected = np.clip(expected, 1, n).reshape(n, n)
    unread = sums.count.sum(axis=(0, 2)) == 0  # nothing shows what positions change in such a score
    return np.where(unread[:, None], expected.mean(axis=1, keepdims=True), expected)


def _fitted(count: np.ndarray, total: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Least squares of cells' means on several sets of columns at once, each set's part shrunk by a jackknife's noise
    (rather too large with few groups), shape (cells,).
    """
    x, groups = np.column_stack(parts), len(count)
    weight, right = count.sum(axis=0), total @ x
    information = np.einsum("gc,ci,cj->gij", count, x, x, optimize=True)
    estimate = _solved(information.sum(axis=0), right.sum(axis=0))
    moved = _solved(information.sum(axis=0) - information, right.sum(axis=0) - right) - estimate  # without each group
    fitted, start = np.zeros(len(weight)), 0
    for columns in parts:
        place = slice(start, start := start + columns.shape[1])
        part, noise = columns @ estimate[place], moved[:, place] @ columns.T
        if len(parts) > 1:  # a constant belongs to the line
            mean = (weight @ part) / max(weight.sum(), 1)
            part, noise = part - mean, noise - (noise @ weight)[:, None] / max(weight.sum(), 1)
        size, by_chance = weight @ part**2, (groups - 1) / groups * (noise**2 @ weight).sum()
        fitted += part * kept(float(size), float(by_chance), resampling.effective(count.sum(axis=1)))
    return fitted


def _solved(information: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", np.linalg.pinv(information, hermitian=True, rcond=1e-9), right)


def _cells(count: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Effect of each cell, shrunk by its noise, 0 without reads. A group's reads count as fully dependent, so it adds
    to the variance by their squared number.
    """
    groups, weight = len(count), count.sum(axis=0)
    mean = total.sum(axis=0) / np.maximum(weight, 1)
    squares = (count**2).sum(axis=0)
    rest = total - count * mean
    error = groups / (groups - 1) * (rest**2).sum() / max(squares.sum(), 1)
    noise = error * squares / np.maximum(weight, 1) ** 2
    between = max(0.0, float(weight @ (mean**2 - noise)) / max(float(weight.sum()), 1))
    return np.divide(mean * between, between + noise, out=np.zeros_like(mean), where=(between + noise) > 0)


def draws(groups: int, chosen: int, count: int, *, seed: int, name: str) -> np.ndarray:
    """Indices of groups to learn from, (count, chosen), drawn without replacement by seed and `name`."""
    rng = randomness.generator(seed, "calibration draws", name, groups, chosen)
    return np.argsort(rng.random((count, groups)), axis=1)[:, :chosen]
