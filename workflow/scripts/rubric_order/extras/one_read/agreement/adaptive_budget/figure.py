"""Error of scores by number of reads: items stopped one by one, and items that all get the same number of reads."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

LINES = {"all items alike": "fixed", "alike, orderings' effects removed": "fixed_learnt"}
POINTS = {"stopped by a confidence sequence": "sequence", "stopped by what was learnt": "learnt"}


def draw(adaptive_budget: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Error by number of reads: one panel per judge and dataset."""
    chosen = view.rows(adaptive_budget, "study", "profile", "strategy", "n", "readout")
    if chosen.empty:
        reason = f"No items of which all are read in orderings that they share (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, panels = style.panels_of_judges(chosen, layout, labels)
    for axis, block in panels:
        _draw_panel(axis, block)
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].set_xlim(0.5, chosen["n_orderings"].max() + 0.5)
    axes[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.supxlabel("Reads an item, mean")
    figure.supylabel("Error in points (root mean square)")
    style.legend_above(figure, 2)
    return figure


def _draw_panel(axis: Axes, block: pd.DataFrame) -> None:
    for place, (name, rule) in enumerate(LINES.items()):
        rows = rows_with(block, rule=rule, quantity="rmse").sort_values("k")
        if len(rows):
            look = style.look(place) | {"markersize": style.scaled(2), "linewidth": style.scaled(1.1)}
            axis.errorbar(rows["k"], rows["estimate"], yerr=style.half_intervals(rows), label=name, **look)
    for place, (name, rule) in enumerate(POINTS.items()):
        stopped = rows_with(block, rule=rule, goal="width")
        rows = {quantity: rows_with(stopped, quantity=quantity).sort_values("target") for quantity in ("reads", "rmse")}
        if rows["reads"].empty:
            continue
        marks: dict[str, Any] = style.look(place) | {"linestyle": "none", "marker": "Ds"[place]}
        marks |= {"markersize": style.scaled(4.5), "markeredgecolor": "black", "markeredgewidth": style.scaled(0.5)}
        x, y = (rows[quantity]["estimate"].to_numpy() for quantity in ("reads", "rmse"))
        across, along = (style.half_intervals(rows[quantity]) for quantity in ("reads", "rmse"))
        axis.errorbar(x, y, xerr=across, yerr=along, label=name, **marks)
        beside: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small", "ha": ("right", "left")[place]}
        beside |= {"xytext": ((-4, -9), (4, 4))[place], "color": marks["color"]}
        for target, reads, error in zip(rows["reads"]["target"], x, y, strict=True):
            axis.annotate(f"{target:g}", (reads, error), **beside)
