"""Count the reads without a score."""

from pathlib import Path

from rubric_order import bias, entry, files


def main(scores: list[Path], output: Path) -> None:
    """Write one row a judge, dataset, strategy, place of the highest score and reason."""
    files.write_parquet(bias.parse_failures(files.read_tables(scores)), output)


if __name__ == "__main__":
    entry.run(main)
