"""Consistency and fairness of comparisons by the candidates' win rates, with the bounds that arithmetic sets."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

GREY: dict[str, Any] = {"color": "0.88", "linewidth": 0, "zorder": 0}
PANELS = (
    ("own", "position_consistency", "preference_fairness", "Fairness by consistency"),
    ("own", "win_rate", "position_consistency", "Consistency, same judgments"),
    ("crossed", "win_rate", "position_consistency", "Consistency, other questions"),
    ("others", "win_rate", "position_consistency", "Consistency, other judges"),
    ("own", "win_rate", "preference_fairness", "Fairness, same judgments"),
)
NAMES = {
    "position_consistency": "Position consistency",
    "preference_fairness": "Preference fairness",
    "win_rate": "Overall win rate",
}


def draw(
    quality_cells: pd.DataFrame, quality_gap: pd.DataFrame, *, view: View, layout: Layout, labels: Labels
) -> Figure:
    """Six panels per benchmark; each benchmark starts a row.

    Args:
        quality_cells: estimates, see `quality_cells.estimate`.
        quality_gap: estimates, see `quality_gap.estimate`.
    """
    cells, slopes = (view.rows(table, "study", "profile") for table in (quality_cells, quality_gap))
    if cells.empty:
        return style.nothing(f"No comparisons in several orders in study {view.study}", layout)
    keys = ["benchmark", "dataset", "strategy", "n"]
    blocks = list(cells.groupby(keys, sort=False))
    columns = min(layout.columns, len(PANELS) + 1)
    rows = -(-(len(PANELS) + 1) // columns) * len(blocks)
    size = (layout.width_in, min(0.93 * layout.width_in / columns, style.scaled(2.2)) * rows)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for (key, block), row in zip(blocks, axes.reshape(len(blocks), -1), strict=True):
        panels = row[: len(PANELS) + 1]
        for axis in row[len(panels) :]:
            axis.set_visible(False)
        p = int(key[-1])
        for axis, (kind, x, y, title) in zip(panels, PANELS, strict=False):
            _bound(axis, kind, x, y, p)
            for judge, part in block.groupby("judge", sort=False):
                look = style.look(labels.place_of_judge(judge))
                points = part[part["kind"] == kind]
                seen = {"color": look["color"], "marker": look["marker"], "label": labels.judge(judge)}
                axis.scatter(points[x], points[y], s=style.scaled(2.2) ** 2, alpha=0.5, linewidths=0, zorder=2, **seen)
                line = part[part["kind"] == "implied"]
                axis.plot(line[x], line[y], color=look["color"], linewidth=style.scaled(1.1), zorder=3)
            axis.set_title(f"{labels.dataset(key[0])}\n{title}" if axis is panels[0] else title)
            axis.set_xlabel(NAMES[x])
            axis.set_ylabel(NAMES[y])
        _beta(panels[-1], rows_with(slopes, **dict(zip(keys, key, strict=True))), labels)
    style.legend_above(figure, 4)
    return figure


def _bound(axis: Axes, kind: str, x: str, y: str, p: int) -> None:
    """Set the limits of the axes. In panels with a bound, draw the area that no cell can reach in grey."""
    if x == "position_consistency":
        axis.fill_between([0, 1], [1, 0], [1, 1], **GREY)
        axis.fill_between([0, 1], [-1, 0], [-1, -1], **GREY)
    elif y == "preference_fairness":
        axis.axhline(0, **style.no_effect())
    elif kind == "own":
        rate = np.linspace(0, 1, 101)
        axis.fill_between(rate, least_consistency(rate, p), **GREY)
    low = -1.05 if y == "preference_fairness" else -0.03
    axis.set(xlim=(-0.03, 1.03), ylim=(low, 1.05))


def least_consistency(rate: np.ndarray, p: int) -> np.ndarray:
    """Least consistency that a cell with a given overall win rate can have.

    Each inconsistent comparison adds 1/p to the rate. So a rate above 1/p needs consistent wins of the candidate, and a
    rate below 1/p needs consistent wins of other candidates.

    Args:
        rate: overall win rate of each cell, from 0 to 1.
        p: number of candidates of a comparison.
    """
    return np.where(rate >= 1 / p, (rate - 1 / p) / (1 - 1 / p), 1 - p * rate)


def _beta(axis: Axes, rows: pd.DataFrame, labels: Labels) -> None:
    rows = rows_with(rows, quantity="first_last", kind="crossed").dropna(subset="estimate")
    axis.axhline(0, **style.no_effect())
    reach = 1.6 * rows["estimate"].abs().max()  # wide intervals, from few comparisons, would press the points together
    if reach > 0:
        axis.set_ylim(-reach, reach)
    for judge, part in rows.groupby("judge", sort=False):
        look = style.look(labels.place_of_judge(judge)) | {"linestyle": "-", "label": labels.judge(judge)}
        axis.errorbar(part["gap"], part["estimate"], yerr=style.half_intervals(part), **look)
        if reach > 0:
            style.arrows(axis, part, part["gap"], reach, look["color"], upright=True)
    axis.set(title="Beta, other questions", xlabel="Quality gap", ylabel="Beta (log-odds)")
