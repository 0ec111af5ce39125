"""Colours, markers and other shared parts of figures, and a figure that has nothing to show."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.markers import CARETDOWN, CARETLEFT, CARETRIGHT, CARETUP  # their tips are at the point
from numpy.typing import ArrayLike

from rubric_order import strategies
from rubric_order.base.labels import Labels
from rubric_order.base.rows import rows_with
from rubric_order.figures.view import Layout

# Colours that also differ in lightness, and markers. A grey print and a colour-blind reader can distinguish them.
# From the eighth on, colours are darker.
COLOURS: tuple[str, ...] = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
COLOURS += ("#003a5c", "#6e3000", "#00523c", "#73345a", "#808080", "#7a5400", "#23688f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# A strategy looks the same in every figure.
STRATEGIES: dict[str, dict[str, Any]] = {name: strategy.look for name, strategy in strategies.STRATEGIES.items()}

# Colours of values with a sign: blue below 0, red above 0, white at 0. All figures use them, and the pages of reads too
# (as --low and --high). The colour-blind can distinguish blue and red. In grey print both look alike; the numbers in
# the cells help.
DIVERGING = "RdBu_r"
LIGHTNESS = np.array([0.299, 0.587, 0.114])  # weights of red, green and blue
LETTERS = 8.0  # points; lengths in the modules of figures are for letters of this size
LETTER = 0.566  # width of a letter, relative to its height


def scaled(length: float) -> float:
    """Convert a length in inches or points, given for letters of 8 points, to the present size of letters."""
    return length * plt.rcParams["font.size"] / LETTERS


def no_effect() -> dict[str, Any]:
    return {"color": "0.45", "linestyle": (0, (2, 2)), "linewidth": scaled(0.9)}


def colour(place: int) -> str:
    """Colour of one of several things that a figure shows, such as judges. `place` is the thing's index, from 0."""
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    """Marker of one of several things, see `colour`. Things with the same colour have different markers."""
    return MARKERS[(place + place // len(MARKERS)) % len(MARKERS)]


def look(place: int) -> dict[str, Any]:
    """Colour and marker of one of several things, see `colour`, as keywords of a line with intervals."""
    return {"color": colour(place), "marker": marker(place), "elinewidth": scaled(0.9)}


def count_range(counts: pd.Series) -> str:
    """Counts as text: the number if all are equal, otherwise the range, such as ``3 to 5``."""
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def text_width(text: str, size: float | str) -> float:
    """Approximate width of a line of text in inches. `size` of the letters is in points, or a word like ``small``."""
    return LETTER * font_manager.FontProperties(size=size).get_size_in_points() / 72 * len(text)


def legend_above(figure: Figure, columns: int | None = None) -> None:
    """Legend above a figure, each label of its panels once, at most `columns` entries a row (all by default)."""
    pairs = (zip(*axis.get_legend_handles_labels()[::-1], strict=True) for axis in figure.axes if axis.get_visible())
    entries = dict(pair for panel in pairs for pair in panel)
    longest = max(map(len, entries), default=1)
    width = scaled(0.5) + text_width("m" * longest, plt.rcParams["legend.fontsize"])
    room = max(int(figure.get_figwidth() / width), 1)  # number of entries side by side that are not cut off
    columns = min(len(entries), columns or len(entries), room)
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=columns)


def panels(
    count: int,
    layout: Layout,
    *,
    height_in: float | None = None,
    legend: bool = False,
    one_height: bool = True,
) -> tuple[Figure, Any, list[Axes]]:
    """Figure of `count` panels on common axes, row by row: figure, all axes (rows by columns), panels.

    Axes after the last panel are hidden, and the lowest panel of each column has the labels of the ticks. Heights are
    of a panel, in inches; without `one_height` each panel has its own vertical axis.
    """
    columns = min(layout.columns, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(layout.width_in, (height_in or layout.height_in) * rows),
        sharex=True,
        sharey=one_height,
        squeeze=False,
        layout="constrained",
    )
    if legend:
        figure.set_figheight(max((height_in or layout.height_in) * rows + scaled(0.7), scaled(2.6)))
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    for axis in axes.flat[count - columns : count]:
        axis.tick_params(axis="x", labelbottom=True)
    return figure, axes, list(axes.flat[:count])


def items_counted(rows: pd.DataFrame) -> str:
    return f" ({rows['n_items'].max()} items)"


def panels_of_judges(
    rows: pd.DataFrame,
    layout: Layout,
    labels: Labels,
    *,
    beside: Callable[[pd.DataFrame], str] = items_counted,
    legend: bool = True,
) -> tuple[Figure, Any, list[tuple[Axes, pd.DataFrame]]]:
    """Figure with one panel per judge and dataset: figure, all axes, each panel with its rows; `beside` ends
    its title.
    """
    names = list(rows[["dataset", "judge"]].drop_duplicates().itertuples(index=False, name=None))
    figure, axes, panel_axes = panels(len(names), layout, legend=legend)
    blocks = [rows_with(rows, dataset=dataset, judge=judge) for dataset, judge in names]
    for axis, block, (dataset, judge) in zip(panel_axes, blocks, names, strict=True):
        axis.set_title(f"{labels.judge(judge)}\n{labels.dataset(dataset)}{beside(block)}")
    return figure, axes, list(zip(panel_axes, blocks, strict=True))


def signed_map(axis: Axes, values: np.ndarray, reach: float, **options: Any) -> AxesImage:
    """Heat map of values with a sign, white at 0, darkest at `reach` from 0."""
    norm = CenteredNorm(0, halfrange=reach)
    return axis.imshow(values, cmap=DIVERGING, norm=norm, **options)


def ink(image: AxesImage, value: Any) -> str:
    """Black or white: the colour of a text that can be read on the colour of a value in a heat map."""
    if np.isnan(value):
        return "black"
    return "white" if np.array(image.to_rgba(value)[:3]) @ LIGHTNESS < 0.5 else "black"


def half_intervals(line: pd.DataFrame) -> np.ndarray:
    """Lengths of the bars of intervals below and above each estimate, shape (2, rows); 0 if there is no interval."""
    ends = line[["ci_low", "ci_high"]].to_numpy(dtype=float).T
    return np.nan_to_num(np.abs(ends - line["estimate"].to_numpy(dtype=float)))


def arrows(axis: Axes, line: pd.DataFrame, at: ArrayLike, reach: float, colour: str, *, upright: bool = False) -> None:
    """Draw an arrow at the frame, `reach` from 0 on either side, for each interval that goes on beyond it.

    `at` has the coordinates of the rows on the other axis; `upright` intervals are vertical.
    """
    markers = (CARETDOWN, CARETUP) if upright else (CARETLEFT, CARETRIGHT)
    for side, shape, end in zip((-1, 1), markers, ("ci_low", "ci_high"), strict=True):
        beyond = (side * line[end] > reach).to_numpy()
        if beyond.any():
            ends, places = [side * reach] * int(beyond.sum()), np.asarray(at)[beyond]
            look: dict[str, Any] = {"linestyle": "none", "marker": shape, "markersize": scaled(4), "clip_on": False}
            (marks,) = axis.plot(*((places, ends) if upright else (ends, places)), color=colour, **look)
            marks.set_in_layout(False)


def share_line(axis: Axes, line: pd.DataFrame, *, aside: float, **look: Any) -> None:
    """Draw shares of positions in per cent, with intervals if any; markers of a saturated judge are hollow.

    `aside` shifts them to the right of their positions, so that lines do not hide each other.
    """
    share = 100 * line["estimate"].to_numpy()
    spread: np.ndarray = 100 * half_intervals(line)
    fill = "none" if line["saturated"].any() else "full"
    axis.errorbar(line["position"].to_numpy(dtype=float) + aside, share, yerr=spread, fillstyle=fill, **look)


def uniform_line(axis: Axes, n: int) -> None:
    """Draw the line of equal shares of n positions, and name the positions on the x axis."""
    label = f"equally often ({100 / n:.3g}%)"
    axis.axhline(100 / n, zorder=1, label=label, **no_effect())
    positions(axis, n)


def positions(axis: Axes, n: int, *, first: int = 1) -> None:
    """Name positions on the x axis, the first (at `first`) and the last in words, short enough not to touch the next
    panel.
    """
    ends = {1: "1\n(first)", n: f"{n}\n(last)"}
    axis.set_xticks(range(first, first + n), [ends.get(place, f"{place}") for place in range(1, n + 1)])


def shares_from_0(axis: Axes, n: int) -> None:
    """Let the axis of shares begin at 0 and end at least 5 percentage points above the uniform share."""
    axis.set_ylim(0, max(axis.get_ylim()[1], 100 / n + 5))


def grid_across(axis: Axes) -> None:
    """Show the grid of the values of an axis whose rows are names."""
    axis.grid(visible=True, axis="x")
    axis.grid(visible=False, axis="y")
    axis.tick_params(axis="y", length=0)


def rows_apart(axis: Axes, count: int) -> None:
    """Draw a pale line between each two rows of an axis."""
    for edge in range(1, count):
        axis.axhline(edge - 0.5, color="0.9", linewidth=scaled(0.6), zorder=0)


def nothing(reason: str, layout: Layout) -> Figure:
    """A figure that says why it is empty."""
    figure = plt.figure(figsize=(layout.width_in, scaled(1.0)))
    figure.text(0.5, 0.5, reason, ha="center", va="center", wrap=True)
    return figure
