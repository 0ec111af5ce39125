"""Distribution of the scores of each dataset."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY, HUMAN_SCORES, NO_SCORES
from rubric_order.base.labels import Labels
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

# The colours differ in lightness, so that a grey print distinguishes them.
COLOURS = {"human": "#0072b2", "reference": "#e69f00", "intended": "#009e73"}
NOT_HUMAN = {"reference": "reference labels", "intended": "intended levels"}


def draw(datasets: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, names: dict[str, str]) -> Figure:
    """Share of each score among all raters' scores, with their mean: one panel per dataset, source and criterion."""
    scored = datasets[(datasets["source"] != NO_SCORES) & (datasets["n_scores"] > 0)]
    several: list[list[Any]] = []
    single: list[list[Any]] = []
    for _, block in scored.groupby(["dataset", "source"], sort=False):
        # Pooled scores are drawn only if the dataset has a single criterion.
        criteria = block[block["criterion"] != EVERY] if len(block) > 1 else block
        (several if len(criteria) > 1 else single).append(list(criteria.itertuples()))
    blocks = [*several, [panel for block in single for panel in block]]
    panels = [panel for block in blocks for panel in block]
    columns = min(layout.columns, max(1, *map(len, blocks)))
    # Each dataset of several criteria starts a row; datasets of one criterion share the last rows.
    cells: dict[tuple[int, ...], Any] = {}
    rows = 0
    for block in blocks:
        cells |= {(rows + place // columns, place % columns): panel for place, panel in enumerate(block)}
        rows += -(-len(block) // columns)
    rows = max(rows, 1)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(layout.width_in, layout.height_in * rows),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for cell, axis in np.ndenumerate(axes):
        axis.set_visible(cell in cells)
    highest = max((100 * getattr(panel, f"share_{score}") for panel in panels for score in HUMAN_SCORES), default=0)
    others = any(panel.share_other > 0 for panel in panels)
    top = (highest or 100) * (1.6 if others else 1.4)  # room above the bars for text
    axes[0, 0].set_ylim(0, top)
    axes[0, 0].set_yticks([tick for tick in range(0, 101, 20) if tick < top])
    for (row, column), panel in cells.items():
        _draw_panel(axes[row, column], panel)
        axes[row, column].set_title(_title(panel, labels, names))
        axes[row, column].tick_params(axis="x", length=0, labelbottom=(row + 1, column) not in cells)
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of scores (%)")
    figure.supxlabel("Score")
    return figure


def _draw_panel(axis: Axes, panel: Any) -> None:
    """The bars of one dataset, source and criterion, with their values in numbers."""
    shares = [100 * getattr(panel, f"share_{score}") for score in HUMAN_SCORES]
    bars = axis.bar(
        HUMAN_SCORES, shares, width=0.78, color=COLOURS[panel.source], edgecolor="0.15", linewidth=style.scaled(0.5)
    )
    texts = ["<1" if 0 < share < 0.5 else f"{share:.0f}" for share in shares]
    axis.bar_label(bars, texts, padding=style.scaled(1), fontsize="x-small")
    note = f"mean {panel.score_mean:.2f}, n = {panel.n_scores}"
    if panel.share_other > 0:
        note += f"\n{100 * panel.share_other:.1f}% other scores, not drawn"
    axis.text(0.03, 0.98, note, transform=axis.transAxes, va="top", fontsize="small")
    axis.grid(False)  # heights are written above the bars, and lines would cross the text
    axis.set_xticks(HUMAN_SCORES)


def _title(panel: Any, labels: Labels, names: dict[str, str]) -> str:
    details = []
    if panel.criterion != EVERY:
        details.append(names.get(panel.criterion, panel.criterion.replace("_", " ").capitalize()))
    if panel.source in NOT_HUMAN:
        details.append(NOT_HUMAN[panel.source])
    return "\n".join([labels.dataset(panel.dataset), *([", ".join(map(str, details))] if details else [])])
