"""Estimate how much the ranking of candidates changes with the order of the options, and by noise alone."""

from pathlib import Path

from rubric_order import entry, files, ranking, reads


def main(scores: list[Path], bootstrap: dict, halves: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = ranking.rank_reversal(files.each_table(scores, reads.COLUMNS), **bootstrap, **halves)
    files.write_parquet(table, output, **bootstrap, **halves)


if __name__ == "__main__":
    entry.run(main)
