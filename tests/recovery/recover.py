"""Simulated studies whose truth is known: are estimates unbiased, do intervals cover, do tests keep their level?

    python tests/recovery/recover.py --results FOLDER [--studies 1000] [--only PIECE ...] [--page docs/recovery.md]

Each setting is a judge and a design. Its result is kept in FOLDER, so that a run can be stopped and continued; the page
is written from what is there. All estimates come from the functions that the workflow's statistics come from.
"""

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tables are small: threads only get in each other's way

import defect_recovery
import numpy as np
import pandas as pd
import preference_recovery
import shares
import unfavourable
from scipy import stats

from rubric_order.analyses.agreement.budget_curve import estimate as budget_curve
from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.analyses.position.position_selection import estimate as position_selection
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.base import randomness
from rubric_order.base.keys import EVERY
from rubric_order.methods.position import blocks, uniformity
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation

TOGETHER = 20  # studies estimated in one call
FIRST_STUDY, FIRST_TRUTH = 1_000_000, 1  # seeds: studies and truths share no item
APART = 1_000_000  # between the seeds of two settings, so that chance is not the same in all of them
CONFIDENCE, LEVEL = 0.95, 0.05
MIXED = {"item_scores": 0.5, "item_positions": 0.5, "prompts": 0.5}
GROUPED = MIXED | {"group_scores": 0.5, "group_positions": 0.5, "group_error": 0.5}
STICKY = {"item_positions": 4.0, "item_scores": 0.3, "tolerance": 1.5}


@dataclass(frozen=True)
class Setting:
    """One kind of study.

    Attributes:
        title: what it is, in words.
        judge: the simulated judge.
        temperature: of its reads.
        n: levels; 2n reads per item.
        groups, candidates: items are candidates in groups.
        readout: ``hard`` or ``soft``.
        number: decides what is random.
    """

    title: str
    judge: Simulation
    temperature: float = 1.0
    n: int = 5
    groups: int = 320
    candidates: int = 1
    readout: str = "hard"
    number: int = 0


def _first(strength: float, **others: float) -> Simulation:
    return Simulation(preference="first", preference_strength=strength, **others)


SETTINGS = {
    "none": Setting("no bias, independent reads", Simulation(tolerance=1.0)),
    "none_sticky": Setting("no bias, reads nearly identical in position", Simulation(**STICKY), temperature=0.1),
    "none_consistent": Setting(
        "no bias, reads nearly identical in score", Simulation(item_scores=1.0), temperature=0.3
    ),
    "weak": Setting("bias near 0", _first(0.15)),
    "first": Setting("first positions preferred", _first(1.0)),
    "greedy": Setting(
        "U-shaped, temperature 0, effects of items and prompts",
        Simulation(preference="u_shaped", preference_strength=0.8, **MIXED),
        temperature=0.0,
    ),
    "sticky": Setting("last preferred, nearly identical in position", Simulation(preference="last", **STICKY), 0.1),
    "strong": Setting("last position preferred strongly", Simulation(preference="last", preference_strength=4.0)),
    "interaction": Setting("score and position interact", Simulation(interaction=1.0, tolerance=1.0)),
    "failures": Setting("a fifth of the first positions fails", _first(1.0, failure_rate=(0.2, 0, 0, 0, 0))),
    "two_levels": Setting("two levels", _first(1.5, item_error=1.0), n=2),
    "nine_levels": Setting("nine levels", _first(1.0, **MIXED), temperature=0.5, n=9),
    "small": Setting("80 items", _first(1.0, **MIXED), temperature=0.5, groups=80),
    **{
        f"groups_{groups}": Setting(
            f"{groups} groups of 8, effects of groups",
            _first(1.0, **GROUPED),
            temperature=0.5,
            groups=groups,
            candidates=8,
        )
        for groups in (18, 40, 96)
    },
    "soft": Setting("probabilities of options, temperature 0", _first(1.0, **MIXED), temperature=0.0, readout="soft"),
}

