"""Read a recorded judge's answers as responses."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.recorded import recorded


def main(records: list[Path], judge: dict, output: Path) -> None:
    """Write one row an answer."""
    answers = recorded.read_records(
        records, judge=judge["model"], prompt_style=judge["prompt_style"], duplicates=judge["duplicates"]
    )
    files.write_parquet(recorded.responses_of(answers), output)


if __name__ == "__main__":
    command_line.run(main)
