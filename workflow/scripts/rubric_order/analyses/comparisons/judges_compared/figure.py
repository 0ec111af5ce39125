"""Heat maps of judges and tasks: consistency minus that of a reference judge, and preference fairness, with tests."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

TITLES = {
    "position_consistency": "Consistency less that of {reference}",
    "preference_fairness": "Preference fairness",
}
LEAST_LETTERS = 3.5  # points; in smaller letters, numbers are not written
LEAST_NAME = 5.5  # points; a name has several lines only if two lines of this size fit
LETTERS = 6  # letters in a cell: -.12* and a space
WIDEST = 26  # characters in a line of a task's name
LINE = 1.15  # height of a line, as a multiple of its letters' size


def draw(
    judges_compared: pd.DataFrame,
    position_consistency: pd.DataFrame,
    *,
    view: View,
    layout: Layout,
    labels: Labels,
    reference: str | None,
) -> Figure:
    """Two maps per benchmark, each with a row per judge and a column per task.

    Source: after Shi et al. (2025), Figure 6.
    """
    paired = view.rows(judges_compared, "study", "profile", quantity="position_consistency")
    alone = view.rows(position_consistency, "study", "profile", quantity="preference_fairness", cluster="group")
    if paired.empty or alone.empty:
        return style.nothing(f"Less than two judges of comparisons in study {view.study}", layout)
    panels = []
    for (benchmark, _), block in alone.groupby(["benchmark", "dataset"], sort=False):
        others = paired[paired["benchmark"] == benchmark]
        base = reference if reference in set(others["other"]) else next(iter(others["judge"]), None)
        panels.append((benchmark, "position_consistency", base, others[others["other"] == base]))
        panels.append((benchmark, "preference_fairness", base, block))
    rows = [max(table["judge"].nunique(), 1) for *_, table in panels]
    tasks_by_benchmark = {panel[0]: _tasks(panel[3]) for panel in panels if panel[1] == "preference_fairness"}
    size = plt.rcParams["xtick.labelsize"]
    judge_names = [labels.judge(name) for *_, table in panels for name in table["judge"].unique()]
    beside = style.text_width(max(judge_names, key=len, default=""), size) + style.scaled(0.15)
    cells = {benchmark: (layout.width_in - beside) / len(tasks) for benchmark, tasks in tasks_by_benchmark.items()}
    below = {
        benchmark: max(style.text_width(line, size) for task in tasks for line in _lines(task, cells[benchmark]))
        for benchmark, tasks in tasks_by_benchmark.items()
    }
    heights = [layout.height_in * count + style.scaled(0.5) for count in rows]
    for place, (benchmark, quantity, *_) in enumerate(panels):
        heights[place] += below[benchmark] if quantity == "preference_fairness" else 0
    shape = {"squeeze": False, "layout": "constrained", "height_ratios": rows}
    figure, axes = plt.subplots(len(panels), 1, figsize=(layout.width_in, sum(heights)), **shape)
    for axis, (benchmark, quantity, base, table) in zip(axes[:, 0], panels, strict=True):
        tasks = tasks_by_benchmark[benchmark]
        _draw_map(axis, table, tasks, labels, cell_in=cells[benchmark])
        title = TITLES[quantity].format(reference=labels.judge(str(base)))
        axis.set_title(f"{labels.dataset(benchmark)}\n{title}")
        axis.tick_params(labelbottom=quantity == "preference_fairness")
    return figure


def _draw_map(axis: Axes, table: pd.DataFrame, tasks: list[str], labels: Labels, *, cell_in: float) -> None:
    """Draw the values of judges (rows) in tasks (columns), with a star if the interval does not contain 0."""
    judges = list(table["judge"].unique())
    grids = {
        name: table.pivot(index="judge", columns="task", values=name)
        .reindex(judges, columns=tasks)
        .to_numpy(dtype=float)
        for name in ("estimate", "ci_low", "ci_high")
    }
    values, low, high = grids.values()
    reach = max(np.nanmax(np.abs(values), initial=0.0), 0.01)
    image = style.signed_map(axis, values, reach, aspect="auto")
    usual = font_manager.FontProperties(size="small").get_size_in_points()
    letters = min(usual, 72 * cell_in / (LETTERS * style.LETTER))
    for (row, column), value in np.ndenumerate(values):
        star = "*" if low[row, column] > 0 or high[row, column] < 0 else ""
        number = f"{value:+.2f}".replace("0.", ".", 1) if letters >= LEAST_LETTERS else ""
        if np.isnan(value) or not number + star:
            continue
        colour, written = style.ink(image, value), letters if number else usual
        axis.text(column, row, number + star, ha="center", va="center", fontsize=written, color=colour)
    lines = [_lines(task, cell_in) for task in tasks]
    size = min(plt.rcParams["xtick.labelsize"], 72 * cell_in / LINE / max(map(len, lines)))
    axis.set_xticks(range(len(tasks)), ["\n".join(parts) for parts in lines], rotation=90, fontsize=size)
    axis.set_yticks(range(len(judges)), [labels.judge(name) for name in judges])
    axis.grid(visible=False)
    axis.tick_params(length=0)


def _tasks(block: pd.DataFrame) -> list[str]:
    return [EVERY, *sorted(set(block["task"]) - {EVERY})]


def _lines(task: str, cell_in: float) -> list[str]:
    name = "all tasks" if task == EVERY else task.replace("_", " ")
    several = 72 * cell_in > 2 * LINE * LEAST_NAME
    return textwrap.wrap(name, WIDEST) if several else [name]
