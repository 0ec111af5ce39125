"""Write the table of carry-over."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import carry_over


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = carry_over.table(pd.read_parquet(statistics), **table)
    tables.write(rows, carry_over.for_print(rows), output.with_suffix(""), carry_over.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
