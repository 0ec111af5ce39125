"""Figures drawn from estimates and from their blocks of config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd

from rubric_order.base.labels import Labels, statistics_of_block
from rubric_order.figures import output, view

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(
    module: ModuleType,
    statistics: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    labels: Labels,
    *,
    style: Path,
    note: str = "",
) -> Figure:
    """Draw a figure.

    Args:
        module: the module that draws the figure.
        statistics: dictionary from an argument of the module's `draw` to the table of estimates that it takes.
        settings: the figure's block of config: `preset`, `condition`, and the other arguments of `draw`.
        labels: labels of judges and datasets.
        style: style file of all figures. `preset` in `settings` decides how large letters and lines are.
        note: a word across the figure; empty for none.
    """
    settings = dict(settings)
    output.use_style(style, settings.pop("preset"))
    read, labels = statistics_of_block(statistics, settings, labels)
    figure = view.draw(module, **read, **settings, labels=labels)
    if note:
        figure.text(0.5, 0.5, note, ha="center", va="center", rotation=20, size=40, color="0.5", alpha=0.25)
    return figure
