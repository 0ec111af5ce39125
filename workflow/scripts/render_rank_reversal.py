"""Write the table of rank reversal."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import rank_reversal


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = rank_reversal.table(pd.read_parquet(statistics), **table)
    caption = rank_reversal.CAPTION.format(**table)
    tables.write(rows, rank_reversal.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
