"""Which positions each judge selects."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.figures import style

CAPTION = (
    "Share of each position of the prompt among the judge's selections, under strategy {strategy} with {n} score "
    "levels. One panel a judge and readout, one line a dataset. Bars are {bootstrap[confidence]:.0%} bootstrap "
    "intervals over {cluster}s ({bootstrap[resamples]} resamples); the dotted line is a judge without position bias. "
    "After Xu et al. (2026), Figure 4."
)
READOUTS = {"hard": "Selected option", "soft": "Option probabilities"}
YLABEL = {"hard": "Share of selections (%)", "soft": "Mean probability (%)"}


def draw(
    position_selection: pd.DataFrame,
    *,
    study: str,
    strategy: str,
    n: int,
    readouts: list[str],
    width_in: float,
    panel_height_in: float,
    columns: int,
    labels: Labels,
    profile: str = "default",
    cluster: str = "group",
) -> Figure:
    """Share of each position: one panel a judge and readout, one line a dataset, with intervals and the uniform line.

    Args:
        position_selection: see `position_selection.estimate`.
        study, strategy, n, profile: which reads to draw.
        readouts: ``hard``, ``soft`` or both; a readout that a judge lacks is left out.
        cluster: ``item`` or ``group``: what the bootstrap draws.
        width_in, panel_height_in: width of the figure and height of a panel in inches.
        columns: panels a row, at most.
        labels: of judges and datasets.

    Source: after Xu et al. (2026), Figure 4.
    """
    reads = "study == @study and profile == @profile and strategy == @strategy and n == @n and cluster == @cluster"
    chosen = position_selection.query(f"{reads} and quantity == 'share'")
    present = set(zip(chosen["judge"], chosen["readout"], strict=True))
    panels = [(j, r) for j in chosen["judge"].unique() for r in readouts if (j, r) in present]
    if not panels:
        reason = f"No reads of study {study} in which every score meets every position (strategy: {strategy})"
        return style.nothing(reason, width_in=width_in, height_in=1.0)
    datasets = list(chosen["dataset"].unique())
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(width_in, panel_height_in * rows),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (judge, readout) in zip(axes.flat, panels, strict=False):
        uniform = f"no position bias ({100 / n:.3g}%)"
        axis.axhline(100 / n, color="0.45", linestyle=(0, (2, 2)), linewidth=0.9, zorder=1, label=uniform)
        for place, dataset in enumerate(datasets):
            line = chosen.query("judge == @judge and readout == @readout and dataset == @dataset")
            if line.empty:
                continue
            # Lines are set a little apart, so that their intervals do not hide each other.
            x = line["position"].to_numpy(dtype=float) + 0.07 * (place - (len(datasets) - 1) / 2)
            y = 100 * line["estimate"].to_numpy()
            spread = 100 * np.abs(line[["ci_low", "ci_high"]].to_numpy().T - line["estimate"].to_numpy())
            label = labels.dataset(dataset)
            axis.errorbar(
                x, y, yerr=spread, label=label, zorder=2 + place, **style.look(labels.place_of_dataset(dataset))
            )
        title = labels.judge(judge)
        axis.set_title(f"{title}\n{READOUTS[readout]}" if len(readouts) > 1 else title)
        axis.set_xticks(range(1, n + 1))
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of each position (%)" if len(readouts) > 1 else YLABEL[readouts[0]])
    figure.supxlabel("Position of the score option in the prompt")
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(max(min(low, 100 / n - 5), 0), max(high, 100 / n + 5))
    entries = style.legend_entries(list(axes.flat))
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=min(len(entries), 5))
    return figure
