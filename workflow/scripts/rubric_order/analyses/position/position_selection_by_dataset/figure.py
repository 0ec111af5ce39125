"""Positions that the judges select in each dataset."""

import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View


def draw(position_selection: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Share of each position with intervals: one panel per dataset, one line per judge, and uniform shares.

    Source: after Figure 5 of the earlier version of Xu et al.
    """
    chosen = view.rows(position_selection, "study", "profile", "strategy", "n", "readout", "cluster", quantity="share")
    datasets, judges = (list(chosen[key].unique()) for key in ("dataset", "judge"))
    if not datasets:
        reason = f"No reads of study {view.study} in which every score meets every position (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, used_axes = style.panels(len(datasets), layout)
    for axis, dataset in zip(used_axes, datasets, strict=True):
        style.uniform_line(axis, view.n)
        for place, judge in enumerate(judges):
            line = rows_with(chosen, dataset=dataset, judge=judge)
            if line.empty:
                continue
            look = style.look(labels.place_of_judge(judge)) | {
                "linewidth": style.scaled(0.9),
                "capsize": style.scaled(1.5),
            }
            aside = 0.5 * ((place + 0.5) / len(judges) - 0.5)
            style.share_line(axis, line, aside=aside, label=labels.judge(judge), zorder=2 + place, **look)
        axis.set_title(labels.dataset(dataset))
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of each position (%)")
    figure.supxlabel("Position of the score option in the prompt")
    style.shares_from_0(axes[0, 0], view.n)
    style.legend_above(figure, 4)
    return figure
