"""Write the table of datasets."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, tables


def main(statistics: Path, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = tables.datasets(pd.read_parquet(statistics))
    tables.write(rows, tables.datasets_for_print(rows), output.with_suffix(""), tables.DATASETS_CAPTION)


if __name__ == "__main__":
    entry.run(main)
