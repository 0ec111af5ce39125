"""Sizes of figures by where they stand: a page, a column of a paper, a slide. Data; it draws nothing.

A preset gives the width, and a factor of every other length: heights, letters, lines, markers. What a config sets
itself stays as it is.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

LENGTHS = ("panel_height_in", "row_height_in", "height_in")


class Preset(NamedTuple):
    """Sizes of a figure for the place where it stands.

    Attributes:
        width_in: width in inches.
        scale: of all other lengths, letters and lines, against a page.
        panels: panels side by side, against a page.
        dpi: of PNG files.
    """

    width_in: float
    scale: float
    panels: float
    dpi: int


PRESETS = {
    "page": Preset(width_in=6.5, scale=1.0, panels=1.0, dpi=200),  # letters of 8 points
    "column": Preset(width_in=3.4, scale=0.875, panels=0.5, dpi=300),  # letters of 7 points
    "slide": Preset(
        width_in=12.0, scale=1.75, panels=1.0, dpi=150
    ),  # letters of 14 points; a slide is 13.3 inches wide
}


def fill(block: dict[str, Any], defaults: Mapping[str, Any], usual: str) -> None:
    """Give a figure's block of config the sizes of its preset, in place, where it has none.

    Args:
        block: as the user wrote it.
        defaults: what the schema gives its keys, which are the sizes of a page.
        usual: the preset of figures that name none.
    """
    preset = PRESETS[block.setdefault("preset", usual)]
    if "width_in" in defaults:
        block.setdefault("width_in", preset.width_in)
    if "columns" in defaults:
        block.setdefault("columns", max(1, int(defaults["columns"] * preset.panels)))
    for name in LENGTHS:
        if name in defaults:
            block.setdefault(name, round(defaults[name] * preset.scale, 3))
