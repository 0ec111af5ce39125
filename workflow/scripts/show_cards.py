"""Print what a run found: the first lines of its bias cards."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.cards import first_lines


def main(data: Path, page: Path, rehearsal: str = "") -> None:
    """Print name, finding and advice of each card, and where the rest stands.

    Args:
        data: `summary.json` of the run.
        page: its `summary.html`.
        rehearsal: folder in which a rehearsal runs, as the terminal sees it; empty in any other run.
    """
    for card in first_lines.first_lines(data):
        lines = card._replace(name=f"Rehearsal: {card.name}" if rehearsal else card.name)
        print(printable("\n  ".join(filter(None, lines))), end="\n\n")
    print(printable(f"All cards, figures and tables: {Path(rehearsal, page)}"))


if __name__ == "__main__":
    command_line.run(main)
