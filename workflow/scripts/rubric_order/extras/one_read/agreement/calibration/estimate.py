"""Error of single reads, calibrated and not."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.extras.one_read.methods.calibration import errors, learning
from rubric_order.extras.one_read.methods.calibration.evidence import Laid, lay_out
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections
from rubric_order.methods.uncertainty import resampling
from rubric_order.strategies import EVERY_POSITION

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}
NONE, FOLDS, GROUPS, SCORES, REGRESSED = "none", "folds", "groups", "scores", "regressed"
SYSTEMS_IN = 10  # fewest groups in which each system has items, for slopes between systems
BUDGETS = (1, 2, 3, 4, 5, 10, 20, 40, 60)  # reads per item
FEWEST_GROUPS = learning.FEWEST_GROUPS + 1  # each group is corrected by what is learnt on the other groups
DRAWN = ("random", "repeated_rotations")  # not used: orderings differ between items, or are only one set of rotations

log = logging.getLogger(__name__)


class Corrected(NamedTuple):
    """Scores that one kind of calibration has corrected.

    Attributes:
        name: one of `FOLDS`, `GROUPS`, `SCORES`, `REGRESSED`.
        versions: for each draw of the groups learnt from, calibrated scores, shape (m, D).
        n_learning, reads: number of groups learnt from, and of their reads, means over folds or draws.
    """

    name: str
    versions: Sequence[np.ndarray]
    n_learning: float
    reads: float


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    folds: int = 5,
    groups: Sequence[int] = (5, 10, 20, 50),
    draws: int = 20,
    interactions: bool = True,
) -> pd.DataFrame:
    """Error of an item's score from few reads, against the item's mean over other orderings (docs/calibration.md).

    `calibration`: ``none``; ``folds``, learnt on the other folds; ``groups``, on `n_learning` random groups;
    ``regressed`` and ``scores``, expected mean of items with the written score, at its position or at any.

    ``rmse`` includes the target's own error, ``error`` does not. ``shift`` is the mean error, ``slope`` and
    ``slope_systems`` points per point of balanced means of items and of candidates, ``pass_shift`` the error of the
    pass share. ``..._ratio`` and ``..._change`` compare with no calibration.

    Source: ours; see `model.Calibration`.
    """
    parts: list[tuple[Row, Row]] = []
    options: dict[str, Any] = {
        "seed": seed,
        "folds": folds,
        "groups": groups,
        "draws": draws,
        "interactions": interactions,
    }
    for block in blocks.blocks(scores):
        for readout in VALUES if block.keys["strategy"] in {*EVERY_POSITION, "recorded"} - {*DRAWN} else ():
            laid = lay_out(block, readout)
            if laid is None or laid.group.max() + 1 < FEWEST_GROUPS:
                if readout == Readout.HARD:
                    log.warning("%s: no calibration: too few items or orderings", " ".join(map(str, block.key)))
                continue
            human = block.items["human_score"].to_numpy(dtype=float)[laid.rows]
            system = _systems(block, laid)
            common = block.keys | {"readout": readout, "cluster": "group"}
            common |= {"n_incomplete": int((~laid.rows).sum()), "method": "jackknife over groups, Student's t"}
            rows = _rows(laid, corrected(laid, "/".join(map(str, block.key)), **options), human, system, confidence)
            parts += [(common | shared, columns) for shared, columns in rows]
    columns = [*KEYS, "readout", "cluster", "design", "reads", "calibration", "n_learning", "calls", "quantity"]
    columns += ["estimate", "ci_low", "ci_high", "n_items", "n_rated", "n_incomplete", "n_clusters", "method"]
    table = tidy.join_parts(parts, columns, {"reads": "int64", "n_learning": "float64"})
    return table.assign(confidence=confidence, seed=seed)


def _systems(block: blocks.Block, laid: Laid) -> np.ndarray | None:
    names = block.items["candidate"][laid.rows] if "candidate" in block.items else pd.Series(dtype=object)
    in_groups = pd.Series(laid.group[: len(names)]).groupby(names.to_numpy()).nunique()
    if len(in_groups) < 2 or in_groups.min() < SYSTEMS_IN:
        return None
    return (names.to_numpy()[:, None] == in_groups.index.to_numpy()).astype(float)


def corrected(
    laid: Laid, name: str, *, seed: int, folds: int, groups: Sequence[int], draws: int, interactions: bool
) -> Iterator[Corrected]:
    evidence, count = laid.evidence(), int(laid.group.max()) + 1
    few = count < 2 * learning.FEWEST_GROUPS  # with two folds, one fold would have too few groups to learn from
    fold = resampling.folds(count, count if few else folds, seed=seed, name=name)
    learners = [np.flatnonzero(fold != one) for one in np.unique(fold)]
    kinds = {FOLDS: (True, False)}
    if laid.probabilities is None:
        kinds |= {REGRESSED: (True, True), SCORES: (False, True)}
    for kind, (positions, regression) in kinds.items():
        values, reads = np.full(laid.values.shape, np.nan), 0.0
        for one, chosen in zip(np.unique(fold), learners, strict=True):
            model = learning.learn(evidence, chosen, positions=positions, interactions=interactions)
            rows = fold[laid.group] == one
            values[rows] = applied(model, laid, rows, regression=regression)
            reads += model.reads / len(learners)
        yield Corrected(kind, [values], float(np.mean([len(chosen) for chosen in learners])), reads)
    for size in groups:
        if not learning.FEWEST_GROUPS <= size <= count / 2:
            continue
        versions, reads = [], 0.0
        for chosen in learning.draws(count, size, draws, seed=seed, name=name):
            model = learning.learn(evidence, chosen, interactions=interactions)
            values, rows = np.full(laid.values.shape, np.nan), ~np.isin(laid.group, chosen)
            values[rows] = applied(model, laid, rows)
            versions.append(values)
            reads += model.reads / draws
        yield Corrected(GROUPS, versions, float(size), reads)


def applied(model: Calibration, laid: Laid, rows: np.ndarray, *, regression: bool = False) -> np.ndarray:
    if laid.probabilities is not None:
        return model.calibrate_probabilities(laid.probabilities[rows], laid.orderings)
    values = laid.values[rows]
    orderings = np.broadcast_to(laid.orderings, (*values.shape, model.n))
    return model.calibrate_scores(values, orderings, regression=regression)


def _expected(laid: Laid, values: np.ndarray) -> Iterator[tuple[str, int, errors.Expected]]:
    parts, levels = laid.halves, errors.levels(laid.halves.means(laid.values), laid.group)
    targets = levels[:, np.where(parts.second, 0, 1)]
    mark = (laid.orderings.shape[1] - 4) / 2  # half a level below the second highest, from the middle of the scale
    if parts.usual is not None:
        yield "usual", 1, errors.single(values, targets, parts.usual, mark)
    yield "rotated", 1, errors.single(values, targets, np.arange(len(values)) % len(laid.orderings), mark)
    for reads in sorted({budget for budget in BUDGETS if budget < parts.size} | {parts.size}):
        name = "balanced" if reads == parts.size else "random"
        yield name, reads, errors.several(values, levels, parts, reads, mark)
    both = errors.opposite(values, laid.values, parts, laid.group, mark)
    if both is not None:
        yield "opposite", 2, both


def _rows(
    laid: Laid, corrections: Iterable[Corrected], human: np.ndarray, system: np.ndarray | None, confidence: float
) -> Iterator[tuple[Row, Row]]:
    middle = (laid.orderings.shape[1] + 1) / 2
    human = human - np.nanmean(human) if (~np.isnan(human)).any() else human
    shifted = laid._replace(values=laid.values - middle)
    levels = errors.level_moments(errors.levels(laid.halves.means(shifted.values), laid.group))
    raw = {(design, reads): expected.moments(human) for design, reads, expected in _expected(shifted, shifted.values)}
    common = {"n_items": len(human), "n_rated": int((~np.isnan(human)).sum()), "n_clusters": int(laid.group.max()) + 1}
    for (design, reads), moments in raw.items():
        arm = common | {"design": design, "reads": reads, "calls": float(reads), "calibration": NONE}
        yield from _estimates(arm, moments, None, Sample(levels, laid.group, system, confidence))
    for correction in corrections:
        used = sum(~np.isnan(version[:, 0]) for version in correction.versions)
        weight = (used > 0).astype(float)
        sample = Sample(levels * weight[:, None], laid.group, system, confidence)
        for (design, reads), moments in _calibrated(shifted, correction, middle, human).items():
            arm = common | {"n_items": int(weight.sum()), "design": design, "reads": reads}
            arm |= {"calibration": correction.name, "n_learning": correction.n_learning}
            arm["calls"] = reads + correction.reads / len(human)
            yield from _estimates(arm, moments, raw[design, reads] * weight[:, None], sample)


def _calibrated(
    laid: Laid, correction: Corrected, middle: float, human: np.ndarray
) -> dict[tuple[str, int], np.ndarray]:
    """Moments of each design: for each item, the mean over the calibrations not learnt on it."""
    totals: dict[tuple[str, int], np.ndarray] = {}
    times = np.zeros(len(human))
    for version in correction.versions:
        used = ~np.isnan(version[:, 0])
        times += used
        values = np.where(used[:, None], version - middle, 0)
        for design, reads, expected in _expected(laid, values):
            if correction.name in (FOLDS, REGRESSED) or reads == 1:
                moments = expected.moments(human, used)
                totals[design, reads] = totals.get((design, reads), 0) + moments
    return {key: total / np.maximum(times, 1)[:, None] for key, total in totals.items()}


class Sample(NamedTuple):
    """Items of some estimates.

    Attributes:
        levels: `errors.level_moments` of each item, shape (m, 4); 0 for items that do not count.
        group: index of each item's group, from 0, shape (m,).
        system: indicators of systems, shape (m, n_systems), or None.
    """

    levels: np.ndarray
    group: np.ndarray
    system: np.ndarray | None
    confidence: float

    def system_slopes(self, moments: np.ndarray) -> np.ndarray:
        """Slope of systems' mean scores over their balanced means: over all groups, then without each part."""
        used, error, target = (moments[:, errors.COLUMNS.index(name)] for name in ("used", "error", "target"))
        columns = [used, error + target, target, self.levels[:, 1], self.levels[:, 2]]
        by_system = np.concatenate([column[:, None] * self.system for column in columns], axis=1)
        sums = resampling.left_out_sums(by_system, self.group).reshape(-1, len(columns), by_system.shape[1] // 5)
        with np.errstate(invalid="ignore", divide="ignore"):
            count, means = sums[:, 0], np.moveaxis(sums[:, 1:] / sums[:, [0]], 1, 0)
            x, t, first, second = (
                mean - (count * mean).sum(1, keepdims=True) / count.sum(1, keepdims=True) for mean in means
            )
            slope: np.ndarray = (count * x * t).sum(axis=1) / (count * first * second).sum(axis=1)
        return slope


def _estimates(
    about: Mapping[str, object], moments: np.ndarray, before: np.ndarray | None, sample: Sample
) -> Iterator[tuple[Row, Row]]:
    tables = [moments] if before is None else [moments, before]
    sums = resampling.left_out_sums(np.column_stack([*tables, sample.levels]), sample.group)
    width = len(errors.COLUMNS)
    of_levels = sums[:, len(tables) * width :]
    summaries = [errors.summary(sums[:, k * width : (k + 1) * width], of_levels) for k in range(len(tables))]
    now = summaries[0]
    estimated = {"rmse": (now.rmse, np.log, np.exp), "error": (now.error, None, None), "shift": (now.shift, None, None)}
    estimated |= {"slope": (now.slope, None, None), "pass_shift": (now.pass_shift, None, None)}
    if sample.system is not None:
        estimated["slope_systems"] = (sample.system_slopes(moments), None, None)
    estimated["pearson"] = (now.pearson, np.arctanh, np.tanh)
    if before is not None:
        old = summaries[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            estimated["rmse_ratio"] = (now.rmse / old.rmse, np.log, np.exp)
        estimated["rmse_change"] = (now.rmse - old.rmse, None, None)
        estimated["pearson_change"] = (now.pearson - old.pearson, None, None)
    sizes = resampling.part_sizes(sample.group)
    for quantity, (values, scale, back) in estimated.items():
        if np.isnan(values[0]):
            continue
        interval = resampling.jackknife_t(values, sample.confidence, sizes=sizes, scale=scale, back=back).interval
        yield dict(about), {"quantity": quantity} | interval.columns()
