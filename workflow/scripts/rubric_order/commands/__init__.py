"""The commands of the program ``rubric-order``, and their output to a terminal."""

import json
import sys
from typing import TYPE_CHECKING

from rubric_order.base.errors import is_unseen, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table
    from rich.text import Text


def text(value: str, style: str = "") -> "Text":
    """A text for a table or a line. Names and answers that the text quotes cannot control the terminal."""
    from rich.text import Text

    return Text(printable(value), style=style)


def table(rows: "Iterable[Iterable[str | Text]]", *heads: str) -> "Table":
    """A table without rules, and without a head if no heads are given."""
    from rich.table import Table

    drawn = Table(*heads, show_header=bool(heads), box=None, padding=(0, 2, 0, 0))
    for row in rows:
        drawn.add_row(*(text(cell) if isinstance(cell, str) else cell for cell in row))
    return drawn


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON, with escapes in place of invisible characters."""
    written = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    units = (character.encode("utf-16-be", "surrogatepass").hex() for character in written if is_unseen(character))
    escapes = iter(["".join(f"\\u{unit[k : k + 4]}" for k in range(0, len(unit), 4)) for unit in units])
    return "".join(next(escapes) if is_unseen(character) else character for character in written)


def escape_output(value: str) -> str:
    """A text for standard output: unchanged, unless the output is a terminal."""
    return printable(value) if _is_terminal() else value


def _is_terminal() -> bool:
    return sys.stdout.isatty()
