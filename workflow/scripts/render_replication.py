"""Write the table of published numbers beside ours."""

from pathlib import Path

import pandas as pd

from rubric_order import tables
from rubric_order.base import command_line
from rubric_order.statistics import replication
from rubric_order.tables import replication as layout


def main(statistics: list[Path], published: list[Path], table: dict, output: Path) -> None:
    """Write CSV, Markdown, LaTeX and HTML beside each other."""
    rows = replication.estimate(
        {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in published},
        {path.stem: pd.read_parquet(path) for path in statistics},
        studies=table["studies"],
        judges=table["judges"],
    )
    tables.write(rows, layout.for_print(rows), output.with_suffix(""), layout.CAPTION)
    counts = rows["status"].value_counts()
    known = rows["contains"].dropna()
    command_line.log.info(
        "%d published numbers: %d compared (our interval contains %d of %d), %d without an estimate, %d not computed",
        *(len(rows), counts.get("compared", 0), known.sum(), len(known)),
        *(counts.get("no estimate", 0), counts.get("not computed", 0)),
    )


if __name__ == "__main__":
    command_line.run(main)
