"""Settings of figures and tables: keys that many share, and one block per result. Other packages add their own."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from annotated_types import Len
from pydantic import create_model

from rubric_order import registry, strategies
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.base.readouts import READ, Readout
from rubric_order.settings.base import (
    Count,
    Inches,
    Levels,
    Positive,
    Probability,
    ReadoutName,
    Readouts,
    Settings,
    SomeTexts,
    Unique,
    setting,
)


class Key(NamedTuple):
    """A key of a block: its type, its default, and its meaning."""

    type: Any
    default: Any
    description: str
    otherwise: str | None = None

    def but(self, default: Any = None, description: str | None = None, type: Any = None) -> Key:
        """The key with another default, meaning or type."""
        return self._replace(
            default=self.default if default is None else default,
            description=description or self.description,
            type=type or self.type,
        )


STUDY = Key(
    str,
    "position_bias",
    "Study to show. If the key is left out and no study has the default name, the first study that fits is shown.",
)
ALSO = Key(list[str], [], "Further studies whose rows follow. Column `study` then names the study of each row.")
PROFILE = Key(
    str, DEFAULT_PROFILE, "Profile of the judges to show. `all` shows every profile as if it were a judge of its own."
)
CONDITION = Key(str, BASELINE, "Condition of the prompts to show, of those that the study has.")
N = Key(
    Levels,
    5,
    "Number of score levels to show. If the key is left out and no shown study has the default scale, the first scale"
    " of the first study is shown.",
)
CLUSTER = Key(
    Literal["group", "item"],
    "group",
    "Unit of the sample, for intervals and tests: single items, or groups of items that share a prompt, an article or"
    " a story.",
)
CLUSTER_OR_BOTH = Key(
    Literal["group", "item", "both"],
    "group",
    "Unit of the sample, for intervals and tests: single items, groups of items that share a prompt, an article or a"
    " story, or both beside each other.",
)
READOUT = Key(
    ReadoutName,
    Readout.HARD.value,
    "What is averaged: `hard` counts the selected options, `soft` averages the probabilities of all options.",
)
READOUTS = Key(Readouts, [name.value for name in READ], READOUT.description)
READOUT_OF_SCORES = READOUT.but(
    description="Score of a read: `hard` is the written score, `soft` the score expected under the probabilities of"
    " the options."
)
READOUTS_OF_SCORES = READOUTS.but(description=READOUT_OF_SCORES.description)
AVERAGED = "What is averaged: `hard` averages the written scores, `soft` the expected scores."
READOUT_OF_MEANS = READOUT.but(description=AVERAGED)


def _one_of(*names: str) -> Any:
    """The type of a value that is one of some names."""
    return Literal.__getitem__(names)


IN_EVERY_POSITION = Key(_one_of(*strategies.EVERY_POSITION), "balanced", "Strategy to show.")
IN_EVERY_POSITION_OR_RECORDED = IN_EVERY_POSITION.but(type=_one_of(*strategies.EVERY_POSITION, strategies.RECORDED))
OF_LEVELS = IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("levels")))
OF_ONE_SET_OR_RECORDED = IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("one_set"), strategies.RECORDED))
OF_ONE_SET = IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("one_set")))  # same orderings for every item
IN_ONE_SET = IN_EVERY_POSITION.but(  # strategies in which the k-th reads of all items share one ordering
    type=_one_of(*strategies.names(lambda strategy: strategy.one_ordering_a_read), strategies.RECORDED)
)
REPEATED = IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("repeats")))
OF_PILOT = IN_EVERY_POSITION.but(
    type=_one_of(*strategies.fitting("repeats"), strategies.RECORDED), description="Strategy whose reads are the pilot."
)
TO_COMPARE = IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("compared")))
if TYPE_CHECKING:
    OnCurve = str
else:
    OnCurve = _one_of(*strategies.fitting("budget_curve"), strategies.RECORDED)
OF_ONE_ORDERING = strategies.names(lambda strategy: strategy.one_ordering)
OF_SCORES = strategies.names(lambda strategy: strategy.orderings and "score_order" in strategy.probes)
OF_SCORES_OR_RECORDED = IN_EVERY_POSITION.but(type=_one_of(*OF_SCORES, strategies.RECORDED))
CORRELATION = Key(Literal["pearson", "spearman"], "pearson", "Measure of agreement.")
DATASET = Key(str, "all", "Dataset to show. `all` shows the datasets of the study together.")
STUDIES = Key(
    SomeTexts,
    ["scoring_bias"],
    "Studies to show. If several of them have the same row, that of the first study is shown.",
)
REFERENCE_JUDGE = Key(
    str | None, None, "Judge with which the others are compared; null: the first judge of each benchmark."
)
SETTING = Key(str, "", "Path of the judges' setting that profiles vary, such as `sampling/temperature`.")
NAMES = Key(dict[str, str], {}, "Names to show for criteria, by id.")
ORDER = Key(list[str], [], "Order in which values that are not numbers are shown.")
AXIS = Key(str, "", "Label of the axis.")
PRESET = Key(
    Literal["page", "column", "slide"],
    None,
    "Where the figure will be placed: on a page, in a column of a paper or on a slide. It sets the figure's sizes.",
    otherwise="`figure_preset`",
)
WIDTH = Key(Inches, 6.5, "Width in inches.")
PANEL = Key(Inches, 1.9, "Height of a panel in inches.")
ROW = Key(Inches, 0.2, "Height of a row in inches.")
COLUMNS = Key(Count, 2, "Largest number of panels in a row.")

SHARED = {"study": STUDY, "profile": PROFILE, "condition": CONDITION}
SIZES = {"preset": PRESET, "width_in": WIDTH}


def _panels(height: float | None = None, columns: int | None = None) -> dict[str, Key]:
    """Keys for the sizes of a figure in panels."""
    return {**SIZES, "panel_height_in": PANEL.but(height), "columns": COLUMNS.but(columns)}


def _by_strategy(strategy: Key) -> dict[str, Key]:
    """Keys for the rows of a figure that shows one strategy at one scale."""
    return {**SHARED, "strategy": strategy, "n": N}


COMPARED = SHARED | {"study": STUDY.but("judging_the_judges")}
SCORED = {"study": STUDY.but("scoring_bias"), "profile": PROFILE}
SWEEP = {
    "study": STUDY.but("temperature"),
    "setting": SETTING.but("sampling/temperature"),
    "strategy": IN_EVERY_POSITION_OR_RECORDED,
    "n": N,
    "readout": READOUT,
    "cluster": CLUSTER,
    "label": AXIS.but("Temperature"),
    "order": ORDER,
    **_panels(),
    "names": NAMES.but(description="Names to show for the values of the setting."),
}
BY_POSITION = {
    **SHARED,
    "strategy": IN_EVERY_POSITION_OR_RECORDED,
    "cluster": CLUSTER,
    "n": N,
    "readouts": READOUTS,
    **_panels(2.6),
}
OF_GAPS = {**COMPARED, **SIZES, "columns": COLUMNS.but(3)}

FIGURES: dict[str, dict[str, Key]] = {
    "position_selection": BY_POSITION,
    "score_effects": {
        **_by_strategy(IN_EVERY_POSITION_OR_RECORDED),
        "dataset": DATASET.but(description="Dataset to show. `all` pools the items of all of the study's datasets."),
        "readouts": READOUTS_OF_SCORES,
        "cluster": CLUSTER,
        **SIZES,
        "row_height_in": ROW,
        "columns": COLUMNS.but(3),
    },
    "position_consistency": {
        **COMPARED,
        "cluster": Key(
            Literal["group", "source"],
            "group",
            "Unit of the sample: questions (`group`), or what several questions share, such as a project (`source`).",
        ),
        "least_comparisons": Key(
            Count,
            10,
            "Number of comparisons that a judge must have decided in all orders of a task. With fewer it has no point"
            " in that task.",
        ),
        **SIZES,
        "row_height_in": ROW.but(0.3, "Height of a task in inches."),
        "columns": COLUMNS.but(3),
    },
    "quality_gap": OF_GAPS,
    "judges_compared": {
        **COMPARED,
        "reference": REFERENCE_JUDGE,
        **SIZES,
        "row_height_in": ROW.but(0.13, "Height of a judge's row in inches."),
    },
    "quality_gap_of_lists": OF_GAPS,
    "judge_agreement": OF_GAPS | {"columns": COLUMNS.but(4)},
    "position_preference": BY_POSITION,
    "power": {
        "study": STUDY.but(description="Study to show beside the assumed studies."),
        "profile": PROFILE,
        "condition": CONDITION,
        "strategy": IN_EVERY_POSITION_OR_RECORDED,
        "cluster": CLUSTER,
        **SIZES,
        "height_in": Key(Inches, 3, "Height in inches."),
        "columns": COLUMNS,
    },
    "human_scores": {**SIZES, "panel_height_in": PANEL.but(1.6), "columns": COLUMNS.but(4), "names": NAMES},
    "strategy_forest": {
        **SHARED,
        "n": N,
        "quantity": Key(Literal["pearson", "spearman", "kendall", "kappa"], "pearson", "Measure of agreement."),
        "cluster": CLUSTER_OR_BOTH,
        "readouts": READOUTS.but([Readout.HARD.value], AVERAGED),
        **SIZES,
        "row_height_in": ROW.but(0.38),
        "columns": COLUMNS,
    },
    "scoring_tendency": {
        "study": STUDY.but("scoring_bias"),
        "also": ALSO.but(
            description="Further studies whose rows are shown below. If several studies have the same row, that of the"
            " first study is shown."
        ),
        "profile": PROFILE,
        "dataset": DATASET,
        "n": N,
        **SIZES,
        "row_height_in": ROW,
        "columns": COLUMNS,
    },
    "scoring_accuracy": {
        **SCORED,
        "dataset": DATASET,
        "golden": Key(
            str,
            "human",
            "Golden scores with which judges are compared: those of people (`human`), the `labels` that came with the"
            " dataset, or those of a judge of `statistics/golden_scores`.",
        ),
        "quantity": Key(Literal["spearman", "pearson"], "spearman", "Measure of agreement."),
        "shown": Key(
            Literal["difference", "correlation"],
            "difference",
            "What is shown: the `difference` between each correlation and that of the study's first condition and"
            " strategy, or the `correlation` itself.",
        ),
        "readout": READOUT_OF_MEANS,
        "n": N,
        "cluster": CLUSTER,
        **SIZES,
        "row_height_in": ROW,
        "columns": COLUMNS,
    },
    "temperature_sweep": SWEEP,
    "effort_sweep": SWEEP
    | {
        "study": STUDY.but("effort"),
        "setting": SETTING.but("chat_template_kwargs/reasoning_effort"),
        "label": AXIS.but("Reasoning effort"),
        "order": ORDER.but(["minimal", "low", "medium", "high"]),
    },
    "budget_curve": {
        **SHARED,
        "n": N,
        "strategies": Key(
            Annotated[list[OnCurve], Len(1), Unique],
            ["balanced", "random", "fixed"],
            "Strategies to show.",
        ),
        "measure": CORRELATION.but(description="Correlation to show."),
        "readout": READOUT_OF_MEANS,
        "cluster": CLUSTER,
        **_panels(1.75, 3),
    },
    "generalisability": {
        **_by_strategy(REPEATED),
        "readout": READOUT_OF_MEANS,
        "cluster": CLUSTER,
        **_panels(1.75, 3),
    },
    "calibration": {
        **_by_strategy(OF_ONE_SET_OR_RECORDED),
        "readout": READOUT_OF_SCORES,
        **_panels(2.2),
    },
    "ordering_subsets": {
        **_by_strategy(IN_ONE_SET),
        "readout": READOUT_OF_SCORES,
        **_panels(2.2),
    },
    "advice": {
        **_by_strategy(OF_PILOT),
        "readout": READOUT_OF_SCORES,
        **_panels(2.2),
    },
    "manipulability": {
        **_by_strategy(IN_ONE_SET),
        "readout": READOUT_OF_SCORES,
        **SIZES,
        "row_height_in": ROW.but(0.45, "Height of a judge's row in inches."),
    },
    "corrected_means": {
        **_by_strategy(OF_SCORES_OR_RECORDED),
        "criterion": Key(str, "all", "Criterion to show. `all` shows the criteria together."),
        "target": Key(
            Literal["mean", "difference", "pass_rate"],
            "mean",
            "What is shown: mean scores, differences between candidates and the reference candidate, or pass rates.",
        ),
        "readout": READOUT_OF_MEANS,
        **SIZES,
        "row_height_in": ROW.but(0.3),
    },
    "adaptive_budget": {
        **_by_strategy(OF_ONE_SET_OR_RECORDED),
        "readout": READOUT_OF_SCORES,
        **_panels(2.4),
    },
    "position_selection_by_dataset": {
        **_by_strategy(IN_EVERY_POSITION.but(type=_one_of(*strategies.fitting("by_dataset")))),
        "readout": READOUT,
        "cluster": CLUSTER,
        **_panels(2.2),
    },
    "score_position": {
        **_by_strategy(OF_LEVELS),
        "dataset": DATASET.but(
            description="Dataset to show. `all` pools the selections in all of the study's datasets."
        ),
        "readout": READOUT,
        "cluster": CLUSTER,
        **_panels(columns=3),
    },
    "criterion_order": {
        "study": STUDY.but("criterion_order"),
        "profile": PROFILE,
        "condition": CONDITION,
        "strategy": IN_EVERY_POSITION,
        "n": N,
        "readout": READOUT_OF_SCORES,
        "datasets": Key(list[str] | None, None, "Ids of the datasets to show; null: all datasets of the study."),
        **SIZES,
        "row_height_in": ROW.but(0.24, "Height of a row of cells in inches."),
        "columns": COLUMNS,
        "names": NAMES,
    },
}

GONE = {
    ("figures", "strategy_forest", "interval"): (
        "intervals are those of a jackknife over clusters; the BCa bootstrap left out the truth in up to 22% of studies"
    ),
}

EFFECTS = {"study": STUDY, "also": ALSO, "condition": CONDITION, "cluster": CLUSTER}
ROWS = {"study": STUDY, "also": ALSO, "profile": PROFILE, "condition": CONDITION}
SCORING_ROWS = {"study": STUDY.but("scoring_bias"), "also": ALSO, "profile": PROFILE}
SCORING_ESTIMATES = SCORING_ROWS | {"cluster": CLUSTER}
SEVERAL_STUDIES = {"studies": STUDIES, "profile": PROFILE, "cluster": CLUSTER}
PLAIN_STUDIES = STUDIES.but(description="Studies to show.")
CRITERIA = ROWS | {"study": STUDY.but("criterion_order")}
COMPARING = {"study": STUDY.but("judging_the_judges"), "also": ALSO, "condition": CONDITION}

TABLES: dict[str, dict[str, Key]] = {
    "position_selection": {
        **ROWS,
        "strategy": IN_EVERY_POSITION_OR_RECORDED,
        "cluster": CLUSTER,
        "n": N,
    },
    "score_effects": EFFECTS,
    "order_spread": EFFECTS,
    "position_preference": EFFECTS,
    "preference_summary": EFFECTS,
    "judge_comparison": EFFECTS,
    "human_agreement": {**ROWS, "n": N, "cluster": CLUSTER},
    "budget_curve": {
        "study": STUDY,
        "also": ALSO,
        "condition": CONDITION,
        "statistic": CORRELATION,
        "cluster": CLUSTER,
    },
    "strategy_comparison": {
        **ROWS,
        "strategy": Key(
            _one_of(*OF_SCORES),
            "balanced",
            "Strategy with which the others are compared.",
        ),
        "n": N,
        "cluster": CLUSTER_OR_BOTH,
    },
    "scales": {
        "profile": PROFILE,
        "condition": CONDITION,
        "strategy": IN_EVERY_POSITION_OR_RECORDED,
        "cluster": CLUSTER,
    },
    "permutation_vs_repeat": {
        **ROWS,
        "strategy": IN_EVERY_POSITION.but(description="Strategy with several orderings."),
        "baseline": Key(
            _one_of(*OF_ONE_ORDERING),
            "fixed",
            "Strategy with one ordering, with which `strategy` is compared.",
        ),
        "n": N,
        "cluster": CLUSTER,
    },
    "rank_reversal": {
        **ROWS,
        "strategy": TO_COMPARE.but(description="First of the two strategies that are compared."),
        "other": TO_COMPARE.but("fixed", "Second of the two strategies that are compared."),
        "n": N,
    },
    "within_item_deviation": {
        **ROWS,
        "strategy": OF_LEVELS.but(
            description="Strategy whose variance is divided into a part of the orderings and a part of repetition."
        ),
        "n": N,
        "cluster": CLUSTER,
    },
    "generalisability": {**ROWS, "strategy": REPEATED, "n": N, "cluster": CLUSTER},
    "calibration": {**ROWS, "strategy": OF_ONE_SET_OR_RECORDED, "n": N},
    "ordering_subsets": {**ROWS, "strategy": IN_ONE_SET, "n": N},
    "corrected_means": {
        **ROWS,
        "n": N,
        "margin": Key(
            Positive,
            0.1,
            "Margin of error for which the number of labelled groups is shown. It is one of the statistic's `margins`.",
        ),
    },
    "adaptive_budget": {**ROWS, "strategy": OF_ONE_SET_OR_RECORDED, "n": N},
    "advice": {**ROWS, "strategy": OF_PILOT, "n": N},
    "canonical_rank": {**ROWS, "strategy": OF_ONE_SET, "n": N, "cluster": CLUSTER},
    "score_position": {**ROWS, "strategy": OF_LEVELS, "n": N, "cluster": CLUSTER},
    "manipulability": {**ROWS, "strategy": IN_ONE_SET, "n": N},
    "bias_cost": {**ROWS, "strategy": OF_ONE_SET, "n": N, "cluster": CLUSTER},
    "equivalence": {**ROWS, "cluster": CLUSTER},
    "parse_failures": ROWS,
    "paired_reads": SCORING_ESTIMATES,
    "score_shifts": SCORING_ESTIMATES,
    "scoring_tendency": SCORING_ROWS,
    "scoring_accuracy": SCORING_ESTIMATES,
    "scoring_causes": SCORING_ESTIMATES,
    "prompt_styles": {"study": STUDY, "also": ALSO, "profile": PROFILE, "cluster": CLUSTER},
    "reference_answers": {},
    "golden_alignment": {},
    "scoring_accuracy_by_dataset": {
        "studies": STUDIES,
        "profile": PROFILE,
        "n": N,
        "readout": READOUT_OF_MEANS,
        "cluster": CLUSTER,
    },
    "scoring_advice": SEVERAL_STUDIES | {"studies": PLAIN_STUDIES},
    "scoring_averages": SEVERAL_STUDIES | {"studies": PLAIN_STUDIES},
    "published_shifts": {},
    "scoring_datasets": {},
    "replication": {},
    "datasets": {},
    "judge_versions": {},
    "criterion_order": {**CRITERIA, "strategy": IN_EVERY_POSITION, "n": N, "readouts": READOUTS_OF_SCORES},
    "criteria_agreement": {
        **CRITERIA,
        "n": N,
        "cluster": CLUSTER.but(
            description="Unit that the bootstrap draws: groups of texts (`group`), or single texts (`item`), as in the"
            " paper."
        ),
        "readouts": READOUTS_OF_SCORES,
    },
    "carry_over": {**CRITERIA, "n": N, "readouts": READOUTS_OF_SCORES},
    "halo": {**CRITERIA, "n": N, "readouts": READOUTS_OF_SCORES},
    "bias_factors": COMPARING,
    "influencing_factors": {
        "study": COMPARING["study"],
        "also": ALSO,
        "profile": PROFILE,
        "condition": CONDITION,
        "gap": Key(
            Literal["own", "others"],
            "own",
            "Judgments from which the quality gap is computed: the judge's own (`own`), as in the paper, or those of"
            " other judges (`others`).",
        ),
    },
    "mitigations": COMPARING,
    "strengths": COMPARING,
    "quality_gap": COMPARING,
    "judge_agreement": COMPARING,
    "judges_compared": COMPARING | {"reference": REFERENCE_JUDGE},
    "hard_instances": COMPARING | {"most": Key(Count, 20, "Largest number of comparisons of each benchmark to show.")},
    "length_scores": {"cluster": CLUSTER},
    "length_control": {"study": COMPARING["study"], "also": ALSO},
    "length_controlled_win_rates": {
        "study": COMPARING["study"],
        "also": ALSO,
        "varied": Key(str, BASELINE, "Condition of the prompts to show."),
    },
    "list_position_bias": COMPARING,
    "pairwise_position_bias": {
        **COMPARING,
        "judge_names": Key(
            dict[str, str],
            {},
            "Names of judges in the table and in its CSV file, by id. A judge that is not listed has its label.",
        ),
        "least_stability": Key(
            Probability,
            0.85,
            "Repetition stability below which a judge is marked. Shi et al. give .85 as that of capable judges.",
        ),
        "most_errors": Key(Probability, 0.1, "Share of answers without a verdict above which a judge is marked."),
    },
    "crossed_orders": {**CRITERIA, "n": N},
}

BLOCKS: Mapping[registry.Kind, Mapping[str, dict[str, Key]]] = {"figures": FIGURES, "tables": TABLES}


@functools.cache
def model(kind: registry.Kind, name: str) -> type[Settings]:
    """The model of one result's block, made when a config names the result.

    Args:
        kind: ``figures`` or ``tables``.
        name: the result.

    Raises:
        InputError: the result comes from another package, and that package is faulty, see `registry.load`.
    """
    entry, preset = registry.shown(kind, name), {"preset": PRESET} if kind == "figures" else {}
    if registry.is_other(name):
        base, block = of_package(name, entry.block) or Settings, preset
    else:
        base, block = Settings, BLOCKS[kind][name] | preset
    keys: dict[str, Any] = {
        key: (entry.type, setting(entry.default, entry.description, otherwise=entry.otherwise))
        for key, entry in block.items()
    }
    made = create_model(f"{kind}_{name}", __base__=base, **keys)
    if base is Settings:
        made.GONE = {key: reason for (block, result, key), reason in GONE.items() if (block, result) == (kind, name)}
    return made


def defaults(kind: registry.Kind, name: str) -> dict[str, Any]:
    """Keys of a result's block with their defaults.

    Args:
        kind: ``figures`` or ``tables``.
        name: the result.

    Raises:
        InputError: the result comes from another package, and that package is faulty, see `registry.load`.
    """
    if not registry.is_other(name):
        return {key: entry.default for key, entry in BLOCKS[kind][name].items()}
    fields = model(kind, name).model_fields
    return {key: field.default for key, field in fields.items() if not field.is_required()}


def of_package(name: str, block: object) -> type[Settings] | None:
    """The model of a result's block that another package registers; None if it registers no model.

    Raises:
        InputError: the object is no model of settings; the message names the package.
    """
    if block is None or (isinstance(block, type) and issubclass(block, Settings)):
        return block
    where = registry.load(name).where
    raise InputError(f"{where}: block: expected a subclass of {Settings.__module__}.Settings, found {block!r:.80}")
