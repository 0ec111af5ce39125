"""Studies of few and unequal groups: do tests keep their level, intervals their coverage, and verdicts their error?

Settings are simulated here alone, without the simulated judge of the library, and each truth is planted or known in
closed form. A row sets what was done before (how each cluster moves an estimate, with Student's t for as many clusters
as there are) beside what is done now.

    python tests/recovery/unequal_recovery.py --studies 200
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order.analyses.agreement.budget_curve import estimate as budget_curve
from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.scoring.condition_comparison import estimate as condition_comparison
from rubric_order.methods.agreement import subsets
from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import additive, cluster_robust, equivalence, fixed_effects, resampling

LEVEL, CONFIDENCE, MARGIN = 0.05, 0.95, 0.1
FEW = 30  # effective groups below which nothing is shown to be small
GROUPS = (20, 40, 100, 400)
COLUMNS = ["point", "setting", "n_groups", "quantity", "studies", "before", "now", "target"]
REJECTED, COVERED, SHOWN = "at most 6.5%", "93% or more", "at most 5% and its Monte Carlo error"

Outcome = dict[str, tuple[bool, bool]]  # by quantity, before and now: rejected, covered or shown


@dataclass(frozen=True)
class Cell:
    """Studies of one kind.

    Attributes:
        point: of the list of what was to be mended.
        setting: in words.
        n_groups: number of groups.
        study: draws one study, and says of each quantity what was found before and now.
        target: of the share of studies.
    """

    point: int
    setting: str
    n_groups: int
    study: Callable[[np.random.Generator], Outcome]
    target: str


def tenth(groups: int, _: np.random.Generator) -> np.ndarray:
    """Items of each group: 40 in a tenth of the groups, 2 in the others."""
    sizes = np.full(groups, 2)
    sizes[: max(1, groups // 10)] = 40
    return sizes


def wide(groups: int, rng: np.random.Generator) -> np.ndarray:
    """Items of each group: 1 to 50."""
    return rng.integers(1, 51, groups)


def equal(groups: int, _: np.random.Generator) -> np.ndarray:
    """Items of each group: 4."""
    return np.full(groups, 4)


SIZES = {
    "a tenth of the groups of 40 items, the others of 2": tenth,
    "groups of 1 to 50 items": wide,
    "groups of 4 items": equal,
}


def cells() -> dict[str, Cell]:
    """All settings, by name."""
    found = {}
    for words, sizes in SIZES.items():
        for groups in GROUPS:
            name = f"{sizes.__name__}_{groups}"
            found[f"r_{name}"] = Cell(11, words, groups, _bind(correlations, sizes, groups), REJECTED)
            found[f"coverage_{name}"] = Cell(11, words, groups, _bind(intervals, sizes, groups), COVERED)
        for n, groups, spread in PREFERENCES:
            setting = f"{n} levels, {words}, preferences of groups (SD {spread:g})"
            study = _bind(no_preference, sizes, groups, n=n, spread=spread)
            found[f"preference_{sizes.__name__}_n{n}_{groups}"] = Cell(2, setting, groups, study, REJECTED)
    for shift, share in CARRIED:
        for groups in (30, 60, 120, 200, 400):
            for noise in (0.0, 0.2):
                setting = f"5 levels, {shift:g} points in {share:.0%} of the groups, SD of groups {noise:g}"
                study = _bind(carried, equal, groups, shift=shift, share=share, noise=noise)
                found[f"carried_{shift:g}_{noise:g}_{groups}"] = Cell(5, setting, groups, study, SHOWN)
    for groups in (60, 120, 200):
        setting = "5 levels, 1 point in 10% of the groups, groups of 1 to 50 items"
        study = _bind(carried, wide, groups, shift=1.0, share=0.1, noise=0.2)
        found[f"carried_wide_{groups}"] = Cell(5, setting, groups, study, SHOWN)
    for n in (2, 3, 5, 9, 10):
        for groups in (40, 100, 200, 400):
            setting = f"{n} levels, no effect, SD of groups 0.2"
            study = _bind(carried, equal, groups, shift=1.0, share=0.0, noise=0.2, n=n)
            found[f"power_n{n}_{groups}"] = Cell(5, setting, groups, study, "power, no target")
    return found


PREFERENCES = [(n, groups, 0.3) for n in (2, 3, 5) for groups in (20, 40, 100)]
PREFERENCES += [(9, 40, 0.3), (10, 30, 0.3), (10, 100, 0.3)]
CARRIED = ((1.0, 0.1), (2.0, 0.05), (0.5, 0.2), (3.6, 0.1 / 3.6))


def _bind(study: Callable, sizes: Callable, groups: int, **options: float) -> Callable[[np.random.Generator], Outcome]:
    return lambda rng: study(sizes(groups, rng), rng, **options)


# Point 11. Correlations and means.


def drawn(sizes: np.ndarray, rng: np.random.Generator, common: float = 0.3) -> np.ndarray:
    """A standard normal value of each item, of which groups have a share of the variance in common."""
    own = np.sqrt(1 - common) * rng.normal(size=sizes.sum())
    return np.sqrt(common) * np.repeat(rng.normal(size=len(sizes)), sizes) + own


R, READ_SHARE = 0.7, 0.3  # r of a single read with people; share of the variance of its error that other reads lack


def reads(sizes: np.ndarray, human: np.ndarray, shared: np.ndarray, rng: np.random.Generator, k: int) -> np.ndarray:
    """Reads of each item whose single r with people is `R`, shape (items, k)."""
    error = [np.sqrt(READ_SHARE) * drawn(sizes, rng) + np.sqrt(1 - READ_SHARE) * shared for _ in range(k)]
    return R * human[:, None] + np.sqrt(1 - R**2) * np.stack(error, axis=1)


def r_of_mean(k: int) -> float:
    """r of the mean of k reads with people, in closed form."""
    return R / np.sqrt(R**2 + (1 - R**2) * (1 - READ_SHARE + READ_SHARE / k))


def infinitesimal(estimate: float, influence: np.ndarray) -> tuple[float, float, float]:
    """The earlier method: the infinitesimal jackknife with Student's t. Ends of the interval, and p of 0.

    Args:
        influence: what each cluster adds, as a derivative, shape (n_clusters,).
    """
    n = len(influence)
    error = np.sqrt((influence**2).sum() * n / (n - 1))
    if not error > 0:
        return np.nan, np.nan, np.nan
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * error
    return estimate - reach, estimate + reach, float(2 * stats.t.sf(abs(estimate) / error, n - 1))


def of_correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Pearson's r and what each item adds to it, as a derivative."""
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = (x * y).mean()
    return r, (x * y - r * (x**2 + y**2) / 2) / len(x)


