"""Corrected means of simulated people and judges whose means are known: coverage, width, and what breaks them.

    python tests/recovery/corrected_recovery.py [--studies 2000] [--only NAME ...] [--labelled 20 50]

A study has 400 groups, of which some are labelled. People and judges share what items are worth, and have effects of
groups of their own. Truths are means over 400,000 other groups, by no estimator. Systems a and b stand in every group;
people prefer a in some groups and b in others.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

import numpy as np

from rubric_order.extras.one_read.methods import corrected, pass_rates

GROUPS, CONFIDENCE, SEED = 400, 0.95, 20_261_125
LABELLED = (20, 50, 100, 200)
PASS = 3.0  # least score that passes
SCALE = (1.0, 5.0)


@dataclass(frozen=True)
class Population:
    """Groups of items, people and a judge.

    Attributes:
        sizes: numbers of items per system that groups have, each equally likely.
        worse_by: points by which items are worse for each item that a group has more than 2, up to 10.
        skill: correlation of the judge's opinions with what items are worth.
        level: what items are worth on average.
        exposed: share of the items of a labelled group that people score; "some" for 1, 2, ... at random.
        chosen: what makes a group likelier to be labelled: nothing, or what its items are worth.
        saturated: whether the judge gives everything the same score.
    """

    sizes: tuple[int, ...] = (2,)
    worse_by: float = 0.0
    skill: float = 0.8
    level: float = 3.2
    exposed: str = "all"
    chosen: float = 0.0
    saturated: bool = False


POPULATIONS = {
    "groups of 4": Population(),
    "single items": Population(sizes=(1,)),
    "unequal groups": Population(sizes=(1, 1, 1, 2, 2, 2, 3, 3, 5, 15)),
    "unequal groups, larger ones worse": Population(sizes=(1, 1, 1, 2, 2, 2, 3, 3, 5, 15), worse_by=0.1),
    "unequal exposure": Population(sizes=(4,), exposed="some"),
    "unequal groups and exposure": Population(sizes=(1, 1, 1, 2, 2, 2, 3, 3, 5, 15), exposed="some"),
    "weak judge": Population(skill=0.4),
    "judge by chance": Population(skill=0.0),
    "saturated judge": Population(saturated=True),
    "most pass": Population(level=4.2),
    "better groups labelled": Population(chosen=1.0),
}


@dataclass(frozen=True)
class Study:
    """Items of a study; people's scores are hidden where nobody gave any.

    Attributes:
        human, judge: scores, shape (m,). group, system: numbers from 0.
    """

    human: np.ndarray
    judge: np.ndarray
    group: np.ndarray
    system: np.ndarray


def draw(of: Population, groups: int, rng: np.random.Generator, *, judged: bool = True) -> tuple[Study, np.ndarray]:
    """Items of new groups with all of people's scores, and what each group is worth; the judge's only where wanted."""
    size = rng.choice(of.sizes, size=groups)
    group: np.ndarray = np.repeat(np.arange(groups), 2 * size)
    first = 2 * np.cumsum(size) - 2 * size
    system = (np.arange(len(group)) - first[group] >= size[group]).astype(int)
    common, preferred = rng.normal(0, 0.6, groups), rng.normal(0.2, 0.5, groups)
    worth = of.level - of.worse_by * np.minimum(size - 2, 8)[group] + common[group]
    worth = worth + np.where(system == 0, 0.5, -0.5) * preferred[group] + rng.normal(0, 0.6, len(group))
    raters = worth[:, None] + rng.normal(0, 0.6, (len(group), 3)) + rng.normal(0, 0.2, groups)[group, None]
    human = np.clip(np.round(raters), *SCALE).mean(axis=1)
    if not judged:
        return Study(human, human, group, system), of.level + common
    spread = worth - worth.mean()
    own = rng.normal(0, 0.7, groups)[group] + rng.normal(0, 0.7, len(group))
    opinion = 3.6 + of.skill * spread + np.sqrt(1 - of.skill**2) * own
    reads = opinion[:, None] + rng.normal(0, 0.4, (len(group), 10))
    judge = np.clip(np.round(reads), *SCALE).mean(axis=1)
    return Study(human, np.full(len(group), 5.0) if of.saturated else judge, group, system), of.level + common


def study(of: Population, labelled: int, rng: np.random.Generator) -> Study:
    """Study of which so many groups are labelled."""
    items, worth = draw(of, GROUPS, rng)
    chance = np.exp(of.chosen * (worth - worth.mean()))
    chosen = rng.choice(GROUPS, size=labelled, replace=False, p=chance / chance.sum())
    shown = np.isin(items.group, chosen)
    if of.exposed == "some":
        turn = rng.random(len(shown))
        cells = items.group * 2 + items.system
        order = np.lexsort((turn, cells))
        sizes = np.bincount(cells, minlength=2 * GROUPS)
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shown &= rank < rng.integers(1, np.maximum(sizes, 1) + 1)[cells]
    return replace(items, human=np.where(shown, items.human, np.nan))


@cache
def truth(of: Population) -> dict[str, float]:
    """Means of people over 400,000 groups, in parts."""
    sums = np.zeros((2, 3))
    for seed in range(20):
        items, _ = draw(of, 20_000, np.random.default_rng([SEED, seed]), judged=False)
        for system in (0, 1):
            own = items.human[items.system == system]
            sums[system] += own.sum(), (own >= PASS).sum(), len(own)
    both, means = sums.sum(axis=0), sums[:, 0] / sums[:, 2]
    rate = float(both[1] / both[2])
    return {
        "mean": float(both[0] / both[2]),
        "difference": float(means[0] - means[1]),
        "pass rate": rate,
        "Rogan-Gladen": rate,
    }


def estimates(of: Study) -> Iterator[tuple[str, str, corrected.Corrected | pass_rates.PassRate]]:
    """Target, estimator and what it says."""
    passed = np.where(np.isnan(of.human), np.nan, of.human >= PASS)
    verdict = (of.judge >= PASS).astype(float)
    sums = {
        "mean": (corrected.sums(of.human, of.judge, of.group), (1.0,), {"bounds": SCALE}),
        "difference": (
            corrected.sums(of.human, of.judge, of.group, of.system, 2),
            (1.0, -1.0),
            {"bounds": (-4.0, 4.0)},
        ),
        "pass rate": (corrected.sums(passed, verdict, of.group), (1.0,), {"bounds": (0.0, 1.0), "share": True}),
    }
    for target, (parts, contrast, options) in sums.items():
        for name, weight in (("labels", 0.0), ("corrected", None)):
            yield target, name, corrected.corrected(parts, CONFIDENCE, contrast=contrast, weight=weight, **options)
        yield target, "judge", corrected.judge_alone(parts, CONFIDENCE, contrast=contrast, **options)
    yield "Rogan-Gladen", "corrected", pass_rates.rogan_gladen(passed, verdict, of.group, CONFIDENCE)


def run(of: Population, labelled: int, studies: int, *, seed: int = SEED) -> list[dict[str, float | str]]:
    """Coverage, mean error and width of each estimator over studies; a row each."""
    right, cells = truth(of), {}
    for number in range(studies):
        rng = np.random.default_rng([seed, labelled, number])
        for target, name, estimate in estimates(study(of, labelled, rng)):
            interval = estimate.rate if isinstance(estimate, pass_rates.PassRate) else estimate.interval
            cells.setdefault((target, name), []).append(interval)
    rows = []
    for (target, name), intervals in cells.items():
        value, low, high = np.array(intervals).T
        told = ~np.isnan(low)
        row = {"target": target, "estimator": name, "told": told.mean(), "truth": right[target]}
        inside = (low[told] <= right[target]) & (right[target] <= high[told])
        row["coverage"] = float(inside.mean()) if told.any() else np.nan
        row["error"] = float((value[told] - right[target]).mean()) if told.any() else np.nan
        row["width"] = float((high - low)[told].mean()) if told.any() else np.nan
        row["variance"] = float(value[told].var()) if told.any() else np.nan
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--only", nargs="*", default=[*POPULATIONS])
    parser.add_argument("--labelled", nargs="*", type=int, default=LABELLED)
    arguments = parser.parse_args()
    heads = ["setting", "labelled groups", "what", "covers: labels", "corrected", "judge", "width: labels", "corrected"]
    print(f"| {' | '.join([*heads, 'told'])} |")
    print("|:--|--:|:--|--:|--:|--:|--:|--:|--:|")
    for name in arguments.only:
        for labelled in arguments.labelled:
            made = run(POPULATIONS[name], labelled, arguments.studies)
            rows = {(row["target"], row["estimator"]): row for row in made}
            for target in dict.fromkeys(key[0] for key in rows):
                own = {kind: rows.get((target, kind)) for kind in ("labels", "corrected", "judge")}
                covers = ["" if row is None else f"{100 * row['coverage']:.1f}%" for row in own.values()]
                widths = ["" if own[kind] is None else f"{own[kind]['width']:.3f}" for kind in ("labels", "corrected")]
                told = f"{100 * own['corrected']['told']:.1f}%"
                print(f"| {' | '.join([name, str(labelled), target, *covers, *widths, told])} |", flush=True)


if __name__ == "__main__":
    main()
