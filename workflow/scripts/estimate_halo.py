"""Estimate how alike criteria are scored in one prompt, judged alone, and by people."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import halo


def main(scores: list[Path], alone: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate; `alone` are scores of studies that judge one criterion at a time."""
    tables = (files.read_tables([path], halo.COLUMNS["scores"]) for path in scores)
    separate = (files.read_tables([path], halo.COLUMNS["alone"]) for path in alone)
    files.write_parquet(halo.estimate(tables, separate, **bootstrap), output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
