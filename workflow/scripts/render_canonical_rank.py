"""Write the table of the rank of the canonical ordering."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import canonical_rank


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = canonical_rank.table(pd.read_parquet(statistics), **table)
    caption = canonical_rank.CAPTION.format(**table)
    tables.write(rows, canonical_rank.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
