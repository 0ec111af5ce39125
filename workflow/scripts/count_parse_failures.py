"""Count the reads without a score."""

from pathlib import Path

from rubric_order import entry, failures, files


def main(scores: list[Path], output: Path) -> None:
    """Write one row a judge, dataset, strategy, score with its position, and reason."""
    files.write_parquet(failures.parse_failures(files.each_table(scores, failures.COLUMNS)), output)


if __name__ == "__main__":
    entry.run(main)
