"""Agreement of judges: a heat map with similar judges beside each other, and the number of judges that disagree."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import ticker
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from scipy.cluster import hierarchy
from scipy.spatial import distance

from rubric_order.base.keys import EVERY
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures import style
from rubric_order.figures.view import Layout, View

LEAST_LETTERS = 3.5  # points; in smaller letters, numbers are not written, and a colour bar replaces them
LEAST_NAME = 5.5  # points; smallest letters of a judge's name
LINE = 1.15  # height of a name, as a multiple of its letters' size
QUANTITIES = {"agreement": "Agreement", "agreement_decided": "Without ties", "kappa": "Kappa"}


def draw(judge_agreement: pd.DataFrame, *, view: View, layout: Layout, labels: Labels) -> Figure:
    """Four panels per benchmark: three maps, and the distribution of disagreement. Each benchmark starts a row."""
    chosen = view.rows(judge_agreement, "study", "profile")
    if chosen.empty:
        return style.nothing(f"Less than two judges in study {view.study}", layout)
    blocks = list(chosen.groupby(["benchmark", "dataset", "strategy", "n"], sort=False))
    columns, side, names_in = _fitted(chosen, labels, layout)
    heights = np.full(-(-4 // columns), side + names_in + style.scaled(0.9))
    if 3 % columns == 0:  # the last panel has its own row, and no names
        heights[-1] = style.scaled(1.5)
    heights = np.tile(heights, len(blocks))
    shape = {"squeeze": False, "layout": "constrained", "height_ratios": heights}
    figure, axes = plt.subplots(len(heights), columns, figsize=(layout.width_in, heights.sum()), **shape)
    for row, ((benchmark, *_), block) in zip(axes.reshape(len(blocks), -1), blocks, strict=True):
        maps = {quantity: _matrix(rows_with(block, quantity=quantity)) for quantity in QUANTITIES}
        order = _clustered(maps["agreement"].to_numpy())
        judge_labels = [labels.judge(name) for name in maps["agreement"].index[order]]
        cell = 72 * side / len(judge_labels)  # points
        letters = min(style.scaled(6), cell / 2)
        written = letters >= LEAST_LETTERS
        for place, (axis, (quantity, title)) in enumerate(zip(row, QUANTITIES.items(), strict=False)):
            values = maps[quantity].reindex_like(maps["agreement"]).to_numpy()[np.ix_(order, order)]
            if quantity == "kappa":  # kappa can be negative
                image = style.signed_map(axis, values, 1)
            else:
                image = axis.imshow(values, vmin=0, vmax=1, cmap="cividis")
            axis.grid(visible=False)
            for (y, x), value in np.ndenumerate(values):
                if x != y and not np.isnan(value) and written:
                    text, colour = f"{value:.2f}".replace("0.", ".", 1), style.ink(image, value)
                    axis.text(x, y, text, ha="center", va="center", fontsize=letters, color=colour)
            if not written:
                figure.colorbar(image, ax=axis, orientation="horizontal", pad=0.02, aspect=12)
            usual = FontProperties(size=plt.rcParams["xtick.labelsize"]).get_size_in_points()
            size = min(usual, cell / LINE)
            axis.set_xticks(range(len(judge_labels)), judge_labels, rotation=90, fontsize=size)
            axis.set_yticks(range(len(judge_labels)), judge_labels if place % columns == 0 else [], fontsize=size)
            axis.set_title(f"{labels.dataset(benchmark)}\n{title}" if axis is row[0] else title)
        for axis in row[4:]:
            axis.set_visible(False)
        _distribution(row[3], rows_with(block, judge=EVERY, quantity="at_most"))
    return figure


def _fitted(chosen: pd.DataFrame, labels: Labels, layout: Layout) -> tuple[int, float, float]:
    """Layout with the greatest number of panels side by side in which the names of all judges can be read."""
    judges = {*chosen["judge"], *chosen["other"]} - {EVERY, ""}
    longest, columns = max((labels.judge(name) for name in judges), key=len), min(layout.columns, 4)
    while True:
        size, before = FontProperties(size=plt.rcParams["xtick.labelsize"]).get_size_in_points(), 0.0
        while abs(size - before) > 0.01:  # smaller letters make shorter names, and shorter names a larger map
            names_in = style.text_width(longest, size)
            side = (layout.width_in - names_in) / columns - style.scaled(0.25)
            size, before = min(size, 72 * side / len(judges) / LINE), size
        if size >= LEAST_NAME or columns == 1:
            return columns, side, names_in
        columns -= 1


def _matrix(pairs: pd.DataFrame) -> pd.DataFrame:
    judges = list(dict.fromkeys([*pairs["judge"], *pairs["other"]]))
    matrix = pd.DataFrame(np.eye(len(judges)), index=judges, columns=judges)
    for judge, other, value in zip(pairs["judge"], pairs["other"], pairs["estimate"], strict=True):
        matrix.loc[judge, other] = matrix.loc[other, judge] = value
    return matrix


def _clustered(agreement: np.ndarray) -> np.ndarray:
    if len(agreement) < 3:
        return np.arange(len(agreement))
    apart = distance.squareform(np.nan_to_num(1 - agreement, nan=1.0), checks=False)
    return hierarchy.leaves_list(hierarchy.linkage(apart, "average", optimal_ordering=True))


def _distribution(axis: plt.Axes, rows: pd.DataFrame) -> None:
    if rows.empty:
        axis.text(0.5, 0.5, "less than\nthree judges", ha="center", va="center", transform=axis.transAxes)
        axis.set_axis_off()
        return
    axis.errorbar(
        rows["level"].astype(float), rows["estimate"], yerr=style.half_intervals(rows), linestyle="-", **style.look(0)
    )
    axis.set_xlabel("Judges off\nthe mode, at most")
    axis.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axis.set_title("Share of prompts")
    axis.set_ylim(0, 1.07)  # room for the mark of the last share, which is 1
