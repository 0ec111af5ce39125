"""Precision that a pilot predicts, by the calls of a further study."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

NAMES = {
    "r": "Half-width of the\ninterval of r",
    "mean": "Half-width of the interval\nof the mean score, points",
    "preference": "Half-width of the interval\nof a position's worth, log-odds",
    "ranked": "Share of pairs ranked right",
    "equivalent": "Share of studies that are equivalent",
    "bias": "Smallest worth of a position\nthat is found, log-odds",
    "shift": "Smallest shift that is found, points",
}
SHARES = ("ranked", "equivalent")
OF_CARDS = ("equivalent", "bias", "shift")


def draw(advice: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Precision by calls: one panel per judge and dataset, one curve per strategy and number of reads per item."""
    goal = advice["goal"].iloc[0] if len(advice) else "r"
    rows = view.rows(advice, "study", "profile", "strategy", "n")
    if goal not in OF_CARDS:  # goals of cards have one readout only
        rows = view.rows(rows, "readout")
    chosen = rows_with(rows, kind="curve")
    if chosen.empty:
        reasons = rows_with(rows, kind="refused")["flag"].tolist()
        return style.nothing(reasons[0] if reasons else f"No pilot (strategy: {view.strategy})", layout)
    ways = list(dict.fromkeys(_name(row) for row in chosen.sort_values("calls").to_dict("records")))
    figure, axes, panels = style.panels_of_judges(chosen, layout, labels, beside=lambda block: "")
    for axis, block in panels:
        _draw_panel(axis, block, ways)
    first = axes[0, 0]
    first.set_xscale("log")
    first.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    first.xaxis.set_major_formatter(FuncFormatter(lambda calls, _: f"{calls:,.0f}"))
    first.xaxis.set_minor_formatter(NullFormatter())
    if goal in SHARES:
        first.set_ylim(0.5 if goal == "ranked" else 0, 1.02)
    else:
        first.set_ylim(bottom=0)
    figure.supxlabel("Calls of the study")
    figure.supylabel(NAMES[goal])
    style.legend_above(figure, 3)
    return figure


def _name(row: dict[str, object]) -> str:
    reads = row["reads_budget"]
    name = str(row["design"]).replace("_", " ")
    return name if pd.isna(reads) else f"{name}, {reads:.0f} reads"


def _draw_panel(axis: Axes, block: pd.DataFrame, names: list[str]) -> None:
    curves = block.assign(name=[_name(row) for row in block.to_dict("records")])
    for place, name in enumerate(names):
        line = rows_with(curves, name=name).sort_values("calls")
        x, y = line["calls"].to_numpy(dtype=float), line["estimate"].to_numpy(dtype=float)
        look = style.look(place) | {"markersize": style.scaled(2.5), "linewidth": style.scaled(1.1)}
        axis.errorbar(x, y, label=name, **look)
        low, high = (line[end].to_numpy(dtype=float) for end in ("ci_low", "ci_high"))
        axis.fill_between(x, low, high, color=style.colour(place), alpha=0.12, linewidth=0)
    target, budget, price = block["target"].iloc[0], block["budget"].iloc[0], (block["cost"] / block["calls"]).iloc[0]
    grey: dict[str, Any] = {"color": "0.45", "linestyle": ":", "linewidth": style.scaled(0.9)}
    if not pd.isna(target):
        axis.axhline(target, **grey)
    if not pd.isna(budget):
        axis.axvline(budget if pd.isna(price) else budget / price, **grey)
