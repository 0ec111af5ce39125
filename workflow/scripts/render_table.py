"""Write one table of the catalogue."""

from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line, plugins
from rubric_order.base.labels import Labels
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.tables import rendering


def main(module: str, statistics: dict[str, Path], settings: dict, labels: dict, caption: str, output: Path) -> None:
    """Write the table as CSV and, beside it, Markdown, LaTeX and HTML, with labels in place of ids.

    `statistics`: file by argument of the table; `settings`: its block of config; `labels`: fields of `Labels`.
    """
    read = {name: ESTIMATES.read(path) for name, path in statistics.items()}
    rows, printed = rendering.rendered(plugins.imported(module).TABLE, read, settings, Labels(**labels))
    tables.write(rows, printed, output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
