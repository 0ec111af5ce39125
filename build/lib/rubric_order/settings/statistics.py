"""Settings of statistics, one block each; the catalogue says which statistic takes which.

Statistics of other packages bring blocks of their own, which `with_packages` adds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from annotated_types import Ge, Len
from pydantic import create_model

from rubric_order import registry
from rubric_order.base.errors import InputError, nearest
from rubric_order.settings import results
from rubric_order.settings.base import (
    Count,
    Levels,
    Many,
    Number,
    Numeric,
    Positive,
    Probability,
    Resamples,
    Seed,
    Settings,
    Share,
    SomeTexts,
    Unique,
    setting,
)

Texts = Annotated[list[str], Unique]


class Bootstrap(Settings):
    """Intervals by resampling."""

    resamples: Resamples = setting(1000, "Bootstrap resamples.")
    confidence: Share = setting(0.95, "Coverage of the intervals.")
    seed: Seed = setting(0, "Seed of the resampling.")


class Paired(Settings):
    """Paired differences between strategies."""

    resamples: Resamples = setting(2000, "Bootstrap resamples of differences between strategies of `criterion_order`.")


class Direction(Settings):
    """Direction of position selection."""

    near_uniform: Share = setting(
        0.2,
        "Shares of positions count as near uniform where all of their intervals are within this fraction of the uniform"
        " share.",
    )


class ScoreEffects(Settings):
    """Test of the effect on scores."""

    sign_changes: Resamples = setting(
        1999, "Draws of the signs of clusters that tell what the order does to mean scores by chance."
    )


class Generalisability(Settings):
    """Predicted reliability."""

    repeats: Annotated[list[Count], Len(1), Unique] = setting(
        [1, 2, 3, 5, 10], "Numbers of reads under each ordering to predict the reliability of."
    )


class Equivalence(Settings):
    """Margins of equivalence."""

    level: Annotated[float, Numeric(gt=0, lt=0.5)] = setting(
        0.05, "Level of the two one-sided tests that an effect is too small to be worth mention."
    )
    points: Positive = setting(0.1, "Margin of effects on scores, in points.")
    log_odds: Positive = setting(0.2, "Margin of position preference, in log-odds.")
    r: Positive = setting(0.02, "Margin of differences between correlations with human scores.")


class OrderSpread(Settings):
    """Margin of the effect on single items."""

    margin: Positive = setting(
        0.1,
        "Margin of what an ordering does to single items, as a standard deviation in points. A card calls a judge"
        " equivalent only where the spread is shown to be smaller. 0.1 is the margin that the mean over items has: an"
        " ordering may not do to single items, to one up and to another down, what it may not do to all. A card also"
        " says how many orderings, drawn at random, have a mean that is as near as this to the mean over all.",
    )


class Manipulability(Settings):
    """Reach of somebody who chooses the order."""

    exchanges: Count = setting(
        200, "Exchanges of orderings within items, over which what chance alone does is averaged."
    )
    folds: Annotated[int, Ge(2)] = setting(
        5, "Parts of the groups, each of which is scored in the orderings that are highest and lowest in the others."
    )


class BudgetCurve(Settings):
    """Subsets of reads."""

    subsets_per_size: Count = setting(
        252,
        "Subsets of reads of one size, at most; of more, so many are drawn. 252 are all subsets of five of ten reads.",
    )


class Calibration(Settings):
    """Correction of single reads."""

    folds: Annotated[int, Ge(2)] = setting(
        5, "Parts of the groups, each of which is corrected by what the other parts say."
    )
    groups: Annotated[list[Annotated[int, Ge(2)]], Unique] = setting(
        [5, 10, 20, 50],
        "Numbers of groups to learn from, beside; those above half of the groups of a dataset are left out.",
    )
    draws: Count = setting(20, "Draws of so many groups, over which errors are averaged.")
    interactions: bool = setting(
        True, "Learn how much more a position is worth to some scores than to others, where the reads bear it."
    )
    as_readout: bool = setting(
        False,
        "Whether statistics of agreement show calibrated scores beside the written and the expected ones, as readout"
        " `calibrated`: each group's reads are corrected by what the balanced reads of other groups say.",
        reruns="`human_agreement`, `strategy_comparison`, `budget_curve`, `generalisability`, `rank_reversal`,"
        " `canonical_rank` and what shows them",
    )


class Advice(Settings):
    """Advice on a further study."""

    goal: Literal["r", "mean", "preference", "ranked", "equivalent", "bias", "shift"] = setting(
        "r",
        "What the further study is for: the half-width of the interval of r with people (`r`), of the mean score"
        " (`mean`), or of what a position is worth (`preference`); the share of pairs of items ranked right (`ranked`);"
        " the share of studies of a judge without bias whose card is equivalent (`equivalent`); the smallest worth of a"
        " position (`bias`) or shift by the usual ordering (`shift`) that 80% of studies find.",
    )
    target: Positive | None = setting(None, "Value that the goal is to reach; null: none.")
    budget: Positive | None = setting(
        None,
        "Calls that the study may take; money, for a judge with `prices`, where `tokens` are given. Null: no limit.",
    )
    tokens: Annotated[list[Count], Len(2, 2)] | None = setting(
        None, "Tokens of the prompt and of the answer of one call; with the `prices` of a judge they make its price."
    )


class OrderingSubsets(Settings):
    """Errors by few orderings."""

    target_error: Positive = setting(
        0.25, "Error of a score in points that is to be reached; the result says how many orderings suffice for it."
    )
    folds: Annotated[int, Ge(2)] = setting(
        5, "Parts of the groups, each of which is scored by the orderings that are best in the others."
    )
    subsets_per_size: Count = setting(
        1000,
        "Sets of orderings of one size to choose from, at most; of more, so many are drawn. 1000 are all sets of up to"
        " twelve orderings.",
    )


class CorrectedMeans(Settings):
    """Means of people's scores from labels and a judge."""

    human_pass: Number | None = setting(
        None, "Least human score that passes, as people gave it; without one there are no pass rates."
    )
    judge_pass: Number | None = setting(
        None, "Least score of the judge that passes, from 1 to the number of levels; by default where `human_pass` is."
    )
    reference: str | None = setting(
        None, "Candidate that the others are compared with; by default the first by name of each dataset."
    )
    margins: Annotated[list[Positive], Len(1), Unique] = setting(
        [0.05, 0.1, 0.15, 0.2, 0.3, 0.5],
        "Margins of error, in points of people's scale or shares of 1, to say numbers of labelled groups for.",
    )
    groups: Annotated[int, Ge(2)] | None = setting(
        None,
        "Labelled groups to use, drawn at random; labels of the others are hidden, to see what so few would have said."
        " By default all are used.",
    )


