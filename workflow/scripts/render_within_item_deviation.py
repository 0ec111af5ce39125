"""Write the table of variation within items."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import within_item_deviation


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = within_item_deviation.table(pd.read_parquet(statistics), **table)
    caption = within_item_deviation.CAPTION.format(**table)
    tables.write(rows, within_item_deviation.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
