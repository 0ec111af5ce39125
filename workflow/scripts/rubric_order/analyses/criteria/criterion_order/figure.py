"""Heat maps of the shift of each criterion's score by each position."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from rubric_order.base.labels import Labels
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

SIGNIFICANT = 0.05
LONGEST = 7  # width of a cell's text, such as +0.25*, in letters; the plus sign is wide


def draw(
    criterion_order: pd.DataFrame,
    *,
    view: View,
    layout: Layout,
    labels: Labels,
    datasets: list[str] | None,
    names: dict[str, str],
) -> Figure:
    """Shift of each criterion's mean score by position: one panel per judge and dataset, on one diverging scale.

    Source: after Xu et al. (2026), Figures 10 and 11.
    """
    chosen = view.rows(criterion_order, "study", "profile", "strategy", "n", "readout")
    chosen = chosen[chosen["dataset"].isin(datasets)] if datasets else chosen
    panels = [
        (judge, dataset, block)
        for dataset, of_dataset in chosen.groupby("dataset", sort=False)
        for judge, block in of_dataset.groupby("judge", sort=False)
    ]
    if not panels:
        reason = (
            f"No reads of study {view.study} in which every criterion meets every position (strategy: {view.strategy})"
        )
        return style.nothing(reason, layout)
    cells, heights = _cells(panels, columns := min(layout.columns, len(panels)))
    margin = 2.2  # height of titles and labels, in rows of cells
    size = (layout.width_in, layout.height_in * (sum(heights) + margin * len(heights)))
    shape = {"squeeze": False, "layout": "constrained", "height_ratios": heights}
    figure, axes = plt.subplots(len(heights), columns, figsize=size, **shape)
    reach = max(chosen.loc[chosen["quantity"] == "shift", "estimate"].abs().max(), 0.01)
    written = max(len(_name(name, names)) for name in chosen["criterion"].dropna().unique())
    beside = style.scaled(0.9) / columns + style.text_width("m" * (written + 2), plt.rcParams["ytick.labelsize"])
    panel_in = layout.width_in / columns - beside  # width of a panel without colour bar and names of criteria
    for place, axis in np.ndenumerate(axes):
        axis.set_visible(place in cells)
        if place in cells:
            image = _draw_panel(axis, cells[place], reach, labels, names, width_in=panel_in)
    bar = figure.colorbar(
        image, ax=axes, shrink=min(1.0, style.scaled(1.6) / figure.get_figheight()), aspect=12, pad=0.02
    )
    bar.set_label("Shift of the\nmean score (points)")
    bar.outline.set_linewidth(style.scaled(0.5))
    figure.supxlabel("\n".join(["Position of the criterion in the prompt", *_legend(figure)]))
    return figure


def _legend(figure: Figure) -> list[str]:
    written = [text.get_text() for axis in figure.axes for text in [*axis.texts, *axis.get_yticklabels()]]
    marks = {"*": "* interval without 0, position test significant", "†": "† position test not significant"}
    said = [text for mark, text in marks.items() if any(mark in label for label in written)]
    whole = "; ".join(said)
    if style.text_width(whole, plt.rcParams["figure.labelsize"]) < figure.get_figwidth():
        return [whole] if said else []
    return said


def _cells(panels: list[tuple[Any, ...]], columns: int) -> tuple[dict[tuple[int, int], tuple[Any, ...]], list[int]]:
    """Panel at each row and column, and the height of each row as a number of criteria."""
    cells: dict[tuple[int, int], tuple[Any, ...]] = {}
    heights: list[int] = []
    for dataset in dict.fromkeys(dataset for _, dataset, _ in panels):
        of_dataset = [panel for panel in panels if panel[1] == dataset]
        first = len(heights)
        tallest = max(panel[2]["criterion"].nunique() for panel in of_dataset)
        heights += [tallest] * -(-len(of_dataset) // columns)
        cells |= {(first + place // columns, place % columns): panel for place, panel in enumerate(of_dataset)}
    return cells, heights


def _name(criterion: str, names: dict[str, str]) -> str:
    return names.get(criterion, criterion.replace("_", " ").capitalize())


def _draw_panel(
    axis: Axes, panel: tuple[Any, ...], reach: float, labels: Labels, names: dict[str, str], *, width_in: float
) -> AxesImage:
    """Draw one judge and dataset. `reach` is the largest size of a shift, `width_in` the width of cells in inches."""
    judge, dataset, block = panel
    shift = block[block["quantity"] == "shift"]
    tests = block[block["quantity"] == "position_test"].set_index("criterion")
    criteria = list(dict.fromkeys(shift["criterion"]))
    positions = list(range(1, int(shift["position"].max()) + 1))
    grids = {
        name: shift.pivot(index="criterion", columns="position", values=name).reindex(criteria, columns=positions)
        for name in ("estimate", "ci_low", "ci_high")
    }
    values, low, high = (grid.to_numpy(dtype=float) for grid in grids.values())
    p = tests["p_cluster_holm"].where(tests["p_cluster_holm"].notna(), tests["p_holm"]).reindex(criteria)
    significant = (p < SIGNIFICANT).to_numpy()
    image = style.signed_map(axis, values, reach, aspect="auto")
    letters = font_manager.FontProperties(size="small").get_size_in_points()
    letters = min(letters, 72 * width_in / (len(positions) * style.LETTER * (LONGEST + 1)))
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            star = "*" if significant[row] and (low[row, column] > 0 or high[row, column] < 0) else ""
            colour = style.ink(image, value)
            axis.text(column, row, f"{value:+.2f}{star}", ha="center", va="center", color=colour, fontsize=letters)
    rows = [_name(name, names) for name in criteria]
    rows = [name if is_significant else f"{name} †" for name, is_significant in zip(rows, significant, strict=True)]
    axis.set_yticks(range(len(criteria)), rows)
    style.positions(axis, len(positions), first=0)
    axis.tick_params(length=0, labelleft=True)
    axis.grid(False)
    axis.set_xticks(np.arange(len(positions) + 1) - 0.5, minor=True)
    axis.set_yticks(np.arange(len(criteria) + 1) - 0.5, minor=True)
    axis.grid(True, which="minor", axis="both", color="white", linewidth=style.scaled(1))
    axis.tick_params(which="minor", length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.set_title(f"{labels.judge(judge)}\n{labels.dataset(dataset)}")
    return image
