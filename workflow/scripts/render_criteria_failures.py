"""Write the table of scores that are missing."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import criteria_failures


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = criteria_failures.table(pd.read_parquet(statistics), **table)
    tables.write(rows, criteria_failures.for_print(rows), output.with_suffix(""), criteria_failures.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
