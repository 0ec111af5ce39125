"""Options of a further study: groups, items, orderings and repeats, with the precision that a pilot predicts."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.base.rows import rows_with
from rubric_order.tables.columns import Estimated, Flags, Number, Text, cell, counts, known, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Options of a further study, predicted from the reads under {strategy} (the pilot); goal: {advice[goal]}. Options "
    "that reach the target come first, cheapest first, each with the fewest groups that reach it at the worse end of "
    "their interval. Without a target, "
    "the most precise options that the budget pays for come first. For goals r, mean and preference, the prediction is "
    "the half-width of the interval that the study will report. For ranked it is the share of pairs of items that are "
    "in the order of the mean over all orderings. For equivalent it is the share of studies of a judge without bias "
    "whose card is equivalent. For bias and shift it is the smallest bias that 80% of studies find. In brackets is the "
    "{bootstrap[confidence]:.0%} interval by the pilot's own uncertainty, over its groups. Column r or mean is "
    "that of the pilot under this design; fewer reads give a lower r. Config has the keys of a study, where sample "
    "counts groups. Items is the number of items in a group. Groups of another size than in the pilot need another "
    "dataset. Predictions hold for items and a judge like those of the pilot: a narrow interval is no sign of a right "
    "score. Intervals come out wider if items of a group are more alike than the pilot's few groups show."
)
PRINTED = 10  # largest number of printed options per judge and readout
GOALS = {
    "r": "half-width of r",
    "mean": "half-width of the mean",
    "preference": "half-width, log-odds",
    "ranked": "pairs right",
    "equivalent": "equivalent",
    "bias": "smallest bias, log-odds",
    "shift": "smallest shift, points",
}


def _rows(advice: pd.DataFrame) -> pd.DataFrame:
    """The rows of options and of refused predictions."""
    rows = rows_with(advice, kind=["option", "refused"])
    keys = ["judge", "profile", "dataset", "readout", "rank"]
    return rows.sort_values(keys, kind="stable").drop(columns=["seed", "cluster"])


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[~(rows["rank"] > PRINTED)]


def _config(row: Mapping[str, Any]) -> str:
    return row["config"] if row["kind"] == "option" else "none"


def _target(row: Mapping[str, Any]) -> str:
    missed = [name for name, column in (("target", "meets"), ("budget", "affordable")) if row[column] == 0]
    return f"beyond {' and '.join(missed)}" if missed else ""


def _predicted(rows: pd.DataFrame) -> list[Estimated]:
    goals = rows["goal"].unique()
    name = GOALS[goals[0]] if len(goals) == 1 else "predicted"
    return [Estimated("estimate", ".3f", name=name, missing="", ends=("ci_low", "ci_high"))]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile"),
    columns=[
        *texts("judge", "dataset", "readout"),
        cell("config", _config),
        Number("items", ".3g", missing=""),
        *counts("calls"),
        Number("cost", ",.2f", missing="", when=known("cost")),
        _predicted,
        Number("value", ".3f", name="r or mean", missing="", when=known("value")),
        cell("limits", _target),
        Text("flag", name="note", missing=""),
        Flags(),
    ],
    printed=_printed,
)
