"""Estimate agreement with people under each criterion, by strategy."""

from pathlib import Path

from rubric_order import criteria_agreement, entry, files, panels


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], panels.COLUMNS) for path in scores)
    files.write_parquet(criteria_agreement.criteria_agreement(tables, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
