"""Estimate how much an item's scores vary, and what of it is due to the order of the options."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import within_item_deviation


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = within_item_deviation.estimate(
        files.each_table(scores, within_item_deviation.COLUMNS["scores"]), **bootstrap
    )
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
