"""Write the table of agreement by order of the criteria."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.tables import criteria_agreement


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = criteria_agreement.table(pd.read_parquet(statistics), **table)
    tables.write(rows, criteria_agreement.for_print(rows), output.with_suffix(""), criteria_agreement.CAPTION)


if __name__ == "__main__":
    command_line.run(main)
