"""Estimate how small a position bias a study can find."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line
from rubric_order.base.files import write_parquet
from rubric_order.statistics import power


def main(statistics: Path, settings: dict, output: Path) -> None:
    """Write one row a study, assumed or made."""
    write_parquet(power.estimate(pd.read_parquet(statistics), **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
