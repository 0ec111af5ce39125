"""Files of a drawn figure: the same data give the same bytes."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.transforms import Bbox

from rubric_order.base import files
from rubric_order.figures.presets import PRESETS

PLACES = 9  # decimal places to which positions are rounded
_METADATA = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
# Parameters of Matplotlib that are lengths: in inches if their names end in `_pad`, else in points.
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
    look, chosen = mpl.rc_params_from_file(style, use_default_template=False), PRESETS[preset]
    usual = {name: look.get(name, mpl.rcParamsDefault[name]) for name in _LENGTHS}
    # Sizes that are words, such as ``small``, are relative to the size of letters.
    mpl.rcParams.update({name: chosen.scale * size for name, size in usual.items() if isinstance(size, int | float)})
    mpl.rcParams["savefig.dpi"] = chosen.dpi


class _Rounded(LayoutEngine):
    """Constrained layout with rounded positions: its sums differ in the last digits from process to process, and so
    would files, since names of clipping paths are made from all digits.
    """

    def __init__(self, engine: LayoutEngine) -> None:
        super().__init__()
        self._engine = engine
        self._adjust_compatible = engine.adjust_compatible
        self._colorbar_gridspec = engine.colorbar_gridspec

    def execute(self, fig: Figure) -> None:
        self._engine.execute(fig)
        for axis in fig.axes:
            takes_part = axis.get_in_layout()
            corners = axis.get_position(original=True).get_points()
            axis.set_position(Bbox(corners.round(PLACES)), which="original")
            axis.set_in_layout(takes_part)


def save(figure: Figure, outputs: Iterable[Path]) -> None:
    """Write a figure to each output, in the format of its suffix. All files have the layout of the first file."""
    if (engine := figure.get_layout_engine()) is not None:
        figure.set_layout_engine(_Rounded(engine))
    for output in outputs:
        with files.atomic(output) as temporary:
            figure.savefig(temporary, metadata=_METADATA.get(output.suffix))
        figure.set_layout_engine("none")
