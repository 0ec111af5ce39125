"""Estimate the Bias Cost of every ordering, and what choosing the cheapest one is worth."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import bias_cost


def main(scores: list[Path], bootstrap: dict, splits: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = bias_cost.estimate(files.each_table(scores, bias_cost.COLUMNS["scores"]), **bootstrap, **splits)
    files.write_parquet(table, output, **bootstrap, **splits)


if __name__ == "__main__":
    command_line.run(main)
