from pathlib import Path

from rubric_order.base.errors import printable
from rubric_order.cards import first_lines


def show_cards(data: Path, page: Path, rehearsal: str = "") -> None:
    """Print name, finding and advice of each bias card of a run, and the path of the page with all results.

    `rehearsal`: folder of a rehearsal, as the terminal sees it; empty in other runs.
    """
    for card in first_lines.first_lines(data):
        lines = card._replace(name=f"Rehearsal: {card.name}" if rehearsal else card.name)
        print(printable("\n  ".join(filter(None, lines))), end="\n\n")
    print(printable(f"All cards, figures and tables: {Path(rehearsal, page)}"))
