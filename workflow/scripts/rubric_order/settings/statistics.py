"""Settings of statistics, in blocks. The catalogue says which blocks each statistic takes.

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
    """Settings of intervals by resampling."""

    resamples: Resamples = setting(1000, "Number of bootstrap resamples.")
    confidence: Share = setting(
        0.95, "Confidence level of the intervals: the share of intervals that should contain the true value."
    )
    seed: Seed = setting(0, "Seed of the resampling.")


class Paired(Settings):
    """Settings of paired differences between strategies."""

    resamples: Resamples = setting(
        2000, "Number of bootstrap resamples for differences between strategies in probe `criterion_order`."
    )


class Direction(Settings):
    """Settings of the direction of position selection."""

    near_uniform: Share = setting(
        0.2,
        "Largest distance from the uniform share, as a fraction of that share, at which positions count as near"
        " uniform. The intervals of all positions must lie within it.",
    )


class ScoreEffects(Settings):
    """Settings of the test of the effect of the order on scores."""

    sign_changes: Resamples = setting(
        1999,
        "Number of random draws in which whole clusters change their sign. The draws show what order effects on mean"
        " scores arise by chance.",
    )


class Generalisability(Settings):
    """Settings of predicted reliability."""

    repeats: Annotated[list[Count], Len(1), Unique] = setting(
        [1, 2, 3, 5, 10], "Numbers of reads under each ordering for which reliability is predicted."
    )


class Equivalence(Settings):
    """Margins and level of tests of equivalence."""

    level: Annotated[float, Numeric(gt=0, lt=0.5)] = setting(
        0.05, "Level of each of the two one-sided tests that an effect is smaller than its margin."
    )
    points: Positive = setting(0.1, "Equivalence margin of effects on scores, in points.")
    log_odds: Positive = setting(0.2, "Equivalence margin of position preference, in log-odds.")
    r: Positive = setting(0.02, "Equivalence margin of differences between correlations with human scores.")


class OrderSpread(Settings):
    """Margin of the effect of the order on single items."""

    margin: Positive = setting(
        0.1,
        "Equivalence margin of an ordering's effect on single items, as a standard deviation in points. A card calls a"
        " judge equivalent only if this standard deviation is shown to be smaller. The default of 0.1 is also the"
        " margin of the mean score: an ordering that moves some items up and others down may move single items no"
        " further than it may move the mean of all items. A card also says how many randomly drawn orderings have a"
        " mean within this margin of the mean over all orderings.",
    )


class Manipulability(Settings):
    """Settings of the effect that somebody who chooses the order can have."""

    exchanges: Count = setting(
        200,
        "Number of random exchanges of orderings within items. The range that arises by chance alone is averaged over"
        " them.",
    )
    folds: Annotated[int, Ge(2)] = setting(
        5,
        "Number of folds into which the groups are divided. The groups of each fold are scored in the orderings that"
        " give the highest and the lowest scores on the other folds.",
    )


class BudgetCurve(Settings):
    """Settings of the subsets of reads in a budget curve."""

    subsets_per_size: Count = setting(
        252,
        "Largest number of subsets of reads of one size. If there are more, this number is drawn at random. There are"
        " 252 subsets of five of ten reads.",
    )


class Calibration(Settings):
    """Settings of the correction of single reads."""

    folds: Annotated[int, Ge(2)] = setting(
        5,
        "Number of folds into which the groups are divided. The reads of each fold are corrected by a calibration"
        " learnt on the other folds.",
    )
    groups: Annotated[list[Annotated[int, Ge(2)]], Unique] = setting(
        [5, 10, 20, 50],
        "Numbers of groups on which further calibrations are learnt, to show how many groups suffice. Numbers above"
        " half of the groups of a dataset are left out.",
    )
    draws: Count = setting(
        20, "Number of random draws of groups for each entry of `groups`. Errors are averaged over the draws."
    )
    interactions: bool = setting(
        True,
        "Whether a calibration also learns how much more a position is worth to some scores than to others, as far as"
        " the reads support it.",
    )
    as_readout: bool = setting(
        False,
        "Whether statistics of agreement show calibrated scores, as readout `calibrated`, beside written and expected"
        " scores. The reads of each group are corrected by a calibration learnt on the balanced reads of other groups.",
        reruns="`human_agreement`, `strategy_comparison`, `budget_curve`, `generalisability`, `rank_reversal`,"
        " `canonical_rank` and what shows them",
    )


class Advice(Settings):
    """Settings of the advice on a further study."""

    goal: Literal["r", "mean", "preference", "ranked", "equivalent", "bias", "shift"] = setting(
        "r",
        "Quantity for which the further study is planned. `r`, `mean` and `preference` are half-widths of intervals:"
        " of r with people, of the mean score, and of the worth of a position. `ranked` is the share of pairs of items"
        " that are ranked right. `equivalent` is the share of studies in which the card of an unbiased judge is"
        " equivalent. `bias` and `shift` are the smallest effects that 80% of studies find: the worth of a position,"
        " and the shift by the usual ordering.",
    )
    target: Positive | None = setting(None, "Value that the goal should reach; null: no target.")
    budget: Positive | None = setting(
        None,
        "Largest number of calls of the further study; null: no limit. For a judge with `prices` it is an amount of"
        " money if `tokens` are given.",
    )
    tokens: Annotated[list[Count], Len(2, 2)] | None = setting(
        None,
        "Tokens of the prompt and of the answer of one call. With the `prices` of a judge they give the price of a"
        " call; null: the price is not known.",
    )


class OrderingSubsets(Settings):
    """Settings of the errors of scores by few orderings."""

    target_error: Positive = setting(
        0.25, "Target for the error of a score, in points. The result says how many orderings are needed to reach it."
    )
    folds: Annotated[int, Ge(2)] = setting(
        5,
        "Number of folds into which the groups are divided. The groups of each fold are scored by the orderings that"
        " are best on the other folds.",
    )
    subsets_per_size: Count = setting(
        1000,
        "Largest number of sets of orderings of one size from which the best set is chosen. If there are more, this"
        " number is drawn at random. 1000 is enough for all sets of up to twelve orderings.",
    )


class CorrectedMeans(Settings):
    """Settings of means of people's scores, estimated from labels and a judge."""

    human_pass: Number | None = setting(
        None, "Lowest human score that passes, on the scale on which people scored; null: no pass rates are computed."
    )
    judge_pass: Number | None = setting(
        None,
        "Lowest score of the judge that passes, from 1 to the number of levels; null: the score that corresponds to"
        " `human_pass`.",
    )
    reference: str | None = setting(
        None,
        "Candidate with which the others are compared; null: the candidate of each dataset whose name is first in"
        " alphabetical order.",
    )
    margins: Annotated[list[Positive], Len(1), Unique] = setting(
        [0.05, 0.1, 0.15, 0.2, 0.3, 0.5],
        "Margins of error for which the number of labelled groups is computed, in points of people's scale, or as"
        " shares of 1 for pass rates.",
    )
    groups: Annotated[int, Ge(2)] | None = setting(
        None,
        "Number of labelled groups to use, drawn at random; null: all of them. The labels of the other groups are"
        " hidden, to show what so few labels would have given.",
    )


