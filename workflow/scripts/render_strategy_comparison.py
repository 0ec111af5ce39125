"""Write the table of strategies compared by their agreement with human scores."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import strategy_comparison


def main(agreement: Path, comparison: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = strategy_comparison.table(pd.read_parquet(agreement), pd.read_parquet(comparison), **table)
    caption = strategy_comparison.CAPTION.format(**table)
    tables.write(rows, strategy_comparison.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
