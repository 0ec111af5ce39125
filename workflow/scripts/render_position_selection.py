"""Write the table of position selection."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import position_selection


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = position_selection.table(pd.read_parquet(statistics), **table)
    caption = position_selection.CAPTION.format(**table)
    tables.write(rows, position_selection.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
