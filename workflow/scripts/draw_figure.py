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
    """Write the figure to each of the outputs, in the format that its name ends with.

    `statistics`: file by argument of the module's `draw`; `settings`: the figure's block; `labels`: fields of `Labels`;
    `note`: a word across the figure.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    label_of, drawing_module = Labels(**labels), plugins.imported(module)
    output.save(drawing.drawn(drawing_module, read, settings, label_of, style=style, note=note), outputs)


if __name__ == "__main__":
    command_line.run(main)
