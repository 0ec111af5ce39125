"""Write the table of position selection."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, tables


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = tables.position_selection(pd.read_parquet(statistics), **table)
    tables.write(
        rows, tables.position_selection_for_print(rows), output.with_suffix(""), tables.POSITION_SELECTION_CAPTION
    )


if __name__ == "__main__":
    entry.run(main)