def spearman_influence(scores: np.ndarray, human: np.ndarray) -> tuple[float, np.ndarray]:
    """Spearman's rho of one score with another, and how each item moves it; shapes (m,)."""
    rho, influence = subsets.spearman_of_subsets(scores[:, None], human, subsets.drawn(1, 1, 0))
    return float(rho[0]), influence[:, 0]


def correlations(sizes: np.ndarray, rng: np.random.Generator) -> Outcome:
    """Two conditions, or strategies, between which nothing differs on average: what rejects?"""
    group, human, shared = np.repeat(np.arange(len(sizes)), sizes), drawn(sizes, rng), drawn(sizes, rng)
    one, other = (reads(sizes, human, shared, rng, 1)[:, 0] for _ in range(2))
    items = pd.DataFrame({"human": human, "mean": one, "other": other})
    old, new = {}, {}
    change = one - other
    old["condition points"] = change.mean(), (change - change.mean()) / len(change)
    new["condition points"] = condition_comparison._points(items, group, confidence=CONFIDENCE, margin=1, largest=4)
    (r, of_r), (r_other, of_other) = of_correlation(one, human), of_correlation(other, human)
    old["condition r"] = r - r_other, of_r - of_other
    new["condition r"] = condition_comparison._agreement(items, group, confidence=CONFIDENCE)
    (rho, of_rho), (rho_other, of_other) = (spearman_influence(x, human) for x in (one, other))
    old["strategy Spearman"] = rho - rho_other, (of_rho - of_other) / len(human)
    new["strategy Spearman"] = strategy_comparison.paired_rank_difference(
        one, other, human, group, confidence=CONFIDENCE
    )
    return {
        name: (infinitesimal(value, np.bincount(group, of_items))[2] < LEVEL, new[name]["p"] < LEVEL)
        for name, (value, of_items) in old.items()
    }


