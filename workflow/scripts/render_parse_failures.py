"""Write the table of parse failures."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import parse_failures


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = parse_failures.table(pd.read_parquet(statistics), **table)
    tables.write(rows, parse_failures.for_print(rows), output.with_suffix(""), parse_failures.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
