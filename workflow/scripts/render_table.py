"""Write one table of the catalogue."""

from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line, plugins
from rubric_order.base.labels import Labels
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.tables import rendering


def main(module: str, statistics: dict[str, Path], settings: dict, labels: dict, caption: str, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other.

    Args:
        module: makes the table.
        statistics: files by the argument of `table` that they are for; `settings` are the other arguments.
        labels: of judges and datasets, which are written in place of the ids everywhere but in the CSV file.
        output: the CSV file.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    rows, printed = rendering.rendered(plugins.imported(module).TABLE, read, settings, Labels(**labels))
    tables.write(rows, printed, output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
