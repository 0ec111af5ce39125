"""Count the scores that answers about several criteria do not give."""

from pathlib import Path

from rubric_order import criteria_failures, entry, files


def main(scores: list[Path], output: Path) -> None:
    """Write one row a judge, dataset, strategy, criterion, position and reason."""
    tables = (files.read_tables([path], criteria_failures.COLUMNS) for path in scores)
    files.write_parquet(criteria_failures.criteria_failures(tables), output)


if __name__ == "__main__":
    entry.run(main)
