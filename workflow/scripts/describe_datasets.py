"""Describe the datasets: sizes, scores, and agreement of the raters with intervals that resample groups."""

from pathlib import Path

from rubric_order import cards, entry, files


def main(items: list[Path], pairs: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row a dataset, source of scores and criterion."""
    described = cards.describe(
        files.read_tables(items, cards.ITEM_COLUMNS), files.read_tables(pairs, cards.PAIR_COLUMNS), **bootstrap
    )
    files.write_parquet(described, output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
