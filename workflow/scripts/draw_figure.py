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
    """Write the figure to each of the outputs, in the format that the output's name ends with.

    Args:
        module: name of the module that draws the figure.
        statistics: dictionary from an argument of the module's `draw` to the file of the statistic that it takes.
        settings: the figure's block of config.
        labels: fields of `Labels`, with the labels of judges and datasets.
        style: style file of all figures. `preset` in `settings` decides how large letters and lines are.
        outputs: the files to write.
        note: a word across the figure; empty for none.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    label_of, drawing_module = Labels(**labels), plugins.imported(module)
    output.save(drawing.drawn(drawing_module, read, settings, label_of, style=style, note=note), outputs)


if __name__ == "__main__":
    command_line.run(main)
