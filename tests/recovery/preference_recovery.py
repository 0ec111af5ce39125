"""Simulated studies of a known position preference: is it found, do intervals cover, does the test keep its level?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import shares

from rubric_order.base import permutations
from rubric_order.methods.position import preference
from rubric_order.methods.uncertainty import cluster_robust
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation

FIRST_STUDY, FIRST_TRUTH = 3_000_000, 1  # seeds: studies and truths share no item
READS_AT_ONCE = 400_000
TRUE_GROUPS = 20_000
CONFIDENCE = 0.95
DECISIVENESS = (0.25, 0.5, 1.0, 2.0, 4.0)
LEVELS, GROUPS = (2, 3, 5, 9), (40, 96, 320)
PLANTED = (0.6, 0.1, -0.1, -0.6)  # stretched to the number of positions


@dataclass(frozen=True)
class Setting:
    """One kind of study: items are candidates in groups, each read in the balanced orderings at temperature 1.

    Attributes:
        exact: whether the truth is the judge's own preference. Else, where items or groups prefer different positions,
            it is what very many groups give.
    """

    title: str
    judge: Simulation
    n: int = 5
    groups: int = 96
    candidates: int = 2
    readout: str = "hard"
    exact: bool = True


def _judge(**others: object) -> Simulation:
    return Simulation(**{"tolerance": 1.0, "item_scores": 0.3, "group_scores": 0.3, "group_error": 0.3} | others)


def planted() -> dict[str, Setting]:
    """A preference at each level of decisiveness, scale, number of groups and readout; soft readouts have noise.

    Of soft readouts only the ends of the levels: least squares takes away what items have for scores, however much.
    """
    found = {}
    for readout in ("hard", "soft"):
        for n in LEVELS:
            for groups in GROUPS:
                for decisive in DECISIVENESS if readout == "hard" else (DECISIVENESS[0], DECISIVENESS[-1]):
                    noise = {"prompts": 0.5, "group_positions": 0.3} if readout == "soft" else {}
                    judge = _judge(decisiveness=decisive, preference=PLANTED, **noise)
                    name = f"{readout}_n{n}_g{groups}_d{decisive:g}"
                    found[name] = Setting(f"decisiveness {decisive:g}", judge, n, groups, readout=readout)
    return found


EFFECTS = {
    "none": ("reads independent", {}),
    "item": ("items prefer positions", {"item_positions": 0.5}),
    "group": ("groups prefer positions", {"group_positions": 0.5}),
    "prompt": ("prompts have effects", {"prompts": 0.7}),
}


def dependent() -> dict[str, Setting]:
    """A preference that varies between items, groups and prompts."""
    return {
        f"{name}_g{groups}": Setting(title, _judge(preference=PLANTED, **effects), groups=groups, exact=False)
        for name, (title, effects) in EFFECTS.items()
        for groups in (18, *GROUPS)
    }


def nulls() -> dict[str, Setting]:
    """Judges without a preference on average."""
    return {
        f"{readout}_{name}_n{n}_g{groups}": Setting(title, _judge(**effects), n, groups, readout=readout)
        for readout in ("hard", "soft")
        for name, (title, effects) in EFFECTS.items()
        for n in (2, 5, 9)
        for groups in ((18, *GROUPS) if n == 5 else (96,))
        if readout == "hard" or name != "none"
    }


def fits(setting: Setting, studies: int, *, seed: int = FIRST_STUDY) -> Iterator[tuple[cluster_robust.Fit, float]]:
    """The position preference of each of some studies, and the p-value of there being none."""
    for found in laid(setting, studies, seed=seed):
        fit = preference.positions(found).fit()
        yield fit, preference.no_preference(fit, preference.alike(found) if fit.separated else None)


def laid(setting: Setting, studies: int, *, seed: int = FIRST_STUDY) -> Iterator[preference.Hard | preference.Soft]:
    """The reads of each of some studies, laid out for comparison, with groups as clusters."""
    items = setting.groups * setting.candidates
    at_once = max(1, READS_AT_ONCE // (items * 2 * setting.n))
    group = np.repeat(np.arange(setting.groups), setting.candidates)
    for start in range(0, studies, at_once):
        count = min(at_once, studies - start)
        reads = simulated_studies.read_items(
            setting.judge,
            n=setting.n,
            strategies=["balanced"],
            groups=setting.groups * count,
            candidates=setting.candidates,
            seed=seed + start,
        )["balanced"]
        places = permutations.positions_of(np.ascontiguousarray(reads.shown)) - 1
        if setting.readout == "hard":
            values = np.nan_to_num(reads.scores, nan=0.0).astype(int) - 1
        else:
            values = np.take_along_axis(reads.probabilities, places, axis=2)
        layout = preference.compare_scores if setting.readout == "hard" else preference.compare_probabilities
        for study in range(count):
            rows = slice(study * items, (study + 1) * items)
            yield layout(values[rows], places[rows], group)


def truth(setting: Setting) -> np.ndarray:
    """The preference that is to be found, shape (n,)."""
    weights = setting.judge.position_weights(setting.n)
    if setting.exact or setting.readout == "soft":
        return weights - weights.mean()
    large = Setting(setting.title, setting.judge, setting.n, TRUE_GROUPS, setting.candidates)
    ((fit, _),) = fits(large, 1, seed=FIRST_TRUTH)
    return fit.coefficients


def recovered(setting: Setting, studies: int) -> dict[str, float]:
    """Bias, coverage and rejections over studies.

    Returns:
        `n_studies` with an estimate and its interval, `none`, without, and `separated`, with an estimate that only the
        penalty keeps finite; `bias`, the largest difference over positions of the mean estimate
        from the truth, and `bias_error`, its Monte Carlo error; `coverage` of the intervals, mean over positions; and
        `rejected`, the share of studies with a p-value below 5%.
    """
    true, one = truth(setting), np.eye(setting.n) - 1 / setting.n
    estimates, inside, p, separated = [], [], [], 0
    for fit, p_value in fits(setting, studies):
        p.append(p_value)
        ends = [fit.interval(row, CONFIDENCE) for row in one]
        if all(np.isfinite(each["ci_low"]) for each in ends):
            estimates.append(fit.coefficients)
            inside.append([e["ci_low"] <= t <= e["ci_high"] for e, t in zip(ends, true, strict=True)])
        separated += fit.separated
    estimates = np.array(estimates)
    bias = np.abs(estimates.mean(axis=0) - true)
    return {
        "n_studies": len(estimates),
        "none": studies - len(estimates),
        "separated": separated,
        "bias": bias.max(),
        "bias_error": (estimates.std(axis=0) / np.sqrt(len(estimates)))[bias.argmax()],
        "coverage": float(np.mean(inside)),
        "rejected": float(np.mean(np.array(p)[~np.isnan(p)] < 1 - CONFIDENCE)),
    }


PARTS = {"planted": planted, "dependent": dependent, "nulls": nulls}


def about(part: str, setting: Setting) -> dict:
    """The setting that a row of a part's table names."""
    return {"part": part, "title": setting.title, "readout": setting.readout, "n": setting.n, "groups": setting.groups}


