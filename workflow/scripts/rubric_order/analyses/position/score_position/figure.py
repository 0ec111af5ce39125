"""Positions where each score is selected."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View


def draw(score_position: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Share of each position among the selections of each score: one heat map per judge, centred on equal shares (1/n).

    Source: the earlier version of Xu et al., Table 5, as a picture.
    """
    reads = view.rows(score_position, "study", "profile", "strategy", "n", "dataset", "readout", "cluster")
    chosen = rows_with(reads, quantity="share")
    judges = list(chosen["judge"].unique())
    if not judges:
        reason = f"No reads of study {view.study} in which every score meets every position (strategy: {view.strategy})"
        return style.nothing(reason, layout)
    figure, axes, used_axes = style.panels(len(judges), layout)
    furthest = max(100 * (chosen["estimate"] - 1 / view.n).abs().max(), 1)
    for axis, judge in zip(used_axes, judges, strict=True):
        image = _draw_panel(axis, chosen[chosen["judge"] == judge], view.n, furthest)
        axis.set_title(labels.judge(judge))
        axis.tick_params(length=0)
    for axis in axes[:, 0]:
        axis.set_ylabel("Score")
    figure.supxlabel("Position of the score in the prompt")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_label(f"Share less {100 / view.n:.3g}% (points)")
    bar.outline.set_visible(False)
    return figure


def _draw_panel(axis: Axes, shares: pd.DataFrame, n: int, furthest: float) -> AxesImage:
    """The shares of one judge."""
    share, low, high = (
        100 * shares.pivot(index="score", columns="position", values=column).to_numpy()
        for column in ("estimate", "ci_low", "ci_high")
    )
    image = style.signed_map(axis, share - 100 / n, furthest, origin="lower", aspect="auto")
    for (row, column), value in np.ndenumerate(share):
        off = low[row, column] > 100 / n or high[row, column] < 100 / n
        axis.text(
            *(column, row, "–" if np.isnan(value) else f"{value:.0f}" if n > 5 else f"{value:.1f}"),
            ha="center",
            va="center",
            fontsize="small" if n > 5 else "medium",
            fontweight="bold" if off else "normal",
            color=style.ink(image, value - 100 / n),
        )
    axis.grid(False)
    style.positions(axis, n, first=0)
    axis.set_yticks(range(n), [str(score) for score in sorted(shares["score"].unique())])
    axis.spines[:].set_visible(False)
    return image
