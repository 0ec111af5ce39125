"""Lists of results in pages of ``docs/``, made from records: `python -m rubric_order.settings.listings PAGE ...`.

A list stands between two comments of its page, such as ``<!-- tables, from records -->`` and ``<!-- end -->``.
"""

import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rubric_order import catalogue, registry
from rubric_order.settings import results
from rubric_order.settings.statistics import Statistics

THEMES = {
    "position": "The order of the score levels",
    "agreement": "Agreement with people",
    "criteria": "The order of the criteria",
    "comparisons": "Comparisons",
    "scoring": "Conditions of the prompt",
    "papers": "Published numbers",
    "overview": "Data and judges",
}
HEADS: dict[registry.Kind, tuple[str, ...]] = {
    "statistics": ("question", "statistic", "what to read", "what it cannot say"),
    "tables": ("table", "what it shows"),
    "figures": ("figure", "what it shows"),
}


def page(text: str) -> str:
    """Text of a page with its lists made from the records."""
    for kind in HEADS:
        before, begin, after = text.partition(f"<!-- {kind}, from records -->\n\n")
        if begin:
            text = before + begin + _listing(kind) + after[after.index("\n<!-- end -->") :]
    return text


def _listing(kind: registry.Kind) -> str:
    head = HEADS[kind]
    lines: list[Sequence[str]] = [head, ["---"] * len(head)]
    for theme, names in groupby(sorted(registry.ours(kind), key=_place), catalogue.theme):
        if rows := [row for name in names if all(row := _row(kind, name))]:
            lines += [[f"**{THEMES[theme]}**", *[""] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _place(name: str) -> int:
    return [*THEMES].index(catalogue.theme(name))


def _row(kind: registry.Kind, name: str) -> tuple[str, ...]:
    """Cells of a result; one is empty for a result that the page does not list."""
    if kind == "statistics":
        entry = catalogue.STATISTICS[name]
        return entry.question, f"`{name}`", entry.read, entry.cannot or "-"
    caption = registry.shown(kind, name).caption.format(**Statistics().block() | results.defaults(kind, name))
    return f"`{name}`", re.sub(
        r",? with [0-9]+% [^,;:]*interval[^,;:]*", "", re.split(r"(?<!al)\.(?= [A-Z]|$)", caption)[0]
    )


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")