def lines(table: pd.DataFrame, part: str) -> Iterator[str]:
    """The lines of one part of the page: the largest bias, and coverage or rejections from the least to the most.

    Args:
        table: `about` and `recovered` of each setting.
    """
    planted, nulls = part == "planted", part == "nulls"
    keys = ["readout", "n"] if planted else ["title", "readout"]
    counts = [" no estimate | separated |", "--:|--:|"] if planted else ["", ""]
    share, nominal = ("rejected", 1 - CONFIDENCE) if nulls else ("coverage", CONFIDENCE)
    heading = " | ".join(["readout", "levels"] if planted else ["setting", "readout"])
    yield f"| {heading} | largest bias | {'rejected at 5%' if nulls else share} |{counts[0]}"
    yield f"|:--|:--|--:|--:|{counts[1]}"
    for names, rows in table[table["part"] == part].groupby(keys, sort=False):
        studies = rows["n_studies"] + rows["none"]
        spread = shares.span(rows[share], studies, nominal)
        line = f"| {' | '.join(map(str, names))} | {rows['bias'].max():.3f} | {spread} |"
        most = rows["separated"].idxmax()
        separated = rows.at[most, "separated"]
        of_studies = f"{separated} of {studies[most]}" if separated else "0"
        yield line + (f" {rows['none'].max()} | {of_studies} |" if planted else "")
