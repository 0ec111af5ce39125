"""Drift of a judge from a baseline over the runs of a gate, which read the same items in the same orderings.

Tests compare means of groups, distances of groups from the baseline (changes that cancel), and single groups, between
the last runs and those before, by permuting runs within groups, beside the variance between runs (`run_changes`). All
tests of all runs of a gate share `LEVEL`.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.cards.anchors import Anchors
from rubric_order.extras.gate import run_changes

LEVEL = 0.05  # of all tests of all runs of a gate together
DAILY = 0.0075  # standard deviation of shocks to whole runs that is allowed for, as a part of a quantity's range
MARGIN = 0.0025  # a change that is shown to be smaller, as a part of the range, is negligible
REUSED = 1e-4  # level of the test that answers of earlier runs are used again
SINGLE = (14, 28)  # counts of last runs, with as many before, in which single groups are tested
SCORE, ORDER, ENDS, FAILED, DISTANCE, GROUP = "score", "order", "ends", "failed", "distance", "group"
POINTS, SHARE = "points", "share"
QUANTITIES = {
    SCORE: ("mean score", POINTS),
    ORDER: ("usual ordering less all orderings", POINTS),
    ENDS: ("first less last position", SHARE),
    FAILED: ("reads without a score", SHARE),
    DISTANCE: ("distance of groups from the baseline", POINTS),
    GROUP: ("mean score of a single group", POINTS),
}  # in words, and their units
READ_AS: dict[str, str] = {Readout.HARD: "", Readout.SOFT: " (probabilities)"}


class Drift(NamedTuple):
    """Change of one quantity, mean of the `latest` runs less mean of those before, from the comparison with the
    smallest p.

    `n_runs` includes the baseline, but for distances. `low`, `high`, `p`: level and adjustment are shared by all
    quantities, comparisons and runs. `can_tell`: some change could be found. `margin`: largest change that is
    negligible.
    """

    quantity: str
    readout: str
    latest: int
    n_runs: int
    estimate: float
    low: float
    high: float
    p: float
    n_groups: int
    can_tell: bool
    margin: float = 0.0

    @property
    def changed(self) -> bool:
        """True if the test finds a change that is not shown to be negligible."""
        return self.p <= LEVEL and not self.negligible

    @property
    def negligible(self) -> bool:
        """True if the change is shown to be smaller than the margin."""
        return -self.margin <= self.low and self.high <= self.margin

    @property
    def same(self) -> bool:
        """True if all runs have the same values. Such runs do not say how far apart further runs could lie."""
        return self.estimate == 0 and self.low == self.high == 0

    @property
    def label(self) -> str:
        """The quantity in words."""
        return f"{QUANTITIES[self.quantity][0]}{READ_AS[self.readout]}"

    @property
    def words(self) -> str:
        """The change as people read it, with the runs that are compared."""
        if math.isnan(self.estimate):
            return "not known"
        if self.same:
            return f"the same in all {self.n_runs} runs"
        small = f", smaller than the margin of {self.margin:g}" if self.p <= LEVEL and self.negligible else ""
        sense = ("nearer" if self.estimate < 0 else "farther") + " than before, " if self.quantity == DISTANCE else ""
        return f"{sense}{self.size}, {self.compared}, {self.p_words}{small}"

    @property
    def size(self) -> str:
        """Estimate and interval as people read them."""
        if math.isnan(self.estimate):
            return "not known"
        unit = QUANTITIES[self.quantity][1]
        scale, form, sign = (1.0, ".3f", "points") if unit == POINTS else (100.0, ".1f", "percentage points")
        ends = [f"{scale * value:+z{form}}" for value in (self.estimate, self.low, self.high)]
        return f"{ends[0]} [{ends[1]}, {ends[2]}] {sign}"

    @property
    def p_words(self) -> str:
        """The adjusted p-value as people read it."""
        return "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}" if self.p < 1 else "p = 1"

    @property
    def compared(self) -> str:
        """The runs that are compared, in words."""
        before = self.n_runs - self.latest
        last = "this run" if self.latest == 1 else f"the last {self.latest} runs"
        if self.quantity == DISTANCE:
            return f"{last} and the {_runs(before)} since the baseline"
        if before == 1:
            return f"{last} and the baseline"
        return f"{last} and the {_runs(before)} before"


def drifts(
    baseline: Anchors,
    runs: Sequence[Anchors],
    *,
    n_cards: int = 1,
    check: int | None = None,
    levels: int = 10,
    intervals: bool = True,
) -> list[Drift]:
    """Drift of each quantity after the last of the runs, oldest first; distances need two runs, single groups more.

    The tests of `n_cards` cards share `LEVEL`, and those of all checks, by their number from 1 (None: one check only).
    `levels` bounds changes in points.
    """
    if not runs:
        raise ValueError("expected a run after the baseline")
    series = dict(_series([baseline, *runs]))
    tests = {key: _windows(key[1], len(values)) for key, values in series.items()}
    n_tests = n_cards * sum(_sides(quantity) * len(windows) for (_, quantity), windows in tests.items())
    share = (1.0 if check is None else run_changes.spending(check)) / max(n_tests, 1)
    weights: np.ndarray = baseline.items.astype(float)
    return [
        _drift(key, values, weights, tests[key], share, levels, intervals)
        for key, values in series.items()
        if tests[key]
    ]


def reused(baseline: Anchors, runs: Sequence[Anchors]) -> bool:
    """True if the last runs have answers of earlier runs, beyond chance: they are not new reads."""
    scores = [values for (_, quantity), values in _series([baseline, *runs]) if quantity == SCORE]
    weights: np.ndarray = baseline.items.astype(float)
    return bool(scores) and run_changes.reused(scores[-1], weights) <= REUSED


def moved(baseline: Anchors, runs: Sequence[Anchors], drift: Drift) -> np.ndarray:
    """Change of each group between the runs that a drift compares (of its mean score for distances), shape
    (n_groups,).
    """
    quantity = SCORE if drift.quantity in (DISTANCE, GROUP) else drift.quantity
    values = _stacked([baseline, *runs], (drift.readout, quantity))
    return _mean(values[-drift.latest :]) - _mean(values[: -drift.latest])


def _mean(values: np.ndarray) -> np.ndarray:
    """Over runs, shape (n_groups,)."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)


