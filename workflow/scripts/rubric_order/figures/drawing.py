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
    """Draw a figure from its block of config with the module that has its `draw`; `note` is a word across it."""
    settings = dict(settings)
    output.use_style(style, settings.pop("preset"))
    tables, labels = statistics_of_block(statistics, settings, labels)
    figure = view.draw(module, **tables, **settings, labels=labels)
    if note:
        figure.text(0.5, 0.5, note, ha="center", va="center", rotation=20, size=40, color="0.5", alpha=0.25)
    return figure
