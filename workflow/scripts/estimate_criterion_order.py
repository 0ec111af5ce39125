"""Estimate how the place of a criterion in the prompt moves its score."""

from pathlib import Path

from rubric_order import criterion_order, entry, files, panels


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], panels.COLUMNS) for path in scores)
    files.write_parquet(criterion_order.criterion_order(tables, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
