"""Consistency, fairness and position preference of judges that compare candidates, task by task."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

WIDEST = 26  # characters in a line of a task's name
LEAST_MARK = 2.0  # points; smallest mark
QUANTITIES = {
    "position_consistency": "Position consistency",
    "preference_fairness": "Preference fairness",
    "first_last": "Beta (log-odds)",
}


def draw(
    position_consistency: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, least_comparisons: int
) -> Figure:
    """Panels of each benchmark: one panel per quantity, with one row per task and one mark per judge in each row."""
    chosen = view.rows(position_consistency, "study", "profile", "cluster", quantity=list(QUANTITIES))
    chosen = chosen.dropna(subset="estimate")
    chosen = chosen[_told_enough(chosen, least_comparisons)]
    if chosen.empty:
        return style.nothing(f"No comparisons in several orders in study {view.study}", layout)
    tasks = {name: _tasks(block) for name, block in chosen.groupby("benchmark", sort=False)}
    columns = min(layout.columns, len(QUANTITIES))
    heights = [layout.height_in * (len(benchmark_tasks) + 2) for benchmark_tasks in tasks.values()]
    figure, axes = _panels(heights, columns, layout.width_in)
    stacked = columns < len(QUANTITIES)
    reach = _reach(chosen)
    for axis, ends in zip(axes[0], [(-0.05, 1.05), (-1.1, 1.1), (-reach, reach) if reach else None], strict=True):
        axis.set_xlim(ends)
    for row, (benchmark, benchmark_tasks) in zip(axes, tasks.items(), strict=True):
        judges = list(chosen.loc[chosen["benchmark"] == benchmark, "judge"].unique())
        marks = min(style.scaled(4), max(style.scaled(LEAST_MARK), 72 * layout.height_in * 0.8 / len(judges)))
        for nth, (axis, (quantity, title)) in enumerate(zip(row, QUANTITIES.items(), strict=True)):
            if quantity != "position_consistency":
                axis.axvline(0, zorder=1, label="no preferred position", **style.no_effect())
            of_panel = rows_with(chosen, benchmark=benchmark, quantity=quantity)
            for place, judge in enumerate(judges):
                line = of_panel[of_panel["judge"] == judge]
                if line.empty:
                    continue
                y = line["task"].map(benchmark_tasks.index) + 0.8 * ((place + 0.5) / len(judges) - 0.5)
                look = style.look(labels.place_of_judge(judge)) | {"linestyle": "none", "zorder": 2}
                look |= {"markersize": marks, "capsize": marks / 2}
                spread = style.half_intervals(line)
                axis.errorbar(line["estimate"], y, xerr=spread, label=labels.judge(judge), **look)
                if quantity == "first_last" and reach:
                    style.arrows(axis, line, y, reach, look["color"])
            axis.set_title(title if stacked or benchmark == next(iter(tasks)) else "")
            axis.tick_params(labelleft=nth % columns == 0, labelbottom=stacked or benchmark == list(tasks)[-1])
        row[0].set_yticks(
            range(len(benchmark_tasks)), [_name(name, labels.dataset(benchmark)) for name in benchmark_tasks]
        )
        row[0].set_ylim(len(benchmark_tasks) - 0.5, -0.5)
    style.legend_above(figure, 4)
    return figure


def _panels(heights: list[float], columns: int, width_in: float) -> tuple[Figure, np.ndarray]:
    """A figure, and its panels as an array with a row per benchmark and a column per quantity."""
    n_rows = -(-len(QUANTITIES) // columns)  # rows of panels of a benchmark
    rows: np.ndarray = np.repeat(heights, n_rows)
    shape = {"squeeze": False, "layout": "constrained", "height_ratios": rows}
    figure, grid = plt.subplots(len(rows), columns, figsize=(width_in, rows.sum() + style.scaled(0.5)), **shape)
    axes = grid.reshape(len(heights), -1)
    for axis in axes[:, len(QUANTITIES) :].flat:
        axis.set_visible(False)
    axes = axes[:, : len(QUANTITIES)]
    for (row, column), axis in np.ndenumerate(axes):
        if row:
            axis.sharex(axes[0, column])
        if column:
            axis.sharey(axes[row, 0])
    return figure, axes


def _told_enough(rows: pd.DataFrame, least: int) -> pd.Series:
    keys = ["judge", "benchmark", "task"]
    decided = rows[rows["quantity"] == "position_consistency"].groupby(keys)["n_values"].max()
    counts = decided.reindex(pd.MultiIndex.from_frame(rows[keys])).fillna(0).to_numpy()
    return (rows["task"] == EVERY) | (counts >= least)


def _reach(rows: pd.DataFrame) -> float:
    betas = rows[rows["quantity"] == "first_last"]
    ends = betas.loc[betas["task"] == EVERY, ["ci_low", "ci_high"]].abs()
    return max(1.2 * betas["estimate"].abs().max(), 1.05 * ends.max().max(), 0) if len(betas) else 0.0


def _tasks(block: pd.DataFrame) -> list[str]:
    return [EVERY, *sorted(set(block["task"]) - {EVERY})]


def _name(task: str, benchmark: str) -> str:
    name = f"{benchmark}, all" if task == EVERY else task.replace("_", " ")
    return textwrap.fill(name, WIDEST, break_long_words=False)
