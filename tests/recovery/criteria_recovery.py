"""Shares of right and wrong cards of criteria, where the truth is known, by a simulator sharing nothing with the rest.

    python tests/recovery/criteria_recovery.py --studies 200 [--only NAME ...] [--save-before a59edb56]

A study is a table of scores of prompts that ask for several criteria. A criterion of a text has a mean; each read adds
noise, rounds, and cuts off at the ends of the scale. `before` holds what an earlier version's cards gave.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import choice_recovery
import numpy as np
import pandas as pd
from card_recovery import BIASED, EQUIVALENT, POWER, WRONG

from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.base.keys import EVERY
from rubric_order.cards import criteria

BEFORE = Path(__file__).with_name("criteria_recovery_before.csv")
MARGIN = 0.1


@dataclass(frozen=True)
class Cell:
    """One kind of study.

    Attributes:
        name, point: what it is, and the point of the issue that it is about.
        asks: the verdict that is counted. most: the greatest share of it that is right; least: the smallest.
        of: ``all`` for the card of all criteria, ``any`` for the card of any single one.
        groups, per_group: groups, and texts in each.
        criteria: number of criteria. each: fewest and most of them that a text has; all by default.
        levels: number of score levels. noise: SD of a read. of_group: SD of what a group adds to each position.
        first: points that the first position adds, before rounding. rare: the share of groups that have it.
        cut: probability that an answer is cut before its last score. low: the same of a last score of at most 2.
        still: whether a text has the same score in all reads, apart from `first`.
    """

    name: str
    point: int
    asks: str = BIASED
    most: float = WRONG
    least: float = math.nan
    of: str = EVERY
    groups: int = 60
    per_group: int = 1
    criteria: int = 4
    each: tuple[int, int] | None = None
    levels: int = 5
    noise: float = 0.6
    of_group: float = 0.0
    first: float = 0.0
    rare: float = 1.0
    cut: float = 0.0
    low: float = 0.0
    still: bool = False


def right(name: str, point: int, asks: str, least: float, **settings: object) -> Cell:
    """A cell in which a verdict is right."""
    return Cell(name, point, asks, most=math.nan, least=least, **settings)


OWN = {"criteria": 40, "each": (4, 9)}
CELLS = (
    Cell("no effect", 5),
    Cell("no effect", 5, groups=20, per_group=5, of_group=0.3),
    Cell("no effect, effects of groups", 5, groups=60, per_group=5, of_group=0.3),
    Cell("no effect, each text with criteria of its own", 5, **OWN),
    Cell("no effect, each text with criteria of its own", 5, groups=30, levels=2, **OWN),
    Cell("first position adds .35, each text with criteria of its own", 5, EQUIVALENT, of="any", first=0.35, **OWN),
    Cell("first position adds .35, scores stay", 5, EQUIVALENT, of="any", first=0.35, still=True, **OWN),
    Cell("a group of 20 moves 2 points", 5, EQUIVALENT, groups=60, first=2.0, rare=0.05, still=True),
    Cell("first position adds .133, at the margin", 5, EQUIVALENT, groups=400, first=0.1334, noise=0.5),
    right("first position adds .35, each text with criteria of its own", 5, BIASED, 0.9, first=0.35, **OWN),
    right(
        "first position adds .35, each text with criteria of its own", 5, BIASED, POWER, first=0.35, groups=30, **OWN
    ),
    right("first position adds .35", 5, BIASED, 0.9, first=0.35),
    right("no effect, scores hardly vary", 5, EQUIVALENT, POWER, groups=200, per_group=2, noise=0.3),
    Cell("30% of the answers cut before the last score", 15, cut=0.3),
    Cell("30% of the answers cut before the last score", 15, cut=0.3, groups=200),
    Cell("last scores of 2 and less lost in 60%", 15, low=0.6, groups=60),
    Cell("last scores of 2 and less lost in 60%", 15, low=0.6, groups=200),
    Cell("last scores of 2 and less lost in 60%", 15, EQUIVALENT, groups=400, first=0.1334, low=0.6, noise=0.5),
    right("first position adds .35, 5% of the answers cut", 15, BIASED, POWER, first=0.35, cut=0.05, groups=100),
)


def cells() -> list[Cell]:
    """All settings."""
    return [*CELLS]


def setting(cell: Cell) -> str:
    """The setting of a cell, in words."""
    more = [f"{cell.levels} levels"] + [f"{cell.per_group} a group"] * (cell.per_group > 1)
    more += [f"card of {cell.of}"] * (cell.of != EVERY)
    return "; ".join([f"criteria: {cell.name}", *more])


def reads(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """The scores of one study: one row per text, read and criterion, in rotations and reversed rotations."""
    texts = cell.groups * cell.per_group
    group = np.repeat(np.arange(cell.groups), cell.per_group)
    carrier = rng.permutation(cell.groups) < round(cell.rare * cell.groups)
    least, most = cell.each or (cell.criteria, cell.criteria)
    added = cell.of_group * rng.normal(size=(cell.groups, cell.criteria))
    parts = []
    for text in range(texts):
        n = rng.integers(least, most + 1)
        asked = np.sort(rng.choice(cell.criteria, n, replace=False))
        turns = (np.arange(n)[:, None] + np.arange(n)) % n
        order = np.vstack([turns, n - 1 - turns])  # criterion at each position, (2n, n)
        middle = (cell.levels + 1) / 2 + cell.levels / 6 * (rng.normal() + rng.normal(size=n)) / math.sqrt(2)
        noise = cell.noise * rng.normal(size=order.shape)
        if cell.still:
            noise = np.repeat(rng.uniform(-0.5, 0.5, (1, n)), len(order), axis=0)
            noise = np.take_along_axis(noise, order, axis=1)
        value = middle[order] + noise + added[group[text], :n] * (cell.of_group > 0)
        value[:, 0] += cell.first * carrier[group[text]]
        score = np.clip(np.round(value), 1, cell.levels)
        last = rng.random(len(order)) < np.where(score[:, -1] <= 2, max(cell.low, cell.cut), cell.cut)
        score[last, -1] = np.nan
        read, position = np.indices(order.shape).reshape(2, -1)
        parts.append(
            pd.DataFrame(
                {"unit_id": f"t{text}", "group_id": f"g{group[text]}", "read_index": read}
                | {"criterion": [f"c{asked[k]:02d}" for k in order.ravel()], "criterion_position": position + 1}
                | {"score": score.ravel()}
            )
        )
    about = {"study": "s", "judge": "j", "profile": "default", "condition": "baseline", "dataset": "d"}
    about |= {
        "strategy": "balanced",
        "n": cell.levels,
        "human_score": np.nan,
        "predecessor": "",
        "expected_score": np.nan,
    }
    return pd.concat(parts, ignore_index=True).sort_values("criterion", kind="stable").assign(**about)


def words(cell: Cell, studies: int, seed: int) -> Iterator[list[str]]:
    """The verdicts that are looked at in each study."""
    stream = zlib.crc32(repr(cell).encode())
    for number in range(studies):
        table = reads(cell, np.random.default_rng([seed, stream, number]))
        statistic = criterion_order.estimate(
            table, resamples=199 if cell.criteria > 9 else 499, confidence=0.95, seed=number
        )
        cards = criteria.cards(statistic, MARGIN)
        yield [card.verdict for card in cards if (card.criterion == EVERY) == (cell.of == EVERY)]


def run(cell: Cell, studies: int, seed: int = 1) -> pd.DataFrame:
    """The row of a cell."""
    asked = [cell.asks in verdicts for verdicts in words(cell, studies, seed)]
    return choice_recovery.row(cell, setting(cell), asked, BEFORE)


if __name__ == "__main__":
    choice_recovery.main(cells(), run, setting, BEFORE)
