"""Catalogue of results: each statistic, table and figure, with its inputs and its headings. Data only.

The name of a result is also the name of its folder, of its file and, if there is one, of its block of config. Other
packages have records of the same types (`Result`). `registry` finds the results of this catalogue and of other
packages.
"""

from collections.abc import Collection
from typing import NamedTuple

# Inputs of a statistic besides scores and other statistics. Each is an argument of `estimate`.
INPUTS = ("items", "pairs", "alone", "golden", "references", "answers", "published")
# Arguments of results that are made from several parts of config, see `run.results.Derived`.
DERIVED = (
    *("bases", "call_prices", "conditions", "golds", "human_scales", "judge_names", "prompt_styles"),
    *("sampling_temperatures", "setting", "temperatures"),
)


class Statistic(NamedTuple):
    """A table of estimates, one row per estimate. `estimate(...)` of its module makes the table.

    Attributes:
        theme: folder of `analyses/` that contains the statistic's own folder; only for our statistics.
        probes: probes of the studies whose scores the statistic reads (argument `scores`); `ANY_PROBE` for all.
        reads: inputs of the statistic besides scores. Each is an argument:

            - `items` and `pairs` of datasets;
            - `alone`, the scores of the studies that key `alone` of the statistic's own block names;
            - `golden`, the scores of the studies that key `studies` of block `golden_scores` names;
            - `references`, the reference answers that were made;
            - `answers`, metadata of each judge's answers from its shards;
            - `published`, the tables of a paper;
            - another statistic.
        settings: blocks of config under `statistics`, or single keys of them, whose values are further arguments. If
            two entries give a key of the same name, the value of the later entry is taken.
        derived: further arguments that are taken from other parts of config (`DERIVED`).
        block: model of the statistic's own block of config, a subclass of `settings.base.Settings`; only for other
            packages, since our blocks are in `settings/statistics.py`.
        calibrates: whether the statistic shows calibrated scores as a separate readout, if config asks for them.
        methods: sentences for the text of methods, which cite entries of `Result.references` by ``[@key]``; only for
            other packages, since our sentences are in `cards/methods.py`.
    """

    theme: str = ""
    probes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ("bootstrap",)
    derived: tuple[str, ...] = ()
    block: type | None = None
    methods: str = ""
    calibrates: bool = False


class Shown(NamedTuple):
    """A table or a figure. `table(...)` or `draw(...)` of its module makes it.

    Attributes:
        statistics: statistics that the table or figure reads. Each is an argument with the name of the statistic. The
            other arguments are the keys of its block of config.
        category: section of the report that contains the table or figure.
        title: its title in the report.
        module: name of its folder, if several results share a module.
        derived, block: as in `Statistic`; our blocks are in `settings/results.py`.
    """

    statistics: tuple[str, ...]
    category: str
    title: str
    module: str | None = None
    derived: tuple[str, ...] = ()
    block: type | None = None


class Result(NamedTuple):
    """A result of another package: a statistic, a table and a figure of one name, or some of these.

    Attributes:
        folder: package with one module for each of the records that exist: `estimate`, `table` or `figure`.
        statistic, table, figure: records as in this catalogue; None for a record that does not exist.
        references: BibTeX entries of the works that its methods cite, separated by empty lines.
    """

    folder: str
    statistic: Statistic | None = None
    table: Shown | None = None
    figure: Shown | None = None
    references: str = ""


SCORE_ORDER, CRITERION_ORDER = ("score_order",), ("criterion_order",)
COMPARING = ("pair_order", "list_order")
ANY = "any"  # means every probe, instead of a name
ANY_PROBE = (ANY,)

