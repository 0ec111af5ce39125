"""Estimate which positions are selected, with intervals that resample items."""

from pathlib import Path

from rubric_order import bias, entry, files


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    files.write_parquet(bias.position_selection(files.read_tables(scores), **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
