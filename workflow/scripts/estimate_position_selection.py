"""Estimate which positions are selected, with items and with groups of them as the sample."""

from pathlib import Path

from rubric_order import bias, entry, files


def main(scores: list[Path], bootstrap: dict, direction: dict, output: Path) -> None:
    """Write one row an estimate."""
    settings = bootstrap | direction
    table = bias.position_selection(files.each_table(scores, bias.COLUMNS), **settings)
    files.write_parquet(table, output, **settings)


if __name__ == "__main__":
    entry.run(main)