STATISTICS = {
    "position_selection": Statistic("position", SCORE_ORDER, settings=("bootstrap", "direction")),
    "decisiveness": Statistic("position", SCORE_ORDER, settings=()),
    "score_effects": Statistic(
        "position",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "score_effects", "equivalence/points"),
    ),
    "order_spread": Statistic(
        "position",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "order_spread"),
        derived=("temperatures",),
    ),
    "manipulability": Statistic(
        "position",
        SCORE_ORDER,
        settings=("bootstrap", "manipulability"),
        derived=("temperatures",),
    ),
    "position_preference": Statistic(
        "position", SCORE_ORDER, settings=("bootstrap/confidence",), derived=("sampling_temperatures",)
    ),
    "order_tests": Statistic(
        "position", reads=("decisiveness", "position_selection", "position_preference", "score_effects"), settings=()
    ),
    "preference_summary": Statistic(
        "position", SCORE_ORDER, reads=("position_preference",), settings=("bootstrap/confidence",)
    ),
    "judge_comparison": Statistic(
        "position",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "judge_comparison"),
        derived=("sampling_temperatures",),
    ),
    "power": Statistic("position", reads=("position_selection",), settings=("power",)),
    "scales": Statistic("position", reads=("position_selection",), settings=("scales",)),
    "human_agreement": Statistic(
        "agreement",
        SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("golds", "human_scales"),
        calibrates=True,
    ),
    "strategy_comparison": Statistic("agreement", SCORE_ORDER, settings=("bootstrap/confidence",), calibrates=True),
    "parse_failures": Statistic("overview", ANY_PROBE, settings=()),
    "anchors": Statistic("overview", SCORE_ORDER, settings=()),
    "budget_curve": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "budget_curve"),
        calibrates=True,
    ),
    "calibration": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=(
            *("bootstrap/confidence", "bootstrap/seed"),
            *("calibration/folds", "calibration/groups", "calibration/draws", "calibration/interactions"),
        ),
    ),
    "advice": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=(
            *("bootstrap/confidence", "bootstrap/seed", "equivalence/points", "equivalence/log_odds", "order_spread"),
            *("advice/goal", "advice/target", "advice/budget"),
        ),
        derived=("call_prices", "sampling_temperatures"),
    ),
    "ordering_subsets": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=("bootstrap", "ordering_subsets"),
        derived=("temperatures",),
    ),
    "corrected_means": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "corrected_means"),
        derived=("human_scales",),
    ),
    "adaptive_budget": Statistic(
        "agreement", SCORE_ORDER, settings=("bootstrap/confidence", "bootstrap/seed", "adaptive_budget")
    ),
    "rank_reversal": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "rank_reversal"),
        calibrates=True,
    ),
    "within_item_deviation": Statistic(
        "position", SCORE_ORDER, settings=("bootstrap/confidence",), derived=("temperatures",)
    ),
    "generalisability": Statistic(
        "agreement",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "generalisability"),
        derived=("temperatures",),
        calibrates=True,
    ),
    "canonical_rank": Statistic("agreement", SCORE_ORDER, calibrates=True),
    "score_position": Statistic("position", SCORE_ORDER),
    "condition_comparison": Statistic("scoring", SCORE_ORDER, settings=("bootstrap/confidence", "equivalence/points")),
    "paired_reads": Statistic("scoring", SCORE_ORDER, settings=("bootstrap/confidence",)),
    "equivalence": Statistic(
        "position",
        reads=("score_effects", "position_preference", "strategy_comparison", "condition_comparison"),
        settings=("equivalence",),
    ),
    "score_shifts": Statistic(
        "scoring",
        SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "equivalence/points"),
        derived=("bases",),
    ),
    "prompt_styles": Statistic(
        "scoring",
        SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("human_scales", "prompt_styles"),
    ),
    "published_shifts": Statistic("papers", reads=("published",), settings=()),
    "scoring_datasets": Statistic("papers", reads=("items", "published"), settings=()),
    "golden_scores": Statistic("scoring", reads=("golden",), settings=()),
    "golden_alignment": Statistic(
        "scoring", reads=("items", "golden_scores"), settings=("bootstrap/confidence",), derived=("human_scales",)
    ),
    "scoring_tendency": Statistic(
        "scoring", SCORE_ORDER, reads=("items", "golden_scores"), settings=(), derived=("bases", "human_scales")
    ),
    "scoring_accuracy": Statistic(
        "scoring",
        SCORE_ORDER,
        reads=("items", "golden_scores"),
        settings=("bootstrap/confidence",),
        derived=("bases", "human_scales"),
    ),
    "scoring_advice": Statistic("scoring", reads=("scoring_accuracy",), settings=("bootstrap/confidence",)),
    "scoring_averages": Statistic(
        "scoring",
        SCORE_ORDER,
        reads=("items", "golden_scores"),
        settings=("bootstrap/confidence",),
        derived=("bases", "human_scales", "sampling_temperatures"),
    ),
    "scoring_causes": Statistic("scoring", SCORE_ORDER, settings=("bootstrap/confidence",), derived=("conditions",)),
    "reference_answers": Statistic("overview", reads=("references",), settings=("bootstrap/confidence",)),
    "bias_cost": Statistic("position", SCORE_ORDER, settings=("bootstrap", "bias_cost")),
    "datasets": Statistic("overview", reads=("items", "pairs"), derived=("golds",)),
    "judge_versions": Statistic("overview", reads=("answers",), settings=()),
    "criterion_order": Statistic("criteria", CRITERION_ORDER),
    "carry_over": Statistic("criteria", CRITERION_ORDER, settings=("bootstrap/confidence",)),
    "criteria_agreement": Statistic("criteria", CRITERION_ORDER, settings=("bootstrap", "paired")),
    "crossed_orders": Statistic("criteria", CRITERION_ORDER),
    "halo": Statistic("criteria", CRITERION_ORDER, reads=("alone",), settings=("bootstrap/confidence",)),
    "position_consistency": Statistic(
        "comparisons", COMPARING, settings=("bootstrap/confidence", "position_consistency")
    ),
    "bias_factors": Statistic("comparisons", COMPARING, settings=("position_consistency/forms",)),
    "mitigations": Statistic("comparisons", COMPARING, settings=("bootstrap/confidence",)),
    "length_scores": Statistic("scoring", SCORE_ORDER, reads=("items",), settings=("bootstrap/confidence",)),
    "length_control": Statistic("comparisons", COMPARING, settings=("bootstrap/confidence",)),
    "strengths": Statistic("comparisons", COMPARING, settings=("bootstrap", "position_consistency/forms")),
    "quality_gap": Statistic("comparisons", COMPARING, settings=("bootstrap/confidence", "position_consistency/forms")),
    "quality_cells": Statistic("comparisons", COMPARING, settings=("bootstrap/seed", "position_consistency/forms")),
    "judge_agreement": Statistic(
        "comparisons", COMPARING, settings=("bootstrap/confidence", "position_consistency/forms")
    ),
    "judges_compared": Statistic(
        "comparisons", COMPARING, settings=("bootstrap/confidence", "position_consistency/forms", "judges_compared")
    ),
    "hard_instances": Statistic("comparisons", COMPARING, settings=("position_consistency/forms",)),
    "rerun": Statistic("papers", SCORE_ORDER, settings=("bootstrap/confidence", "bootstrap/seed")),
    "replication": Statistic(
        "papers",
        reads=(
            "published",
            "position_selection",
            "human_agreement",
            "strategy_comparison",
            "rank_reversal",
            "within_item_deviation",
            "canonical_rank",
            "score_position",
            "bias_cost",
            "criterion_order",
            "criteria_agreement",
            "rerun",
            "scoring_accuracy",
            "golden_alignment",
            "position_consistency",
        ),
        settings=("replication/studies", "replication/judges"),
    ),
}

