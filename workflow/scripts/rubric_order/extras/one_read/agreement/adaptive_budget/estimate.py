"""Reads saved by stopping early."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.extras.one_read.methods.adaptive import boundary, sequences, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Goal, Scale
from rubric_order.extras.one_read.methods.calibration.evidence import lay_out
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections
from rubric_order.methods.uncertainty import resampling, shares
from rubric_order.strategies import EVERY_POSITION

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}
SEQUENCE, LEARNT, FIXED, FIXED_LEARNT = "sequence", "learnt", "fixed", "fixed_learnt"
GOALS = {"width": False, "width_or_place": True}
DRAWN = ("random", "repeated_rotations")  # not used: orderings differ between items, or are only one set of rotations
_ROUNDING = 1e-9

log = logging.getLogger(__name__)


class Items(NamedTuple):
    """Items with a score in every ordering.

    Attributes:
        values: score under each ordering, shape (m, N).
        order: orderings of each item's reads, first to last, shape (m, N).
        group, cell: index of each item's group, and of its group and criterion, from 0, shape (m,).
        scale: lowest and highest possible score, and N.
    """

    values: np.ndarray
    order: np.ndarray
    group: np.ndarray
    cell: np.ndarray
    scale: Scale
    whole: bool

    @property
    def truth(self) -> np.ndarray:
        return self.values.mean(axis=1)

    @property
    def read(self) -> np.ndarray:
        return np.take_along_axis(self.values, self.order, axis=1)

    def only(self, rows: np.ndarray) -> "Items":
        group, cell = (np.unique(number[rows], return_inverse=True)[1] for number in (self.group, self.cell))
        return self._replace(values=self.values[rows], order=self.order[rows], group=group, cell=cell)


class Outcome(NamedTuple):
    """Outcome of reading all items by one rule.

    Attributes:
        claims: claim about each item at its last read.
        tracks: estimate of each item after each read, shape (m, N).
        factor, n_learning: factor of the standard errors, and number of groups learnt from, means over folds.
    """

    claims: boundary.Claims
    tracks: np.ndarray
    factor: float = np.nan
    n_learning: float = np.nan


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    targets: Sequence[float] = (0.5, 1.0, 1.5),
    level: float = 0.95,
    folds: int = 5,
    draws: int = 8,
) -> pd.DataFrame:
    """Replay the complete reads of items in random order, and stop each item by a rule.

    Rules: ``sequence`` (`sequences.intervals`), ``learnt`` on other folds (`boundary.learn`), ``fixed`` and
    ``fixed_learnt``: `k` reads of every item, as they are, and without what each ordering adds in other groups.

    ``coverage_early`` counts the items stopped before their last ordering; ``stopped_width``, ``stopped_place`` and
    ``read_all`` are shares by why reading ended; ``place_right``: `boundary.right_places`; ``outside``: share that errs
    by more than half of `target`. ``..._fixed``: ``reads`` reads of every item; ``reads_fixed`` reads of every item err
    by ``rmse``.
    """
    parts: list[tuple[Row, Row]] = []
    options: dict[str, Any] = {"seed": seed, "folds": folds, "draws": draws}
    for block in blocks.blocks(scores):
        for readout in VALUES if block.keys["strategy"] in {*EVERY_POSITION, "recorded"} - {*DRAWN} else ():
            items, n_incomplete = items_of(block, readout, seed)
            if items is None:
                continue
            common = block.keys | {"readout": readout, "cluster": "group", "n_incomplete": n_incomplete}
            common |= {"n_items": len(items.values), "n_clusters": int(items.group.max()) + 1}
            common["n_orderings"] = items.scale.size
            name = "/".join(map(str, block.key))
            rows = _rows(items, name, targets, 1 - level, confidence, options)
            parts += [(common | shared, columns) for shared, columns in rows]
    columns = [*KEYS, "readout", "cluster", "rule", "goal", "target", "k", "quantity", "estimate", "ci_low", "ci_high"]
    columns += ["n_learning", "factor", "n_orderings", "n_items", "n_incomplete", "n_clusters", "method"]
    table = tidy.join_parts(parts, columns, {"n_learning": "float64"})
    return table.assign(level=level, confidence=confidence, seed=seed)


def items_of(block: blocks.Block, readout: Readout, seed: int) -> tuple[Items | None, int]:
    """Items with a score in every ordering (None where `lay_out` gives None), and the number of other items."""
    laid = lay_out(block, readout)
    if laid is None:
        return None, len(block.items)
    chosen = block.items[laid.rows]
    keys = [(block.keys["dataset"], item, block.n) for item in chosen["item_id"]]
    order = stopping.orders(seed, keys, len(laid.orderings))
    cell = chosen.groupby([laid.group, chosen["criterion"].astype(str).to_numpy()]).ngroup().to_numpy()
    scale = Scale(len(laid.orderings), 1, block.n)
    return Items(laid.values, order, laid.group, cell, scale, readout == Readout.HARD), int((~laid.rows).sum())


class Sequences(NamedTuple):
    """Confidence sequences.

    Attributes:
        ends: interval of each item after each read, shape (m, N, 2).
        places: the same, simultaneous over the candidates of a group and criterion.
        tracks: mean of the reads so far, shape (m, N).
    """

    ends: np.ndarray
    places: np.ndarray
    tracks: np.ndarray


def sequences_of(items: Items, alpha: float) -> Sequences:
    reads, options = items.read, {**items.scale._asdict(), "whole": items.whole}
    ends, places = (
        sequences.intervals(reads, alpha=part, **options)
        for part in (alpha, alpha / np.bincount(items.cell)[items.cell])
    )
    return Sequences(ends, places, np.cumsum(reads, axis=1) / np.arange(1, reads.shape[1] + 1))


def sequence_outcome(items: Items, walk: Sequences, goal: Goal) -> Outcome:
    widths = walk.ends[..., 1] - walk.ends[..., 0]
    places = walk.places if goal.place else None
    stops = stopping.stop(widths, items.scale.size, goal.target, stopping.grouped(items.cell), places=places)
    claimed = boundary.Claims(stops, stops.taken(walk.tracks), *stops.taken(walk.ends).T)
    return Outcome(claimed, walk.tracks)


def learnt_outcome(items: Items, goal: Goal, name: str, *, seed: int, folds: int, draws: int) -> Outcome:
    """Outcome of rules that are learnt from the other folds of groups."""
    count = int(items.group.max()) + 1
    fold = resampling.folds(count, folds, seed=seed, name=name)[items.group]
    m = len(items.values)
    tracks, numbers = np.full(items.values.shape, np.nan), np.full((3, m), np.nan)
    stops, learnt = stopping.Stops(np.zeros(m, dtype=int), np.zeros(m, dtype=int)), []
    for one in np.unique(fold):
        others, held_out = items.only(fold != one), items.only(fold == one)
        rng = randomness.generator(seed, "adaptive budget", name, int(one))
        rule = boundary.learn(others.values, others.group, others.cell, items.scale, goal, draws=draws, rng=rng)
        walk = boundary.paths(held_out.read, rule.offsets[held_out.order], rule.spread, items.scale)
        claims = boundary.claims(walk, rule.factor, goal, items.scale, stopping.grouped(held_out.cell))
        rows = fold == one
        for column, part in zip(stops, claims.stops, strict=True):
            column[rows] = part
        numbers[:, rows] = claims.estimate, claims.low, claims.high
        tracks[rows] = walk.estimate
        learnt.append((rule.factor, rule.n_groups))
    factor, groups = np.mean(learnt, axis=0)
    claimed = boundary.Claims(stops, *numbers)
    return Outcome(claimed, tracks, float(factor), float(groups))


def _rows(
    items: Items, name: str, targets: Sequence[float], alpha: float, confidence: float, options: dict[str, Any]
) -> Iterator[tuple[Row, Row]]:
    several = int(items.group.max()) > 0
    if not several:
        log.warning("%s: one group; nothing can be learnt from others", name)
    walk = sequences_of(items, alpha)
    for number, target in enumerate(targets):
        for word, place in GOALS.items():
            goal = Goal(float(target), place, alpha)
            outcomes = {SEQUENCE: sequence_outcome(items, walk, goal)}
            if several:
                outcomes[LEARNT] = learnt_outcome(items, goal, name, **options)
            for rule, outcome in outcomes.items():
                shared = {"rule": rule, "goal": word, "target": goal.target}
                shared |= {"factor": outcome.factor, "n_learning": outcome.n_learning}
                yield from _quantities(items, outcome, goal, shared, confidence)
                if number == 0 and not place:
                    yield _fixed(items, outcome, FIXED if rule == SEQUENCE else FIXED_LEARNT, confidence)


def _fixed(items: Items, outcome: Outcome, rule: str, confidence: float) -> tuple[Row, Row]:
    errors = (outcome.tracks - items.truth[:, None]) ** 2
    sums = resampling.left_out_sums(np.column_stack([np.ones(len(errors)), errors]), items.group)
    with np.errstate(invalid="ignore"):  # one group that is left out
        rmse = np.sqrt(sums[:, 1:-1] / sums[:, :1])  # without all reads, whose error is 0
    interval = resampling.jackknife_t(rmse, confidence, sizes=resampling.part_sizes(items.group))
    columns = {"k": np.arange(1, errors.shape[1]), "estimate": interval.estimate}
    columns |= {"ci_low": np.maximum(interval.low, 0), "ci_high": interval.high}
    shared = {"rule": rule, "quantity": "rmse", "n_learning": outcome.n_learning, "method": _METHOD}
    return shared, columns


_METHOD = "jackknife over groups, Student's t"


def _quantities(
    items: Items, outcome: Outcome, goal: Goal, shared: Row, confidence: float
) -> Iterator[tuple[Row, Row]]:
    claimed, truth = outcome.claims, items.truth
    stops = claimed.stops
    held = (claimed.low <= truth + _ROUNDING) & (truth <= claimed.high + _ROUNDING)
    early = stops.reads < items.scale.size
    placed = np.flatnonzero(stops.reason == stopping.PLACE)
    right = np.full(len(truth), np.nan)
    right[placed] = boundary.right_places(claimed.estimate, truth, stopping.grouped(items.cell), placed)
    counted = {
        "coverage": held,
        "coverage_early": np.where(early, held, np.nan),
        "stopped_width": stops.reason == stopping.WIDTH,
        "stopped_place": stops.reason == stopping.PLACE,
        "read_all": stops.reason == stopping.ALL,
        "place_right": right,
    }
    for quantity, values in counted.items():
        if not np.isnan(values.astype(float)).all():
            ratio = shares.share(values, items.group, confidence)
            row = {"quantity": quantity, "method": "Korn and Graubard over groups"}
            yield shared | row, ratio.interval.columns()
    sizes = resampling.part_sizes(items.group)
    for quantity, (values, bounds) in _compared(items, outcome, goal).items():
        if not np.isnan(values[0]):
            interval = resampling.jackknife_t(values, confidence, sizes=sizes).interval.columns()
            ends = {name: float(np.clip(interval[name], *bounds)) for name in ("ci_low", "ci_high")}
            yield shared | {"quantity": quantity, "method": _METHOD}, interval | ends


def _compared(items: Items, outcome: Outcome, goal: Goal) -> dict[str, tuple[np.ndarray, tuple[float, float]]]:
    claimed, truth, size = outcome.claims, items.truth, items.scale.size
    fixed = outcome.tracks - truth[:, None]
    measures = np.column_stack([claimed.stops.reads, (claimed.estimate - truth) ** 2])
    half = goal.target / 2 + _ROUNDING
    out = np.abs(claimed.estimate - truth) > half
    table = np.column_stack([np.ones(len(truth)), measures, out, fixed**2, np.abs(fixed) > half]).astype(float)
    sums = resampling.left_out_sums(table, items.group)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums[:, 1:] / sums[:, :1]
        reads, square, outside = means[:, :3].T
        squares, outsides = np.split(means[:, 3:], 2, axis=1)
        rmse, rmse_fixed = np.sqrt(square), np.sqrt(_at(squares, reads))
        reads_fixed = _reads_of(squares, square)
        ratio = rmse / rmse_fixed
    anything, share = (0.0, np.inf), (0.0, 1.0)
    return {
        "reads": (reads, (1.0, float(size))),
        "spared": (1 - reads / size, share),
        "rmse": (rmse, anything),
        "rmse_fixed": (rmse_fixed, anything),
        "rmse_ratio": (ratio, anything),
        "outside": (outside, share),
        "outside_fixed": (_at(outsides, reads), share),
        "reads_fixed": (reads_fixed, (1.0, float(size))),
        "saved": (1 - reads / reads_fixed, (-np.inf, 1.0)),
    }


def _at(table: np.ndarray, reads: np.ndarray) -> np.ndarray:
    low = np.clip(np.floor(np.nan_to_num(reads)).astype(int), 1, table.shape[1])
    high = np.minimum(low + 1, table.shape[1])
    rows = np.arange(len(table))
    return table[rows, low - 1] + (reads - low) * (table[rows, high - 1] - table[rows, low - 1])


def _reads_of(table: np.ndarray, value: np.ndarray) -> np.ndarray:
    falling = np.minimum.accumulate(table, axis=1)
    above = np.minimum((falling > value[:, None]).sum(axis=1), table.shape[1] - 1)
    rows, before = np.arange(len(table)), np.maximum(above, 1) - 1
    start, end = falling[rows, before], falling[rows, before + 1]
    part = np.where(start > end, (start - value) / np.where(start > end, start - end, 1), 0.0)
    return np.where(above == 0, 1.0, before + 1 + np.clip(part, 0, 1))
