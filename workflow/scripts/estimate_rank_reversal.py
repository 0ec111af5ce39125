"""Estimate how much the ranking of candidates changes with the order of the options, and by noise alone."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import rank_reversal


def main(scores: list[Path], bootstrap: dict, halves: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = rank_reversal.estimate(files.each_table(scores, rank_reversal.COLUMNS["scores"]), **bootstrap, **halves)
    files.write_parquet(table, output, **bootstrap, **halves)


if __name__ == "__main__":
    command_line.run(main)