def intervals(sizes: np.ndarray, rng: np.random.Generator) -> Outcome:
    """Intervals of what averaging and order do to r, of shifts in points, of budget gains and of regressions."""
    k, group = 4, np.repeat(np.arange(len(sizes)), sizes)
    human, shared = drawn(sizes, rng), drawn(sizes, rng)
    one, other = (reads(sizes, human, shared, rng, k) for _ in range(2))
    found: Outcome = {}

    def held(name: str, truth: float, before: tuple[float, float], now: tuple[float, float]) -> None:
        found[name] = before[0] <= truth <= before[1], now[0] <= truth <= now[1]

    def single(values: np.ndarray) -> tuple[float, np.ndarray]:
        parts = [of_correlation(column, human) for column in values.T]
        return float(np.mean([r for r, _ in parts])), np.mean([influence for _, influence in parts], axis=0)

    parts = strategy_comparison.paired_differences(one, other, human, group, confidence=CONFIDENCE)
    (r_one, of_one), (r_other, of_other) = single(one), single(other)
    r_mean, of_mean = of_correlation(one.mean(axis=1), human)
    gain = r_of_mean(k) - R
    old = {"order": (0.0, r_one - r_other, of_one - of_other), "averaging": (gain, r_mean - r_one, of_mean - of_one)}
    for name, (truth, value, influence) in old.items():
        row = parts[name]
        before = infinitesimal(value, np.bincount(group, influence))[:2]
        held(name, truth, before, (row["ci_low"], row["ci_high"]))

    chosen = subsets.drawn(k, 252, 0)
    curve = subsets.spearman_of_subsets(one, human, chosen)
    mean = subsets.mean_over_subsets(curve.rho, chosen.sizes)
    influence = resampling.sum_units(curve.influence, group) / len(group)
    before = infinitesimal(mean[-1] - mean[0], influence[:, -1] - influence[:, 0])[:2]
    values = budget_curve._left_out(curve, group, chosen.sizes)
    low, high = budget_curve._ends(values, sizes, CONFIDENCE)[1]
    rho, rho_one = (6 / np.pi * np.arcsin(r / 2) for r in (r_of_mean(k), R))
    held("budget gain, Spearman", rho - rho_one, before, (low[-1], high[-1]))

    # Four orderings, of which the first adds .1 on average, and by group and item something of its own.
    own = 0.2 * np.repeat(rng.normal(size=(len(sizes), 4)), sizes, axis=0) + 0.3 * rng.normal(size=(len(group), 4))
    scores = 3 + drawn(sizes, rng)[:, None] + own + np.array([0.1, 0, 0, 0])
    fit = additive.shifts(additive.Cells(scores, np.ones_like(scores)), group)
    left_out = resampling.left_out_of_mean(fit.shift, fit.influence, sizes)
    ends = resampling.jackknife_t(left_out, CONFIDENCE, sizes=sizes)
    held("shift in points", 0.075, infinitesimal(fit.shift[0], fit.influence[:, 0])[:2], (ends.low[0], ends.high[0]))

    x, blocks = rng.normal(size=(len(group), 3)), np.repeat(np.arange(len(group)), 3)
    slope = 0.4 + 0.3 * np.repeat(rng.normal(size=len(sizes)), sizes)[:, None]
    y = drawn(sizes, rng)[:, None] + slope * x + rng.normal(size=x.shape)
    long = y.ravel(), x.reshape(-1, 1), blocks, np.repeat(group, 3)
    row = fixed_effects.fit(*long).interval(np.ones(1), CONFIDENCE)
    inside, centred = (fixed_effects.within(each, blocks).ravel() for each in (long[0], long[1]))
    estimate, scale = centred @ inside / (centred @ centred), centred @ centred
    moved = np.bincount(long[3], centred * (inside - estimate * centred)) / scale
    held("slope (carry-over)", 0.4, infinitesimal(estimate, moved)[:2], (row["ci_low"], row["ci_high"]))
    return found


# Point 2. No preference.


def balanced(n: int) -> np.ndarray:
    """Place of each score in the 2n balanced orderings, shape (2n, n)."""
    turned = np.array([np.roll(np.arange(n), -step) for step in range(n)])
    return np.argsort(np.concatenate([turned, turned[:, ::-1]]), axis=1)


