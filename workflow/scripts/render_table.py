"""Write one table of the catalogue."""

from pathlib import Path

from rubric_order import tables
from rubric_order.base import command_line, plugins
from rubric_order.base.conditions import of_condition
from rubric_order.base.keys import BASELINE, EVERY
from rubric_order.base.labels import Labels, every_profile, in_order, with_labels
from rubric_order.contracts.estimates import ESTIMATES


def main(module: str, statistics: dict[str, Path], settings: dict, labels: dict, caption: str, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other.

    Args:
        module: makes the table.
        statistics: files by the argument of `table` that they are for; `settings` are the other arguments.
        labels: of judges and datasets, which are written in place of the ids everywhere but in the CSV file.
        output: the CSV file.
    """
    known = Labels(**labels)
    condition = settings.pop("condition", BASELINE)
    read = {name: of_condition(ESTIMATES.read(path), condition) for name, path in statistics.items()}
    if settings.get("profile") == EVERY:
        read, known = every_profile(read, known)
    read = {name: in_order(table, known) for name, table in read.items()}
    rows, printed = tables.of_studies(plugins.imported(module).TABLE, read, settings)
    tables.write(rows, with_labels(printed, known), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