class AdaptiveBudget(Settings):
    """Settings of reading each item only until its score is known well enough."""

    targets: Annotated[list[Positive], Len(1), Unique] = setting(
        [0.5, 1.0, 1.5], "Widths of an item's interval at which its reading stops, in points."
    )
    level: Annotated[float, Numeric(ge=0.5, lt=1)] = setting(
        0.95, "Share of the items' intervals that should contain the item's mean over all orderings."
    )
    folds: Annotated[int, Ge(2)] = setting(
        5,
        "Number of folds into which the groups are divided. The rule that stops the reading of items in each fold is"
        " learnt on the other folds.",
    )
    draws: Count = setting(
        8,
        "Number of random orders in which each item is replayed when the rule is learnt. It is reduced where there are"
        " many items.",
    )


class RankReversal(Settings):
    """Settings of the noise of rankings."""

    halvings: Count = setting(
        50, "Number of random halvings of the reads. The noise of rankings is averaged over them."
    )


class BiasCost(Settings):
    """Settings of the choice of an ordering."""

    splits: Count = setting(
        10,
        "Number of random halvings of the groups. In each of them an ordering is chosen on one half and evaluated on"
        " the other half.",
    )


class Power(Settings):
    """Assumed studies of the power calculation."""

    n: Levels = setting(5, "Number of positions of the assumed studies.")
    items: Annotated[list[Annotated[int, Ge(2)]], Len(2), Unique] = setting(
        [20, 50, 100, 200, 320, 500, 1000, 2000], "Numbers of items of the assumed studies."
    )
    budgets: Annotated[list[Count], Len(1), Unique] = setting(
        [1, 2, 5, 10], "Numbers of reads of each item in the assumed studies."
    )
    correlations: Annotated[list[Probability], Len(1, 4), Unique] = setting(
        [0, 0.5, 1],
        "Correlations between the reads of an item in the assumed studies, from 0 (independent) to 1 (identical). At"
        " most four can be given.",
    )
    level: Share = setting(0.05, "Level of the test of uniform selection.")
    power: Share = setting(0.8, "Power: the probability with which a bias should be found.")


