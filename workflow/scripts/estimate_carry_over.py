"""Estimate how the criterion right before another moves its score."""

from pathlib import Path

from rubric_order import carry_over, entry, files, panels


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], panels.COLUMNS) for path in scores)
    files.write_parquet(carry_over.carry_over(tables, confidence=bootstrap["confidence"]), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
