"""Write the table of crossed orders."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import crossed_orders


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = crossed_orders.table(pd.read_parquet(statistics), **table)
    tables.write(rows, crossed_orders.for_print(rows), output.with_suffix(""), crossed_orders.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
