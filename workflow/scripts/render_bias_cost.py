"""Write the table of Bias Costs."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import bias_cost


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = bias_cost.table(pd.read_parquet(statistics), **table)
    caption = bias_cost.CAPTION.format(**table)
    tables.write(rows, bias_cost.for_print(rows), output.with_suffix(""), caption)


if __name__ == "__main__":
    command_line.run(main)