SETTINGS = {name: replace(setting, number=number) for number, (name, setting) in enumerate(SETTINGS.items())}

# No judge here prefers a position. The dependence of reads within items, and the number of items, vary.
NULLS = {
    "independent": ("reads independent", Simulation(tolerance=1.0), 1.0),
    "mixed": ("items and prompts have effects", Simulation(tolerance=1.0, **MIXED | {"item_positions": 1.0}), 0.3),
    "sticky": ("10 reads nearly identical in position", Simulation(**STICKY), 0.1),
    "greedy": ("10 reads identical in position", Simulation(tolerance=1e3, item_positions=4.0), 0.0),
    "consistent": ("10 reads nearly identical in score", Simulation(item_scores=1.0), 0.3),
}  # fmt: skip
NULL_TIMES = 8  # as many studies without a bias as there are of a setting: they take no bootstrap
NULL_ITEMS = (20, 50, 100, 320, 576)
LARGEST = 320  # groups of studies without a preference, of which there are half as many


def study_scores(setting: Setting, studies: range) -> pd.DataFrame:
    """Reads of several studies, each as a dataset of its own."""
    parts = []
    for study in studies:
        reads = simulated_studies.read_items(
            setting.judge,
            n=setting.n,
            strategies=["balanced", "fixed"],
            temperature=setting.temperature,
            groups=setting.groups,
            candidates=setting.candidates,
            seed=FIRST_STUDY + APART * setting.number + study,
        )
        parts.append(simulated_studies.as_scores(reads, candidates=setting.candidates, dataset=f"study{study:06d}"))
    table = pd.concat(parts, ignore_index=True)
    if setting.readout == "hard":  # the other readout is not estimated where it is not there
        return table.assign(position_probabilities=None, expected_score=np.nan)
    return table.assign(
        position=pd.array([pd.NA] * len(table), dtype="Int8"), score=pd.array([pd.NA] * len(table), dtype="Int8")
    )


@contextlib.contextmanager
def only_needed(setting: Setting) -> Iterator[None]:
    """Statistics that are not looked at here are not computed; the others stay what they are."""
    clusters = ("item", "group") if setting.candidates > 1 else ("item",)
    with contextlib.ExitStack() as patched:
        for module in (human_agreement, position_selection, strategy_comparison):
            patched.enter_context(mock.patch.object(module, "CLUSTERS", clusters))
        pearson = {"pearson": human_agreement.STATISTICS["pearson"]}
        patched.enter_context(mock.patch.object(human_agreement, "STATISTICS", pearson))
        yield


def estimates(setting: Setting, studies: range, *, resamples: int) -> pd.DataFrame:
    """Estimates of the workflow's statistics for each study.

    Returns:
        One row an estimate: `study`, `cluster`, `quantity` and, of shares, `position`; `estimate`; and its intervals,
        `ci_low`, `ci_high`, `sim_low`, `sim_high`, where it has them.
    """
    scores = blocks.Kept(study_scores(setting, studies))
    options = {"resamples": resamples, "confidence": CONFIDENCE, "seed": 1}
    with only_needed(setting):
        selection = position_selection.estimate(scores, **options)
        correlation = human_agreement.estimate(scores, confidence=CONFIDENCE)
        gain = strategy_comparison.estimate(scores, confidence=CONFIDENCE)
    kinds = ["share", "cramers_v", "cramers_v_corrected", "cramers_v_squared"]
    selection = selection[selection["quantity"].isin(kinds)]
    correlation = correlation[correlation["quantity"] == "pearson"]
    correlation = correlation.assign(quantity="r_" + correlation["strategy"])
    gain = gain[gain["quantity"] == "pearson"].assign(quantity="delta_r")
    table = pd.concat([selection, correlation, gain], ignore_index=True)
    intervals = [f"{kind}_{end}" for kind in ("ci", "sim") for end in ("low", "high")]
    return table.rename(columns={"dataset": "number"})[
        ["number", "cluster", "quantity", "position", "estimate", *intervals]
    ]


