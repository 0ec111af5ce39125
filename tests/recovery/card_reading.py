"""Cards of five simulated judges, for a reader who is to say from the card alone what each judge does.

    python tests/recovery/card_reading.py FOLDER --seed 1

Writes `card_1.txt` to `card_5.txt`: each card as it stands on the page of a run, with the page's words on how to read
it. The judges' names say nothing, and the seed shuffles them. `key.txt` says what was planted. It is for the one who
asks, not for the reader. `summary.html` is the page.
"""

import argparse
import html.parser
import os
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import card_recovery
import numpy as np
import pandas as pd

from rubric_order.base.labels import Labels
from rubric_order.cards import summary
from rubric_order.library import estimates

NONE = card_recovery.Cell("five cards", 0, groups=1000, prompts=0.2)
# What is planted. Of the usual ordering, 1 to 5, the shift is .1 points.
JUDGES = {
    "no bias": replace(NONE, soft=True),
    "the usual ordering is scored .1 points higher": replace(NONE, shift=0.142),
    "prefers the first position in long texts and the last in short ones; none on average": replace(
        NONE, by_length=0.7, soft=True
    ),
    "writes 5 nearly always; its probabilities prefer the first position": replace(
        NONE, soft=True, greedy=True, first=1.0, centre=1.2, spread=0.05, tolerance=0.2
    ),
    "no bias; the usual ordering was read four times as often": replace(
        NONE, groups=60, usual=4, design="rotations", **card_recovery.LENIENT
    ),
}
BREAKS = ("p", "h2", "h3", "dt", "article", "section", "ul", "dl", "div")


class Cards(html.parser.HTMLParser):
    """The text of each card of a summary page, and of the part that says how to read them."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[str] = []
        self.how = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "article":
            self.cards.append("")
            self._inside = "card"
        elif tag == "section":
            self._inside = "how" if dict(attrs).get("id") == "read" else ""
        self._add({"li": "\n- ", "dd": ": ", "span": " "}.get(tag, "\n" if tag in BREAKS else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "article":
            self._inside = ""

    def handle_data(self, data: str) -> None:
        self._add(" ".join(f"|{data}|".split())[1:-1])

    def _add(self, text: str) -> None:
        if self._inside == "card":
            self.cards[-1] += text
        elif self._inside == "how":
            self.how += text


def tidy(text: str) -> str:
    """Text without empty lines and double spaces."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line not in ("", "-"))


def page(planted: list[str], seed: int, *, groups: int = NONE.groups) -> str:
    """The summary page of these judges, which are called Judge 1 and so on.

    Args:
        groups: the most that a judge reads.
    """
    parts: dict[str, list[pd.DataFrame]] = {}
    for place, name in enumerate(planted, start=1):
        cell = replace(JUDGES[name], groups=min(JUDGES[name].groups, groups))
        reads = card_recovery.reads(cell, np.random.default_rng([seed, place])).assign(judge=f"Judge {place}")
        for statistic, table in estimates.card_statistics(estimates.scores_of(reads)).items():
            parts.setdefault(statistic, []).append(table)
    cards = summary.made({name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()})
    labels = Labels(judges={f"Judge {k}": f"Judge {k}" for k in range(1, len(planted) + 1)}, datasets={})
    return summary.page(cards, summary.content(cards, {}), tables=[], figures=[], labels=labels, reads={})


def texts(html_page: str) -> tuple[list[str], str]:
    """The cards of a page, and how to read them, as plain text."""
    found = Cards()
    found.feed(html_page)
    return [tidy(card) for card in found.cards], tidy(found.how)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    planted = [str(name) for name in np.random.default_rng(options.seed).permutation(list(JUDGES))]
    made = page(planted, options.seed)
    (options.folder / "summary.html").write_text(made, encoding="utf-8")
    cards, how = texts(made)
    for place, card in enumerate(cards, start=1):
        (options.folder / f"card_{place}.txt").write_text(f"{card}\n\n{how}\n", encoding="utf-8")
    key = "".join(f"Judge {place}: {name}\n" for place, name in enumerate(planted, start=1))
    (options.folder / "key.txt").write_text(key, encoding="utf-8")


if __name__ == "__main__":
    main()
