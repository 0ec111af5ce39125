"""Estimate how the place of a criterion in the prompt moves its score."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import criterion_order


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], criterion_order.COLUMNS["scores"]) for path in scores)
    files.write_parquet(criterion_order.estimate(tables, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
