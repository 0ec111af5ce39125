"""Write the table of permuted orderings against repeats."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import permutation_vs_repeat


def main(agreement: Path, comparison: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = permutation_vs_repeat.table(pd.read_parquet(agreement), pd.read_parquet(comparison), **table)
    caption = permutation_vs_repeat.CAPTION.format(**table)
    tables.write(rows, permutation_vs_repeat.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
