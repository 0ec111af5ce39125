"""Estimate which positions are selected, with items and with groups of them as the sample."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import position_selection


def main(scores: list[Path], bootstrap: dict, direction: dict, output: Path) -> None:
    """Write one row an estimate."""
    settings = bootstrap | direction
    table = position_selection.estimate(files.each_table(scores, position_selection.COLUMNS["scores"]), **settings)
    files.write_parquet(table, output, **settings)


if __name__ == "__main__":
    command_line.run(main)
