"""Change that somebody who chooses the order can reach, beside the change by chance alone."""

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

QUANTITIES = {"points": "Points", "places": "Rank places", "best_changed": "Share of prompts,\nbest changed"}
ALONE = "no prompt has\nseveral candidates"  # no other reason leaves a quantity without an estimate
CHOICES = {"own": "one item", "shared": "all items"}
LOOKS: dict[str, dict[str, Any]] = {
    "seen": {"marker": "o"},
    "chance": {"marker": "x"},
    "reached": {"marker": "D", "markerfacecolor": "white"},
}
NAMES = {"seen": "seen", "chance": "by chance", "reached": "reached"}


def draw(manipulability: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Values seen, by chance and reached: one panel per dataset and quantity, one row per judge."""
    chosen = view.rows(manipulability, "study", "profile", "strategy", "n", "readout")
    if chosen.empty:
        reason = f"No items that are all read in the same balanced orderings (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    judges, datasets = list(chosen["judge"].unique()), list(chosen["dataset"].unique())
    height = (layout.height_in * len(judges) + style.scaled(0.55)) * len(datasets) + style.scaled(0.7)
    figure, axes = plt.subplots(
        *(len(datasets), len(QUANTITIES)),
        figsize=(layout.width_in, height),
        sharex="col",
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for row, dataset in zip(axes, datasets, strict=True):
        for axis, quantity in zip(row, QUANTITIES, strict=True):
            block = rows_with(chosen, dataset=dataset, quantity=quantity)
            _draw_panel(axis, block, judges)
        items = rows_with(chosen, dataset=dataset, quantity="points")["n_items"].max()
        row[0].set_title(f"{labels.dataset(dataset)} ({items} items)", loc="left")
    for axis, (quantity, name) in zip(axes[-1], QUANTITIES.items(), strict=True):
        axis.set_xlabel(name)
        if rows_with(chosen, quantity=quantity).empty:
            axis.set_xticks([])  # the whole column is empty, so it has no scale
    axes[0, 0].set_ylim(len(judges) - 0.5, -0.5)  # the first judge stands at the top
    axes[0, 0].set_yticks(range(len(judges)), [labels.judge(judge) for judge in judges])
    style.legend_above(figure, 3)
    return figure


def _draw_panel(axis: Axes, block: pd.DataFrame, judges: list[str]) -> None:
    """Draw one dataset and quantity. For each judge, the two choices are beneath each other."""
    if block.empty:
        axis.text(0.5, 0.5, ALONE, ha="center", va="center", transform=axis.transAxes)
    for place, (choice, name) in enumerate(CHOICES.items()):
        for part, look in LOOKS.items():
            line = rows_with(block, choice=choice, part=part)
            aside = 0.42 * (place - 0.5) + {"seen": -0.07, "chance": 0.0, "reached": 0.07}[part]
            y = np.array([judges.index(judge) for judge in line["judge"]], dtype=float) + aside
            colour: dict[str, Any] = {
                "color": style.colour(place),
                "markersize": style.scaled(4),
                "elinewidth": style.scaled(0.9),
            }
            x = line["estimate"].to_numpy(dtype=float)
            label = f"order for {name}: {NAMES[part]}"
            axis.errorbar(x, y, xerr=style.half_intervals(line), label=label, linestyle="none", **colour, **look)
    axis.axvline(0, zorder=0, **style.no_effect())
    style.rows_apart(axis, len(judges))
    style.grid_across(axis)
