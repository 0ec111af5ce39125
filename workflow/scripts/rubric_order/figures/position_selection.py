"""Which positions each judge selects."""

import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rubric_order.base.labels import Labels
from rubric_order.figures import style

CAPTION = (
    "Share of each position of the prompt among the judge's selections, under strategy {strategy} with {n} score "
    "levels. One panel a judge and readout, one line a dataset. Bars are {bootstrap[confidence]:.0%} bootstrap "
    "intervals over {cluster}s ({bootstrap[resamples]} resamples), where anything varies; the dotted line is selection "
    "of every position equally often. Hollow: saturated; the judge gives nearly always one score, or one score to each "
    "item, so that the order has next to nothing to change. Equal shares then do not say that it has no preference. "
    "Above: V with its interval, 0 where all positions are selected equally often, and the number of {cluster}s. How "
    "far shares are apart depends on how decisive a judge is and on the number of levels: figure Position preference "
    "compares judges. After Xu et al. (2026), Figure 4."
)
READOUTS = {"hard": "Selected option", "soft": "Option probabilities"}
LINE = 1.25  # height of a line of text, against its letters
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
    of_reads = position_selection.query(reads)
    chosen, sizes = (of_reads[of_reads["quantity"] == name] for name in ("share", "cramers_v"))
    present = set(zip(chosen["judge"], chosen["readout"], strict=True))
    panels = [(j, r) for j in chosen["judge"].unique() for r in readouts if (j, r) in present]
    if not panels:
        reason = f"No reads of study {study} in which every score meets every position (strategy: {strategy})"
        return style.nothing(reason, width_in=width_in)
    datasets = list(chosen["dataset"].unique())
    figure, axes, shown = style.panels(len(panels), columns, width_in=width_in, panel_height_in=panel_height_in)
    for axis, (judge, readout) in zip(shown, panels, strict=True):
        style.uniform_line(axis, n)
        for place, dataset in enumerate(datasets):
            line = chosen.query("judge == @judge and readout == @readout and dataset == @dataset")
            if line.empty:
                continue
            look = style.look(labels.place_of_dataset(dataset)) | {"label": labels.dataset(dataset)}
            style.share_line(axis, line, aside=0.07 * (place - (len(datasets) - 1) / 2), zorder=2 + place, **look)
        own = sizes[(sizes["judge"] == judge) & (sizes["readout"] == readout)]
        _write_sizes(axis, own, labels, several=len(datasets) > 1)
        title = labels.judge(judge)
        axis.set_title(f"{title}\n{READOUTS[readout]}" if len(readouts) > 1 else title)
    for axis in axes[:, 0]:
        axis.set_ylabel("Share of each position (%)" if len(readouts) > 1 else YLABEL[readouts[0]])
    figure.supxlabel("Position of the score option in the prompt")
    style.shares_from_0(axes[0, 0], n)
    rows = max(len(axis.texts[0].get_text().splitlines()) for axis in shown)
    _make_room(axes[0, 0], rows / max(panel_height_in - style.scaled(0.8), style.scaled(0.3)))
    style.legend_above(figure, 5)
    return figure


def _write_sizes(axis: Axes, sizes: pd.DataFrame, labels: Labels, *, several: bool) -> None:
    """Cramer's V with its interval and the number of clusters, a line a dataset, at the top of a panel."""
    lines = []
    for row in sizes.to_dict("records"):
        ends = "no interval" if pd.isna(row["ci_low"]) else f"{row['ci_low']:.2f}, {row['ci_high']:.2f}"
        name = f"{labels.dataset(row['dataset'])}: " if several else ""
        one = "" if row["n_clusters"] == 1 else "s"
        lines.append(f"{name}V {row['estimate']:.2f} [{ends}], {row['n_clusters']:,} {row['cluster']}{one}")
    look = {"va": "top", "fontsize": "small", "color": "0.25", "linespacing": LINE}
    axis.text(0.02, 0.99, "\n".join(lines), transform=axis.transAxes, **look)


def _make_room(axis: Axes, rows: float) -> None:
    """Leave room above the data of panels for lines of text; `rows` of them for each inch of a panel's height."""
    letters = font_manager.FontProperties(size="small").get_size_in_points() / 72
    share = min(rows * LINE * letters + 0.03, 0.6)
    axis.set_ylim(0, axis.get_ylim()[1] / (1 - share))
