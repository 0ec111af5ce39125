"""From a drawn figure to files: the same data give the same bytes."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure

from rubric_order.base import files

_METADATA = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def use_style(style: Path) -> None:
    """Draw without a screen, in the look of a style file."""
    matplotlib.use("agg")
    matplotlib.style.use(style)


def save(figure: Figure, outputs: Iterable[Path]) -> None:
    """Write a figure in the format that each output's name says."""
    for output in outputs:
        with files.atomic(output) as temporary:
            figure.savefig(temporary, metadata=_METADATA.get(output.suffix))
