"""Read a recorded judge's answers as responses."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.responses import RESPONSES
from rubric_order.intake.recorded import plans as reads
from rubric_order.settings.judges import Recorded


def main(records: list[Path], judge: Recorded, output: Path) -> None:
    """Write one row per answer of the judge; `records` may have answers of others too."""
    answers = reads.read(records, judge=judge.model, **judge.reading)
    RESPONSES.write(reads.responses(answers), output)


if __name__ == "__main__":
    command_line.run(main)
