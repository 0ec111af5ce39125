"""Agreement with human scores by the number of reads that are averaged."""

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

MEASURES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ"}


def draw(
    budget_curve: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, strategies: list[str], measure: str
) -> Figure:
    """Mean correlation by number of reads: one panel per judge and dataset, one curve per strategy.

    Source: after Xu et al. (2026), Figure 9.
    """
    curves = view.rows(budget_curve, "study", "profile", "n", "readout", "cluster", strategy=strategies)
    chosen = rows_with(curves, statistic=measure, quantity="r")
    if chosen.empty:
        return style.nothing(_why_nothing(budget_curve, view, labels, strategies), layout)
    columns = min(layout.columns, chosen["judge"].nunique())
    cells = _cells(chosen, columns)
    rows = 1 + max(row for row, _ in cells)
    # A single row needs room beside its panels for the name of the vertical axis.
    size = (layout.width_in, max(layout.height_in * rows, style.scaled(2.4)))
    figure, axes = plt.subplots(rows, columns, figsize=size, sharex=True, squeeze=False, layout="constrained")
    for cell, axis in np.ndenumerate(axes):
        axis.set_visible(cell in cells)
    last = int(chosen["k"].max())
    for cell, (judge, dataset) in cells.items():
        block = rows_with(chosen, judge=judge, dataset=dataset)
        _draw_panel(axes[cell], block, [name for name in strategies if name in set(block["strategy"])])
        items = style.count_range(block["n_items"])
        axes[cell].set_title(f"{labels.judge(judge)}\n{labels.dataset(dataset)} ({items} items)")
        axes[cell].set_xlim(0.5, last + 0.5 + 0.06 * last * len(strategies))
        axes[cell].set_xticks(_ticks(last))
        axes[cell].tick_params(labelbottom=(cell[0] + 1, cell[1]) not in cells)
    _name_bars(axes[next(iter(cells))], view.cluster)
    for dataset in chosen["dataset"].unique():
        _share_scale([axes[cell] for cell, (_, other) in cells.items() if other == dataset])
    figure.supylabel(f"{MEASURES[measure]} with {labels.gold_scores}")
    figure.supxlabel("Number of reads averaged, k")
    style.legend_above(figure)
    return figure


def _why_nothing(budget_curve: pd.DataFrame, view: View, labels: Labels, strategies: list[str]) -> str:
    others = sorted(set(view.rows(budget_curve, "study", "profile", "n", "readout", "cluster")["strategy"]))
    if others:
        return (
            f"Curves of study {view.study} are of strategy {', '.join(others)}; the figure shows"
            f" {', '.join(strategies)} (its key strategies)"
        )
    return f"No two items of study {view.study} have {labels.gold_scores} and a score from each of several reads"


def _cells(curves: pd.DataFrame, columns: int) -> dict[tuple[int, int], tuple[str, str]]:
    """Judge and dataset of the panel at each row and column. Each dataset starts a new row."""
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    rows = 0
    for dataset in curves["dataset"].unique():
        of_dataset = set(curves.loc[curves["dataset"] == dataset, "judge"])
        has = [judge for judge in curves["judge"].unique() if judge in of_dataset]
        cells |= {(rows + place // columns, place % columns): (judge, dataset) for place, judge in enumerate(has)}
        rows += -(-len(has) // columns)
    return cells


def _ticks(last: int) -> list[int]:
    step = 1 if last < 8 else 2 if last <= 12 else 4
    return [k for k in range(1, last + 1) if k == 1 or k % step == 0]


def _share_scale(axes: list[Axes]) -> None:
    low, high = (end([axis.get_ylim()[side] for axis in axes]) for side, end in ((0, min), (1, max)))
    for axis in axes:
        axis.set_ylim(low, high)
        place = axis.get_subplotspec()
        axis.tick_params(labelleft=place is not None and place.is_first_col())


def _name_bars(axis: Axes, cluster: str) -> None:
    grey, nowhere = "0.4", [np.nan]
    axis.fill_between(nowhere, nowhere, nowhere, color=grey, alpha=0.3, linewidth=0, label="middle 95% of the subsets")
    look: dict[str, Any] = {"color": grey, "marker": "o", "markersize": style.scaled(3), "elinewidth": style.scaled(1)}
    name = f"interval of the last mean, over {cluster}s"
    axis.errorbar(nowhere, nowhere, yerr=[nowhere, nowhere], linestyle="none", label=name, **look)


def _draw_panel(axis: Axes, block: pd.DataFrame, strategies: list[str]) -> None:
    last = block["k"].max()
    for place, strategy in enumerate(strategies):
        curve, look = block[block["strategy"] == strategy].sort_values("k"), style.STRATEGIES[strategy]
        k = curve["k"].to_numpy()
        axis.fill_between(k, curve["range_low"], curve["range_high"], color=look["color"], alpha=0.16, linewidth=0)
        axis.plot(k, curve["estimate"], label=strategy, markersize=style.scaled(3), **look)
        end = curve.iloc[-1]
        spread = np.abs(end[["ci_low", "ci_high"]].to_numpy(dtype=float) - end["estimate"])
        axis.errorbar(
            *(last + 0.06 * last * (place + 1), end["estimate"]),
            yerr=spread[:, None],
            color=look["color"],
            marker=look["marker"],
            markersize=style.scaled(3),
            elinewidth=style.scaled(1),
        )
