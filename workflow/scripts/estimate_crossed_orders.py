"""Test whether the order of criteria and the order of levels act apart from each other."""

from pathlib import Path

from rubric_order import crossed_orders, entry, files


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    tables = (files.read_tables([path], crossed_orders.COLUMNS) for path in scores)
    files.write_parquet(crossed_orders.crossed_orders(tables, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