# From a paper to the statistics in its tables. All other statistics belong to every paper that is not listed here.
REPLICATED = {"li2025": ("scoring_accuracy", "golden_alignment"), "shi2025": ("position_consistency",)}
COMPARED = ("human_agreement", "strategy_comparison")

TABLES = {
    "position_selection": Shown(("position_selection", "order_tests"), "Position bias", "Position selection, table"),
    "score_effects": Shown(("score_effects", "order_tests"), "Position bias", "Effect on scores, table"),
    "order_spread": Shown(("order_spread",), "Position bias", "Effect on single items, table"),
    "manipulability": Shown(("manipulability",), "Position bias", "Reach of a chosen order, table"),
    "position_preference": Shown(("position_preference", "order_tests"), "Position bias", "Position preference, table"),
    "preference_summary": Shown(
        ("preference_summary",), "Position bias", "Position preference over judges and datasets"
    ),
    "judge_comparison": Shown(("judge_comparison",), "Position bias", "Judges, profiles, scales and datasets compared"),
    "scales": Shown(("scales",), "Position bias", "Number of score levels, table"),
    "human_agreement": Shown(("human_agreement",), "Human agreement", "Agreement with human scores"),
    "strategy_comparison": Shown(COMPARED, "Human agreement", "Strategies compared, table"),
    "permutation_vs_repeat": Shown(COMPARED, "Human agreement", "Permutation against repeats, table"),
    "parse_failures": Shown(("parse_failures",), "Answers without a score", "Parse failures"),
    "budget_curve": Shown(("budget_curve",), "Human agreement", "Number of reads, table"),
    "calibration": Shown(("calibration",), "Calibration", "Single reads corrected, table"),
    "ordering_subsets": Shown(("ordering_subsets",), "Calibration", "Orderings to read, table"),
    "corrected_means": Shown(("corrected_means",), "Human agreement", "Means corrected by people, table"),
    "adaptive_budget": Shown(("adaptive_budget",), "Calibration", "Reading until it is enough, table"),
    "advice": Shown(("advice",), "Advice", "Options of a further study, table"),
    "rank_reversal": Shown(("rank_reversal",), "Ranking", "Rank reversal"),
    "within_item_deviation": Shown(("within_item_deviation",), "Position bias", "Variation within items"),
    "generalisability": Shown(("generalisability",), "Human agreement", "Reliability of means, table"),
    "canonical_rank": Shown(("canonical_rank",), "Human agreement", "Rank of the canonical ordering"),
    "score_position": Shown(("score_position",), "Position bias", "Scores by position, table"),
    "bias_cost": Shown(("bias_cost",), "Position bias", "Bias Cost"),
    "equivalence": Shown(("equivalence",), "Position bias", "Shown to be small"),
    "score_shifts": Shown(("score_shifts",), "Scoring bias", "Scores moved by conditions"),
    "paired_reads": Shown(("paired_reads",), "Scoring bias", "Scores of the same orderings under two conditions"),
    "scoring_tendency": Shown(("scoring_tendency",), "Scoring bias", "Scoring tendency, table"),
    "scoring_accuracy": Shown(("scoring_accuracy",), "Scoring bias", "Scoring accuracy, table"),
    "scoring_accuracy_by_dataset": Shown(
        ("scoring_accuracy",), "Scoring bias", "Scoring accuracy by dataset, as Li et al. print it"
    ),
    "scoring_advice": Shown(("scoring_advice",), "Scoring bias", "Advice on prompts, tested"),
    "scoring_averages": Shown(("scoring_averages",), "Scoring bias", "Averaging over prompts at equal calls"),
    "prompt_styles": Shown(("prompt_styles",), "Scoring bias", "Two prompts of one recorded judge"),
    "scoring_datasets": Shown(("scoring_datasets",), "Scoring bias", "Datasets of scoring bias"),
    "published_shifts": Shown(("published_shifts",), "Scoring bias", "What the published correlations bear"),
    "golden_alignment": Shown(("golden_alignment",), "Scoring bias", "Golden scores beside people's"),
    "scoring_causes": Shown(("scoring_causes",), "Scoring bias", "Position, ID and reference answer apart"),
    "reference_answers": Shown(("reference_answers",), "Scoring bias", "Reference answers that were made"),
    "datasets": Shown(("datasets",), "Datasets", "Data cards, table"),
    "judge_versions": Shown(("judge_versions",), "Judges", "Versions behind the answers"),
    "replication": Shown(("replication",), "Replication", "Published numbers beside ours"),
    "criterion_order": Shown(("criterion_order", "criteria_agreement"), "Criterion order", "Position gaps, table"),
    "criteria_agreement": Shown(("criteria_agreement",), "Criterion order", "Agreement by strategy"),
    "carry_over": Shown(("carry_over",), "Criterion order", "Carry-over"),
    "halo": Shown(("halo",), "Criterion order", "Halo"),
    "crossed_orders": Shown(("crossed_orders",), "Criterion order", "Crossed orders"),
    "pairwise_position_bias": Shown(
        ("position_consistency",), "Comparisons", "Position bias of comparisons", derived=("judge_names",)
    ),
    "list_position_bias": Shown(("position_consistency",), "Comparisons", "Position bias of lists"),
    "bias_factors": Shown(("bias_factors",), "Comparisons", "What consistency and fairness depend on"),
    "influencing_factors": Shown(("bias_factors",), "Comparisons", "Factors of position bias"),
    "mitigations": Shown(("mitigations",), "Comparisons", "Mitigations of position bias"),
    "strengths": Shown(("strengths",), "Comparisons", "Strengths of candidates"),
    "judge_agreement": Shown(("judge_agreement",), "Comparisons", "Agreement of judges"),
    "quality_gap": Shown(("quality_gap",), "Comparisons", "Consistency by quality gap"),
    "judges_compared": Shown(("judges_compared",), "Comparisons", "Judges compared by task; self-preference"),
    "hard_instances": Shown(("hard_instances",), "Comparisons", "Comparisons that judges disagree about"),
    "length_scores": Shown(("length_scores",), "Scoring bias", "Length and scores"),
    "length_control": Shown(("length_control",), "Comparisons", "Length and verdicts"),
    "length_controlled_win_rates": Shown(("length_control",), "Comparisons", "Win rates without length"),
}

