"""Estimate agreement with people under each criterion, by strategy."""

from pathlib import Path

from rubric_order import criteria_agreement, entry, files, panels


def main(scores: list[Path], bootstrap: dict, paired: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], panels.COLUMNS) for path in scores)
    settings = bootstrap | paired
    files.write_parquet(criteria_agreement.criteria_agreement(tables, **settings), output, **settings)


if __name__ == "__main__":
    entry.run(main)
