"""Estimate how agreement with human scores grows with the number of reads."""

from pathlib import Path

from rubric_order import budget_curve, entry, files, reads


def main(scores: list[Path], bootstrap: dict, budget: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = budget_curve.budget_curve(files.each_table(scores, reads.COLUMNS), **bootstrap, **budget)
    files.write_parquet(table, output, **bootstrap, **budget)


if __name__ == "__main__":
    entry.run(main)
