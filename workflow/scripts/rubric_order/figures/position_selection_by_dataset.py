"""Which positions the judges select in each dataset."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.figures import style

CAPTION = (
    "Share of each position of the prompt among the selections of each judge, under strategy {strategy} with {n} score "
    "levels. One panel a dataset, one line a judge. Bars are {bootstrap[confidence]:.0%} bootstrap intervals over "
    "{cluster}s; the dotted line is a judge without position bias. After Figure 5 of the earlier version of Xu et al."
)


def draw(
    position_selection: pd.DataFrame,
    *,
    study: str,
    strategy: str,
    n: int,
    readout: str,
    width_in: float,
    panel_height_in: float,
    columns: int,
    labels: Labels,
    profile: str = "default",
    cluster: str = "group",
) -> Figure:
    """Share of each position: one panel a dataset, one line a judge, with intervals and the uniform line.

    Args:
        position_selection: see `position_selection.estimate`.
        study, strategy, n, readout, profile, cluster: which rows to draw.
        width_in, panel_height_in: width of the figure and height of a panel in inches.
        columns: panels a row, at most.
        labels: of judges and datasets.

    Source: after Figure 5 of the earlier version of Xu et al.
    """
    chosen = position_selection.query(
        "study == @study and profile == @profile and strategy == @strategy and n == @n and readout == @readout"
        " and cluster == @cluster and quantity == 'share'"
    )
    datasets, judges = (list(chosen[key].unique()) for key in ("dataset", "judge"))
    columns = min(columns, max(len(datasets), 1))
    rows = -(-max(len(datasets), 1) // columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(width_in, panel_height_in * rows),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis in axes.flat[len(datasets) :]:
        axis.set_visible(False)
    if not datasets:
        axes[0, 0].set_visible(True)
        axes[0, 0].set_axis_off()
        figure.text(0.5, 0.5, f"No reads in which every score meets every position (strategy: {strategy})", ha="center")
        return figure
    for axis, dataset in zip(axes.flat, datasets, strict=False):
        uniform = f"no position bias ({100 / n:.3g}%)"
        axis.axhline(100 / n, color="0.45", linestyle=(0, (2, 2)), linewidth=0.9, zorder=1, label=uniform)
        for place, judge in enumerate(judges):
            line = chosen[(chosen["dataset"] == dataset) & (chosen["judge"] == judge)]
            if line.empty:
                continue
            # Lines are set a little apart, so that their intervals do not hide each other.
            x = line["position"].to_numpy(dtype=float) + 0.5 * ((place + 0.5) / len(judges) - 0.5)
            y = 100 * line["estimate"].to_numpy()
            spread = 100 * np.abs(line[["ci_low", "ci_high"]].to_numpy().T - line["estimate"].to_numpy())
            axis.errorbar(
                *(x, y),
                yerr=spread,
                linewidth=0.9,
                capsize=1.5,
                label=labels.judge(judge),
                zorder=2 + place,
                **style.look(labels.place_of_judge(judge)),
            )
        axis.set_title(labels.dataset(dataset))
        axis.set_xticks(range(1, n + 1))
        axis.tick_params(labelbottom=dataset in datasets[-columns:])
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of each position (%)")
    figure.supxlabel("Position of the score option in the prompt")
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(max(min(low, 100 / n - 5), 0), max(high, 100 / n + 5))
    handles = dict(pair for axis in axes.flat for pair in zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=min(len(handles), 4))
    return figure
