"""Files of a drawn figure: the same data give the same bytes."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure

from rubric_order.base import files
from rubric_order.figures.presets import PRESETS

_METADATA = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
# Settings of Matplotlib that are lengths: in points, or in inches if they end in `_pad`.
_LENGTHS = [
    *("font.size", "figure.labelsize", "figure.titlesize", "legend.fontsize", "legend.title_fontsize"),
    *("axes.titlesize", "axes.labelsize", "axes.linewidth", "axes.titlepad", "axes.labelpad"),
    *("lines.linewidth", "lines.markersize", "lines.markeredgewidth", "errorbar.capsize", "grid.linewidth"),
    *("patch.linewidth", "hatch.linewidth", "figure.constrained_layout.h_pad", "figure.constrained_layout.w_pad"),
    *(f"{axis}tick.labelsize" for axis in "xy"),
    *(f"{axis}tick.{kind}.{part}" for axis in "xy" for kind in ("major", "minor") for part in ("size", "width", "pad")),
]


def use_style(style: Path, preset: str = "page") -> None:
    """Draw without a screen, in the look of a style file. The preset gives the size of letters and lines."""
    matplotlib.use("agg")
    matplotlib.style.use(style)
    own, chosen = mpl.rc_params_from_file(style, use_default_template=False), PRESETS[preset]
    usual = {name: own.get(name, mpl.rcParamsDefault[name]) for name in _LENGTHS}
    # Sizes that are words, such as ``small``, are relative to the size of letters.
    mpl.rcParams.update({name: chosen.scale * size for name, size in usual.items() if isinstance(size, int | float)})
    mpl.rcParams["savefig.dpi"] = chosen.dpi


def save(figure: Figure, outputs: Iterable[Path]) -> None:
    """Write a figure to each output, in the format of its suffix. All files have the layout of the first."""
    for output in outputs:
        with files.atomic(output) as temporary:
            figure.savefig(temporary, metadata=_METADATA.get(output.suffix))
        figure.set_layout_engine("none")
