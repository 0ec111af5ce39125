"""Figures drawn from estimates and from their blocks of config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd

from rubric_order.base.conditions import of_condition
from rubric_order.base.keys import BASELINE, EVERY
from rubric_order.base.labels import Labels, every_profile, in_order
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
    condition = settings.pop("condition", BASELINE)
    read = {name: of_condition(estimates, condition) for name, estimates in statistics.items()}
    if settings.get("profile") == EVERY:
        read, labels = every_profile(read, labels)
    read = {name: in_order(estimates, labels) for name, estimates in read.items()}
    figure = view.draw(module, **read, **settings, labels=labels)
    if note:
        figure.text(0.5, 0.5, note, ha="center", va="center", rotation=20, size=40, color="0.5", alpha=0.25)
    return figure
