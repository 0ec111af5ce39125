"""Print what a run found: the first lines of its bias cards."""

from pathlib import Path

from rubric_order.base import command_line
from rubric_order.base.errors import printable
from rubric_order.cards import first_lines


def main(data: Path, page: Path) -> None:
    """Print name, finding and advice of each card, and where the rest stands.

    Args:
        data: `summary.json` of the run.
        page: its `summary.html`.
    """
    for card in first_lines.first_lines(data):
        print(printable(card.name))
        for line in filter(None, (card.finding, card.advice)):
            print(printable(f"  {line}"))
        print()
    print(printable(f"All cards, figures and tables: {page}"))


if __name__ == "__main__":
    command_line.run(main)
