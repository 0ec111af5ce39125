"""Shift of the mean score under each ordering, in points."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base import flags
from rubric_order.base.labels import Labels
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

MOST_NAMES = 24  # largest number of orderings that are written at the axis
LOOKS = {Readout.HARD: "selected option", Readout.SOFT: "option probabilities"}


def draw(score_effects: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Shift of the mean score under each ordering: one panel per judge, one row per ordering."""
    chosen = view.rows(score_effects, "study", "profile", "strategy", "n", "dataset", "cluster", quantity="ordering")
    chosen = rows_with(chosen, readout=view.readouts)
    if chosen.empty:
        reason = f"No items of which all are read in the same orderings (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    judges, orderings = list(chosen["judge"].unique()), list(chosen["ordering"].unique())
    height = layout.height_in * min(len(orderings), MOST_NAMES) + style.scaled(0.4)
    figure, axes, used_axes = style.panels(len(judges), layout, height_in=height)
    figure.set_figheight(height * len(axes) + style.scaled(0.7))  # 0.7 is for the legend and the name of the axis
    for axis, judge in zip(used_axes, judges, strict=True):
        of_judge = chosen[chosen["judge"] == judge]
        _draw_panel(axis, of_judge, orderings, view.readouts)
        axis.set_title(
            labels.judge(judge) + (" (saturated)" if of_judge["flag"].str.contains(flags.SATURATED).any() else "")
        )
    first = axes[0, 0]
    first.set_ylim(len(orderings) - 0.4, -0.6)
    named = orderings if len(orderings) <= MOST_NAMES else []
    first.set_yticks(range(len(named)), [" ".join(_scores(name)) for name in named])
    for axis in axes[:, 0]:
        axis.set_ylabel("Ordering, first level first")
    figure.supxlabel("Mean score under the ordering less\nthe mean over orderings (points)")
    style.legend_above(figure)
    return figure


def _draw_panel(axis: Axes, shifts: pd.DataFrame, orderings: list[str], readouts: Sequence[Readout]) -> None:
    present = [readout for readout in readouts if (shifts["readout"] == readout).any()]
    for place, readout in enumerate(present):
        line = shifts[shifts["readout"] == readout]
        y = np.array([orderings.index(name) for name in line["ordering"]]) + 0.3 * (place - (len(present) - 1) / 2)
        x, spread = line["estimate"].to_numpy(), style.half_intervals(line)
        look = style.look(place) | {"linestyle": "none", "markersize": style.scaled(3.5), "markerfacecolor": "white"}
        axis.errorbar(x, y, xerr=spread, label=LOOKS[readout], **look)
        usual = np.array([_scores(name) == sorted(_scores(name), key=int) for name in line["ordering"]])
        axis.plot(x[usual], y[usual], linestyle="none", marker=style.marker(place), color=style.colour(place), zorder=4)
    axis.axvline(0, zorder=0, **style.no_effect())
    style.grid_across(axis)


def _scores(ordering: str) -> list[str]:
    return ordering.split() if " " in ordering else list(ordering)
