"""Estimate where the canonical ordering stands among all by agreement with human scores."""

from pathlib import Path

from rubric_order import canonical_rank, entry, files, reads


def main(scores: list[Path], bootstrap: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = canonical_rank.canonical_rank(files.each_table(scores, reads.COLUMNS), **bootstrap)
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