def truths(setting: Setting, *, items: int) -> pd.DataFrame:
    """True value of each quantity, and the error of its computation: `quantity`, `position`, `truth`, `truth_error`."""
    options = {"temperature": setting.temperature, "readout": setting.readout, "items": items, "seed": FIRST_TRUTH}
    unbiased = setting.judge.preference == "none" and setting.judge.interaction == 0
    if unbiased:  # exactly
        shares = simulated_studies.Truth(np.full(setting.n, 1 / setting.n), np.zeros(setting.n))
        v = simulated_studies.Truth(np.float64(0), np.float64(0))
    else:
        shares, v = simulated_studies.true_selection(setting.judge, setting.n, **options)
    r = simulated_studies.true_agreement(setting.judge, setting.n, **options)
    rows = [("share", place + 1, *pair) for place, pair in enumerate(zip(*shares, strict=True))]
    rows += [(name, pd.NA, v.value, v.error) for name in ("cramers_v", "cramers_v_corrected")]
    rows.append(("cramers_v_squared", pd.NA, v.value**2, 2 * v.value * v.error))
    rows += [(name, pd.NA, *pair) for name, *pair in zip(("r_balanced", "r_fixed", "delta_r"), *r, strict=True)]
    table = pd.DataFrame(rows, columns=["quantity", "position", "truth", "truth_error"])
    return table.astype({"position": "Int8", "truth": float, "truth_error": float})


def compared(found: pd.DataFrame, true: pd.DataFrame) -> pd.DataFrame:
    """Estimates of many studies against the truth.

    Args:
        found: see `estimates`.
        true: see `truths`.

    Returns:
        One row per quantity (and position) and cluster: `truth`, `mean`, `sd` of the estimates, `z` (the bias over its
        Monte Carlo error, that of the truth included), `n_studies`, and the shares of intervals that hold the truth:
        `ci` and `sim`. `sim` counts studies in which those of all positions do.
    """
    table = found.merge(true, on=["quantity", "position"], validate="many_to_one")
    for kind in ("ci", "sim"):
        known = table[f"{kind}_low"].notna()
        inside = table["truth"].between(table[f"{kind}_low"] - 1e-12, table[f"{kind}_high"] + 1e-12)
        table[kind] = inside.astype(float).where(known)
    together = table.groupby(["number", "cluster", "quantity"])["sim"].transform("min")
    table["sim"] = together
    by = ["cluster", "quantity", "position"]
    grouped = table.groupby(by, dropna=False, sort=False)
    summary = grouped[["truth", "truth_error"]].first()
    summary["mean"] = grouped["estimate"].mean()
    summary["sd"] = grouped["estimate"].std()
    summary["n_studies"] = grouped["estimate"].count()
    error = np.sqrt(summary["sd"] ** 2 / summary["n_studies"] + summary["truth_error"] ** 2)
    summary["z"] = (summary["mean"] - summary["truth"]) / error
    for kind in ("ci", "sim"):
        summary[kind] = grouped[kind].mean()
    return summary.reset_index()


def recovered(setting: Setting, *, studies: int, resamples: int, items: int) -> pd.DataFrame:
    """`compared` for new studies of one setting."""
    blocks = [range(start, min(start + TOGETHER, studies)) for start in range(0, studies, TOGETHER)]
    found = pd.concat([estimates(setting, block, resamples=resamples) for block in blocks], ignore_index=True)
    return compared(found, truths(setting, items=items))