class GoldenScores(Settings):
    """Settings of golden scores by vote."""

    studies: Texts = setting(
        [],
        "Studies of probe score_order whose judges give golden scores. The golden score of an item is a vote of the"
        " judge's reads of it. Usually such a study has strategy `fixed` with three reads, under `reference_5`.",
        reruns="`golden_scores` and what compares with golden scores",
    )


class Halo(Settings):
    """Studies with which halo is compared."""

    alone: Texts = setting(
        [],
        "Studies of probe score_order that judge the same items one criterion at a time. Halo is measured by"
        " comparison with them.",
    )


class PositionConsistency(Settings):
    """Rules for the reading of verdicts."""

    forms: dict[str, Texts] = setting(
        {},
        "Forms of verdicts that count, by benchmark. An answer in another form is a failure. For a benchmark that is"
        " not listed, all forms that the parser knows count.",
    )
    rules: Literal["ours", "shi2025"] = setting(
        "ours",
        "Rules by which `position_consistency` is computed: `ours`, or `shi2025`, the rules behind Table 2 of Shi et"
        " al. (first verdict of an answer, fairness over all pairs, other deviations). docs/pairwise.md lists the"
        " differences. Other statistics read verdicts by `forms` under either rules.",
    )


class JudgesCompared(Settings):
    """Families of candidates, for judges' preference of their own family."""

    families: dict[str, Texts] = setting(
        {},
        "Beginnings of the names of the candidates that belong to a judge's own family, by judge. Self-preference is"
        " the win rate of these candidates under the judge, less their win rate under other judges.",
    )


class JudgeComparison(Settings):
    """Sweeps over judges, for trends."""

    sweeps: dict[str, dict[str, Number]] = setting(
        {},
        "Sweeps over which trends are estimated, in addition to temperature. Each sweep has a name and gives the value"
        " of each judge, or judge/profile, such as the logarithm of its size.",
    )


class Scales(Settings):
    """Studies whose scales are compared."""

    studies: SomeTexts = setting(
        ["position_bias"],
        "Studies with the scales to compare. If several studies have the same estimate, that of the first study is"
        " taken.",
    )


class Replication(Settings):
    """Settings of the comparison with a paper."""

    paper: Literal["xu2026", "xu2026_v1", "li2025", "shi2025"] = setting("xu2026", "Paper to compare with.")
    studies: SomeTexts = setting(
        ["position_bias"],
        "Studies to compare. If several studies have the same estimate, that of the first study is taken.",
    )
    judges: dict[str, str] = setting(
        {},
        "Judge of the paper to which each judge corresponds, as judge or judge/profile on both sides. A judge that is"
        " not listed corresponds to the paper's judge of the same id.",
    )


class DescribedDatasets(Settings):
    """Datasets that are described."""

    datasets: Texts | None = setting(
        None, "Ids of the datasets to describe; null: those that studies use.", reruns="the data cards"
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
        names: names of statistics. Statistics without a block of their own add nothing.

    Raises:
        InputError: a package is faulty, see `registry.load`; it has a block with the name of one of our blocks; or its
            statistic takes settings that do not exist.
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
    """Problem of a path in `catalogue.Statistic.settings`; empty if the path has no problem."""
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
        40,
        "Number of items that the order moves most, for each judge, dataset, strategy, scale, condition and profile.",
    )
    failed: Many = setting(10, "Number of further items, which are those with the most reads without a score.")
    drawn: Many = setting(10, "Number of further items, which are drawn at random from the rest.")
    reads: Count = setting(40, "Largest number of reads of an item to show.")
    characters: Count = setting(20000, "Largest number of characters of a prompt or an answer to show.")
    seed: Seed = setting(0, "Seed of the random draw.")
