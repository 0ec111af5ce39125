"""Estimate how much an item's scores vary, and what of it is due to the order of the options."""

from pathlib import Path

from rubric_order import entry, files, reads, within_item


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = within_item.within_item_deviation(files.each_table(scores, reads.COLUMNS), **bootstrap)
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