class AdaptiveBudget(Settings):
    """Reading of items until they are known well enough."""

    targets: Annotated[list[Positive], Len(1), Unique] = setting(
        [0.5, 1.0, 1.5], "Widths of an item's interval at which its reading stops, in points."
    )
    level: Annotated[float, Numeric(ge=0.5, lt=1)] = setting(
        0.95, "Share of the items' intervals that are to hold their mean over all orderings."
    )
    folds: Annotated[int, Ge(2)] = setting(
        5, "Parts of the groups, each of which is stopped by what the other parts say."
    )
    draws: Count = setting(8, "Random orders of each item that is learnt from; fewer where there are many items.")


class RankReversal(Settings):
    """Noise of rankings."""

    halvings: Count = setting(50, "Random halvings of the reads that the noise of rankings is averaged over.")


class BiasCost(Settings):
    """Choice of an ordering."""

    splits: Count = setting(
        10,
        "Random halvings of the groups in which an ordering is chosen in one half and looked at in the other.",
    )


class Power(Settings):
    """Assumed studies of the power calculation."""

    n: Levels = setting(5, "Number of positions of the assumed studies.")
    items: Annotated[list[Annotated[int, Ge(2)]], Len(2), Unique] = setting(
        [20, 50, 100, 200, 320, 500, 1000, 2000], "Numbers of items of the assumed studies."
    )
    budgets: Annotated[list[Count], Len(1), Unique] = setting([1, 2, 5, 10], "Reads an item of the assumed studies.")
    correlations: Annotated[list[Probability], Len(1, 4), Unique] = setting(
        [0, 0.5, 1],
        "Correlations of the reads of an item in the assumed studies, from 0 (independent) to 1 (identical); at most"
        " four.",
    )
    level: Share = setting(0.05, "Level of the test of uniform selection.")
    power: Share = setting(0.8, "Probability with which a bias is to be found.")


class GoldenScores(Settings):
    """Golden scores by vote."""

    studies: Texts = setting(
        [],
        "Studies of probe score_order whose judges make golden scores, each from its reads of an item by a vote;"
        " usually"
        " strategy `fixed` with three reads, under `reference_5`.",
        reruns="`golden_scores` and what compares with golden scores",
    )


class Halo(Settings):
    """Comparison of halo."""

    alone: Texts = setting(
        [],
        "Studies of probe score_order that judge the same items one criterion at a time, to compare halo with.",
    )


class PositionConsistency(Settings):
    """Reading of verdicts."""

    forms: dict[str, Texts] = setting(
        {},
        "Forms of verdicts that count, by benchmark; answers in another form are failures. Of a benchmark that is not"
        " named, all forms that the parser knows.",
    )
    rules: Literal["ours", "shi2025"] = setting(
        "ours",
        "Rules of `position_consistency`: `ours`, or `shi2025`, those by which Table 2 of Shi et al. was made (first"
        " verdict of an answer, fairness over all pairs, other deviations; docs/pairwise.md has the differences). Other"
        " statistics read verdicts by `forms` under both.",
    )


class JudgesCompared(Settings):
    """Families of candidates."""

    families: dict[str, Texts] = setting(
        {},
        "By judge, how the names of the candidates of its own family begin: their win rate under it less that under"
        " others is its self-preference.",
    )


