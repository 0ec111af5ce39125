"""Sizes of figures for a page, a column of a paper, or a slide: width, and a factor for every other length."""

from collections.abc import Mapping
from typing import Any, NamedTuple

LENGTHS = ("panel_height_in", "row_height_in", "height_in")


class Preset(NamedTuple):
    """Width in inches, factors of all other lengths and of the panels side by side relative to a page, dots per inch of
    PNG.
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
    ),  # letters of 14 points; the whole slide is 13.3 inches wide
}


def fill(block: dict[str, Any], defaults: Mapping[str, Any], usual: str) -> None:
    """Add the sizes of a figure's preset to its block of config, in place; sizes that the block sets itself stay.

    `defaults` of the schema are sizes for a page; `usual` is the preset of blocks that name none.
    """
    preset = PRESETS[block.setdefault("preset", usual)]
    if "width_in" in defaults:
        block.setdefault("width_in", preset.width_in)
    if "columns" in defaults:
        block.setdefault("columns", max(1, int(defaults["columns"] * preset.panels)))
    for name in LENGTHS:
        if name in defaults:
            block.setdefault(name, round(defaults[name] * preset.scale, 3))
