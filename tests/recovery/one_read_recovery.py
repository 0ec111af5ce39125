"""Methods for one read or few: calibration, corrected means, adaptive reading and advice, where their truth is known.

    python tests/recovery/one_read_recovery.py --studies 200 [--only WORD ...]

Each cell is a simulator of its own. Judges are softmax rules of an item's worth and of positions; truths are
expectations over their probabilities, or means over many more groups, by no estimator of the project. `before` is what
the version of 27 November 2026 found in the same cells.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order.base import permutations
from rubric_order.base.errors import InputError
from rubric_order.extras.one_read.library import calibration as library
from rubric_order.extras.one_read.methods import corrected
from rubric_order.extras.one_read.methods.adaptive import boundary, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Goal, Scale
from rubric_order.extras.one_read.methods.advice import goals, variances
from rubric_order.extras.one_read.methods.advice.variances import Shape
from rubric_order.extras.one_read.methods.calibration import learning
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods.agreement import halves
from rubric_order.methods.position import preference
from rubric_order.prompts import orderings

SHOWN = orderings.balanced(5)
PLACES = permutations.positions_of(SHOWN) - 1
FIRST, NOTHING = np.array([1.5, 0.5, 0.0, -0.5, -1.0]), np.zeros(5)
APART = 0.9  # latent distance of two systems
BEFORE = {  # by setting, groups and quantity
    ("two systems, prefers the first, middle", 40, "calibrated difference of systems / raw one"): 0.317,
    ("two systems, prefers the first, middle", 40, "calibrated difference of systems, coverage"): 0.0,
    ("two systems, prefers the first, middle", 40, "calibrated mean less balanced mean"): -0.121,
    ("two systems, prefers the first, decisive", 40, "calibrated difference of systems / raw one"): 0.649,
    ("two systems, prefers the first, decisive", 40, "calibrated difference of systems, coverage"): 0.0,
    ("two systems, prefers the first, decisive", 40, "calibrated mean less balanced mean"): -0.069,
    ("no common taste", 3, "calibrated error / raw"): 1.025,
    (
        "no common taste, one group has half",
        3,
        "calibrated error / raw",
    ): 1.054,
    ("no common taste", 5, "calibrated error / raw"): 1.014,
    (
        "no common taste, one group has half",
        5,
        "calibrated error / raw",
    ): 1.055,
    ("no common taste", 10, "calibrated error / raw"): 1.005,
    (
        "no common taste, one group has half",
        10,
        "calibrated error / raw",
    ): 1.052,
    ("labels at random", 300, "corrected mean, coverage"): 0.965,
    ("large groups are unlike small ones", 60, "claims right, by group"): 0.956,
    ("large groups are unlike small ones", 60, "claims right, by text"): 0.864,
    ("large groups are unlike small ones", 200, "claims right, by group"): 0.956,
    ("large groups are unlike small ones", 200, "claims right, by text"): 0.86,
    ("large groups like small ones", 200, "claims right, by group"): 0.957,
    ("large groups like small ones", 200, "claims right, by text"): 0.957,
    ("unequal groups, 25 labelled", 300, "share of labels"): 0.482,
    ("pilot of 30 groups", 30, "advised study misses its target by more than 2%"): 0.483,
    ("pilot of 30 groups", 30, "advised study misses its target by a fifth"): 0.073,
    ("pilot of 30 groups", 30, "interval of the predicted half-width, coverage"): 0.923,
    ("pilot of 60 unequal groups", 60, "advised study misses its target by more than 2%"): 0.547,
    ("pilot of 60 unequal groups", 60, "advised study misses its target by a fifth"): 0.133,
    ("pilot of 60 unequal groups", 60, "interval of the predicted half-width, coverage"): 0.877,
}


@dataclass(frozen=True)
class Cell:
    """One kind of study.

    Attributes:
        setting: what is special about it.
        simulate: makes one study and returns its quantities; NaN where a study shows nothing of one.
        targets: target of each quantity.
    """

    setting: str
    n_groups: int
    simulate: Callable[[np.random.Generator], dict[str, float]]
    targets: dict[str, float | str]


# Judges.


def probabilities(worth: np.ndarray, taste: np.ndarray, sharp: float, noise: np.ndarray | float = 0.0) -> np.ndarray:
    """Probability of the option at each position of each ordering, shape (m, 10, 5); `taste` per item or for all."""
    utility = -sharp * (SHOWN - worth[:, None, None]) ** 2 + np.reshape(taste, (-1, 1, 5)) + noise
    weights = np.exp(utility - utility.max(axis=2, keepdims=True))
    return weights / weights.sum(axis=2, keepdims=True)


def drawn(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Written score of each read, shape (m, D)."""
    place = (rng.random(shares.shape[:-1])[..., None] > shares.cumsum(axis=-1)).sum(axis=-1).clip(0, 4)
    return np.take_along_axis(np.broadcast_to(SHOWN[: shares.shape[1]], shares.shape), place[..., None], axis=2)[
        ..., 0
    ].astype(float)


