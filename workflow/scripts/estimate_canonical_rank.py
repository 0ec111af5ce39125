"""Estimate where the canonical ordering stands among all by agreement with human scores."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.statistics import canonical_rank


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = canonical_rank.estimate(files.each_table(scores, canonical_rank.COLUMNS["scores"]), **bootstrap)
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    command_line.run(main)
