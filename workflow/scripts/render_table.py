"""Write one table of the catalogue."""

from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line, plugins
from rubric_order.base.labels import Labels
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.tables import rendering


def main(module: str, statistics: dict[str, Path], settings: dict, labels: dict, caption: str, output: Path) -> None:
    """Write the table as CSV, Markdown, LaTeX and HTML, into one folder.

    Args:
        module: name of the module that makes the table.
        statistics: dictionary from an argument of the table to the file of the statistic that it takes.
        settings: the table's block of config, which has the other arguments.
        labels: fields of `Labels`, with the labels of judges and datasets. All formats but CSV have labels in place of
            ids.
        caption: the table's caption.
        output: the CSV file. The other formats are written beside it.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    rows, printed = rendering.rendered(plugins.imported(module).TABLE, read, settings, Labels(**labels))
    tables.write(rows, printed, output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
