"""Precision that pilots predict for a study, beside the precision that such studies turn out to have.

    python tests/recovery/advice_recovery.py --studies 200

Prints its rows as Markdown. Of each setting, pilots of `PILOT` groups are read in all balanced orderings, and each
predicts what a study of `STUDY` groups by some design will have. Then such studies are made of new groups. `realised`
is the mean half-width of the interval that they report, `spread` the half-width that the scatter of their estimates
would give; of `ranked` the share of pairs in the order of the means over all 120 orderings of expected scores; of
`equivalent` the share of cards that say so. `within` is the share of single pilots whose prediction is within 15% of
the realised value, `covered` of those whose interval holds it.

    RUBRIC_ORDER_JUDGMENTS=FOLDER python tests/recovery/advice_recovery.py --real

The same with real reads: groups that the pilot does not have are the study. Of the demo's judge ten of its tasks, drawn
at random, predict the other ten. Recorded judgments of SummEval have one ordering, so that they show the part of the
groups alone: articles drawn at random predict all others, for the mean score and for r with another prompt's scores.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from rubric_order.base.keys import VALUES
from rubric_order.base.readouts import Readout
from rubric_order.cards import card
from rubric_order.extras.one_read.methods.advice import designs, goals, variances
from rubric_order.extras.one_read.methods.advice.goals import Asked, Margins
from rubric_order.extras.one_read.methods.advice.pilot import Pilot
from rubric_order.extras.one_read.methods.advice.variances import Shape
from rubric_order.library import estimates
from rubric_order.methods.agreement import correlations
from rubric_order.methods.position import blocks, preference
from rubric_order.methods.uncertainty import distributions, resampling
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

PILOT, STUDY = 50, 100  # groups
CONFIDENCE, WITHIN = 0.95, 0.15
DRAWS = 100  # of groups of real reads, at random
MARGINS = Margins(estimates.POINTS, estimates.LOG_ODDS, estimates.SPREAD)
UNEQUAL = (1, 1, 2, 2, 3, 3, 4, 8)  # items of groups, in turn


@dataclass(frozen=True)
class Setting:
    """A kind of judge and of groups.

    Attributes:
        judge: the simulated judge. sizes: items of groups, in turn. temperature: of its answers.
        goals: goals and designs that are predicted. groups: of a study.
    """

    name: str
    judge: Simulation = field(repr=False)
    sizes: tuple[int, ...] = (3,)
    goals: tuple[tuple[str, Readout, str], ...] = ()
    groups: int = STUDY


H, S = Readout.HARD, Readout.SOFT
ALL = (
    *(
        (goal, readout, "balanced")
        for goal in (goals.R, goals.MEAN, goals.PREFERENCE, goals.RANKED)
        for readout in (H, S)
    ),
    *((goal, H, "random 3") for goal in (goals.R, goals.MEAN, goals.RANKED)),
    *((goal, H, "rotated") for goal in (goals.R, goals.MEAN, goals.RANKED)),
)
FIRST = {"preference": "first", "preference_strength": 0.6, "prompts": 0.3, "item_scores": 0.3}
CARDS = ((goals.EQUIVALENT, S, "balanced"),)
SETTINGS = (
    Setting(
        "prefers the first, 3 items per group",
        Simulation(**FIRST, group_positions=0.2, group_error=0.3),
        goals=ALL,
    ),
    Setting(
        "groups of 1 to 8 items, effects of groups",
        Simulation(**FIRST, group_positions=0.5, group_error=0.8, group_scores=0.3),
        sizes=UNEQUAL,
        goals=ALL,
    ),
    Setting("indecisive", Simulation(**FIRST, decisiveness=0.3, group_positions=0.2), goals=ALL),
    Setting("decisive", Simulation(**FIRST, decisiveness=6, group_positions=0.2, group_error=0.3), goals=ALL),
    Setting("lenient, near the ceiling", Simulation(**FIRST, leniency=1.6, group_error=0.3), goals=ALL),
    Setting(
        "positions and scores together (interaction)",
        Simulation(interaction=0.8, prompts=0.3, group_error=0.3),
        goals=ALL,
    ),
    *(
        Setting(f"no bias, single items, {groups} groups", Simulation(prompts=0.15), (1,), CARDS, groups)
        for groups in (130, 200)
    ),
    *(
        Setting(
            f"no bias, groups of 1 to 8 items, {groups} groups",
            Simulation(prompts=0.2, group_positions=0.05),
            UNEQUAL,
            CARDS,
            groups,
        )
        for groups in (200, 250)
    ),
)


def scores_of(setting: Setting, design: str, groups: int, seed: int) -> pd.DataFrame:
    """Scores of new groups by a design, such as ``balanced`` or ``random 3``."""
    name, _, budget = design.partition(" ")
    strategy = "random" if name == "rotated" else name
    most = max(setting.sizes)
    reads = studies.read_items(
        setting.judge,
        n=5,
        strategies=[strategy],
        budget=int(budget) if budget else 1 if name == "rotated" else None,
        groups=groups,
        candidates=most,
        seed=seed,
    )
    table = studies.as_scores(reads, candidates=most)
    kept = np.tile(np.arange(most), groups) < np.repeat(np.resize(setting.sizes, groups), most)
    return table[np.repeat(kept, len(table) // len(kept))].reset_index(drop=True)


def asked(goal: str) -> Asked:
    return Asked(goal, CONFIDENCE, MARGINS, 1.0, 1)


def predict(setting: Setting, goal: str, readout: Readout, design: str, *, groups: int, seed: int) -> np.ndarray:
    """Prediction of one pilot for a study of the setting, with its interval."""
    (block,) = blocks.blocks(scores_of(setting, "balanced", groups, seed))
    return predicted(block, goal, readout, design, Shape.of(np.resize(setting.sizes, setting.groups)), setting.groups)


def predicted(block: blocks.Block, goal: str, readout: Readout, design: str, shape: Shape, groups: int) -> np.ndarray:
    """Prediction of a pilot for so many groups of a shape, with its interval."""
    pilot = Pilot.of(block, readout, VALUES[readout], seed=1)
    found = designs.possible(block.orderings[0], pilot.repeats, crossed=False)
    (one,) = (each for each in found if f"{each.strategy} {each.budget or ''}".strip() == design)
    return np.array(goals.predictor(pilot, one, asked(goal)).predicted(shape, groups))


def realised(table: pd.DataFrame, goal: str, readout: Readout, truth: np.ndarray | None = None) -> tuple[float, float]:
    """Precision that a study reports, and its estimate, by the functions that its statistics use."""
    if goal == goals.EQUIVALENT:
        statistics = estimates.card_statistics(table)
        if readout == Readout.SOFT:  # scores and probabilities are of one answer
            statistics["position_preference"] = statistics["position_preference"].assign(temperature=1.0)
        (made,) = card.cards(statistics)
        return float(made.verdict.word == "equivalent"), np.nan
    (block,) = blocks.blocks(table)
    unit = block.units("group")
    if goal == goals.PREFERENCE:
        fit = preference.sums(preference.compared(block, readout)).regroup(unit).positions
        rows = [fit.interval(weights, CONFIDENCE) for weights in np.eye(5) - 0.2]
        return float(np.mean([(row["ci_high"] - row["ci_low"]) / 2 for row in rows])), rows[0]["estimate"]
    means = np.nanmean(block.matrix(VALUES[readout]), axis=1)
    if goal == goals.R:
        pairs = correlations.Pairs(means, block.items["human_score"].to_numpy(dtype=float), unit)
        interval = pairs.interval(correlations.weighted_pearson, CONFIDENCE)
        return (interval.high - interval.low) / 2, np.arctanh(interval.estimate)
    if goal == goals.MEAN:
        sums = resampling.left_out_sums(np.column_stack([np.ones(len(means)), means]), unit)
        interval = resampling.jackknife_t(
            sums[:, 1] / sums[:, 0], CONFIDENCE, sizes=resampling.part_sizes(unit)
        ).interval
        return (interval.high - interval.low) / 2, interval.estimate
    return share_right(means, truth, unit if np.bincount(unit).max() > 1 else np.zeros_like(unit)), np.nan


def share_right(means: np.ndarray, truth: np.ndarray, group: np.ndarray) -> float:
    """Share of the pairs of a group that are in the order of the truth; equal means count half."""
    one, other = np.triu_indices(len(means), 1)
    same = group[one] == group[other]
    one, other = one[same], other[same]
    sign = np.sign(means[one] - means[other]) * np.sign(truth[one] - truth[other])
    return float((sign > 0).mean() + (sign == 0).mean() / 2)


def truth_of(setting: Setting, groups: int, seed: int) -> np.ndarray:
    """Mean expected score of the same items over all orderings."""
    (block,) = blocks.blocks(scores_of(setting, "all", groups, seed))
    return block.matrix(VALUES[S]).mean(axis=1)


def compare(
    setting: Setting, goal: str, readout: Readout, design: str, *, pilots: int, count: int
) -> dict[str, object]:
    """One row: predictions of pilots, and what came out of studies."""
    made = np.array([predict(setting, goal, readout, design, groups=PILOT, seed=9000 + k) for k in range(pilots)])
    out = []
    for seed in range(count):
        groups = PILOT // 2 if goal == goals.RANKED else setting.groups
        truth = truth_of(setting, groups, seed) if goal == goals.RANKED else None
        out.append(realised(scores_of(setting, design, groups, seed), goal, readout, truth))
    value, estimate = np.array(out).T
    mean = float(value.mean())
    scatter = np.nan
    if goal in (goals.MEAN, goals.PREFERENCE, goals.R):
        scatter = float(distributions.t_quantile(0.975, setting.groups - 1)) * estimate.std(ddof=1)
        if goal == goals.R:
            center = estimate.mean()
            scatter = float(np.tanh(center + scatter) - np.tanh(center - scatter)) / 2
    ratio = made[:, 0].mean() / mean if mean else np.nan
    return {
        "setting": setting.name,
        "goal": goal,
        "readout": str(readout),
        "design": design,
        "predicted": made[:, 0].mean(),
        "realised": mean,
        "ratio": ratio,
        "spread": scatter,
        "within": float((np.abs(made[:, 0] / mean - 1) <= WITHIN).mean()),
        "covered": float(((made[:, 1] <= mean) & (mean <= made[:, 2])).mean()),
    }


def real() -> Iterator[dict[str, object]]:
    """Rows of real reads: predictions from some groups, and what the others have."""
    local = pd.read_parquet(Path(__file__).resolve().parents[2] / "docs" / "data" / "local_judges.parquet")
    reads = estimates.scores_of(local[local["judge"] == "smollm2_135m"])
    names = sorted(reads["group_id"].unique())
    rng = np.random.default_rng(1)
    halves = [rng.choice(names, len(names) // 2, replace=False) for _ in range(DRAWS)]
    for goal, readout in ((goals.MEAN, S), (goals.PREFERENCE, S)):
        pairs = []
        for chosen in halves:
            inside = reads["group_id"].isin(chosen)
            (block,), (other,) = blocks.blocks(reads[inside]), blocks.blocks(reads[~inside])
            shape = Shape.of(other.items["group_id"].value_counts().to_numpy())
            groups = other.items["group_id"].nunique()
            pairs.append(
                (
                    predicted(block, goal, readout, "balanced", shape, groups)[0],
                    realised(reads[~inside], goal, readout)[0],
                )
            )
        yield _of_pairs("SmolLM2-135M, three datasets", goal, readout, pairs)
    folder = Path(os.environ.get("RUBRIC_ORDER_JUDGMENTS", "."), "summeval")
    keys = ["criterion", "article_id", "system"]
    one, two = (pd.read_json(folder / f"gpt-3.5-turbo-0301_{style}.jsonl.gz", lines=True) for style in ("mcq", "rts"))
    one["score"] = (
        one["response"].str.extract(r"([A-E])", expand=False).map(dict(zip("ABCDE", range(1, 6), strict=True)))
    )
    two["other"] = two["response"].str.extract(r"([1-5])", expand=False).astype(float)
    both = one.dropna(subset="score").merge(two.dropna(subset="other"), on=keys)
    rng = np.random.default_rng(1)
    for criterion, items in both.groupby("criterion"):
        articles = np.array(sorted(items["article_id"].unique()))
        pairs: dict[str, list[tuple[float, float]]] = {goals.MEAN: [], goals.R: []}
        for _ in range(DRAWS):
            inside = items["article_id"].isin(rng.choice(articles, 30, replace=False))
            for goal, rows in pairs.items():
                rows.append((_half(items[inside], goal, items[~inside]), _half(items[~inside], goal)))
        for goal, rows in pairs.items():
            yield _of_pairs(f"gpt-3.5-turbo, SummEval {criterion}", goal, H, rows)


def _half(items: pd.DataFrame, goal: str, study: pd.DataFrame | None = None) -> float:
    """Half-width that items predict for a study, or, without one, that they have."""
    unit = pd.factorize(items["article_id"], sort=True)[0]
    x, y = items["score"].to_numpy(dtype=float), items["other"].to_numpy(dtype=float)
    if study is None:
        if goal == goals.R:
            interval = correlations.Pairs(x, y, unit).interval(correlations.weighted_pearson, CONFIDENCE)
        else:
            sums = resampling.left_out_sums(np.column_stack([np.ones(len(x)), x]), unit)
            sizes = resampling.part_sizes(unit)
            interval = resampling.jackknife_t(sums[:, 1] / sums[:, 0], CONFIDENCE, sizes=sizes).interval
        return (interval.high - interval.low) / 2
    r = float(np.corrcoef(x, y)[0, 1])
    u, v = ((values - values.mean()) / values.std() for values in (x, y))
    influence = (u * v - r * (u**2 + v**2) / 2) / (1 - r**2) if goal == goals.R else x - x.mean()
    sizes = study["article_id"].value_counts().to_numpy()
    sums = variances.unit_sums(influence[:, None], unit)
    variance = variances.parts(sums.sum(axis=0)).variance(Shape.of(sizes), len(sizes))[0]
    reach = float(distributions.t_quantile(0.975, len(sizes) - 1) * np.sqrt(variance))
    if goal == goals.R:
        return float(np.tanh(np.arctanh(r) + reach) - np.tanh(np.arctanh(r) - reach)) / 2
    return reach


def _of_pairs(name: str, goal: str, readout: Readout, pairs: list[tuple[float, float]]) -> dict[str, object]:
    made, seen = np.array(pairs).T
    return {
        "reads": name,
        "goal": goal,
        "readout": str(readout),
        "predicted": float(made.mean()),
        "realised": float(seen.mean()),
        "ratio": float(made.mean() / seen.mean()),
        "within": float((np.abs(made / seen.mean() - 1) <= WITHIN).mean()),
        "splits": len(pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--pilots", type=int, default=100)
    parser.add_argument("--only", nargs="*", default=[], help="words that the row must hold")
    parser.add_argument("--real", action="store_true", help="compare with real reads")
    options = parser.parse_args()
    if options.real:
        for place, row in enumerate(real()):
            if not place:
                print(f"| {' | '.join(row)} |\n|{'---|' * len(row)}")
            cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()]
            print(f"| {' | '.join(cells)} |", flush=True)
        return
    names = ("setting", "goal", "readout", "design", "predicted", "realised", "ratio", "spread", "within", "covered")
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for setting in SETTINGS:
        for goal, readout, design in setting.goals:
            line = f"{setting.name} {goal} {readout} {design}"
            if all(word in line for word in options.only):
                row = compare(setting, goal, readout, design, pilots=options.pilots, count=options.studies)
                cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
