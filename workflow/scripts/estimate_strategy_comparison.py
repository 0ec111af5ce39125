"""Estimate whether one strategy agrees better with human scores than another."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import strategy_comparison


def main(scores: list[Path], bootstrap: dict, paired: dict, output: Path) -> None:
    """Write one row a pair of strategies."""
    settings = bootstrap | paired
    table = strategy_comparison.estimate(files.each_table(scores, strategy_comparison.COLUMNS["scores"]), **settings)
    files.write_parquet(table, output, **settings)


if __name__ == "__main__":
    command_line.run(main)
