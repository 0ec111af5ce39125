"""Estimate how small a position bias a study can find."""

from pathlib import Path

import pandas as pd

from rubric_order import entry, power
from rubric_order.files import write_parquet


def main(statistics: Path, settings: dict, output: Path) -> None:
    """Write one row a study, assumed or made."""
    write_parquet(power.detectable(pd.read_parquet(statistics), **settings), output, **settings)


if __name__ == "__main__":
    entry.run(main)