SWEPT = ("position_selection", "human_agreement")

FIGURES = {
    "position_selection": Shown(("position_selection",), "Position bias", "Position selection, figure"),
    "score_effects": Shown(("score_effects",), "Position bias", "Effect on scores, figure"),
    "manipulability": Shown(("manipulability",), "Position bias", "Reach of a chosen order, figure"),
    "position_preference": Shown(("position_preference",), "Position bias", "Position preference, figure"),
    "power": Shown(("power",), "Position bias", "Smallest detectable bias, figure"),
    "human_scores": Shown(("datasets",), "Datasets", "Human scores, figure"),
    "budget_curve": Shown(("budget_curve",), "Human agreement", "Number of reads, figure"),
    "generalisability": Shown(("generalisability",), "Human agreement", "Reliability of means, figure"),
    "calibration": Shown(("calibration",), "Calibration", "Single reads corrected, figure"),
    "ordering_subsets": Shown(("ordering_subsets",), "Calibration", "Orderings to read, figure"),
    "corrected_means": Shown(("corrected_means",), "Human agreement", "Means corrected by people, figure"),
    "adaptive_budget": Shown(("adaptive_budget",), "Calibration", "Reading until it is enough, figure"),
    "advice": Shown(("advice",), "Advice", "Precision by calls, figure"),
    "position_selection_by_dataset": Shown(
        ("position_selection",), "Position bias", "Position selection by dataset, figure"
    ),
    "score_position": Shown(("score_position",), "Position bias", "Scores by position, figure"),
    "strategy_forest": Shown(("human_agreement",), "Human agreement", "Strategies, figure"),
    "scoring_tendency": Shown(("scoring_tendency",), "Scoring bias", "Scoring tendency, figure"),
    "scoring_accuracy": Shown(("scoring_accuracy",), "Scoring bias", "Scoring accuracy, figure"),
    "temperature_sweep": Shown(SWEPT, "Sweeps", "Temperature sweep", module="sweep", derived=("setting",)),
    "effort_sweep": Shown(SWEPT, "Sweeps", "Reasoning effort sweep", module="sweep", derived=("setting",)),
    "criterion_order": Shown(("criterion_order",), "Criterion order", "Shift by position, figure"),
    "position_consistency": Shown(("position_consistency",), "Comparisons", "Consistency by task, figure"),
    "judges_compared": Shown(
        ("judges_compared", "position_consistency"), "Comparisons", "Judges compared by task, figure"
    ),
    "judge_agreement": Shown(("judge_agreement",), "Comparisons", "Agreement of judges, figure"),
    "quality_gap": Shown(("quality_cells", "quality_gap"), "Comparisons", "Consistency by quality gap, figure"),
    "quality_gap_of_lists": Shown(
        ("quality_cells", "quality_gap"),
        "Comparisons",
        "Consistency by quality gap in lists, figure",
        module="quality_gap",
    ),
}


