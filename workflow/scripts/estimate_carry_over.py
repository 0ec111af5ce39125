"""Estimate how the criterion right before another moves its score."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import carry_over


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], carry_over.COLUMNS["scores"]) for path in scores)
    files.write_parquet(carry_over.estimate(tables, confidence=bootstrap["confidence"]), output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
