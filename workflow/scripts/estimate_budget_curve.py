"""Estimate how agreement with human scores grows with the number of reads."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import budget_curve


def main(scores: list[Path], bootstrap: dict, budget: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = budget_curve.estimate(files.each_table(scores, budget_curve.COLUMNS["scores"]), **bootstrap, **budget)
    files.write_parquet(table, output, **bootstrap, **budget)


if __name__ == "__main__":
    command_line.run(main)
