"""Write the table of position bias by number of score levels."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import scales


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = scales.table(pd.read_parquet(statistics), **table)
    tables.write(rows, scales.for_print(rows), output.with_suffix(""), scales.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
