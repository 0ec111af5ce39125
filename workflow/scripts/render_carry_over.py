"""Write the table of carry-over."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, tables
from rubric_order.tables import carry_over


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = carry_over.table(pd.read_parquet(statistics), **table)
    tables.write(rows, carry_over.for_print(rows), output.with_suffix(""), carry_over.CAPTION)


if __name__ == "__main__":
    entry.run(main)
