"""Keys of settings that results share, as plain data: the records of results make their blocks of config from these.

A type is written as an annotation, which `results.block_model` reads with the names of ``settings/base.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rubric_order import strategies
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.base.readouts import READ, Readout


class Key(NamedTuple):
    """A key of a block: its type, its default, its meaning, what holds without it, and what runs again."""

    type: str
    default: Any
    description: str
    otherwise: str | None = None
    reruns: str | None = None

    def but(self, default: Any = None, description: str | None = None, type: str | None = None) -> Key:
        """The key with another default, meaning or type."""
        return self._replace(
            default=self.default if default is None else default,
            description=description or self.description,
            type=type or self.type,
        )


STUDY = Key(
    "str",
    "position_bias",
    "Study to show. If the key is left out and no study has the default name, the first study that fits is shown.",
)
ALSO = Key("list[str]", [], "Further studies whose rows follow. Column `study` then names the study of each row.")
PROFILE = Key(
    "str", DEFAULT_PROFILE, "Profile of the judges to show. `all` shows every profile as if it were a judge of its own."
)
CONDITION = Key("str", BASELINE, "Condition of the prompts to show, of those that the study has.")
N = Key(
    "Levels",
    5,
    "Number of score levels to show. If the key is left out and no shown study has the default scale, the first scale"
    " of the first study is shown.",
)
CLUSTER = Key(
    "Literal['group', 'item']",
    "group",
    "Unit of the sample, for intervals and tests: single items, or groups of items that share a prompt, an article or"
    " a story.",
)
CLUSTER_OR_BOTH = Key(
    "Literal['group', 'item', 'both']",
    "group",
    "Unit of the sample, for intervals and tests: single items, groups of items that share a prompt, an article or a"
    " story, or both beside each other.",
)
READOUT = Key(
    "ReadoutName",
    Readout.HARD.value,
    "What is averaged: `hard` counts the selected options, `soft` averages the probabilities of all options.",
)
READOUTS = Key("Readouts", [name.value for name in READ], READOUT.description)
READOUT_OF_SCORES = READOUT.but(
    description="Score of a read: `hard` is the written score, `soft` the score expected under the probabilities of"
    " the options."
)
READOUTS_OF_SCORES = READOUTS.but(description=READOUT_OF_SCORES.description)
AVERAGED = "What is averaged: `hard` averages the written scores, `soft` the expected scores."
READOUT_OF_MEANS = READOUT.but(description=AVERAGED)


def one_of(*names: str) -> str:
    """The type of a value that is one of some names."""
    return f"Literal{[*names]}"


IN_EVERY_POSITION = Key(one_of(*strategies.EVERY_POSITION), "balanced", "Strategy to show.")
IN_EVERY_POSITION_OR_RECORDED = IN_EVERY_POSITION.but(type=one_of(*strategies.EVERY_POSITION, strategies.RECORDED))
OF_LEVELS = IN_EVERY_POSITION.but(type=one_of(*strategies.fitting("levels")))
OF_ONE_SET_OR_RECORDED = IN_EVERY_POSITION.but(type=one_of(*strategies.fitting("one_set"), strategies.RECORDED))
OF_ONE_SET = IN_EVERY_POSITION.but(type=one_of(*strategies.fitting("one_set")))  # same orderings for every item
IN_ONE_SET = IN_EVERY_POSITION.but(  # strategies in which the k-th reads of all items share one ordering
    type=one_of(*strategies.names(lambda strategy: strategy.one_ordering_a_read), strategies.RECORDED)
)
REPEATED = IN_EVERY_POSITION.but(type=one_of(*strategies.fitting("repeats")))
OF_PILOT = IN_EVERY_POSITION.but(
    type=one_of(*strategies.fitting("repeats"), strategies.RECORDED), description="Strategy whose reads are the pilot."
)
TO_COMPARE = IN_EVERY_POSITION.but(type=one_of(*strategies.fitting("compared")))
ON_CURVE = one_of(*strategies.fitting("budget_curve"), strategies.RECORDED)
OF_ONE_ORDERING = strategies.names(lambda strategy: strategy.one_ordering)
OF_SCORES = strategies.names(lambda strategy: strategy.orderings and "score_order" in strategy.probes)
OF_SCORES_OR_RECORDED = IN_EVERY_POSITION.but(type=one_of(*OF_SCORES, strategies.RECORDED))
CORRELATION = Key("Literal['pearson', 'spearman']", "pearson", "Measure of agreement.")
DATASET = Key("str", "all", "Dataset to show. `all` shows the datasets of the study together.")
STUDIES = Key(
    "SomeTexts",
    ["scoring_bias"],
    "Studies to show. If several of them have the same row, that of the first study is shown.",
)
REFERENCE_JUDGE = Key(
    "str | None", None, "Judge with which the others are compared; null: the first judge of each benchmark."
)
SETTING = Key("str", "", "Path of the judges' setting that profiles vary, such as `sampling/temperature`.")
NAMES = Key("dict[str, str]", {}, "Names to show for criteria, by id.")
ORDER = Key("list[str]", [], "Order in which values that are not numbers are shown.")
AXIS = Key("str", "", "Label of the axis.")
PRESET = Key(
    "Literal['page', 'column', 'slide']",
    None,
    "Where the figure will be placed: on a page, in a column of a paper or on a slide. It sets the figure's sizes.",
    otherwise="`figure_preset`",
)
WIDTH = Key("Inches", 6.5, "Width in inches.")
PANEL = Key("Inches", 1.9, "Height of a panel in inches.")
ROW = Key("Inches", 0.2, "Height of a row in inches.")
COLUMNS = Key("Count", 2, "Largest number of panels in a row.")

SHARED = {"study": STUDY, "profile": PROFILE, "condition": CONDITION}
SIZES = {"preset": PRESET, "width_in": WIDTH}


def panels(height: float | None = None, columns: int | None = None) -> dict[str, Key]:
    """Keys for the sizes of a figure in panels."""
    return {**SIZES, "panel_height_in": PANEL.but(height), "columns": COLUMNS.but(columns)}


def strategy_rows(strategy: Key) -> dict[str, Key]:
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
    **panels(),
    "names": NAMES.but(description="Names to show for the values of the setting."),
}
BY_POSITION = {
    **SHARED,
    "strategy": IN_EVERY_POSITION_OR_RECORDED,
    "cluster": CLUSTER,
    "n": N,
    "readouts": READOUTS,
    **panels(2.6),
}
OF_GAPS = {**COMPARED, **SIZES, "columns": COLUMNS.but(3)}

EFFECTS = {"study": STUDY, "also": ALSO, "condition": CONDITION, "cluster": CLUSTER}
ROWS = {"study": STUDY, "also": ALSO, "profile": PROFILE, "condition": CONDITION}
SCORING_ROWS = {"study": STUDY.but("scoring_bias"), "also": ALSO, "profile": PROFILE}
SCORING_ESTIMATES = SCORING_ROWS | {"cluster": CLUSTER}
SEVERAL_STUDIES = {"studies": STUDIES, "profile": PROFILE, "cluster": CLUSTER}
PLAIN_STUDIES = STUDIES.but(description="Studies to show.")
CRITERIA = ROWS | {"study": STUDY.but("criterion_order")}
COMPARING = {"study": STUDY.but("judging_the_judges"), "also": ALSO, "condition": CONDITION}
