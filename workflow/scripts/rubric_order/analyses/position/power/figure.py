"""Smallest bias that a study can find."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from rubric_order.base.labels import Labels
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

DASHES = ((0, ()), (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


def draw(power: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Smallest detectable V by the number of items: assumed studies on the left, judges of one study on the right."""
    assumed = power[power["source"] == "assumed"]
    n = int(assumed["n"].iloc[0])
    studies = view.rows(power, "study", "profile", "strategy", "cluster", source="measured", n=n)
    count = 1 if studies.empty else 2
    figure, axes, used_axes = style.panels(count, layout)
    _draw_assumed(used_axes[0], assumed)
    if count == 2:
        _draw_studies(used_axes[1], studies, assumed, labels)
    for axis in used_axes:
        axis.set_xscale("log")
        axis.set_yscale("log")
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(LogLocator(subs=(1, 2, 5)))
            side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            side.set_minor_locator(LogLocator(subs=()))
        axis.set_xlabel("Items")
        axis.tick_params(axis="x", labelbottom=True)
    chance, level = assumed["power"].iloc[0], assumed["level"].iloc[0]
    for axis in axes[:, 0]:
        axis.set_ylabel(f"Cramér's V found with {chance:.0%} power\n(test at {level:.0%}, {n} positions)")
    return figure


def _draw_assumed(axis: Axes, assumed: pd.DataFrame) -> None:
    """Draw a line for each number K of reads and each correlation. Identical reads have one line for all K."""
    correlations = np.unique(assumed["correlation"])
    for place, (budget, block) in enumerate(assumed.astype({"budget": int}).groupby("budget")):
        for dash, correlation in zip(DASHES, correlations, strict=False):
            line = block[block["correlation"] == correlation]
            one_read = budget == 1 or correlation == 1
            if one_read and 1 in set(assumed["budget"]) and (budget, correlation) != (1, correlations[0]):
                continue  # the line would be the same as that of one read
            label = f"K = {budget}" if correlation == correlations[0] else None
            axis.plot(line["n_items"], line["detectable_v"], color=style.colour(place), linestyle=dash, label=label)
    handles, labels = axis.get_legend_handles_labels()
    for dash, correlation in zip(DASHES, correlations, strict=False):
        if correlation and not (correlation == 1 and 1 in set(assumed["budget"])):
            handles += axis.plot([], [], color="0.3", linestyle=dash)
            labels.append(f"ρ = {correlation:g}")
    if 1 in correlations:
        labels = [f"{label}, or identical reads" if label == "K = 1" else label for label in labels]
    axis.legend(handles, labels, loc="best")
    axis.set_title("Assumed: K reads per item, with correlation ρ")


def _draw_studies(axis: Axes, studies: pd.DataFrame, assumed: pd.DataFrame, labels: Labels) -> None:
    """Draw, for each judge and dataset, the smallest V that could be found (filled) and the observed V (hollow)."""
    independent = assumed[assumed["correlation"] == 0]
    for _, line in independent.groupby("budget"):
        axis.plot(line["n_items"], line["detectable_v"], color="0.75", linewidth=style.scaled(0.9), zorder=1)
    # A judge that keeps to its score under balanced orderings has a V of 0, which a logarithmic axis cannot show.
    studies = studies[(studies["detectable_v"] > 0) & (studies["cramers_v"] > 0)]
    colours = {judge: style.colour(labels.place_of_judge(judge)) for judge in studies["judge"].unique()}
    markers = {dataset: style.marker(labels.place_of_dataset(dataset)) for dataset in studies["dataset"].unique()}
    for row in studies.itertuples():
        look: dict[str, Any] = {"color": colours[row.judge], "marker": markers[row.dataset]}
        axis.plot(
            [row.n_items] * 2, [row.detectable_v, row.cramers_v], color=look["color"], linewidth=style.scaled(0.6)
        )
        axis.plot(row.n_items, row.detectable_v, **look)
        axis.plot(row.n_items, row.cramers_v, **look, fillstyle="none")
    handles, texts = [], []
    for judge, colour in colours.items():
        handles += axis.plot([], [], color=colour)
        texts.append(labels.judge(judge))
    for dataset, marker in markers.items():
        handles += axis.plot([], [], color="0.3", marker=marker, linestyle="none")
        texts.append(labels.dataset(dataset))
    axis.legend(handles, texts, loc="best", frameon=True, edgecolor="none", framealpha=0.9)
    axis.set_title("This study: detectable (filled), observed (hollow)")
