"""Read a recorded judge's answers as responses."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.contracts.responses import RESPONSES
from rubric_order.intake.recorded import plans as reads
from rubric_order.settings.judges import Recorded


def main(records: list[Path], judge: Recorded, output: Path) -> None:
    """Write one row per answer.

    Args:
        records: files with the answers of the judge, and possibly of other judges.
        judge: the judge's settings.
        output: file of the responses.
    """
    answers = reads.read(records, judge=judge.model, **judge.reading)
    RESPONSES.write(reads.responses(answers), output)


if __name__ == "__main__":
    command_line.run(main)
