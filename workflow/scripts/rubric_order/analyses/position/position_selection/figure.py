"""Positions that each judge selects."""

from typing import Any

import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row, rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

READOUTS = {Readout.HARD: "Selected option", Readout.SOFT: "Option probabilities"}
LINE = 1.25  # height of a line of text, as a multiple of the size of its letters
# Text about a dataset in a panel. If a panel has no room for the number of clusters, the legend has this number.
FORMS = ("{name}V {v} [{ends}], {counted}", "{name}V {v} [{ends}]")
YLABEL = {Readout.HARD: "Share of selections (%)", Readout.SOFT: "Mean probability (%)"}


def draw(position_selection: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Share of each position with intervals: one panel per judge and readout, one line per dataset, and uniform shares.

    Source: after Xu et al. (2026), Figure 4.
    """
    of_reads = view.rows(position_selection, "study", "profile", "strategy", "n", "cluster")
    chosen, sizes = (rows_with(of_reads, quantity=name) for name in ("share", "cramers_v"))
    present = set(zip(chosen["judge"], chosen["readout"], strict=True))
    panels = [(j, r) for j in chosen["judge"].unique() for r in view.readouts if (j, r) in present]
    if not panels:
        reason = f"No reads of study {view.study} in which every score meets every position (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    datasets = list(chosen["dataset"].unique())
    figure, axes, used_axes = style.panels(len(panels), layout)
    several = len(datasets) > 1
    beside = style.scaled(0.5 / axes.shape[1] + 0.15)  # width of the axis and the gaps
    panel_in = layout.width_in / axes.shape[1] - beside
    form, letters = _fitted(sizes, labels, several=several, panel_in=panel_in)
    counted = {} if form is FORMS[0] else _counted(sizes)
    for axis, (judge, readout) in zip(used_axes, panels, strict=True):
        style.uniform_line(axis, view.n)
        for place, dataset in enumerate(datasets):
            line = rows_with(chosen, judge=judge, readout=readout, dataset=dataset)
            if line.empty:
                continue
            look = style.look(labels.place_of_dataset(dataset))
            look["label"] = labels.dataset(dataset) + counted.get(dataset, "")
            style.share_line(axis, line, aside=0.07 * (place - (len(datasets) - 1) / 2), zorder=2 + place, **look)
        panel_sizes = rows_with(sizes, judge=judge, readout=readout)
        _write_sizes(axis, panel_sizes, labels, several=several, form=form, letters=letters)
        title = labels.judge(judge)
        axis.set_title(f"{title}\n{READOUTS[readout]}" if len(view.readouts) > 1 else title)
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of each position (%)" if len(view.readouts) > 1 else YLABEL[view.readouts[0]])
    figure.supxlabel("Position of the score option in the prompt")
    style.shares_from_0(axes[0, 0], view.n)
    rows = max(len(axis.texts[0].get_text().splitlines()) for axis in used_axes)
    _make_room(axes[0, 0], rows / max(layout.height_in - style.scaled(0.8), style.scaled(0.3)))
    style.legend_above(figure, 5)
    return figure


def _write_sizes(axis: Axes, sizes: pd.DataFrame, labels: Labels, *, several: bool, form: str, letters: float) -> None:
    lines = [_size(row, labels, several=several, form=form) for row in sizes.to_dict("records")]
    look: dict[str, Any] = {"va": "top", "fontsize": letters, "color": "0.25", "linespacing": LINE}
    axis.text(0.02, 0.99, "\n".join(lines), transform=axis.transAxes, **look)


def _size(row: Row, labels: Labels, *, several: bool, form: str) -> str:
    ends = "no interval" if pd.isna(row["ci_low"]) else f"{row['ci_low']:.2f}, {row['ci_high']:.2f}"
    one = "" if row["n_clusters"] == 1 else "s"
    counted = f"{row['n_clusters']:,} {row['cluster']}{one}"
    name = labels.dataset(row["dataset"])
    return form.format(name=f"{name}: " if several else "", v=f"{row['estimate']:.2f}", ends=ends, counted=counted)


def _fitted(sizes: pd.DataFrame, labels: Labels, *, several: bool, panel_in: float) -> tuple[str, float]:
    usual = font_manager.FontProperties(size="small").get_size_in_points()
    for form in FORMS:
        lines = (_size(row, labels, several=several, form=form) for row in sizes.to_dict("records"))
        longest = max((style.text_width(line, usual) for line in lines), default=0.0)
        if longest < panel_in:
            return form, usual
    return FORMS[-1], usual * panel_in / longest


def _counted(sizes: pd.DataFrame) -> dict[str, str]:
    return {
        dataset: f" ({style.count_range(rows['n_clusters'])} {rows['cluster'].iloc[0]}s)"
        for dataset, rows in sizes.groupby("dataset")
    }


def _make_room(axis: Axes, rows: float) -> None:
    letters = font_manager.FontProperties(size="small").get_size_in_points() / 72
    share = min(rows * LINE * letters + 0.03, 0.6)
    axis.set_ylim(0, axis.get_ylim()[1] / (1 - share))