# Statistics of which only the intervals are looked at, and what their quantities are called on the page.
OTHERS = {
    "between kendall_tau_b": "rank reversal: tau-b, balanced and fixed",
    "between top1_flip": "rank reversal: flips",
    "excess kendall_tau_b": "rank reversal: excess of tau-b",
    "excess top1_flip": "rank reversal: excess of flips",
    "mean_sd": "within items: mean standard deviation",
    "shift": "within items: shift",
    "rest": "within items: rest",
    "r 5": "budget curve: r of five reads",
    "gain 5": "budget curve: gain of five reads",
    "heldout_cost_saved": "Bias Cost: saved on held-out groups",
    "heldout_pearson_gained": "Bias Cost: r gained on held-out groups",
}
OTHER_SETTINGS = ("groups_18", "groups_40", "groups_96")
LARGE, TRUTHS = 3000, 16  # groups of a study that stands for the truth, and such studies


def other_estimates(setting: Setting, studies: range, *, resamples: int) -> pd.DataFrame:
    """Estimates of other statistics for each study by groups: `number`, `quantity`, `estimate`, `ci_low`, `ci_high`."""
    scores = study_scores(setting, studies)
    options = {"confidence": CONFIDENCE, "seed": 1}
    temperatures = {"simulated": {"default": setting.temperature}}
    with contextlib.ExitStack() as patched:
        for module in (bias_cost, budget_curve, within_item_deviation):
            patched.enter_context(mock.patch.object(module, "CLUSTERS", ("group",)))
        ranks = rank_reversal.estimate(scores, halvings=10, **options)
        within = within_item_deviation.estimate(scores, confidence=CONFIDENCE, temperatures=temperatures)
        curve = budget_curve.estimate(scores, **options)
        cost = bias_cost.estimate(scores, resamples=resamples, **options)
    ranks["quantity"] = ranks["comparison"] + " " + ranks["quantity"]
    curve = curve[curve["statistic"] == "pearson"]
    curve = curve.assign(quantity=curve["quantity"] + " " + curve["k"].astype(str))
    parts = [table[table["strategy"] == "balanced"] for table in (ranks, within, curve, cost)]
    table = pd.concat(parts, ignore_index=True).rename(columns={"dataset": "number"})
    table = table[table["quantity"].isin(OTHERS) & (table["number"] != EVERY)]
    return table[["number", "quantity", "estimate", "ci_low", "ci_high"]]


def other_truths() -> pd.DataFrame:
    """True value of each quantity of `OTHERS` and its error, by quantity: `truth` and `truth_error`.

    The judge of all `OTHER_SETTINGS` is one: the mean over `TRUTHS` studies of `LARGE` groups.
    """
    first = SETTINGS[OTHER_SETTINGS[0]]
    studies = [replace(first, groups=LARGE, number=200 + place) for place in range(TRUTHS)]
    found = pd.concat([other_estimates(study, range(1), resamples=2) for study in studies])
    of_quantity = found.groupby("quantity")["estimate"]
    return pd.DataFrame({"truth": of_quantity.mean(), "truth_error": of_quantity.std() / np.sqrt(TRUTHS)})


def other_intervals(setting: Setting, true: pd.DataFrame, *, studies: int, resamples: int) -> pd.DataFrame:
    """Coverage of the intervals of `OTHERS`, see `against_truth`."""
    blocks = [range(start, min(start + TOGETHER, studies)) for start in range(0, studies, TOGETHER)]
    found = pd.concat([other_estimates(setting, block, resamples=resamples) for block in blocks], ignore_index=True)
    return against_truth(found, true)


