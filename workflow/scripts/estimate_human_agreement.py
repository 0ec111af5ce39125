"""Estimate how well mean scores agree with human scores, with intervals that resample items."""

from pathlib import Path

from rubric_order import agreement, entry, files


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    files.write_parquet(agreement.human_agreement(files.read_tables(scores), **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
