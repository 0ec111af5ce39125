"""Means of people's scores from labels, from the judge and from both, and labelled groups for a margin of error."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

ESTIMATORS = {
    "labels": "labels alone",
    "judge": "judge alone",
    "corrected": "corrected",
    "rogan_gladen": "by errors",
    "all_labels": "all labels",
}
UNITS = {"mean": "Points of people's scale", "difference": "Difference in points", "pass_rate": "Pass rate"}
MOST = 16  # largest number of rows in a panel


def draw(
    corrected_means: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, criterion: str, target: str
) -> Figure:
    """Estimates on the left and needed labelled groups on the right; one row of panels per judge and dataset."""
    rows = view.rows(corrected_means, "study", "profile", "strategy", "n", "readout", criterion=criterion)
    chosen = rows_with(rows.fillna({"other": ""}), target=target)
    panels = list(chosen[["dataset", "judge"]].drop_duplicates().itertuples(index=False, name=None))
    if not panels:
        reason = f"No {target.replace('_', ' ')} of items with human scores (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    blocks = [rows_with(chosen, dataset=dataset, judge=judge) for dataset, judge in panels]
    row_names = [_names(block) for block in blocks]
    heights = [layout.height_in * (max(len(named), 4) + 1) + style.scaled(0.45) for named in row_names]
    figure, axes = plt.subplots(
        len(panels),
        2,
        figsize=(layout.width_in, sum(heights) + style.scaled(0.75)),
        squeeze=False,
        layout="constrained",
        gridspec_kw={"width_ratios": (3, 2), "height_ratios": heights},
    )
    for (left, right), block, named, (dataset, judge) in zip(axes, blocks, row_names, panels, strict=True):
        _draw_estimates(left, block, named)
        left.set_title(f"{labels.judge(judge)}\n{labels.dataset(dataset)} ({_counts(block)})")
        _draw_needed(right, block, target)
    axes[-1, 0].set_xlabel(UNITS[target])
    axes[-1, 1].set_xlabel("Labelled groups")
    style.legend_above(figure)
    return figure


def _names(block: pd.DataFrame) -> list[tuple[str, str]]:
    pairs = block[["candidate", "other"]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(pairs, key=lambda pair: pair[0] != EVERY)[:MOST]


def _counts(block: pd.DataFrame) -> str:
    first = rows_with(block, quantity="value", estimator="corrected").iloc[0]
    return f"{first['n_labelled']} of {first['n_clusters']} groups labelled"


def _draw_estimates(axis: Axes, block: pd.DataFrame, names: Sequence[tuple[str, str]]) -> None:
    """Draw the estimates. In the row of each candidate or difference, the estimators are beneath each other."""
    values = rows_with(block, quantity="value").dropna(subset="estimate")
    present = [name for name in ESTIMATORS if (values["estimator"] == name).any()]
    step = 0.7 / max(len(present), 1)
    for place, estimator in enumerate(ESTIMATORS):
        rows = rows_with(values, estimator=estimator)
        at = {name: k for k, name in enumerate(names)}
        rows = rows[[pair in at for pair in zip(rows["candidate"], rows["other"], strict=True)]]
        if rows.empty:
            continue
        aside = step * (present.index(estimator) - (len(present) - 1) / 2)
        y = [at[pair] + aside for pair in zip(rows["candidate"], rows["other"], strict=True)]
        look: dict[str, Any] = style.look(place) | {"linestyle": "none", "markersize": style.scaled(3)}
        x = rows["estimate"].to_numpy(dtype=float)
        axis.errorbar(x, y, xerr=style.half_intervals(rows), label=ESTIMATORS[estimator], **look)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_yticks(range(len(names)), [_written(*name) for name in names])
    style.grid_across(axis)


def _written(candidate: str, other: str) -> str:
    return "all items" if candidate == EVERY else f"{candidate}\nless {other}" if other else candidate


def _draw_needed(axis: Axes, block: pd.DataFrame, target: str) -> None:
    """Draw the margin of error against the number of labelled groups, for all items or for the first difference."""
    candidate, other = _names(block)[0]
    target_rows = rows_with(block, candidate=candidate, other=other)
    for estimator, line in (("labels", "-"), ("corrected", "--")):
        rows = rows_with(target_rows, quantity="groups_needed", estimator=estimator).dropna(subset="estimate")
        look = style.look(list(ESTIMATORS).index(estimator)) | {"markersize": style.scaled(3), "linestyle": line}
        look.pop("elinewidth")
        ordered = rows.sort_values("margin")
        axis.plot(ordered["estimate"], ordered["margin"], label=ESTIMATORS[estimator], **look)
    axis.set_xscale("log")
    axis.set_yscale("log")
    margins = np.sort(rows_with(target_rows, quantity="groups_needed")["margin"].unique())
    axis.set_yticks(margins, [f"±{margin:g}" for margin in margins])
    axis.set_ylim(margins[0] / 1.2, margins[-1] * 1.2)
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_locator(plt.NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    groups = target_rows["n_clusters"].iloc[0]
    axis.axvline(groups, color="0.45", linestyle=":", linewidth=style.scaled(0.9), label="groups that there are")
    axis.set_title(_written(candidate, other).replace("\n", " "))
    axis.set_ylabel("Margin of error")
