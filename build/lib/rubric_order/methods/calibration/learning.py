"""Learning of calibrations: sums of each group's reads, from which the reads of any groups are put together.

A calibration is never applied to the groups that it was learnt on, else it has seen the chance of the very reads that
it is to correct. So what it takes of each group is kept apart, and folds and draws choose groups.

Everything that is learnt is drawn towards knowing nothing: position effects towards 0, a table of expected scores
towards the written score itself. The share that is kept is that of the variance which is no noise,
max(0, 1 - noise / size), with the noise of a sample of groups.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.methods.calibration.model import Calibration
from rubric_order.methods.position import preference

CELLS_AT_ONCE = 4_000_000
FEWEST_GROUPS = 2  # with one, nothing says how groups vary


class SoftSums(NamedTuple):
    """Normal equations of log-probabilities, by group.

    They are those of least squares of the log-probability of score s at position p, less the means of its item and
    read, on an indicator for each pair (s, p). The model of positions alone follows by summing over scores.

    Attributes:
        right: shape (groups, n * n).
        information: shape (groups, n * n, n * n).
    """

    right: np.ndarray
    information: np.ndarray


class HardSums(NamedTuple):
    """Reads by written score and position, by group.

    Attributes:
        count: number of reads with each score (rows) at each position (columns), shape (groups, n, n).
        total: sum over them of the item's mean score in orderings that are not the read's own, shape (groups, n, n).
    """

    count: np.ndarray  # type: ignore[assignment]  # in the place of tuple.count
    total: np.ndarray


class Evidence(NamedTuple):
    """Evidence of each group's reads.

    Attributes:
        n: number of score levels.
        soft, hard: sums; None where there is nothing to learn from.
        items, reads: numbers of each group, shape (groups,).
    """

    n: int
    soft: SoftSums | None
    hard: HardSums | None
    items: np.ndarray
    reads: np.ndarray


def soft_sums(of: preference.Soft) -> SoftSums:
    """Sums of log-probabilities.

    Args:
        of: log-probabilities, whose clusters are the groups, see `preference.of_probabilities`.
    """
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


def hard_sums(scores: np.ndarray, places: np.ndarray, targets: np.ndarray, group: np.ndarray, n: int) -> HardSums:
    """Sums of written scores.

    Args:
        scores: from 1 to n, shape (items, reads), NaN where a read has none.
        places: position of the written score from 0, shape (items, reads).
        targets: mean score of the item in other orderings than the read's, shape (items, reads); NaN where unknown.
        group: number of each item's group, from 0, shape (items,).
    """
    used = ~np.isnan(scores) & ~np.isnan(targets)
    item = np.nonzero(used)[0]
    groups = int(group.max(initial=-1)) + 1
    cell = (group[item] * n + scores[used].astype(int) - 1) * n + places[used]
    sums = [np.bincount(cell, weights, groups * n * n).reshape(groups, n, n) for weights in (None, targets[used])]
    return HardSums(sums[0].astype(float), sums[1])


def padded(sums: HardSums, groups: int) -> HardSums:
    """Sums of more groups, of which the last have no reads."""
    more = [(0, groups - len(sums.count)), (0, 0), (0, 0)]
    return HardSums(np.pad(sums.count, more), np.pad(sums.total, more))


def learn(evidence: Evidence, chosen: np.ndarray, *, positions: bool = True, interactions: bool = True) -> Calibration:
    """Learn from the reads of some groups.

    Args:
        chosen: number of each group to learn from, shape (m,), at least `FEWEST_GROUPS`.
        positions: learn what positions are worth; without, `expected` depends on the written score alone.
        interactions: let positions be worth more to some scores than to others, where the reads bear it.

    Raises:
        ValueError: there are too few groups.
    """
    if len(chosen) < FEWEST_GROUPS:
        raise ValueError(f"expected at least {FEWEST_GROUPS} groups to learn from, got {len(chosen)}")
    n, position, interaction, expected = evidence.n, None, None, None
    if evidence.soft is not None:
        position, interaction = np.zeros(n), np.zeros((n, n))
        if positions:
            position, interaction = _preference(SoftSums(*(part[chosen] for part in evidence.soft)), n, interactions)
    if evidence.hard is not None:
        expected = _expected(HardSums(*(part[chosen] for part in evidence.hard)), positions, interactions)
    counts = (int(part[chosen].sum()) for part in (evidence.items, evidence.reads))
    return Calibration(n, position, interaction, expected, len(chosen), *counts)


def kept(size: float, noise: float) -> float:
    """Share of an estimate that is kept: the part of its size that is not noise.

    Args:
        size: squared length of the estimate. noise: its expectation where there is nothing to find.

    Source: James and Stein (1961) with the variance estimated, its positive part.

    >>> kept(4.0, 1.0), kept(1.0, 2.0), kept(0.0, 0.0)
    (0.75, 0.0, 0.0)
    """
    return max(0.0, 1 - noise / size) if size > 0 else 0.0


def _preference(sums: SoftSums, n: int, interactions: bool) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of each position, and of each score and position beyond, drawn towards 0.

    Returns:
        Shapes (n,) and (n, n).
    """
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
    """Least squares over groups, as it is and drawn towards 0 by its noise.

    Args:
        right, information: normal equations of each group, shapes (groups, k) and (groups, k, k).
        space: projection onto the contrasts that count, shape (k, k).
    """
    bread = np.linalg.pinv(information.sum(axis=0), hermitian=True, rcond=1e-9)
    estimate = space @ bread @ right.sum(axis=0)
    rest = (right - information @ (bread @ right.sum(axis=0))) @ bread @ space
    groups = len(right)
    return _Shrunken(estimate, estimate * kept((estimate**2).sum(), groups / (groups - 1) * (rest**2).sum()))


