"""Draw one figure of the catalogue."""

from pathlib import Path

from rubric_order.base import command_line, plugins
from rubric_order.base.labels import Labels
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.figures import drawing, output


def main(
    module: str,
    statistics: dict[str, Path],
    settings: dict,
    labels: dict,
    style: Path,
    outputs: list[Path],
    note: str = "",
) -> None:
    """Write the figure in the format of each output's name.

    Args:
        module: draws the figure.
        statistics: files by the argument of `draw` that they are for.
        settings: the figure's block of config.
        labels: of judges and datasets.
        style: of all figures; `preset` of the settings says how large letters and lines are.
        note: a word across the figure; empty for none.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    label_of, drawing_module = Labels(**labels), plugins.imported(module)
    output.save(drawing.drawn(drawing_module, read, settings, label_of, style=style, note=note), outputs)


if __name__ == "__main__":
    command_line.run(main)
