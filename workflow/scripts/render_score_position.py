"""Write the table of scores by position."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import score_position


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = score_position.table(pd.read_parquet(statistics), **table)
    caption = score_position.CAPTION.format(**table)
    tables.write(rows, score_position.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
