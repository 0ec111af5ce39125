"""Write the table of human agreement."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, tables


def main(statistics: Path, table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = tables.human_agreement(pd.read_parquet(statistics), **table)
    tables.write(rows, tables.human_agreement_for_print(rows), output.with_suffix(""), tables.HUMAN_AGREEMENT_CAPTION)


if __name__ == "__main__":
    entry.run(main)
