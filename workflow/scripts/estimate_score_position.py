"""Estimate which scores are selected where."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import score_position


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = score_position.estimate(files.each_table(scores, score_position.COLUMNS["scores"]), **bootstrap)
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
