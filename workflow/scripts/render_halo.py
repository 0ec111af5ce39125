"""Write the table of halo."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import halo


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = halo.table(pd.read_parquet(statistics), **table)
    tables.write(rows, halo.for_print(rows), output.with_suffix(""), halo.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
