"""Write the table of criterion-order bias."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import criterion_order


def main(statistics: Path, agreement: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = criterion_order.table(pd.read_parquet(statistics), pd.read_parquet(agreement), **table)
    tables.write(rows, criterion_order.for_print(rows), output.with_suffix(""), criterion_order.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
