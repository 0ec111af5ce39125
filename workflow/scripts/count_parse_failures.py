"""Count the reads without a score."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import parse_failures


def main(scores: list[Path], output: Path) -> None:
    """Write one row a judge, dataset, strategy, score with its position, and reason."""
    files.write_parquet(parse_failures.estimate(files.each_table(scores, parse_failures.COLUMNS["scores"])), output)


if __name__ == "__main__":
    command_line.run(main)
