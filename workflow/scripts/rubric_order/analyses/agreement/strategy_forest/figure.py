"""Agreement of each strategy with people: a correlation with its interval, one row per judge."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View
from rubric_order.strategies import COMPARED

QUANTITIES = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ-b", "kappa": "Weighted κ"}
READOUTS = {Readout.HARD: "", Readout.SOFT: ", option probabilities"}


def draw(human_agreement: pd.DataFrame, *, view: View, layout: Layout, labels: Labels, quantity: str) -> Figure:
    """Agreement of each strategy's mean scores with human scores: one panel per dataset and readout, one row per judge.

    Source: after Xu et al. (2026), Figure 8.
    """
    reads = view.rows(human_agreement, "study", "profile", "n", readout=view.readouts)
    whole = rows_with(reads, quantity=quantity, criterion=EVERY).dropna(subset="estimate")
    both = view.cluster == "both"
    chosen = rows_with(whole, cluster="group" if both else view.cluster)
    items = rows_with(whole, cluster="item") if both else whole.iloc[:0]
    if chosen.empty:
        reason = f"No {labels.gold_scores} to agree with in study {view.study}, profile {view.profile}, n = {view.n}"
        return style.nothing(reason, layout)
    judges = list(chosen["judge"].unique())
    strategies = [*COMPARED, *sorted(set(chosen["strategy"]) - set(COMPARED))]
    present = [name for name in strategies if (chosen["strategy"] == name).any()]
    present_in = set(zip(chosen["dataset"], chosen["readout"], strict=True))
    panels = [(d, r) for r in view.readouts for d in chosen["dataset"].unique() if (d, r) in present_in]
    height = layout.height_in * len(judges) + style.scaled(0.35)
    figure, axes, used_axes = style.panels(len(panels), layout, height_in=height)
    figure.set_figheight(figure.get_figheight() + style.scaled(0.55))
    for axis, (dataset, readout) in zip(used_axes, panels, strict=True):
        block, block_items = (rows_with(part, dataset=dataset, readout=readout) for part in (chosen, items))
        _draw_panel(axis, block, block_items, present, judges)
        axis.set_title(f"{labels.dataset(dataset)}{READOUTS[readout]} ({style.count_range(block['n_items'])} items)")
    axes[0, 0].set_ylim(len(judges) - 0.5, -0.5)  # the first judge stands at the top
    axes[0, 0].set_yticks(range(len(judges)), [labels.judge(judge) for judge in judges])
    low, high = axes[0, 0].get_xlim()
    if low < 0 < high:
        for axis in used_axes:
            axis.axvline(0, zorder=0, **style.no_effect())
    figure.supxlabel(f"{QUANTITIES[quantity]} with {labels.gold_scores}")
    style.legend_above(figure)
    return figure


def _draw_panel(axis: Axes, block: pd.DataFrame, items: pd.DataFrame, strategies: list[str], judges: list[str]) -> None:
    """Draw one dataset and readout. For each judge, the strategies are beneath each other."""
    step = 0.62 / max(len(strategies), 1)
    for place, strategy in enumerate(strategies):
        line = block[block["strategy"] == strategy]
        aside = step * (place - (len(strategies) - 1) / 2)
        y = np.array([judges.index(judge) for judge in line["judge"]]) + aside
        x = line["estimate"].to_numpy()
        spread = np.nan_to_num(np.abs(line[["ci_low", "ci_high"]].to_numpy().T - x))
        look = style.STRATEGIES[strategy] | {"linestyle": "none", "elinewidth": style.scaled(1)}
        axis.errorbar(x, y, xerr=spread, label=strategy, **look)
        inner = items[(items["strategy"] == strategy) & items[["ci_low", "ci_high"]].notna().all(axis=1)]
        if inner.empty:
            continue
        thick = {"color": look["color"], "linewidth": style.scaled(3), "alpha": 0.45, "zorder": 1.5}
        at = [judges.index(judge) + aside for judge in inner["judge"]]
        axis.hlines(at, inner["ci_low"], inner["ci_high"], **thick)
    style.rows_apart(axis, len(judges))
    style.grid_across(axis)