def learnt(shares: np.ndarray, group: np.ndarray, written: np.ndarray | None) -> Calibration:
    """Calibration from reads in all orderings: of written scores if there are any, else of probabilities."""
    items, soft, hard = np.bincount(group), None, None
    if written is None:
        places = np.broadcast_to(PLACES, shares.shape)
        by_score = np.take_along_axis(shares, places, axis=2)
        soft = learning.soft_sums(preference.compare_probabilities(by_score, places, group))
    else:
        hard = learning.hard_sums(written, SHOWN, halves.halves(SHOWN).targets(written), group)
    return learning.learn(learning.Evidence(5, soft, hard, items, 10 * items), np.arange(len(items)))


# Calibrated written scores: two systems in each group.


def systems(
    groups: int, rng: np.random.Generator, *, sharp: float, level: float = 2.9
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the items of new groups, and the group of each; even items are of the better system."""
    group = np.repeat(np.arange(groups), 2)
    worth = level + APART / 2 * np.tile([1, -1], groups) + rng.normal(0, 0.4, groups)[group]
    return probabilities(worth + rng.normal(0, 0.5, 2 * groups), FIRST, sharp), group


@cache
def balanced_truth(sharp: float) -> tuple[float, float]:
    """Difference of the systems, and mean, by expected scores over all orderings, in 20,000 groups."""
    shares, _ = systems(20_000, np.random.default_rng(1), sharp=sharp)
    mean = (shares * SHOWN).sum(axis=2).mean(axis=1)
    return float(mean[::2].mean() - mean[1::2].mean()), float(mean.mean())


def written(rng: np.random.Generator, *, sharp: float, groups: int = 40, new: int = 150) -> dict[str, float]:
    shares, group = systems(groups, rng, sharp=sharp)
    calibration = learnt(shares, group, drawn(shares, rng))
    shares, group = systems(new, rng, sharp=sharp)
    usual = drawn(shares[:, :1], rng)[:, 0]
    shown = np.broadcast_to(SHOWN[0], (len(usual), 5))
    difference, mean = balanced_truth(sharp)
    found = {}
    for word, regression in (("raw", None), ("calibrated", False), ("regressed", True)):
        scores = usual if regression is None else calibration.calibrate_scores(usual, shown, regression=regression)
        own = scores[::2] - scores[1::2]
        low, high = stats.t.interval(0.95, new - 1, own.mean(), stats.sem(own))
        found[f"{word} difference of systems / raw one"] = float(own.mean() / (usual[::2] - usual[1::2]).mean())
        found[f"{word} difference of systems, coverage"] = float(low <= difference <= high)
        found[f"{word} mean less balanced mean"] = float(scores.mean() - mean)
    return found


# Used elsewhere.


def elsewhere(rng: np.random.Generator, *, level: float, groups: int = 30, new: int = 60) -> dict[str, float]:
    shares, group = systems(groups, rng, sharp=1.0, level=2.0)
    own = learnt(shares, group, drawn(shares, rng))
    shares, _ = systems(new, rng, sharp=1.0, level=level)
    scores = drawn(shares[:, :1], rng)[:, 0]
    shown = np.broadcast_to(SHOWN[0], (len(scores), 5))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        library.Calibrations({"judge": own}).scores(shown, scores=scores)
    try:
        library.Calibrations({"judge": own}).scores(shown, scores=scores, regression=True)
        refused = False
    except InputError:
        refused = True
    word = "like texts: warned" if level == 2.0 else "other texts: warned, and regression refused"
    return {word: float(bool(caught) and (refused or level == 2.0))}


# Calibrated probabilities of judges without a common preference.


def harm(
    rng: np.random.Generator, *, groups: int, taste: float, heavy: bool = False, common: np.ndarray = NOTHING
) -> dict[str, float]:
    def study(sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        group = np.repeat(np.arange(len(sizes)), sizes)
        worth = rng.normal(3, 0.5, len(sizes))[group] + rng.normal(0, 0.6, len(group))
        own = common + rng.normal(0, taste, (len(sizes), 5))[group]
        return probabilities(worth, own, 1.0, rng.normal(0, 0.2, (len(group), 10, 5))), group

    shares, group = study(np.r_[2 * groups if heavy else 2, np.full(groups - 1, 2)])
    calibration = learnt(shares, group, None)
    shares, _ = study(np.ones(150, dtype=int))
    raw = (shares * SHOWN).sum(axis=2)
    values = calibration.calibrate_probabilities(shares, np.broadcast_to(SHOWN, shares.shape))
    truth = raw.mean(axis=1, keepdims=True)
    return {"calibrated error / raw": float(np.sqrt(((values - truth) ** 2).mean() / ((raw - truth) ** 2).mean()))}


# Corrected means.


def population(
    groups: int, rng: np.random.Generator, *, unequal: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """People's and the judge's scores, group of each item, and worth of each group; a judge with r about .75."""
    sizes = rng.choice([1, 1, 1, 1, 2, 2, 3, 30] if unequal else [4], groups)
    group = np.repeat(np.arange(groups), sizes)
    common = rng.normal(0, 0.7, groups)
    worth = 3 + common[group] + rng.normal(0, 0.5, len(group))
    human = worth + rng.normal(0, 0.3, len(group)) + rng.normal(0, 0.2, groups)[group]
    judge = worth + rng.normal(0, 0.6, len(group)) + rng.normal(0, 0.5, groups)[group]
    return human, judge, group, common


def labels(
    rng: np.random.Generator, *, labelled: int, chosen: float = 0.0, unequal: bool = False, groups: int = 300
) -> dict[str, float]:
    human, judge, group, common = population(groups, rng, unequal=unequal)
    chance = np.exp(chosen * common)
    some = rng.choice(groups, labelled, replace=False, p=chance / chance.sum())
    sums = corrected.sums(np.where(np.isin(group, some), human, np.nan), judge, group)
    found = corrected.corrected(sums, 0.95)
    alone = corrected.corrected(sums, 0.95, weight=0.0)
    word = "labels not at random: seen" if chosen else "labels at random: flagged"
    interval = found.interval
    return {
        word: float(corrected.selection(sums, 0.95).p < 0.05),
        "corrected mean, coverage": float(interval.low <= 3.0 <= interval.high),
        "share of labels": corrected.worth(sums, 0.95).share.estimate,
        "corrected": interval.estimate,
        "alone": alone.interval.estimate,
    }


# Adaptive reading: small groups whose reads agree, and large groups whose reads do not.

SCALE = Scale(10, 1, 5)
ADAPTIVE = Goal(1.0, False, 0.05)


def adaptive(rng: np.random.Generator, *, groups: int, unlike: bool, large: int = 12) -> dict[str, float]:
    def study(count: int) -> tuple[np.ndarray, np.ndarray]:
        sizes = np.where(rng.random(count) < 0.15, large, 1)
        group = np.repeat(np.arange(count), sizes)
        sharp = np.where(sizes > 1, 0.35, 3.0 if unlike else 0.35)[group, None, None]
        return drawn(probabilities(rng.normal(3, 0.8, len(group)), FIRST, sharp), rng), group  # type: ignore[arg-type]

    old, old_group = study(groups)
    new, group = study(60)
    rule = boundary.learn(old, old_group, old_group, SCALE, ADAPTIVE, draws=4, rng=rng)
    order = rng.permuted(np.tile(np.arange(10), (len(new), 1)), axis=1)
    walk = boundary.paths(np.take_along_axis(new, order, axis=1), rule.offsets[order], rule.spread, SCALE)
    claimed = boundary.claims(walk, rule.factor, ADAPTIVE, SCALE, stopping.grouped(group))
    wrong = boundary.wrong(claimed, new.mean(axis=1), stopping.grouped(group))
    by_group = np.bincount(group, wrong) / np.bincount(group)
    return {"claims right, by group": 1 - by_group.mean(), "claims right, by text": 1 - wrong.sum() / len(wrong)}


# Advice: a mean score whose error is known from the variances that were planted.


def advised(rng: np.random.Generator, *, groups: int, unequal: bool, target: float = 0.15) -> dict[str, float]:
    sizes = np.tile([1, 1, 2, 2, 3, 7] if unequal else [2], groups)[:groups]
    shared, own = 0.6, 1.0
    values = np.repeat(shared * rng.normal(size=groups), sizes) + own * rng.normal(size=sizes.sum())
    unit = np.repeat(np.arange(groups), sizes)
    asked = goals.Asked(goals.MEAN, 0.95, goals.Margins(0.1, 0.2, 0.1), None, 1)
    sums = variances.left_out(variances.unit_sums((values - values.mean())[:, None], unit))
    of = goals.mean_predictor(asked, sizes, variances.parts(sums).mean(), 0.0)
    shape = Shape.of(sizes)

    def right(count: float) -> float:
        error = (shared**2 * shape.inequality + own**2 / shape.items) / count
        df = max(count * shape.freedom - 1, 1)
        return float(stats.t.ppf((1 + asked.confidence) / 2, df) * np.sqrt(error))

    needed = goals.groups_needed(of, shape, target)
    low, high = of.interval(shape, 100)
    return {
        "advised study misses its target by more than 2%": float(right(needed) > 1.02 * target),
        "advised study misses its target by a fifth": float(right(needed) > 1.2 * target),
        "interval of the predicted half-width, coverage": float(low <= right(100) <= high),
    }


def cells() -> list[Cell]:
    """All settings."""
    near = {"calibrated difference of systems / raw one": 1.0, "calibrated difference of systems, coverage": "95%"}
    near |= {"calibrated mean less balanced mean": 0.0}
    made = [
        Cell(f"two systems, prefers the first, {word}", 40, partial(written, sharp=sharp), near)
        for word, sharp in (("middle", 0.6), ("decisive", 2.0))
    ]
    made += [
        Cell(
            "learnt on low scores, applied to high ones",
            30,
            partial(elsewhere, level=4.2),
            {"other texts: warned, and regression refused": "power"},
        ),
        Cell(
            "learnt on low scores, applied to such",
            30,
            partial(elsewhere, level=2.0),
            {"like texts: warned": "at most 5%"},
        ),
    ]
    for groups in (3, 5, 10):
        for heavy in (False, True):
            word = "no common taste" + (", one group has half" if heavy else "")
            target: dict[str, float | str] = {"calibrated error / raw": 1.0}
            made.append(Cell(word, groups, partial(harm, groups=groups, taste=0.8, heavy=heavy), target))
    made += [
        Cell(
            "labels at random",
            300,
            partial(labels, labelled=60),
            {"labels at random: flagged": "at most 5%", "corrected mean, coverage": "95%"},
        ),
        Cell(
            "better groups labelled",
            300,
            partial(labels, labelled=60, chosen=0.8),
            {"labels not at random: seen": "power"},
        ),
        Cell(
            "unequal groups, 25 labelled",
            300,
            partial(labels, labelled=25, unequal=True),
            {"labels at random: flagged": "at most 5%", "share of labels": "share"},
        ),
    ]
    by = {"claims right, by group": "95%", "claims right, by text": "95%"}
    made += [
        Cell("large groups are unlike small ones", groups, partial(adaptive, groups=groups, unlike=True), by)
        for groups in (60, 200)
    ]
    missed: dict[str, float | str] = {"advised study misses its target by more than 2%": "at most 5%"}
    missed |= {"advised study misses its target by a fifth": "at most 5%"}
    missed |= {"interval of the predicted half-width, coverage": "95%"}
    made += [
        Cell(f"pilot of {groups} {word}groups", groups, partial(advised, groups=groups, unequal=bool(word)), missed)
        for groups, word in ((30, ""), (60, "unequal "))
    ]
    return [*made, Cell("large groups like small ones", 200, partial(adaptive, groups=200, unlike=False), by)]


def run(cell: Cell, studies: int, seed: int) -> pd.DataFrame:
    """Rows of a cell: mean of each quantity over studies."""
    rows = pd.DataFrame([cell.simulate(np.random.default_rng([seed, number])) for number in range(studies)])
    targets = dict(cell.targets)
    if targets.get("share of labels") == "share":
        targets["share of labels"] = float(rows["corrected"].var() / rows["alone"].var())
    common = {"setting": cell.setting, "n_groups": cell.n_groups, "studies": studies}
    return pd.DataFrame(
        common
        | {
            "quantity": name,
            "before": BEFORE.get((cell.setting, cell.n_groups, name), np.nan),
            "now": rows[name].mean(),
            "target": target,
        }
        for name, target in targets.items()
    )


def lines(studies: int, only: list[str]) -> Iterator[str]:
    """The rows of all cells as Markdown."""
    yield "| setting | groups | quantity | studies | before | now | target |"
    yield "|:--|--:|:--|--:|--:|--:|:--|"
    for number, cell in enumerate(cells()):
        if all(word in cell.setting for word in only):
            for row in run(cell, studies, number).itertuples():
                numbers = f"{row.before:.3f} | {row.now:.3f}"
                yield f"| {row.setting} | {row.n_groups} | {row.quantity} | {studies} | {numbers} | {row.target} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=[], help="words that the setting must hold")
    options = parser.parse_args()
    for line in lines(options.studies, options.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
