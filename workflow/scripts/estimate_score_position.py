"""Estimate which scores are selected where."""

from pathlib import Path

from rubric_order import entry, files, score_position


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = score_position.score_position(files.each_table(scores, score_position.COLUMNS), **bootstrap)
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
