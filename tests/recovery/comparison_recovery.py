"""Comparisons that found a difference where there is none: what was reported before, and what is reported now.

Simulators of their own, which share no code with `rubric_order.simulation`. Formulas that were replaced are written out
here. `python tests/recovery/comparison_recovery.py --studies 200` prints a table in Markdown.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.analyses.position.judge_comparison import estimate as judge_comparison
from rubric_order.methods.position import prompt_effects, uniformity
from rubric_order.methods.uncertainty import cluster_robust, random_effects, resampling

CONFIDENCE, LEVEL = 0.95, 0.05
HALVINGS = 10
TOLERANCE = 0.75  # of the simulated judges, in points
LEVEL_TARGET, POWER_TARGET, COVERAGE_TARGET = "at most 5%", "as before", "95%"


class Cell(NamedTuple):
    """One setting of one point.

    Attributes:
        point: number of the defect. setting: in words. n_groups: of a study.
        simulate: makes one study and returns by quantity a pair: before and now, each whether something was found, or
            whether an interval holds the truth.
        target: by quantity, in words.
    """

    point: str
    setting: str
    n_groups: int
    simulate: Callable[[np.random.Generator], dict[str, tuple[float, float]]]
    target: dict[str, str]


def shares(opinion: np.ndarray, sure: np.ndarray | float, n: int) -> np.ndarray:
    """Probabilities of scores 1 to n (as values from 1 to 5) of a judge that thinks this of items."""
    weight = -np.asarray(sure)[..., None] * (np.linspace(1, 5, n) - opinion[..., None]) ** 2 / (2 * TOLERANCE**2)
    weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


def drawn(probabilities: np.ndarray, reads: int, rng: np.random.Generator) -> np.ndarray:
    """Scores from 1, shape (..., n) -> (..., reads)."""
    upper = probabilities.cumsum(axis=-1)[..., None, :-1]
    return 1.0 + (rng.random((*probabilities.shape[:-1], reads, 1)) > upper).sum(axis=-1)


# Rank reversal: two orders; the judge is `sure` times as decisive in the usual one.
QUALITIES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "normal": lambda rng, m, c: 0.5 * rng.normal(size=(m, 1)) + 0.87 * rng.normal(size=(m, c)),
    "two kinds": lambda rng, m, c: np.where(rng.random((m, c)) < 0.5, -1, 1) + 0.2 * rng.normal(size=(m, c)),
    "skewed": lambda rng, m, c: rng.exponential(1, size=(m, c)) - 0.5,
    "at the ceiling": lambda rng, m, c: 1.5 + 0.5 * rng.normal(size=(m, 1)) + 0.87 * rng.normal(size=(m, c)),
    "prompts unlike": lambda rng, m, c: np.exp(rng.normal(size=(m, 1)) - 0.5) * 0.87 * rng.normal(size=(m, c)),
}


def prompts_of(groups: int, unequal: bool) -> np.ndarray:
    """Number of each prompt's group: one prompt per group, or from 1 to 50 with a tenth of the groups large."""
    if not unequal:
        return np.arange(groups)
    large = max(2, groups // 10)
    return np.repeat(np.arange(groups), np.where(np.arange(groups) < large, np.linspace(10, 50, groups).astype(int), 1))


def reversal(
    rng: np.random.Generator,
    *,
    groups: int,
    n: int,
    reads: int,
    candidates: int,
    sure: float = 1.0,
    moved: float = 0.0,
    quality: str = "normal",
    unequal: bool = False,
) -> dict[str, tuple[float, float]]:
    """True where an excess was found.

    Args:
        moved: standard deviation of what the usual order adds to a candidate, in points: a real reversal.
    """
    unit = prompts_of(groups, unequal)
    opinion = 3 + QUALITIES[quality](rng, len(unit), candidates)
    there = rng.normal(size=opinion.shape) * moved
    usual = drawn(shares(opinion + there, sure, n), reads, rng).reshape(-1, reads)
    others = drawn(shares(opinion, 1.0, n), reads, rng).reshape(-1, reads)
    places = np.arange(opinion.size).reshape(opinion.shape)
    dealt = [np.zeros(reads, dtype=int), np.ones(reads, dtype=int)]
    same = np.zeros((reads, reads), dtype=bool)
    compared, _ = rank_reversal._compare(usual, others, places, dealt, same, HALVINGS, rng)
    parts = [compared[name] for name in rank_reversal.PARTS]
    now = rank_reversal._excess(parts, np.full(len(unit), candidates), unit, confidence=CONFIDENCE)
    found = {}
    for place, name in ((rank_reversal.TAU, "tau"), (rank_reversal.FLIP, "flips"), (rank_reversal.REVERSED, "pairs")):
        sign = -1 if name == "tau" else 1
        # Before: the mean of both noises, prompt by prompt.
        excess = sign * (parts[2] - (parts[0] + parts[1]) / 2)[:, place]
        known = ~np.isnan(excess)
        group = np.unique(unit[known], return_inverse=True)[1]
        sums = resampling.left_out_sums(np.column_stack([excess[known], np.ones(known.sum())]), group)
        mean = sums[:, 0] / sums[:, 1]
        p = resampling.jackknife_t(mean[:, None], CONFIDENCE).p[0]
        found[name] = float(mean[0] > 0 and p / 2 < LEVEL), float(now["p"][place] < LEVEL)
    return found


# Two judges with the same selection: reads of a group of one depend on each other, those of the other do not.
def selection(
    rng: np.random.Generator, *, groups: int, n: int, more: float, other: float | None = None, unequal: bool = False
) -> dict[str, tuple[float, float]]:
    """True where V is found to differ.

    Args:
        more: by how much of 1 / n the first position is selected more often, `other` by the second judge.
    """
    sizes = np.where(np.arange(groups) < max(2, groups // 10), 300, 20) if unequal else np.full(groups, 30)

    def uniform_but(first: float) -> np.ndarray:
        return np.r_[(1 + first) / n, np.full(n - 1, (1 - first / (n - 1)) / n)]

    of_groups = rng.dirichlet(uniform_but(more), size=groups)
    one = rng.multinomial(sizes, of_groups).astype(float)
    two = rng.multinomial(sizes, uniform_but(more if other is None else other), size=groups).astype(float)
    (v, moved), (w, also) = (old_v(counts) for counts in (one, two))
    before = cluster_robust.interval(v - w, moved - also, CONFIDENCE)["p"]
    first, second = (judge_comparison._selection(counts) for counts in (one, two))
    number = np.tile(np.arange(groups), 2)
    total = first.estimate - second.estimate
    now = judge_comparison._selection_interval([(1.0, first), (-1.0, second)], number, total, CONFIDENCE)["p"]
    return {"V": (float(before < LEVEL), float(now < LEVEL))}


def old_v(counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Raw V and what each cluster adds to it, to first order."""
    total, n = counts.sum(axis=0), counts.shape[1]
    v, share = uniformity.cramers_v(total), total / total.sum()
    slope = n * (share - 1 / n) / ((n - 1) * v) if v > 0 else np.full(n, np.nan)
    size = counts.sum(axis=1)
    return float(v), (counts - share * size[:, None]) @ slope / (total.sum() - size)


# Judges whose errors on the same groups are correlated.
def summary(
    rng: np.random.Generator, *, groups: int, judges: int, datasets: int, correlated: float, differ: float
) -> dict[str, tuple[float, float]]:
    """True where the interval of the mean over judges holds the truth; judges `differ` by this standard deviation."""
    true, error = 0.3, 0.15
    shared = rng.normal(size=(datasets, groups, 1))
    of_groups = np.sqrt(correlated) * shared + np.sqrt(1 - correlated) * rng.normal(size=(datasets, groups, judges))
    judge, dataset = (part.ravel() for part in np.meshgrid(np.arange(judges), np.arange(datasets)))
    own = true + differ * rng.normal(size=judges)
    estimates = own[judge] + (np.sqrt(groups) * error * of_groups.mean(axis=1))[dataset, judge]
    errors = error * of_groups.std(axis=1, ddof=1)[dataset, judge]
    correlations = np.eye(len(judge))
    for place in range(datasets):
        rows = np.flatnonzero(dataset == place)
        correlations[np.ix_(rows, rows)] = random_effects.equal_correlations(np.corrcoef(of_groups[place].T))
    factors = {"judge": judge, "dataset": dataset}
    held = []
    for known in (None, correlations):
        found = random_effects.summary(estimates, errors, factors, CONFIDENCE, correlations=known)
        held.append(float(found.low <= true <= found.high))
    return {"mean": (held[0], held[1])}


# A judge that is harsher whenever a reference answer is shown.
def causes(
    rng: np.random.Generator, *, groups: int, harsher: float, text: float = 0.0, several: bool = False, unequal: bool
) -> dict[str, tuple[float, float]]:
    """True where an effect of the text was found, from the scores that were drawn.

    Args:
        several: whether texts of all levels are shown, beside that of the highest under other numbers.
    """
    n, levels = 5, np.arange(1, 6)
    fits = [(k, k) for k in range(1, n)] if several else []
    shown = np.array([0, *(k for k in range(1, n + 1)), *(number for number, _ in fits)])
    texts = np.array([0, *([n] * n), *(level for _, level in fits)])
    size = np.where(np.arange(groups) < max(2, groups // 10), 30, 2) if unequal else np.full(groups, 4)
    unit = np.repeat(np.arange(groups), size)
    opinion = 3 + rng.normal(size=groups)[unit] + 0.7 * rng.normal(size=len(unit))
    present = texts > 0
    add = -harsher * present[:, None] * levels - text * present[:, None] * np.abs(levels - texts[:, None])
    weight = np.log(shares(opinion, 1.0, n) + 1e-300)[:, None] + add
    scores = drawn(np.exp(weight) / np.exp(weight).sum(axis=-1, keepdims=True), 1, rng)[..., 0].astype(int) - 1
    places = np.broadcast_to(np.arange(n), (len(unit), len(shown), n))
    ids = np.tile(np.array(list("12345"), dtype=object), (len(shown), 1))
    terms = prompt_effects.terms(places, ids, shown, texts)
    kept = [place for place, (kind, _) in enumerate(terms.names) if kind != prompt_effects.PRESENCE]
    before = prompt_effects.Terms([terms.names[place] for place in kept], terms.values[..., kept])
    found = []
    for of in (before, terms):
        weights = np.array([float(kind == prompt_effects.TEXT) for kind, _ in of.names])
        fit = prompt_effects.score_sums(of, scores).regroup(unit).fit()
        found.append(float(fit.interval(weights, CONFIDENCE)["p"] < LEVEL))  # not identified: no p
    return {"text": (found[0], found[1])}


def cells() -> dict[str, Cell]:
    """All settings by name."""
    return {f"{cell.point}: {cell.setting}, {cell.n_groups} groups": cell for cell in _cells()}


def _cells() -> Iterator[Cell]:
    scales = ((2, 4, 4), (3, 6, 4), (5, 10, 4), (5, 10, 2), (9, 18, 8))
    no_reversal = dict.fromkeys(("tau", "flips", "pairs"), LEVEL_TARGET)
    real = dict.fromkeys(("tau", "flips", "pairs"), POWER_TARGET)
    for groups in (20, 40, 100, 400):
        for n, reads, candidates in scales if groups in (40, 100) else scales[2:3]:
            for sure in (1.0, 3.0, 10.0):
                planted = {"groups": groups, "n": n, "reads": reads, "candidates": candidates, "sure": sure}
                scale = f"{n} levels, {candidates} candidates"
                yield _reversal(f"usual order {sure:g} times as sure, {scale}", no_reversal, planted)
        for quality in QUALITIES if groups == 100 else ():
            planted = {"groups": groups, "n": 5, "reads": 10, "candidates": 4, "sure": 10.0, "quality": quality}
            yield _reversal(f"usual order 10 times as sure, quality {quality}", no_reversal, planted)
        for sure in (1.0, 10.0):
            planted = {"groups": groups, "n": 5, "reads": 10, "candidates": 4, "sure": sure, "unequal": True}
            yield _reversal(f"usual order {sure:g} times as sure, unequal groups", no_reversal, planted)
    for n, reads, candidates in scales:
        for sure in (1.0, 3.0, 10.0):
            planted = {"groups": 40, "n": n, "reads": reads, "candidates": candidates, "sure": sure, "moved": 0.4}
            scale = f"{n} levels, {candidates} candidates"
            yield _reversal(f"real reversals, usual order {sure:g} times as sure, {scale}", real, planted)
    for groups in (20, 60, 200, 400):
        for n in (2, 3, 5, 9) if groups in (60, 200) else (5,):
            for more in (0.0, 0.4):
                for unequal in (False, True):
                    planted = {"groups": groups, "n": n, "more": more, "unequal": unequal}
                    setting = f"V {'0' if more == 0 else 'of both alike'}, {n} levels"
                    yield Cell(
                        "10, V of two judges",
                        setting + (", unequal groups" if unequal else ""),
                        groups,
                        lambda rng, planted=planted: selection(rng, **planted),
                        {"V": LEVEL_TARGET},
                    )
    for more, other in ((0.0, 0.8), (0.8, 0.0)):
        planted = {"groups": 60, "n": 5, "more": more, "other": other}
        yield Cell(
            "10, V of two judges",
            f"V differs, {'the independent' if other else 'the dependent'} one larger",
            60,
            lambda rng, planted=planted: selection(rng, **planted),
            {"V": POWER_TARGET},
        )
    for groups in (20, 60):
        for judges, datasets in ((5, 1), (10, 1), (5, 4), (10, 4)):
            for correlated in (0.0, 0.8):
                for differ in (0.0, 0.2):
                    planted = {"groups": groups, "judges": judges, "datasets": datasets}
                    planted |= {"correlated": correlated, "differ": differ}
                    setting = f"{judges} judges on {datasets} datasets, errors correlated {correlated:g}"
                    yield Cell(
                        "10, mean over judges",
                        f"{setting}, sd of judges {differ:g}",
                        groups,
                        lambda rng, planted=planted: summary(rng, **planted),
                        {"mean": COVERAGE_TARGET},
                    )
    for groups in (20, 40, 200):
        for several, text in ((False, 0.0), (True, 0.0), (True, 0.4)):
            for unequal in (False, True):
                planted = {"groups": groups, "harsher": 0.5, "text": text, "several": several, "unequal": unequal}
                setting = "texts of all levels" if several else "one text under all numbers"
                setting += ", text attracts" if text else ", text does not attract"
                yield Cell(
                    "6, harsher with a reference",
                    setting + (", unequal groups" if unequal else ""),
                    groups,
                    lambda rng, planted=planted: causes(rng, **planted),
                    {"text": POWER_TARGET if text else LEVEL_TARGET},
                )


def _reversal(setting: str, target: dict[str, str], planted: dict) -> Cell:
    return Cell("13, rank reversal", setting, planted["groups"], lambda rng: reversal(rng, **planted), target)


def run(cell: Cell, studies: int, seed: int) -> pd.DataFrame:
    """Shares over studies of one cell: of tests that find something, or of intervals that hold the truth.

    Returns:
        One row per quantity, with `point`, `setting`, `n_groups`, `quantity`, `studies`, `before`, `now` and `target`.
    """
    rng = np.random.default_rng(seed)
    found = [cell.simulate(rng) for _ in range(studies)]
    rows = []
    for quantity, target in cell.target.items():
        before, now = np.mean([study[quantity] for study in found], axis=0)
        rows.append({"quantity": quantity, "studies": studies, "before": before, "now": now, "target": target})
    about = {"point": cell.point, "setting": cell.setting, "n_groups": cell.n_groups}
    return pd.DataFrame([about | row for row in rows])


def lines(table: pd.DataFrame, *, heading: bool = True) -> Iterator[str]:
    """The rows of `run` in Markdown."""
    if heading:
        yield "| point | setting | groups | quantity | studies | before | now | target |"
        yield "|:--|:--|--:|:--|--:|--:|--:|:--|"
    for row in table.itertuples():
        sizes = f"{row.n_groups} | {row.quantity} | {row.studies} | {row.before:.1%} | {row.now:.1%}"
        yield f"| {row.point} | {row.setting} | {sizes} | {row.target} |"


def main() -> None:
    """Print all cells, or those whose name has a text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200, help="studies per cell")
    parser.add_argument("--seed", type=int, default=20_261_125)
    parser.add_argument("--only", default="", help="text in the names of cells")
    options = parser.parse_args()
    chosen = [cell for name, cell in cells().items() if options.only in name]
    for place, cell in enumerate(chosen):
        for line in lines(run(cell, options.studies, options.seed + place), heading=place == 0):
            print(line, flush=True)


if __name__ == "__main__":
    main()