def against_truth(found: pd.DataFrame, true: pd.DataFrame) -> pd.DataFrame:
    """Estimates of many studies against `other_truths`.

    Of held-out quantities, which depend on how many groups choose, the truth is the mean over the studies.

    Returns:
        One row per quantity: `truth`, `mean`, `sd`, `z` and the share `ci` that holds it, as `compared` has them, and
        the shares of intervals that lie `above` and `below` it.
    """
    rows = []
    for quantity in OTHERS:
        of = found[found["quantity"] == quantity]
        known, error = true.at[quantity, "truth"], true.at[quantity, "truth_error"]
        error = np.hypot(of["estimate"].std() / np.sqrt(len(of)), error)
        if quantity.startswith("heldout"):
            known, error = of["estimate"].mean(), np.nan
        row = {"quantity": quantity, "truth": known, "mean": of["estimate"].mean(), "sd": of["estimate"].std()}
        row["z"] = (row["mean"] - known) / error
        row |= {"above": (of["ci_low"] > known).mean(), "below": (of["ci_high"] < known).mean()}
        rows.append(row | {"ci": ((of["ci_low"] <= known) & (known <= of["ci_high"])).mean(), "n_studies": len(of)})
    return pd.DataFrame(rows)


def null_counts(
    judge: Simulation, temperature: float, *, items: int, studies: int, n: int = 5, seed: int = FIRST_STUDY
) -> np.ndarray:
    """Counts of selected positions in each item of studies without a bias. Shape (studies, items, n)."""
    parts = []
    for place, start in enumerate(
        range(0, items * studies, simulated_studies.ITEMS_AT_ONCE)
    ):  # reads of all would fill memory
        block = simulated_studies.read_items(
            judge,
            n=n,
            strategies=["balanced"],
            temperature=temperature,
            groups=min(simulated_studies.ITEMS_AT_ONCE, items * studies - start),
            seed=seed + place,
        )["balanced"]
        parts.append((block.positions[..., None] == np.arange(1, n + 1)).sum(axis=1))
    return np.concatenate(parts).reshape(studies, items, n).astype(float)


def rejections(counts: np.ndarray, level: float = 0.05) -> dict[str, float]:
    """Rejection rates of tests of uniform selection: the papers', and our two.

    Args:
        counts: see `null_counts`.
    """
    return {
        "chi2": float(np.mean([uniformity.count_test(study.sum(axis=0)).p <= level for study in counts])),
        "cluster": float(np.mean([uniformity.cluster_test(study) <= level for study in counts])),
        "rotation": float(np.mean([_rotated(study, seed) <= level for seed, study in enumerate(counts)])),
    }


def _rotated(counts: np.ndarray, seed: int) -> float:
    """p-value of the rotation test, with as few rotations as are enough for its level."""
    return uniformity.rotation_test(counts, rotations=199, rng=randomness.generator(seed, "recovery"))


# A weak preference whose power is not near 0 or 1, at several numbers of items and kinds of dependence.
POWERS = {
    "independent": ("reads independent", Simulation(preference="u_shaped", preference_strength=0.2), 1.0, 320),
    "mixed": ("items and prompts have effects", _first(0.22, **MIXED), 0.5, 320),
    "sticky": ("10 reads nearly identical in position", _first(1.2, **STICKY), 0.1, 320),
    "sticky_few": ("10 reads nearly identical in position", _first(2.5, **STICKY), 0.1, 80),
    "consistent": ("10 reads nearly identical in score", _first(0.1, item_scores=1.0), 0.3, 320),
}


def power_found(judge: Simulation, temperature: float, *, items: int, studies: int) -> dict[str, float]:
    """Power of the test of uniform selection at 5%, as predicted from the true V and design effect, and as found."""
    large = null_counts(judge, temperature, items=100_000, studies=1)[0]
    n, reads = large.shape[1], large.sum(axis=1).mean()
    v, deff = simulated_studies.true_v(judge, n, temperature=temperature).value, uniformity.design_effect(large)
    noncentrality = items * reads * (n - 1) * v**2 / deff
    found = rejections(null_counts(judge, temperature, items=items, studies=studies))["cluster"]
    smallest = uniformity.detectable_v(items * reads, n, deff=deff)
    predicted = stats.ncx2.sf(stats.chi2.isf(0.05, n - 1), n - 1, noncentrality)
    return {"v": v, "deff": deff, "detectable": smallest, "predicted": predicted, "found": found}


