"""How several things are told apart in one figure, and a figure that has nothing to show."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Colours that differ in lightness too, and markers: they survive grey printing and colour blindness. What stands after
# the seventh place has darker colours.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
COLOURS += ("#003a5c", "#6e3000", "#00523c", "#73345a", "#808080", "#7a5400", "#23688f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# A strategy looks the same in every figure.
STRATEGIES = {
    "balanced": {"color": "#0072b2", "marker": "o", "linestyle": "-"},
    "random": {"color": "#e69f00", "marker": "s", "linestyle": "-"},
    "all": {"color": "#009e73", "marker": "^", "linestyle": "-"},
    "fixed": {"color": "#333333", "marker": "D", "linestyle": (0, (1, 1.2))},
    "single": {"color": "#cc79a7", "marker": "v", "linestyle": (0, (4, 1.5))},
    "balanced_williams": {"color": "#56b4e9", "marker": "P", "linestyle": "-"},
    "repeated_rotations": {"color": "#808080", "marker": "p", "linestyle": (0, (3, 1, 1, 1))},
    "recorded": {"color": "#d55e00", "marker": "X", "linestyle": "-"},
}


def colour(place: int) -> str:
    """Colour of one of several things."""
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    """Marker of one of several things: things of one colour have different ones."""
    return MARKERS[(place + place // len(MARKERS)) % len(MARKERS)]


def look(place: int) -> dict:
    """Colour and marker of one of several things, as keywords of a line with intervals."""
    return {"color": colour(place), "marker": marker(place), "elinewidth": 0.9}


def count_range(counts: pd.Series) -> str:
    """How many there are, or from how many to how many."""
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def legend_entries(axes: list[Axes]) -> dict:
    """Label and handle of everything in some panels, each once: no panel need have all."""
    pairs = (zip(*axis.get_legend_handles_labels()[::-1], strict=True) for axis in axes)
    return dict(pair for panel in pairs for pair in panel)


def nothing(reason: str, *, width_in: float, height_in: float) -> Figure:
    """A figure that says why it is empty."""
    figure = plt.figure(figsize=(width_in, height_in))
    figure.text(0.5, 0.5, reason, ha="center", va="center", wrap=True)
    return figure