def _expected(sums: HardSums, positions: bool, interactions: bool) -> np.ndarray:
    """Mean score of items by written score and position, drawn towards the written score, shape (n, n).

    Steps, each on what the one before leaves, and each drawn towards 0 by its noise: a line in the written score; what
    each score and each position adds; another slope of the line at each position, since a score that is written where
    the judge likes to write says less of the item; and what each cell adds, by the noise of that cell. So a cell with
    few reads has the value of the model without cells, and the model of few groups that of the written score.
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
    return np.clip(expected, 1, n).reshape(n, n)


def _fitted(count: np.ndarray, total: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Least squares of the cells' means on several sets of columns at once, each set's part drawn towards 0.

    The noise is that of a jackknife, which is too large rather than too small where groups are few.

    Args:
        count, total: reads of each group by cell, and the sum of their departures, shape (groups, cells).
        parts: columns of each set, shape (cells, ...).

    Returns:
        Shape (cells,).
    """
    x, groups = np.column_stack(parts), len(count)
    weight, right = count.sum(axis=0), total @ x
    information = np.einsum("gc,ci,cj->gij", count, x, x, optimize=True)
    estimate = _solved(information.sum(axis=0), right.sum(axis=0))
    moved = _solved(information.sum(axis=0) - information, right.sum(axis=0) - right) - estimate  # without each group
    fitted, start = np.zeros(len(weight)), 0
    for columns in parts:
        own = slice(start, start := start + columns.shape[1])
        part, noise = columns @ estimate[own], moved[:, own] @ columns.T
        if len(parts) > 1:  # a constant belongs to the line
            mean = (weight @ part) / max(weight.sum(), 1)
            part, noise = part - mean, noise - (noise @ weight)[:, None] / max(weight.sum(), 1)
        size, by_chance = weight @ part**2, (groups - 1) / groups * (noise**2 @ weight).sum()
        fitted += part * kept(float(size), float(by_chance))
    return fitted


def _solved(information: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of normal equations, the shortest where several are, shape (..., k)."""
    return np.einsum("...ij,...j->...i", np.linalg.pinv(information, hermitian=True, rcond=1e-9), right)


def _cells(count: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Addition of each cell, drawn towards 0 by its own noise; 0 where there are no reads. Arguments as of `_fitted`.

    Reads of a group count as one: its part of a cell's error has a variance in proportion to the square of its reads.
    """
    groups, weight = len(count), count.sum(axis=0)
    mean = total.sum(axis=0) / np.maximum(weight, 1)
    squares = (count**2).sum(axis=0)
    rest = total - count * mean
    error = groups / (groups - 1) * (rest**2).sum() / max(squares.sum(), 1)
    noise = error * squares / np.maximum(weight, 1) ** 2
    between = max(0.0, float(weight @ (mean**2 - noise)) / max(float(weight.sum()), 1))
    return np.divide(mean * between, between + noise, out=np.zeros_like(mean), where=(between + noise) > 0)


def folds(groups: int, count: int, *, seed: int, name: str) -> np.ndarray:
    """Fold of each group, of sizes that differ by at most one, drawn at random. Shape (groups,).

    Args:
        count: folds; as many as there are groups where these are fewer.
        name: what they are for, see `randomness.generator`.
    """
    rng = randomness.generator(seed, "calibration folds", name, groups)
    return rng.permutation(np.arange(groups) % min(count, groups))


def draws(groups: int, chosen: int, count: int, *, seed: int, name: str) -> np.ndarray:
    """Groups to learn from, drawn without replacement, several times. Shape (count, chosen)."""
    rng = randomness.generator(seed, "calibration draws", name, groups, chosen)
    return np.argsort(rng.random((count, groups)), axis=1)[:, :chosen]