def page(options: argparse.Namespace) -> Iterator[str]:
    """Lines of the page about what was found."""
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    results = options.results
    tables = {
        "coverage": _coverage_lines(results),
        "bias": _bias_lines(results),
        "others": _other_lines(results),
        "nulls": _null_lines(results, NULL_TIMES * options.studies),
        "power": _power_lines(results),
    }  # nothing is read before its place on the page
    tables |= {f"unfavourable {part}": unfavourable.lines(results, part) for part in unfavourable.QUANTITIES}
    tables |= {f"preference {part}": _preference_lines(results, part) for part in preference_recovery.PARTS}
    tables |= {f"defects {name}": _defect_lines(results, name) for name in defect_recovery.TABLES}
    of_text = numbers(options)
    for line in _section(text.splitlines(), options.section):
        name = line.removeprefix("<!-- ").removesuffix(" -->")
        if line.startswith("<!-- ") and name in tables:
            yield from tables[name]
        else:
            yield line.format(**of_text)


def _section(page: list[str], title: str | None) -> list[str]:
    """The lines of a section, its title and the empty lines at its end included; all lines where there is no title."""
    if title is None:
        return page
    first = page.index(f"## {title}")
    following = (place for place, line in enumerate(page) if place > first and line.startswith("## "))
    return page[first : next(following, len(page))]


def write_page(options: argparse.Namespace) -> None:
    """Write the page, or one section of it: the others stay as they are."""
    made = list(page(options))
    if options.section:
        kept = options.page.read_text(encoding="utf-8").splitlines()
        old = _section(kept, options.section)
        place = kept.index(old[0])
        made = [*kept[:place], *made, *kept[place + len(old) :]]
    options.page.write_text("\n".join(made) + "\n", encoding="utf-8")


def numbers(options: argparse.Namespace) -> dict[str, object]:
    """Numbers of settings and studies in the page's text, by their names there."""
    found = {name: getattr(options, name) for name in ("studies", "more", "defects", "resamples", "items")}
    found |= {"four": 4 * options.more, "twice": 2 * options.more, "truths": TRUTHS, "large": LARGE}
    found |= {"nulls": NULL_TIMES * options.studies, "largest": LARGEST}
    for name in ("studies", "nulls", "more", "twice", "four"):
        found[f"{name}_chance"] = f"{100 * shares.chance(found[name]):.1f}"
    return found


SELECTION = {
    "share": "shares",
    "cramers_v": "V",
    "cramers_v_corrected": "V, corrected",
    "cramers_v_squared": "V²",
}
NAMES = SELECTION | {"r_balanced": "r, balanced", "r_fixed": "r, fixed", "delta_r": "delta r"}
# Columns of coverage: quantity, kind of interval, heading. V and its correction share an interval.
COVERED = [("share", "ci", "shares"), ("share", "sim", "all shares")]
COVERED += [(name, "ci", NAMES[name]) for name in ("cramers_v", "r_balanced", "r_fixed", "delta_r")]
OTHER_SELECTION = "failures"  # its shares are of what was shown in reads with a score: another quantity than the truth


def _recovered(results: Path) -> pd.DataFrame:
    """Findings of all settings, each with its `name` and `title`."""
    tables = []
    for name, setting in SETTINGS.items():
        table = pd.read_parquet(results / f"recovery_{name}.parquet")  # all are shown, or none
        several = table["cluster"].nunique() > 1
        titles = setting.title + (", by " + table["cluster"] + "s" if several else "")
        tables.append(table.assign(name=name, title=titles))
    return pd.concat(tables, ignore_index=True)


def _coverage_lines(results: Path) -> Iterator[str]:
    yield f"| setting | {' | '.join(heading for *_, heading in COVERED)} |"
    yield f"|:--{'|--:' * len(COVERED)}|"
    for title, table in _recovered(results).groupby("title", sort=False):
        means, studies = table.groupby("quantity")[["ci", "sim"]].mean(), table["n_studies"].min()
        cells = (shares.percent(means.at[name, kind], studies, CONFIDENCE) for name, kind, _ in COVERED)
        yield f"| {title} | {' | '.join(cells)} |"


