"""Write one table of the catalogue."""

import importlib
from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line


def main(table: str, statistics: dict[str, Path], settings: dict, caption: str, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other.

    Args:
        table: name of its module.
        statistics: files by the argument of `table` that they are for; `settings` are the other arguments.
        output: the CSV file.
    """
    module = importlib.import_module(f"rubric_order.tables.{table}")
    rows = module.table(**{name: pd.read_parquet(path) for name, path in statistics.items()}, **settings)
    tables.write(rows, module.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
