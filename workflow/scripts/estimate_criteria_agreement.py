"""Estimate agreement with people under each criterion, by strategy."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import criteria_agreement


def main(scores: list[Path], bootstrap: dict, paired: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], criteria_agreement.COLUMNS["scores"]) for path in scores)
    settings = bootstrap | paired
    files.write_parquet(criteria_agreement.estimate(tables, **settings), output, **settings)


if __name__ == "__main__":
    command_line.run(main)