MODULES = {"statistics": "estimate", "tables": "table", "figures": "figure"}  # modules in the folder of a result
# Names that these modules must define.
PARTS = {"statistics": ("COLUMNS", "estimate"), "tables": ("CAPTION", "TABLE"), "figures": ("CAPTION", "draw")}


def module(kind: str, name: str) -> str:
    """Dotted name of the module that makes a result.

    The module is in a folder with the name of the result, or with the name that its record gives as `module`. The
    folder is in the folder of a theme: the theme of the statistic that has the folder's name or, if there is no such
    statistic, the theme of the first statistic that the result shows.

    Args:
        kind: `statistics`, `tables` or `figures`.
    """
    folder = name
    if kind != "statistics":
        shown = (TABLES if kind == "tables" else FIGURES)[name]
        folder = shown.module or name
        name = folder if folder in STATISTICS else shown.statistics[0]
    return f"rubric_order.analyses.{STATISTICS[name].theme}.{folder}.{MODULES[kind]}"


def module_file(kind: str, name: str) -> str:
    """Path in the library of the file of `module`."""
    return module(kind, name).partition(".")[2].replace(".", "/") + ".py"


def fits(probe: str, among: Collection[str]) -> bool:
    """Tell whether `among`, such as `Statistic.probes` or a result of `registry.probes`, has `probe` or `ANY`."""
    return ANY in among or probe in among