def judged(
    sizes: np.ndarray, rng: np.random.Generator, n: int, spread: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, places and groups of reads by a judge that prefers no position on average; groups do, by chance."""
    group, levels, places = np.repeat(np.arange(len(sizes)), sizes), np.linspace(1, 5, n), balanced(n)
    opinion = 3 + drawn(sizes, rng, 0.5)
    of_scores = -((levels - opinion[:, None]) ** 2) / 2 + 0.3 * rng.normal(size=(len(sizes), n))[group]
    of_places = spread * rng.normal(size=(len(sizes), n))[group]
    weight = of_scores[:, None, :] + of_places[:, places]
    share = np.exp(weight - weight.max(axis=2, keepdims=True)).cumsum(axis=2)
    scores = (share / share[..., -1:] < rng.random((*weight.shape[:2], 1))).sum(axis=2)
    return scores.astype(np.int8), np.broadcast_to(places.astype(np.int8), weight.shape), group


def no_preference(sizes: np.ndarray, rng: np.random.Generator, n: int, spread: float) -> Outcome:
    """The tests of no preference and of no interaction, of a judge that has none on average."""
    of = preference.sums(preference.compare_scores(*judged(sizes, rng, int(n), spread)))
    found, fit = of.regroup(None), of.positions.fit()
    rows = np.linalg.svd(np.eye(int(n)) - 1 / n)[2][: int(n) - 1]
    hotelling = cluster_robust.all_zero(rows @ fit.coefficients, fit.influence @ rows.T)
    return {"no preference": (hotelling < LEVEL, found.p_positions < LEVEL)}


# Point 5. Equivalence in points.


def carried(
    sizes: np.ndarray, rng: np.random.Generator, shift: float, share: float, noise: float, n: int = 5
) -> Outcome:
    """The usual ordering moves some groups, all of their items, and not the others but by chance."""
    moved = shift * (rng.random(len(sizes)) < share) + noise * rng.normal(size=len(sizes))
    largest = (n - 1) * (1 - 1 / (2 * n if n > 2 else 2))  # of balanced orderings
    values = np.clip(moved, -largest, largest)[:, None]
    mean = (values * sizes[:, None]).sum(axis=0) / sizes.sum()
    influence = (values - mean) * sizes[:, None] / sizes.sum()
    old = infinitesimal(float(mean[0]), influence[:, 0])
    known = old[1] > old[0]
    error = (old[1] - old[0]) / 2 / stats.t.ppf(0.975, len(sizes) - 1)
    reach = stats.t.ppf(1 - LEVEL, len(sizes) - 1) * error
    before = known and len(sizes) >= FEW and abs(mean[0]) + reach < MARGIN
    ends = resampling.jackknife_t(resampling.left_out_of_mean(mean, influence, sizes), 1 - 2 * LEVEL, sizes=sizes)
    small = max(abs(ends.low[0]), abs(ends.high[0])) < MARGIN and ends.high[0] > ends.low[0]
    bounded = equivalence.p_bounded(values, sizes.astype(float), margin=MARGIN, largest=largest)[0]
    now = small and bounded <= LEVEL and resampling.effective(sizes) >= FEW
    return {"shown to be small in points": (bool(before), bool(now))}


def run(cell: Cell, studies: int, seed: int = 1) -> pd.DataFrame:
    """One row per quantity: the share of studies with a rejection, a covered truth or a verdict, before and now."""
    rng = np.random.default_rng([seed, cell.n_groups, cell.point])
    outcomes = pd.DataFrame([cell.study(rng) for _ in range(studies)])
    rows = []
    for quantity in outcomes:
        before, now = np.mean([*outcomes[quantity]], axis=0)
        rows.append((cell.point, cell.setting, cell.n_groups, quantity, studies, before, now, cell.target))
    return pd.DataFrame(rows, columns=COLUMNS)


def markdown(rows: pd.DataFrame) -> Iterator[str]:
    """Rows of a Markdown table."""
    for row in rows.itertuples():
        about = f"{row.point} | {row.setting} | {row.n_groups} | {row.quantity} | {row.studies}"
        yield f"| {about} | {row.before:.1%} | {row.now:.1%} | {row.target} |"


def main() -> None:
    """Print the table, a cell at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--only", default="", help="cells whose name begins so")
    chosen = parser.parse_args()
    print(
        "| point | setting | groups | quantity | studies | before | now | target |\n|---|---|---|---|---|---|---|---|"
    )
    for name, cell in cells().items():
        if name.startswith(chosen.only):
            print("\n".join(markdown(run(cell, chosen.studies))), flush=True)


if __name__ == "__main__":
    main()
