"""Estimate how well mean scores agree with human scores, with items and with groups of them as the sample."""

from pathlib import Path

from rubric_order import agreement, entry, files


def main(scores: list[Path], bootstrap: dict, human_scales: dict, output: Path) -> None:
    """Write one row an estimate."""
    table = agreement.human_agreement(
        files.each_table(scores, agreement.COLUMNS), human_scales=human_scales, **bootstrap
    )
    files.write_parquet(table, output, **bootstrap)


if __name__ == "__main__":
    entry.run(main)
