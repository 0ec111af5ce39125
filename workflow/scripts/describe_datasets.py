"""Describe the datasets: sizes, scores, and agreement of the raters with intervals that resample groups."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import datasets


def main(items: list[Path], pairs: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row a dataset, source of scores and criterion."""
    described = datasets.estimate(
        files.read_tables(items, datasets.COLUMNS["items"]),
        files.read_tables(pairs, datasets.COLUMNS["pairs"]),
        **bootstrap,
    )
    files.write_parquet(described, output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
