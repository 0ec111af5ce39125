"""Test whether the order of criteria and the order of levels act apart from each other."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import crossed_orders


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], crossed_orders.COLUMNS["scores"]) for path in scores)
    files.write_parquet(crossed_orders.estimate(tables, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
