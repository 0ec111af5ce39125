"""Error of scores by the number of orderings that are read."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

LINES = {
    "random": ("random orderings", "-"),
    "best": ("best orderings", "-"),
    "pairs": ("any pairs", ":"),
    "best_pairs": ("best pairs", ":"),
    "usual": ("usual order", "none"),
    "balanced": ("balanced half", "none"),
}
ASIDE = 0.07  # horizontal shift, so that intervals do not hide each other


def draw(ordering_subsets: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Error by number of reads: one panel per judge and dataset, one line per way to choose orderings."""
    rows = view.rows(ordering_subsets, "study", "profile", "strategy", "n", "readout")
    chosen = rows_with(rows, quantity="rmse")
    if chosen.empty:
        reason = f"No items that are all read in the same balanced orderings (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, panels = style.panels_of_judges(chosen, layout, labels, beside=_beside)
    for axis, block in panels:
        _draw_panel(axis, block)
    first = axes[0, 0]
    first.set_ylim(bottom=0)
    last = int(chosen["k"].max())
    first.set_xticks(range(1, last + 1, 1 if last <= 10 else 2))
    figure.supxlabel("Orderings read, k")
    figure.supylabel("Error in points (root mean square)")
    style.legend_above(figure, 3)
    return figure


def _beside(block: pd.DataFrame) -> str:
    chance = "" if block["known_from"].iloc[0] else ", chance not known"
    return f" ({block['n_items'].max()} items{chance})"


def _draw_panel(axis: Axes, block: pd.DataFrame) -> None:
    for place, (design, (name, line)) in enumerate(LINES.items()):
        rows = rows_with(block, design=design).sort_values("k")
        if rows.empty:
            continue
        look = style.look(place) | {"markersize": style.scaled(3), "linewidth": style.scaled(1.2), "linestyle": line}
        x = rows["k"].to_numpy(dtype=float) + ASIDE * (place - (len(LINES) - 1) / 2)
        axis.errorbar(x, rows["estimate"].to_numpy(dtype=float), yerr=style.half_intervals(rows), label=name, **look)
    target = float(block["target"].iloc[0])
    axis.axhline(target, label=f"target ({target:g} points)", zorder=1, **style.no_effect())