def _bias_lines(results: Path) -> Iterator[str]:
    """The setting in which the bias of each quantity is largest in terms of its error."""
    yield "| quantity | truth | mean | SD of a study | bias / its error | setting |"
    yield "|:--|--:|--:|--:|--:|:--|"
    table = _recovered(results)
    other = (table["name"] == OTHER_SELECTION) & table["quantity"].isin(SELECTION)
    for part in (table[~other], table[other]):
        for name, rows in part.groupby("quantity", sort=False):
            worst = rows.loc[rows["z"].abs().idxmax()]
            where = "" if pd.isna(worst["position"]) else f", position {worst['position']}"
            numbers = f"{worst['truth']:.4f} | {worst['mean']:.4f} | {worst['sd']:.4f} | {worst['z']:+.1f}"
            yield f"| {NAMES[name]} | {numbers} | {worst['title']}{where} |"


def _other_lines(results: Path) -> Iterator[str]:
    """Truth, largest bias, and coverage by number of groups."""
    tables = {SETTINGS[name].groups: pd.read_parquet(results / f"others_{name}.parquet") for name in OTHER_SETTINGS}
    yield f"| quantity | truth | bias / its error | {' | '.join(f'{groups} groups' for groups in tables)} |"
    yield f"|:--|--:|--:{'|--:' * len(tables)}|"
    table = pd.concat(tables, names=["groups"]).reset_index("groups")
    for quantity, words in OTHERS.items():
        rows = table[table["quantity"] == quantity]
        worst = rows["z"].abs().max()  # of held-out quantities the truth is the mean: there is no bias
        truth, bias = ("", "") if np.isnan(worst) else (f"{rows['truth'].iloc[0]:.4f}", f"{worst:.1f}")
        covered = " | ".join(shares.percent(row.ci, row.n_studies, CONFIDENCE) for row in rows.itertuples())
        yield f"| {words} | {truth} | {bias} | {covered} |"


def _preference_lines(results: Path, part: str) -> Iterator[str]:
    names = [f"preference_{part}_{name}" for name in preference_recovery.PARTS[part]()]
    table = pd.concat([pd.read_parquet(results / f"{name}.parquet") for name in names], ignore_index=True)
    yield from preference_recovery.lines(table, part)


def _defect_lines(results: Path, name: str) -> Iterator[str]:
    yield from defect_recovery.lines(pd.read_parquet(results / f"defects_{name}.parquet"))


def _null_lines(results: Path, studies: int) -> Iterator[str]:
    few, more = NULL_ITEMS[:2]
    yield f"| reads | chi-square | Rao-Scott, {few} items | {more} or more | rotation test |"
    yield "|:--|--:|--:|--:|--:|"
    for null, (title, *_) in NULLS.items():
        table = pd.read_parquet(results / f"nulls_{null}.parquet")
        is_small = table["items"] == few
        parts = table["chi2"], table.loc[is_small, "cluster"], table.loc[~is_small, "cluster"], table["rotation"]
        yield f"| {title} | {' | '.join(shares.span(part, studies, LEVEL) for part in parts)} |"


def _power_lines(results: Path) -> Iterator[str]:
    table = pd.concat([pd.read_parquet(results / f"power_{case}.parquet") for case in POWERS])
    yield "| reads | items | true V | V at 80% power | power predicted | power observed |"
    yield "|:--|--:|--:|--:|--:|--:|"
    for row in table.itertuples():
        yield (
            f"| {POWERS[row.case][0]} | {row.items} | {row.v:.4f} | {row.detectable:.4f}"
            f" | {100 * row.predicted:.1f}% | {100 * row.found:.1f}% |"
        )


