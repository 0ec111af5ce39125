"""Reliability of means of reads, by the numbers of orderings and repeats that are averaged."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View


def draw(generalisability: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Predicted reliability by number of reads: one panel per judge and dataset."""
    reads = view.rows(generalisability, "study", "profile", "strategy", "n", "readout", "cluster")
    chosen = reads.dropna(subset="orderings")
    if chosen.empty:
        reason = f"No items of which all are read in the same orderings (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, panels = style.panels_of_judges(chosen, layout, labels, legend=False)
    figure.set_figheight(
        max(layout.height_in * len(axes) + style.scaled(0.6), style.scaled(2.4))
    )  # with the legend and the name of the axis
    last = int(chosen["orderings"].max())
    for axis, block in panels:
        _draw_panel(axis, block)
    axes[0, 0].set_ylim(0, 1.02)
    axes[0, 0].set_xlim(0.5, last + 0.5)
    step = 1 if last < 8 else 2 if last <= 12 else max(4, last // 6)
    axes[0, 0].set_xticks([1, *range(step if step > 1 else 2, last + 1, step)])
    figure.supxlabel("Number of reads averaged, k")
    figure.supylabel("Reliability of the mean")
    style.legend_above(figure, 2)
    return figure


def _draw_panel(axis: Axes, block: pd.DataFrame) -> None:
    by = block.set_index("quantity")
    general = rows_with(block, quantity="generalisability")
    once = rows_with(general, repeats=1).sort_values("orderings")
    repeated = general[(general["orderings"] == 1) & (general["repeats"] > 1)]
    repeated = pd.concat([once.head(1), repeated]).sort_values("repeats") if len(repeated) else repeated
    lines = [(once, "orderings", "k orderings, once each", 0), (repeated, "repeats", "one ordering, k times", 1)]
    for line, number, name, place in lines:
        x, y = line[number].to_numpy(dtype=float), line["estimate"].to_numpy(dtype=float)
        in_range = x <= block["orderings"].max()
        if in_range.any():
            look = style.look(place) | {"markersize": style.scaled(3), "linewidth": style.scaled(1.2)}
            axis.errorbar(x[in_range], y[in_range], yerr=style.half_intervals(line)[:, in_range], label=name, **look)
    depend = rows_with(block, quantity="dependability", repeats=1).sort_values("orderings")
    axis.plot(depend["orderings"], depend["estimate"], linestyle=":", color=style.colour(0), label="dependability")
    if "observed" in by.index:
        seen = block[block["quantity"] == "observed"]
        axis.plot(
            seen["orderings"],
            seen["estimate"],
            "x",
            color="black",
            markersize=style.scaled(5),
            label="observed, disjoint sets",
        )
