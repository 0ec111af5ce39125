"""Write the table of datasets."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import datasets


def main(statistics: Path, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = datasets.table(pd.read_parquet(statistics))
    tables.write(rows, datasets.for_print(rows), output.with_suffix(""), datasets.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
