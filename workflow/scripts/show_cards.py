"""Print the findings of a run: the first lines of its bias cards."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.cards import first_lines


def main(data: Path, page: Path, rehearsal: str = "") -> None:
    """Print name, finding and advice of each card, and the path of the page with all results.

    `rehearsal`: folder of a rehearsal, as the terminal sees it; empty in other runs.
    """
    for card in first_lines.first_lines(data):
        lines = card._replace(name=f"Rehearsal: {card.name}" if rehearsal else card.name)
        print(printable("\n  ".join(filter(None, lines))), end="\n\n")
    print(printable(f"All cards, figures and tables: {Path(rehearsal, page)}"))


if __name__ == "__main__":
    command_line.run(main)
