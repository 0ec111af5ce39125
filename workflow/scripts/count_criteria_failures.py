"""Count the scores that answers about several criteria do not give."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import criteria_failures


def main(scores: list[Path], output: Path) -> None:
    """Write one row a judge, dataset, strategy, criterion, position and reason."""
    tables = (files.read_tables([path], criteria_failures.COLUMNS["scores"]) for path in scores)
    files.write_parquet(criteria_failures.estimate(tables), output)


if __name__ == "__main__":
    command_line.run(main)