class JudgeComparison(Settings):
    """Sweeps over judges."""

    sweeps: dict[str, dict[str, Number]] = setting(
        {},
        "Sweeps to find trends over, beside temperature: by name the value of each judge, or judge/profile, such as the"
        " logarithm of its size.",
    )


class Scales(Settings):
    """Studies of several scales."""

    studies: SomeTexts = setting(
        ["position_bias"],
        "Studies with the scales to compare; of a number that several have, the first one's is taken.",
    )


class Replication(Settings):
    """Comparison with a paper."""

    paper: Literal["xu2026", "xu2026_v1", "li2025", "shi2025"] = setting("xu2026", "Paper to compare with.")
    studies: SomeTexts = setting(
        ["position_bias"], "Studies to compare; of a number that several have, the first one's is taken."
    )
    judges: dict[str, str] = setting(
        {},
        "Which judge of the paper each judge is, as judge or judge/profile on both sides; by default the one of its own"
        " id.",
    )


class DescribedDatasets(Settings):
    """Datasets that are described."""

    datasets: Texts | None = setting(
        None, "Ids under datasets; by default those that studies use.", reruns="the data cards"
    )


class Statistics(Settings):
    """Settings of statistics."""

    bootstrap: Bootstrap = setting(factory=Bootstrap, reruns="the statistics that have intervals, and what shows them")
    paired: Paired = setting(factory=Paired, reruns="`criteria_agreement` and what shows it")
    direction: Direction = setting(factory=Direction, reruns="`position_selection` and what shows it")
    score_effects: ScoreEffects = setting(factory=ScoreEffects)
    generalisability: Generalisability = setting(factory=Generalisability)
    equivalence: Equivalence = setting(factory=Equivalence)
    order_spread: OrderSpread = setting(factory=OrderSpread)
    manipulability: Manipulability = setting(factory=Manipulability)
    budget_curve: BudgetCurve = setting(factory=BudgetCurve)
    calibration: Calibration = setting(factory=Calibration)
    ordering_subsets: OrderingSubsets = setting(factory=OrderingSubsets)
    corrected_means: CorrectedMeans = setting(factory=CorrectedMeans)
    adaptive_budget: AdaptiveBudget = setting(factory=AdaptiveBudget)
    advice: Advice = setting(factory=Advice)
    rank_reversal: RankReversal = setting(factory=RankReversal)
    bias_cost: BiasCost = setting(factory=BiasCost)
    power: Power = setting(factory=Power)
    golden_scores: GoldenScores = setting(factory=GoldenScores)
    halo: Halo = setting(factory=Halo)
    position_consistency: PositionConsistency = setting(factory=PositionConsistency)
    judges_compared: JudgesCompared = setting(factory=JudgesCompared)
    judge_comparison: JudgeComparison = setting(factory=JudgeComparison)
    scales: Scales = setting(factory=Scales)
    replication: Replication = setting(factory=Replication)
    datasets: DescribedDatasets = setting(factory=DescribedDatasets)


def with_packages(names: Iterable[str]) -> type[Statistics]:
    """The model of `Statistics` with the blocks of some statistics of other packages.

    Args:
        names: of statistics; those without a block of their own add nothing.

    Raises:
        InputError: a package is at fault, see `registry.load`; or its statistic takes settings that there are not.
    """
    entries = {name: registry.statistic(name) for name in names}
    blocks: dict[str, Any] = {}
    for name, entry in entries.items():
        if (block := results.of_package(name, entry.block)) is not None:
            if name in Statistics.model_fields:
                raise InputError(f"{registry.load(name).where}: a block of ours has this name; expected another one")
            blocks[name] = (block, setting(factory=block, reruns=f"`{name}` and what shows it"))
    model = create_model("Statistics", __base__=Statistics, **blocks) if blocks else Statistics
    for name, entry in entries.items():
        for path in entry.settings:
            if problem := _problem_of_path(model, path):
                raise InputError(f"{registry.load(name).where}: statistic: settings: {path!r:.80} {problem}")
    return model


def _problem_of_path(model: type[Statistics], path: str) -> str:
    """Problem of a path of settings, as `catalogue.Statistic` has it; empty where nothing is."""
    block, _, key = path.partition("/")
    field = model.model_fields.get(block)
    if field is None:
        return f"is no block under statistics{nearest(block, [*model.model_fields])}"
    annotation: Any = field.annotation
    keys = annotation.model_fields
    return f"has no such key{nearest(key, [*keys])}" if key and key not in keys else ""


class Reads(Settings):
    """Choice of the single reads that a page shows."""

    moved: Many = setting(
        40, "Items that the order moves most; of each judge, dataset, strategy, scale, condition and profile."
    )
    failed: Many = setting(10, "Of the others, those with the most reads without a score.")
    drawn: Many = setting(10, "Of the others, drawn at random.")
    reads: Count = setting(40, "Reads of an item.")
    characters: Count = setting(20000, "Characters of a prompt or an answer.")
    seed: Seed = setting(0, "Seed of the draw.")