def _sides(quantity: str) -> int:
    """Sides of the test: one for a distance, which can only grow."""
    return 1 if quantity == DISTANCE else 2


def _windows(quantity: str, n_runs: int) -> list[int]:
    """Counts of last runs that are compared with those before."""
    if quantity == GROUP:
        return [count for count in SINGLE if run_changes.ENOUGH * count <= n_runs]
    return run_changes.latest(n_runs)


def _drift(
    key: tuple[str, str],
    values: np.ndarray,
    weights: np.ndarray,
    windows: list[int],
    share: float,
    levels: int,
    intervals: bool,
) -> Drift:
    """Comparison that has the smallest p-value for a quantity; on a tie, the comparison with most runs at the end."""
    readout, quantity = key
    span = {POINTS: levels - 1.0, SHARE: 1.0}[QUANTITIES[quantity][1]]
    daily: float | None = DAILY * span
    if quantity == GROUP:
        group, share = _least_likely(values, windows), share / values.shape[1]
        values, weights, daily = values[:, [group]], np.ones(1), None  # permuting a group's runs permutes their shocks
    differences = [run_changes.difference(values, weights, latest, daily=daily) for latest in reversed(windows)]
    one_sided = [diff.greater if quantity == DISTANCE else min(diff.greater, diff.less) for diff in differences]
    best = int(np.argmin(one_sided))
    chosen = differences[best]
    reach = span * (1.0 if quantity in (SCORE, FAILED, GROUP) else 2.0)
    ends = math.nan, math.nan
    if intervals:
        ends = run_changes.interval(values, weights, chosen.latest, 2 * LEVEL * share, reach=reach, daily=daily)
    least = min(run_changes.smallest(len(values), diff.latest, diff.n_groups) for diff in differences)
    return Drift(
        quantity,
        readout,
        chosen.latest,
        len(values),
        chosen.estimate,
        *ends,
        min(1.0, one_sided[best] / share),
        chosen.n_groups,
        quantity == GROUP or least / share <= LEVEL,
        MARGIN * span,
    )


def _least_likely(values: np.ndarray, windows: list[int]) -> int:
    return int(np.argmin(np.min([run_changes.single(values, latest) for latest in windows], axis=0)))


def _series(runs: Sequence[Anchors]) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Readout and quantity, with values of shape (n_runs, n_groups); distances have no row for the baseline."""
    keys = dict.fromkeys(key for run in runs for key in run.values)
    for key in keys:
        yield key, _stacked(runs, key)
    scores = [key for key in keys if key[1] == SCORE]
    if scores and len(runs) > 1:
        readout = scores[-1][0]  # probabilities, where they are known, hold less noise
        values = _stacked(runs, (readout, SCORE))
        yield (readout, DISTANCE), run_changes.distances(values)
        yield (readout, GROUP), values


def _stacked(runs: Sequence[Anchors], key: tuple[str, str]) -> np.ndarray:
    nothing = np.full(len(runs[0].items), np.nan)
    return np.stack([run.values.get(key, nothing) for run in runs])


def _runs(count: int) -> str:
    return "run" if count == 1 else f"{count} runs"