def pieces(options: argparse.Namespace) -> dict[str, Callable[[], pd.DataFrame]]:
    """Parts of the page by the name of their file: each is computed by itself, and kept."""
    found: dict[str, Callable[[], pd.DataFrame]] = {}
    for name, setting in SETTINGS.items():
        sizes = {"studies": options.studies, "resamples": options.resamples, "items": options.items}
        found[f"recovery_{name}"] = partial(recovered, setting, **sizes)
    found["others_truth"] = other_truths
    for name in OTHER_SETTINGS:
        found[f"others_{name}"] = partial(_others, options, SETTINGS[name])
    for null in NULLS:
        found[f"nulls_{null}"] = partial(_null_rows, null, NULL_TIMES * options.studies)
    for case in POWERS:
        found[f"power_{case}"] = partial(_power_row, case, options.studies)
    for part, settings in preference_recovery.PARTS.items():
        for name, setting in settings().items():
            found[f"preference_{part}_{name}"] = partial(_preference_row, part, setting, options.more)
    for name, make in defect_recovery.TABLES.items():
        found[f"defects_{name}"] = partial(make, options.defects)
    return found | unfavourable.pieces(options.cells)


def _others(options: argparse.Namespace, setting: Setting) -> pd.DataFrame:
    true = pd.read_parquet(options.results / "others_truth.parquet")
    return other_intervals(setting, true, studies=options.more, resamples=options.resamples)


def _null_rows(null: str, studies: int) -> pd.DataFrame:
    _, judge, temperature = NULLS[null]
    counts = {items: null_counts(judge, temperature, items=items, studies=studies) for items in NULL_ITEMS}
    return pd.DataFrame([{"null": null, "items": items} | rejections(each) for items, each in counts.items()])


def _power_row(case: str, studies: int) -> pd.DataFrame:
    _, judge, temperature, items = POWERS[case]
    return pd.DataFrame(
        [{"case": case, "items": items} | power_found(judge, temperature, items=items, studies=studies)]
    )


def _preference_row(part: str, setting: preference_recovery.Setting, studies: int) -> pd.DataFrame:
    """Twice as many studies where there is nothing to find, and four times as many of options selected out of two."""
    times = {
        "nulls": 1 if setting.groups == LARGEST else 2,
        "planted": 4 if (setting.n, setting.readout) == (2, "hard") else 1,
    }.get(part, 1)
    found = preference_recovery.recovered(setting, times * studies)
    return pd.DataFrame([preference_recovery.about(part, setting) | found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--results", type=Path, required=True, help="folder for what was found; kept ones are not redone"
    )
    parser.add_argument("--studies", type=int, default=1000, help="simulated studies per setting")
    parser.add_argument("--more", type=int, default=1000, help="studies of what takes little time: see the page")
    parser.add_argument("--defects", type=int, default=200, help="studies of what other formulas give")
    parser.add_argument("--cells", type=int, default=200, help="studies of a cell of unfavourable designs")
    parser.add_argument(
        "--resamples", type=int, default=1000, help="of the bootstrap; paired differences take twice as many"
    )
    parser.add_argument("--items", type=int, default=1_000_000, help="simulated items of a truth")
    parser.add_argument("--only", nargs="*", default=[""], help="pieces whose names begin so; all by default")
    parser.add_argument("--page", type=Path, help="page to write, such as docs/recovery.md")
    parser.add_argument("--section", help="title of the only section of it to write; all by default")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    for name, make in pieces(options).items():
        path = options.results / f"{name}.parquet"
        if not path.exists() and name.startswith(tuple(options.only)):
            found = make()
            found.to_parquet(partial_path := path.with_suffix(".partial"))
            partial_path.rename(path)
            print(f"{name}\n{found.round(4).to_string()}", flush=True)
    if options.page:
        write_page(options)


if __name__ == "__main__":
    main()
