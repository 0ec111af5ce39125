"""Write the table of human agreement."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import human_agreement


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = human_agreement.table(pd.read_parquet(statistics), **table)
    caption = human_agreement.CAPTION.format(**table)
    tables.write(rows, human_agreement.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
