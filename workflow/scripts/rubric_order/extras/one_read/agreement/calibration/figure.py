"""Error of scores by the number of calls that they need, with and without calibration."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

LINES: dict[str, tuple[dict[str, Any], Any]] = {
    "random orders": ({"design": ["random", "balanced"], "calibration": "none"}, "-"),
    "random order, calibrated": ({"design": "random", "calibration": ["groups", "folds"], "reads": 1}, "--"),
    "usual order": ({"design": "usual", "calibration": "none"}, "none"),
    "usual order, calibrated": ({"design": "usual", "calibration": ["groups", "folds"]}, "--"),
    "opposite orders": ({"design": "opposite", "calibration": "none"}, "none"),
}


def draw(calibration: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Error by calls: one panel per judge and dataset, one line per method."""
    rows = view.rows(calibration, "study", "profile", "strategy", "n", "readout")
    chosen = rows_with(rows, quantity=["rmse", "error"])
    if chosen.empty:
        reason = f"No items of which all are read in orderings that can be halved (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, panels = style.panels_of_judges(chosen, layout, labels)
    for axis, block in panels:
        _draw_panel(axis, block)
    first = axes[0, 0]
    first.set_ylim(bottom=0)
    first.set_xscale("log")
    first.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    first.xaxis.set_major_formatter(FuncFormatter(lambda calls, _: f"{calls:g}"))
    first.xaxis.set_minor_formatter(NullFormatter())
    figure.supxlabel("Calls an item, those of the calibration included")
    figure.supylabel("Error in points (root mean square)")
    style.legend_above(figure, 3)
    return figure


def _draw_panel(axis: Axes, block: pd.DataFrame) -> None:
    for place, (name, (where, line)) in enumerate(LINES.items()):
        rows = rows_with(block, quantity="rmse", **where).sort_values("calls")
        if rows.empty:
            continue
        look = style.look(place) | {"markersize": style.scaled(3), "linewidth": style.scaled(1.2), "linestyle": line}
        x, y = (rows[column].to_numpy(dtype=float) for column in ("calls", "estimate"))
        axis.errorbar(x, y, yerr=style.half_intervals(rows), label=name, **look)
    last = rows_with(block, design="balanced", calibration="none")
    errors = last.set_index("quantity")["estimate"]
    target = max(errors["rmse"] ** 2 - errors["error"] ** 2, 0) ** 0.5
    axis.axhline(target, color="0.45", linestyle=":", linewidth=style.scaled(0.9), label="error of the half")
