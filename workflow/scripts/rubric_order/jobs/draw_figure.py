from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from rubric_order.base import plugins
from rubric_order.base.labels import Labels, statistics_of_block
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.figures import output, view


def draw_figure(
    module: str,
    statistics: dict[str, Path],
    settings: dict[str, Any],
    labels: Labels,
    style: Path,
    outputs: list[Path],
    note: str = "",
) -> None:
    """Write a figure of the catalogue to each of the outputs, in the format that its name ends with.

    `statistics`: file by argument of the module's `draw`; `settings`: the figure's block; `note`: a word across it.
    """
    estimates, block = {name: ESTIMATES.read(path) for name, path in statistics.items()}, dict(settings)
    with plt.rc_context():
        output.use_style(style, block.pop("preset"))
        tables, labels = statistics_of_block(estimates, block, labels)
        figure = view.draw(plugins.imported(module), **tables, **block, labels=labels)
        if note:
            figure.text(0.5, 0.5, note, ha="center", va="center", rotation=20, size=40, color="0.5", alpha=0.25)
        output.save(figure, outputs)
    plt.close(figure)
