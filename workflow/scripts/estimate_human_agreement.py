"""Estimate how well mean scores agree with human scores, with items and with groups of them as the sample."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import human_agreement


def main(scores: list[Path], bootstrap: dict, human_scales: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = human_agreement.estimate(
        files.each_table(scores, human_agreement.COLUMNS["scores"]), human_scales=human_scales, **bootstrap
    )
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
