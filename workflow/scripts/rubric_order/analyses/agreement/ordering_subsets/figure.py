"""Error of scores by the number of orderings that are read."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

CAPTION = (
    "Error of the mean of one read in each of k orderings, in points (root mean square), against the mean that all "
    "orderings of {strategy} would have if each were read infinitely often. Random orderings are any k. Any pairs "
    "are orderings with their reverses. Best orderings and best pairs are those with the least error in other groups "
    "than those in which the error is measured. Usual order is the ordering 1 to n, alone or with its reverse. "
    "Balanced half has each score once in each position. Bars are {bootstrap[confidence]:.0%} intervals over groups. "
    "The dashed line is the target. Where chance is not known (see the panel's title), all differences between an "
    "item's reads count as chance, except what the orderings do to all items. The error is then the most that it can "
    "be. Most of the gain from more reads comes from averaging over chance, which repeats of one ordering give as "
    "well."
)
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
    """Error by number of reads: one panel per judge and dataset, one line per way to choose orderings.

    Args:
        ordering_subsets: estimates of this result, see `estimate`.
    """
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
