"""Estimate whether one strategy agrees better with human scores than another."""

from pathlib import Path

from rubric_order import comparison, entry, files


def main(scores: list[Path], bootstrap: dict, paired: dict, output: Path) -> None:
    """Write one row a pair of strategies."""
    settings = bootstrap | paired
    table = comparison.strategy_comparison(files.each_table(scores, comparison.COLUMNS), **settings)
    files.write_parquet(table, output, **settings)


if __name__ == "__main__":
    entry.run(main)
