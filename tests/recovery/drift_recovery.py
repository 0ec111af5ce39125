"""Gates over years of daily runs: how often they alarm without a change, and how soon after one.

    python tests/recovery/drift_recovery.py [--years 100] [--days 365] [--only WORD] [--excluded]

A judge scores the same items every day in the ten balanced orderings of five levels. Its score is an item's quality
plus an effect of the ordering, what the day adds, and noise, rounded to a level; or the answer of an earlier day, used
again. The runs share no code with the simulated judge of the library. A change, where there is one, comes on day
`CHANGED` of a year. `before` is what the gate of an earlier version did in the same years.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.cards.anchors import Anchors
from rubric_order.extras.gate import drift, run_changes
from rubric_order.prompts import orderings

DAYS, CHANGED = 365, 100
LEVELS = 5
ROUNDING = 1e-12  # of differences that are 0
FAR = 4.0  # standard errors; the p-value of a single group that is nearer is no finding
POINTS = [name for name, (_, unit) in drift.QUANTITIES.items() if unit == drift.POINTS]
SMALL, POWER = "at most 5%", "power, no target"
COLUMNS = ["point", "setting", "n_groups", "quantity", "studies", "before", "now", "target"]
SHOWN = orderings.balanced(LEVELS)
EQUAL = (3,) * 60
UNEQUAL = (40,) * 6 + (2,) * 54


@dataclass(frozen=True)
class Cell:
    """A judge, a suite and a change.

    Attributes:
        title: in words.
        sizes: items of each group.
        noise: standard deviation of a read. shock: of what a run adds to all reads of a group.
        quality: lowest and highest quality of items.
        preference: what the first ordering adds to a score more than the last one.
        failing: share of reads without a score.
        shift: points that the change adds. part: share of the groups that it hits. mixed: whether it adds to every
            other
            of these and takes from the others.
        tilt: what the change adds to `preference`.
        changed: first day of the change.
        daily: standard deviation of what a day adds to all reads.
        reuse: share of reads that are answers of the day before, or of the baseline where `cached` is true.
        one: points that the change adds to a single group.
        days: days of the gate where it is a design of `unfavourable`; 0 where it is none.
        before: share of years with an alarm (with a change: found within 28 days) in an earlier version.
    """

    title: str
    sizes: tuple[int, ...] = EQUAL
    noise: float = 0.7
    shock: float = 0.0
    quality: tuple[float, float] = (1.0, 5.0)
    preference: float = 0.4
    failing: float = 0.0
    shift: float = 0.0
    part: float = 1.0
    mixed: bool = False
    tilt: float = 0.0
    changed: int = CHANGED
    daily: float = 0.0
    reuse: float = 0.0
    cached: bool = False
    one: float = 0.0
    days: int = 0
    before: float = math.nan

    @property
    def changes(self) -> bool:
        """True where the judge changes."""
        return bool(self.shift or self.tilt or self.one)


CELLS = (
    Cell("no change, 60 groups of 3 items", days=200, before=0.0),
    Cell("no change, a tenth of 60 groups of 40 items, the others of 2", sizes=UNEQUAL),
    Cell("no change, runs move whole groups", shock=0.5, sizes=UNEQUAL),
    Cell("no change, saturated: 1 read in 1,000 is no 5", quality=(5.95, 6.05), noise=0.5, preference=0.0),
    Cell("no change, saturated: 1 read in 30,000 is no 5", quality=(6.5, 6.5), noise=0.5, preference=0.0),
    Cell("no change, indecisive", noise=3.0),
    Cell("no change, deterministic", noise=0.0),
    Cell("no change, 2% of the reads fail", failing=0.02),
    Cell("no change, 10 groups of 3 items", sizes=(3,) * 10),
    Cell("no change, 90% of the answers are those of the day before", reuse=0.9, days=30, before=1.0),
    Cell("no change, 50% of the answers are those of the day before", reuse=0.5, days=30, before=0.17),
    Cell("no change, 90% of the answers are those of the baseline", reuse=0.9, cached=True, days=30, before=0.0),
    Cell("no change, days move all scores by 0.03 points", daily=0.03, days=60, before=0.44),
    Cell(
        "no change, days move all scores by 0.03 points, groups of 12 items",
        daily=0.03,
        sizes=(12,) * 60,
        days=60,
        before=1.0,
    ),
    Cell("1.5 points in a single group", one=1.5, days=128, before=0.45),
    Cell("0.05 points", shift=0.05, days=128, before=1.0),
    Cell("0.1 points", shift=0.1),
    Cell("0.2 points", shift=0.2),
    Cell("0.2 points in half of the groups", shift=0.2, part=0.5),
    Cell("0.2 points, unequal groups", shift=0.2, sizes=UNEQUAL),
    Cell("0.2 points, indecisive", shift=0.2, noise=3.0),
    Cell("0.2 points from the first run after the baseline on", shift=0.2, changed=1, days=29, before=1.0),
    Cell("0.5 points from the first run after the baseline on", shift=0.5, changed=1),
    Cell("0.1 points, 20 groups of 2 items", sizes=(2,) * 20, shift=0.1),
    Cell("0.2 points, 20 groups of 2 items", sizes=(2,) * 20, shift=0.2),
    Cell(
        "0.5 points from the first run after the baseline on, 20 groups of 2 items",
        sizes=(2,) * 20,
        shift=0.5,
        changed=1,
    ),
    Cell("saturated, then 1 read in 50 is no 5", quality=(5.95, 6.05), noise=0.5, preference=0.0, shift=-0.47),
    Cell("deterministic, 0.2 points in half of the groups", noise=0.0, shift=0.2, part=0.5),
    Cell(
        "deterministic, half a point up in a tenth of the groups, down in another",
        noise=0.0,
        shift=0.5,
        part=0.2,
        mixed=True,
    ),
    Cell("0.5 points up in half of the groups, down in the others", shift=0.5, mixed=True, days=128, before=1.0),
    Cell("the mean score in the first of the ten orderings, minus that in the last, rises by half a point", tilt=0.5),
)


def year(cell: Cell, rng: np.random.Generator, days: int = DAYS) -> dict[str, np.ndarray]:
    """Values of a year of runs after a baseline, as `drift` compares them.

    Returns:
        By quantity, shape (days + 1, n_groups); of the distance, shape (days, n_groups).
    """
    sizes = np.array(cell.sizes)
    starts = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(sizes)), sizes)
    quality = rng.uniform(*cell.quality, size=sizes.sum())
    n_reads = len(SHOWN)
    slope = np.linspace(0.5, -0.5, n_reads)
    hit = rng.permutation(len(sizes)) < round(cell.part * len(sizes))
    sign = np.where(np.cumsum(hit) % 2, 1.0, -1.0) if cell.mixed else 1.0
    of_runs = []
    scores: list[np.ndarray] = []
    for day in range(days + 1):
        after = cell.changes and day >= cell.changed
        mean = quality + (hit * sign * cell.shift * after)[group] + cell.one * after * (group == 0)
        mean = mean + cell.shock * rng.normal(size=len(sizes))[group]
        if cell.daily:
            mean = mean + cell.daily * rng.normal()
        tilt = (cell.preference + cell.tilt * after) * slope
        latent = mean[:, None] + tilt + cell.noise * rng.normal(size=(len(mean), n_reads))
        score = np.minimum(np.maximum(np.rint(latent), 1), LEVELS)
        if cell.reuse and scores:
            score = np.where(rng.random(score.shape) < cell.reuse, scores[0 if cell.cached else -1], score)
        scores = [*scores[:1], score]
        ends = (score == SHOWN[:, 0]) * 1.0 - (score == SHOWN[:, -1])
        scored = (rng.random(score.shape) >= cell.failing) * 1.0
        n_scored, usual = scored.sum(axis=1), scored[:, 0]
        with np.errstate(invalid="ignore"):  # an item without a score
            item, item_ends = (score * scored).sum(axis=1) / n_scored, (ends * scored).sum(axis=1) / n_scored
        away = np.where(usual, score[:, 0] - item, 0.0)
        of_items = np.stack([item, away, usual, item_ends, (n_reads - n_scored) / n_reads])
        of_runs.append(np.add.reduceat(of_items, starts, axis=1))
    score, away, usual, ends, failed = np.stack(of_runs, axis=1)
    with np.errstate(invalid="ignore"):  # a group without a score under the usual ordering
        means = {"score": score / sizes, "order": away / usual, "ends": ends / sizes, "failed": failed / sizes}
    series = {name: values.round(6) for name, values in means.items()}
    away = series["score"][1:] - series["score"][0]
    return series | {"distance": np.abs(away - np.median(away, axis=1, keepdims=True)).round(9)}


def near(values: np.ndarray, weights: np.ndarray, latest: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Tell whether differences are too near to 0 for a small p-value of `run_changes`, for each number of runs.

    Args:
        values: shape (n_runs, n_groups).
        weights: shape (n_groups,).
        latest: of each comparison the runs at the end of the first 2, 3, ... n_runs runs, shape (n_runs - 1,).
    """
    known = ~np.isnan(values)
    centred = np.where(known, values - np.nanmean(values, axis=0), 0.0)
    sums = [np.cumsum(part, axis=0) for part in (known * 1.0, centred, centred**2)]
    count, total, squares = (part[1:] for part in sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (squares - total**2 / count) / (count - 1) * count
    for runs in latest:
        before = np.arange(1, len(values)) - runs
        n_before, sum_before = (part[before] for part in sums[:2])
        n_after, sum_after = count - n_before, total - sum_before
        used = (n_before > 0) & (n_after > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.where(used, sum_after / n_after - sum_before / n_before, 0.0)
            variance = spread / (n_after * n_before)
        weight = weights * used
        weight = weight / weight.sum(axis=1, keepdims=True)
        size = (weight * apart).sum(axis=1)
        whole = (weight**2 * np.where(used, variance, 0.0)).sum(axis=1)
        yield np.abs(size) <= 0.999 * run_changes.NEAR * np.sqrt(np.maximum(whole, 0.0)) + ROUNDING


def first_alarm(series: dict[str, np.ndarray], sizes: tuple[int, ...]) -> tuple[int, str]:
    """Day of the first alarm of a gate and its quantity; 0 and empty where there is none.

    As `drift.drifts` decides, without its intervals.
    """
    weights = np.array(sizes, dtype=float)
    days = len(series["score"]) - 1
    far_groups = {latest: _far_groups(series["score"], latest) for latest in drift.SINGLE}
    # By quantity and place among the comparisons the days on which there may be a small p-value.
    windows = [run_changes.latest(n) for n in range(days + 2)]  # by number of runs
    places = range(max(map(len, windows)))
    padded = [np.array([at[min(place, len(at) - 1)] for at in windows[2:]]) for place in places]
    far: dict[str, list[np.ndarray]] = {}
    for name, values in series.items():
        far[name] = [~is_near for is_near in near(values, weights, [at[: len(values) - 1] for at in padded])]
    for day in range(1, days + 1):
        n_runs = {name: day + (name != "distance") for name in series}
        n_tests = sum((1 if name == "distance" else 2) * len(windows[n]) for name, n in n_runs.items())
        single = [latest for latest in drift.SINGLE if day > 1 and run_changes.ENOUGH * latest <= day + 1]
        level = drift.LEVEL * run_changes.spending(day) / (n_tests + 2 * len(single))
        for name, n in n_runs.items():
            for place, latest in enumerate(windows[n]):
                if not far[name][place][n - 2]:
                    continue
                daily = drift.DAILY * (LEVELS - 1 if name in POINTS else 1)
                difference = run_changes.difference(series[name][:n], weights, latest, daily=daily)
                p = difference.greater if name == "distance" else min(difference.greater, difference.less)
                if p <= level and is_new(series, weights, day):
                    return day, name
        for latest in single:
            if far_groups[latest][day]:
                p = run_changes.single(series["score"][: day + 1], latest).min()
                if p <= level / len(sizes) and is_new(series, weights, day):
                    return day, "group"
    return 0, ""


def is_new(series: dict[str, np.ndarray], weights: np.ndarray, day: int) -> bool:
    """Tell whether a gate takes the reads of a day for new ones."""
    return run_changes.reused(series["score"][: day + 1], weights) > drift.REUSED


def _far_groups(values: np.ndarray, latest: int) -> np.ndarray:
    """Tell for each day whether a group may have a small p-value: its last runs lie `FAR` standard errors apart."""
    count = np.arange(1, len(values) + 1)[:, None]
    total, squares = np.cumsum(values, axis=0), np.cumsum(values**2, axis=0)
    far = np.zeros(len(values), dtype=bool)
    n = count[2 * latest - 1 :]
    before = total[latest - 1 : -latest]
    apart = (total[2 * latest - 1 :] - before) / latest - before / (n - latest)
    variance = (squares[2 * latest - 1 :] - total[2 * latest - 1 :] ** 2 / n) / (n - 1)
    error = np.sqrt(np.maximum(variance, 0) * (1 / latest + 1 / (n - latest)))
    far[2 * latest - 1 :] = (np.abs(apart) > FAR * error + ROUNDING).any(axis=1)
    return far


def cells() -> list[Cell]:
    """The designs of `unfavourable`."""
    return [cell for cell in CELLS if cell.days]


def run(cell: Cell, studies: int, seed: int) -> pd.DataFrame:
    """Share of gates with an alarm, or that find the change within 28 days, as a row of `unfavourable`."""
    row = gates(cell, studies, seed, cell.days)
    quantity, now = ("found", row["within_28"]) if cell.changes else ("alarms", row["false"] / studies)
    numbers = cell.title, len(cell.sizes), quantity, studies, cell.before, now, POWER if cell.changes else SMALL
    return pd.DataFrame([["drift", *numbers]], columns=COLUMNS)


def gates(cell: Cell, years: int, seed: int = 1, days: int = DAYS) -> dict[str, Any]:
    """Alarms of a cell; of a judge that changes, shares found within so many runs after the change."""
    alarms = [
        first_alarm(year(cell, np.random.default_rng([seed, number]), days), cell.sizes) for number in range(years)
    ]
    alarmed = np.array([day for day, _ in alarms])
    row: dict[str, Any] = {"cell": cell.title, "years": years}
    if not cell.changes:
        return row | {"false": int((alarmed > 0).sum())}
    false = (alarmed > 0) & (alarmed < cell.changed)
    delay = np.where(alarmed >= cell.changed, alarmed - cell.changed, days)
    within = {f"within_{k}": float((delay[~false] < k).mean()) for k in (1, 7, 28)}
    by = pd.Series([name for day, name in alarms if day >= cell.changed]).mode()
    return row | {
        "false": int(false.sum()),
        **within,
        "median": float(np.median(delay[~false])) + 1,
        "by": "".join(by[:1]),
    }


def excluded(groups: int, days: int, seed: int = 1) -> float:
    """Largest drift of the mean score that a gate of a judge without a change does not exclude after some runs.

    Args:
        groups: of three items.
        days: runs after the baseline.
    """
    series = year(Cell("no change", sizes=(3,) * groups), np.random.default_rng([seed, groups]), days)
    runs = [
        Anchors(
            "suite",
            np.full(groups, 3),
            {("hard", name): series[name][day] for name in series if name != drift.DISTANCE},
        )
        for day in range(days + 1)
    ]
    score = drift.drifts(runs[0], runs[1:], check=days, levels=LEVELS)[0]
    return max(-score.low, score.high)


def main() -> None:
    """Print a row for each cell, or for each size of a suite the drift that it excludes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--excluded", action="store_true")
    options.add_argument("--years", type=int, default=100)
    options.add_argument("--days", type=int, default=DAYS)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    if chosen.excluded:
        for groups in (20, 30, 60, 120, 300):
            drifts = [excluded(groups, days, seed) for days in (1, 7, 28) for seed in range(9)]
            print({"groups": groups, "excluded": round(float(np.median(drifts)), 2)}, flush=True)
        return
    rows = []
    for cell in CELLS:
        if chosen.only in cell.title:
            rows.append(gates(cell, chosen.years, days=chosen.days))
            print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
