"""Tables that took what is correlated as independent, one place as a family, or unequal groups as equal.

Simulators of their own, which share no code with `rubric_order.simulation`. Formulas that were replaced are written out
here. `python tests/recovery/unfavourable.py --only unfavourable_tables` runs all cells.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.analyses.agreement.generalisability import estimate as generalisability
from rubric_order.analyses.comparisons.judges_compared import estimate as judges_compared
from rubric_order.analyses.comparisons.mitigations import estimate as mitigations
from rubric_order.analyses.comparisons.quality_gap import estimate as quality_gap
from rubric_order.analyses.criteria.halo import estimate as halo
from rubric_order.analyses.scoring.score_shifts import estimate as score_shifts
from rubric_order.methods.agreement import agreement, variants
from rubric_order.methods.comparisons import judge_panels
from rubric_order.methods.uncertainty import distributions, equivalence, random_effects, resampling, shares

CONFIDENCE, LEVEL = 0.95, 0.05
LEVEL_TARGET, COVERAGE_TARGET = "at most 5%", "95%"


class Cell(NamedTuple):
    """One setting: `simulate` makes a study and returns, by quantity, whether something was found before and now."""

    setting: str
    n_groups: int
    simulate: Callable[[np.random.Generator], dict[str, tuple[float, float]]]
    target: dict[str, str]


def margin_shift(rng: np.random.Generator, *, groups: int, heavy: int, margin: float) -> dict[str, tuple[float, float]]:
    """True where a shift is shown to be small that is as large as the margin; a few groups hold most items."""
    sizes = np.where(np.arange(groups) < heavy, 40, 2)
    unit = np.repeat(np.arange(groups), sizes)
    shift = margin + 0.3 * rng.normal(size=groups)[unit] + 0.5 * rng.normal(size=len(unit))
    mean = variants.ratio(shift, np.ones(len(shift)), unit, CONFIDENCE)
    low, high = equivalence.interval(
        *(np.array([mean[k]]) for k in ("estimate", "se")), np.array([groups - 1.0]), LEVEL
    )
    before = equivalence.verdict(low, high, margin)
    now = score_shifts._equivalence(mean, LEVEL, margin)["verdict"]
    return {"shift is small": (float(before == equivalence.SHOWN), float(now == equivalence.SHOWN))}


def coin(rng: np.random.Generator, *, candidates: int, questions: int, kinds: float) -> dict[str, tuple[float, float]]:
    """True where consistency rises or falls with the gap by other judges; it differs by candidate for other reasons."""
    chance = np.clip(0.5 + kinds * rng.normal(size=candidates), 0.05, 0.95)
    consistent = (rng.random((questions, candidates)) < chance).astype(float)
    question, candidate = (axis.ravel() for axis in np.indices(consistent.shape))
    names = {"judge": "j", "task": "t", "group_id": question, "candidate": candidate}
    gap = np.abs(rng.uniform(-0.5, 0.5, size=candidates))[candidate]
    block = pd.DataFrame(names | {"others": gap, "consistent": consistent.ravel(), "leaning": 0.0})
    old = quality_gap._slope(gap, consistent.ravel(), question, CONFIDENCE)
    new = next(quality_gap._slopes(block, "others", CONFIDENCE))
    return {
        "slope": (
            float(old["p"] < LEVEL),
            float(not new["ci_low"] <= 0 <= new["ci_high"] and new["ci_low"] == new["ci_low"]),
        )
    }


def equal_judges(rng: np.random.Generator, *, judges: int, differ: float) -> dict[str, tuple[float, float]]:
    """True where the interval of the mean over judges holds the truth; their own errors are 1."""
    estimates = np.sqrt(1 + differ**2) * rng.normal(size=judges)
    of = random_effects.summary(estimates, np.ones(judges), {"judge": np.arange(judges)}, CONFIDENCE)
    reach = (of.high - of.low) / 2
    old = reach * distributions.t_quantile(0.975, judges - 1) / distributions.t_quantile(0.975, of.df)
    found = {"mean of few judges": (float(abs(of.mean) <= old), float(of.low <= 0 <= of.high))}
    return found | ({"width of equal judges": (2 * old, 2 * reach)} if differ == 0 else {})


def advice(rng: np.random.Generator, *, judges: int, items: int, shared: float) -> dict[str, tuple[float, float]]:
    """True where a variant of a prompt is found to change agreement; both variants agree alike with golden scores.

    What makes items hard is shared by judges: by `shared` of the variance of what they add to the golden score.
    """
    gold, unit = rng.normal(size=items), np.arange(items)
    noise = np.sqrt(shared) * rng.normal(size=(2, 1, items)) + np.sqrt(1 - shared) * rng.normal(size=(2, judges, items))
    rows = [
        agreement.Compared(gold + one, gold, unit).minus(agreement.Compared(gold + two, gold, unit), "pearson", 0.95)
        for one, two in noise.transpose(1, 0, 2)
    ]
    values, errors = (np.array([row[name] for row in rows]) for name in ("difference", "difference_se"))
    known = random_effects.error_correlations([(unit, row["influence"]) for row in rows])
    levels = {"judge": np.arange(judges), "dataset": np.zeros(judges, dtype=int)}
    before, now = (random_effects.summary(values, errors, levels, 0.95, correlations=c) for c in (None, known))
    return {"advice": (float(before.p < LEVEL), float(now.p < LEVEL))}


def family(rng: np.random.Generator, *, groups: int, both: bool, place: float) -> dict[str, tuple[float, float]]:
    """True where a judge is found to prefer its family, though it only prefers the place where the family stands."""
    orders = ["12", "21"] if both else ["12"]
    unit = np.repeat([f"u{k:04d}" for k in range(groups)], len(orders))
    order = np.tile(orders, groups)
    first = np.where(order == "12", 1, 2)  # the candidate that stands first; the family is candidate 1
    quality = np.repeat(rng.normal(size=groups), len(orders))
    winners = [
        np.where(rng.random(len(unit)) < 1 / (1 + np.exp(-(np.where(first == 1, 1, -1) * liking + quality))), 1, 2)
        for liking in (place, 0.0)
    ]
    reads = pd.DataFrame({"unit_id": unit, "order": order, "group_id": unit, "candidates": [["own", "c"]] * len(unit)})
    winner = np.stack(winners, axis=1)
    panel = judge_panels.Panel({"n": 2}, ["a", "b"], reads, winner, np.ones(winner.shape, dtype=bool))
    now = next(judges_compared._self_preference(panel, {"a": ["own"]}, CONFIDENCE))
    group = pd.factorize(reads["group_id"])[0]
    old = shares.mean((winner[:, 0] == 1) * 1.0 - (winner[:, 1] == 1), group, CONFIDENCE, bounds=(-1, 1)).interval
    return {"self-preference": (float(not old.low <= 0 <= old.high), float(now["ci_low"] > 0 or now["ci_high"] < 0))}


def averaged(rng: np.random.Generator, *, groups: int, per_group: int, own: float) -> dict[str, tuple[float, float]]:
    """True where the interval of how often two orders are right holds the truth, which follows from the chances alone.

    The judge likes the first place by .8 log-odds; people's scores differ by 1 to 4 points, each worth half a log-odds.
    """
    size = groups * per_group
    gap = rng.choice([-4, -3, -3, *[-2] * 3, *[-1] * 4, *[1] * 4, *[2] * 3, 3, 3, 4], size=size)
    unit, kind = np.repeat(np.arange(groups), per_group), own * rng.normal(size=groups)
    wins = [special.expit(0.5 * gap + kind[unit] + place) for place in (0.8, -0.8)]
    first, second = (np.where(rng.random(size) < chance, 1.0, 0.0) for chance in wins)
    pairs = pd.DataFrame({"gap": gap * 1.0, "group_id": [f"g{k:03d}" for k in unit], "longer": np.nan})
    pairs["candidates"] = [["a", "b"]] * size
    values = mitigations.verdicts(first, second, "swap_average")
    policy = mitigations.Policy("swap_average", 2, values, None, None)
    rows = {row["quantity"]: row for row in mitigations._measures(pairs, policy, CONFIDENCE, whole=False)}
    row = rows["accuracy_ties_half"]
    # An item with gap g is right with the mean of its chances, over gaps and over what a group prefers.
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    at = 0.5 * np.array([-4, -3, -2, -1, 1, 2, 3, 4])[:, None] + own * node
    chance = (special.expit(at + 0.8) + special.expit(at - 0.8)) / 2
    right = np.where(np.arange(8)[:, None] < 4, 1 - chance, chance) @ (weight / weight.sum())
    truth = np.average(right, weights=[1, 2, 3, 4, 4, 3, 2, 1])
    by_unit = np.where(gap > 0, values[0], 1 - values[0])
    parts = resampling.left_out_sums(np.column_stack([by_unit, np.ones(size)]), unit)
    error, p = shares._error(parts), by_unit.mean()
    t = [distributions.t_quantile(0.975, df) for df in (size - 1, groups - 1)]
    worth = min(p * (1 - p) / error**2 * (t[0] / t[1]) ** 2, size)
    low, high = (
        special.betaincinv(worth * p, worth * (1 - p) + 1, 0.025),
        special.betaincinv(worth * p + 1, worth * (1 - p), 0.975),
    )
    return {
        "two orders": (float(low <= truth <= high), float(row["ci_low"] <= truth <= row["ci_high"])),
        "width of two orders": (high - low, row["ci_high"] - row["ci_low"]),
    }


def halo_of(
    rng: np.random.Generator,
    *,
    texts: int,
    reads: int,
    prompts: int,
    inside: float,
    alone: float,
    impression: float,
    rounded: bool,
) -> dict[str, tuple[float, float]]:
    """True where criteria in one prompt are found to correlate more, or less, than alone; reads differ in noise.

    Alone, it is noise of `prompts` prompts, which repeats share.
    """
    opinion = 0.7 * (rng.normal(size=(texts, 1, 1)) + rng.normal(size=(texts, 1, 3)))
    shape = (texts, reads, 3)
    own = opinion + impression * rng.normal(size=(texts, 1, 1)) + inside * rng.normal(size=shape)
    apart = opinion + np.repeat(alone * rng.normal(size=(texts, prompts, 3)), reads // prompts, axis=1)
    own, apart = (np.clip(np.round(3 + side), 1, 5) if rounded else side for side in (own, apart))
    found, prompt = {}, np.repeat(np.arange(prompts), reads // prompts)
    once = halo.prompt_means(apart, np.broadcast_to(prompt[:, None], shape))
    equal = halo._evenly(own, prompts), once
    for basis, used in {"means": equal, "reads": (own, once)}.items():
        sides, compared = (
            [side.mean(axis=1) if basis == "means" else side for side in both] for both in ((own, apart), used)
        )
        (one, other), _, unit = halo._left_out(np.arange(texts), sides)
        before = resampling.jackknife_t(one - other, CONFIDENCE, sizes=resampling.part_sizes(unit))
        now = halo._difference(*halo._left_out(np.arange(texts), compared, used), CONFIDENCE)
        found[f"halo of {basis}"] = float(before.p < LEVEL), float(now.p < LEVEL)
    return found


def item_variance(rng: np.random.Generator, *, groups: int, items: str) -> dict[str, tuple[float, float]]:
    """True where the interval of the variance of items, or of the coefficient of one read, holds the truth."""
    draw, variance = ITEMS[items]
    values = draw(rng, (groups, 1)) + 0.5 * rng.normal(size=(groups, 10))
    moments = generalisability.unit_moments(values, np.full(groups, np.nan), np.arange(groups))
    total, sizes = moments.sum(axis=0), np.ones(groups)
    parts = generalisability.components(np.vstack([total, total - moments]), 1)
    item = parts.item[:, None]
    ends = (
        resampling.left_out_interval(item, CONFIDENCE, sizes=sizes),
        generalisability.variance_interval(item, CONFIDENCE, sizes),
    )
    one = np.arctanh(np.minimum(generalisability.coefficients(parts, np.array([1]), np.array([1]))[0], 1 - 1e-12))
    of_one = [
        np.tanh(resampling.left_out_interval(one, CONFIDENCE, sizes=sizes, heavy=heavy)) for heavy in (False, True)
    ]
    true = {"heavy variance": variance, "heavy coefficient": variance / (variance + 0.25)}
    return {
        name: tuple(float(low[0] <= true[name] <= high[0]) for low, high in both)
        for name, both in zip(true, (ends, of_one), strict=True)
    }


# How opinions of items are drawn, and their variance; that of clipped ones is 1.2491, by numerical integration.
ITEMS: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], np.ndarray], float]] = {
    "normal": (lambda rng, size: rng.normal(size=size), 1.0),
    "t5": (lambda rng, size: rng.standard_t(5, size), 5 / 3),
    "t3": (lambda rng, size: rng.standard_t(3, size), 3.0),
    "t3 within 2 points": (lambda rng, size: np.clip(rng.standard_t(3, size), -2, 2), 1.2491),
}


def cells() -> list[Cell]:
    """All settings."""
    return [*_cells()]


def _cells() -> Iterator[Cell]:
    for groups, heavy in ((40, 0), (40, 3), (100, 5), (200, 8)):
        yield Cell(
            f"shift at the margin, {heavy or 'no'} groups of 40 items among groups of 2",
            groups,
            lambda rng, groups=groups, heavy=heavy: margin_shift(rng, groups=groups, heavy=heavy, margin=0.3),
            {"shift is small": LEVEL_TARGET},
        )
    for candidates, questions, kinds in ((8, 60, 0.0), (8, 60, 0.15), (24, 60, 0.15), (40, 30, 0.15)):
        yield Cell(
            f"consistency differs by {candidates} candidates (SD {kinds:g}), not by their gap",
            questions,
            lambda rng, of=(candidates, questions, kinds): coin(rng, candidates=of[0], questions=of[1], kinds=of[2]),
            {"slope": LEVEL_TARGET},
        )
    for judges in (3, 4, 6):
        for differ in (0.0, 0.5, 1.0, 3.0):
            yield Cell(
                f"{judges} judges, SD between them {differ:g} of their errors",
                judges,
                lambda rng, judges=judges, differ=differ: equal_judges(rng, judges=judges, differ=differ),
                {"mean of few judges": COVERAGE_TARGET}
                | ({"width of equal judges": f"{2 * 1.96 / judges**0.5:.2f}"} if differ == 0 else {}),
            )
    for judges, shared in ((5, 0.0), (5, 0.5), (10, 0.5), (10, 0.8)):
        yield Cell(
            f"advice without effect, {judges} judges that share {shared:.0%} of their noise",
            60,
            lambda rng, judges=judges, shared=shared: advice(rng, judges=judges, items=60, shared=shared),
            {"advice": LEVEL_TARGET},
        )
    level, power = (dict.fromkeys(("halo of means", "halo of reads"), target) for target in (LEVEL_TARGET, "power"))
    for texts, reads, prompts, inside, alone, impression, rounded in (
        (60, 6, 6, 1.0, 0.5, 0.0, False),
        (200, 6, 6, 1.0, 0.5, 0.0, True),
        (200, 6, 6, 0.5, 1.0, 0.0, True),
        (200, 3, 3, 1.0, 1.0, 0.0, True),
        (400, 2, 2, 1.2, 0.4, 0.0, False),
        (200, 6, 2, 0.7, 0.7, 0.0, True),
        (200, 6, 3, 0.7, 0.7, 0.0, True),
        (200, 6, 6, 0.7, 0.7, 0.7, True),
    ):
        of = {"texts": texts, "reads": reads, "prompts": prompts}
        of |= {"inside": inside, "alone": alone, "impression": impression}
        yield Cell(
            f"noise {inside:g} in one prompt, {alone:g} alone, {reads} reads"
            + (", rounded" if rounded else "")
            + (f", {prompts} prompts alone" if prompts < reads else "")
            + (", halo planted" if impression else ""),
            texts,
            lambda rng, of=of, rounded=rounded: halo_of(rng, rounded=rounded, **of),
            power if impression else level,
        )
    for groups in (30, 100):
        for items in ITEMS:
            yield Cell(
                f"items: {items}",
                groups,
                lambda rng, groups=groups, items=items: item_variance(rng, groups=groups, items=items),
                dict.fromkeys(("heavy variance", "heavy coefficient"), COVERAGE_TARGET),
            )
    for groups, per_group, own in ((60, 1, 0.0), (40, 5, 0.0), (40, 5, 0.7), (200, 1, 0.0)):
        yield Cell(
            f"verdicts of two orders averaged, groups of {per_group}"
            + (f" with opinions of {own:g} log-odds" if own else ""),
            groups,
            lambda rng, of=(groups, per_group, own): averaged(rng, groups=of[0], per_group=of[1], own=of[2]),
            {"two orders": COVERAGE_TARGET, "width of two orders": "as of a t interval"},
        )
    for both in (False, True):
        yield Cell(
            f"a judge that likes the first place, {'both orders' if both else 'its family first'}",
            200,
            lambda rng, both=both: family(rng, groups=200, both=both, place=0.8),
            {"self-preference": LEVEL_TARGET},
        )


def run(cell: Cell, studies: int, seed: int) -> pd.DataFrame:
    """Shares over studies of one cell, see `comparison_recovery.run`."""
    rng = np.random.default_rng(seed)
    found = [cell.simulate(rng) for _ in range(studies)]
    rows = []
    for quantity, target in cell.target.items():
        before, now = np.mean([study[quantity] for study in found], axis=0)
        rows.append({"quantity": quantity, "studies": studies, "before": before, "now": now, "target": target})
    return pd.DataFrame([{"setting": cell.setting, "n_groups": cell.n_groups} | row for row in rows])
