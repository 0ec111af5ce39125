"""Write the table of parse failures."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, tables


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = tables.parse_failures(pd.read_parquet(statistics), **table)
    tables.write(rows, tables.parse_failures_for_print(rows), output.with_suffix(""), tables.PARSE_FAILURES_CAPTION)


if __name__ == "__main__":
    entry.run(main)
