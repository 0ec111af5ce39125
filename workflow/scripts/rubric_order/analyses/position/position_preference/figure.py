"""Amount that each position adds to the log-odds of a score."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base import flags
from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

LEAST_REACH = 0.05  # shortest axis on each side of 0, in log-odds
BEYOND = 1.08  # length of an axis, as a multiple of the largest value that it has to show
READOUTS = {Readout.HARD: "Selected option", Readout.SOFT: "Option probabilities"}


def draw(position_preference: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Preference of each position: one panel per judge and readout, one line per dataset, with intervals."""
    of_reads = view.rows(position_preference, "study", "profile", "strategy", "n", "cluster")
    chosen = rows_with(of_reads, quantity="preference").dropna(subset="estimate")
    present = set(zip(chosen["judge"], chosen["readout"], strict=True))
    panels = [(j, r) for j in chosen["judge"].unique() for r in view.readouts if (j, r) in present]
    if not panels:
        return style.nothing(_why_nothing(of_reads, view), layout)
    datasets = list(chosen["dataset"].unique())
    datasets = [name for name in datasets if name != EVERY] if len(datasets) == 2 else datasets
    figure, axes, used_axes = style.panels(len(panels), layout, one_height=len({r for _, r in panels}) == 1)
    reach = {readout: _reach(rows_with(chosen, readout=readout)) for _, readout in panels}
    for axis, (judge, readout) in zip(used_axes, panels, strict=True):
        axis.axhline(0, zorder=1, label="no position preference", **style.no_effect())
        for place, dataset in enumerate(datasets):
            line = rows_with(chosen, judge=judge, readout=readout, dataset=dataset)
            if line.empty:
                continue
            # Lines are shifted a little, so that their intervals do not hide each other.
            x = line["position"].to_numpy(dtype=float) + 0.07 * (place - (len(datasets) - 1) / 2)
            y, spread = line["estimate"].to_numpy(), style.half_intervals(line)
            name, look = labels.dataset(dataset), style.look(labels.place_of_dataset(dataset))
            drawn = axis.errorbar(x, y, yerr=spread, label=_name(dataset, name), zorder=2 + place, **look)
            _mark_separated(axis, line, x, look, zorder=3 + place)
            style.arrows(axis, line, x, reach[readout], drawn.lines[0].get_color(), upright=True)
        title = labels.judge(judge)
        axis.set_title(f"{title}\n{READOUTS[readout]}" if len(view.readouts) > 1 else title)
        style.positions(axis, view.n)
        axis.set_ylim(-reach[readout], reach[readout])
    for axis in axes[:, 0]:
        axis.set_ylabel("Preference (log-odds)")
    figure.supxlabel("Position of the score option in the prompt")
    style.legend_above(figure, 5)
    return figure


def _why_nothing(of_reads: pd.DataFrame, view: View) -> str:
    """Reason why there is no preference of a single position to draw."""
    named = f"study {view.study} (strategy: {view.strategy})"
    if of_reads.empty:
        return f"No reads of {named} that tell a position preference"
    if rows_with(of_reads, quantity="first_last")["estimate"].notna().any():
        return (
            f"The orderings of {named} do not tell what each position adds, only what the first adds over the last: see"
            " the table"
        )
    return f"Too few reads of an item differ in {named} to tell a position preference"


def _reach(rows: pd.DataFrame) -> float:
    whole = rows[~_are_separated(rows)]
    ends = (rows if whole.empty else whole)[["ci_low", "ci_high"]].abs().max().max()
    return float(BEYOND * max(rows["estimate"].abs().max(), ends if ends == ends else 0, LEAST_REACH))


def _are_separated(rows: pd.DataFrame) -> pd.Series:
    return rows["flag"].astype(str).str.contains(flags.SEPARATED)


def _mark_separated(axis: Axes, line: pd.DataFrame, x: np.ndarray, look: dict[str, Any], *, zorder: int) -> None:
    hollow = _are_separated(line).to_numpy()
    if hollow.any():
        white = {"color": look["color"], "marker": look["marker"], "markerfacecolor": "white", "linestyle": "none"}
        axis.plot(x[hollow], line["estimate"].to_numpy()[hollow], zorder=zorder, **white)


def _name(dataset: str, label: str) -> str:
    return "all datasets" if dataset == EVERY else label
