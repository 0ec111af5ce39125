"""Shares of right and wrong bias cards, where the truth is known, by simulators that share nothing with the rest.

    python tests/recovery/card_recovery.py --studies 200 [--only NAME ...] [--processes 2]

Prints its rows as Markdown. A study is a table of reads as `rubric-order audit` takes it; its judge gives score s of
item i at position p the log-weight a[i, s] + b[p] and what else is planted, and draws from the softmax, or takes its
maximum. `before` holds what the cards of an earlier version of the project said, as `card_recovery_before.csv` has it.
It is made with that version's library in the place of this one's:

    PYTHONPATH=OTHER/workflow/scripts python tests/recovery/card_recovery.py --studies 200 --save-before 0142498
"""

import argparse
import math
import os
import zlib
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from rubric_order.cards import card
from rubric_order.library import estimates

BEFORE = Path(__file__).with_name("card_recovery_before.csv")
TOGETHER = 10  # studies whose cards are made in one call
BIASED, EQUIVALENT = "biased", "equivalent"
WRONG, POWER = 0.05, 0.8
COLUMNS = ["point", "setting", "n_groups", "quantity", "studies", "before", "now", "target"]


@dataclass(frozen=True)
class Cell:
    """One kind of study.

    Attributes:
        name, point: what it is, and the point of the issue that it is about.
        asks: the verdict that is counted. most: the greatest share of it that is right; least: the smallest.
        n, groups, per_group: levels, groups and items in each.
        design: ``rotations`` (n), ``balanced`` (2n); the usual ordering, which is the first, is read `usual` times.
        repeats: how often each ordering is read, with one prompt. places: spread of what a group adds to each position,
            in log-odds. by_length: log-odds that the first position adds, and the last one takes away, in groups whose
            texts are one deviation longer than the others. stated: whether the temperature is known where probabilities
            are. These four are no part of the seed.
        lost: share of the usual ordering's reads without a score.
        centre, spread, tolerance: of what items are worth, on a scale from 0 to 1, and how far a judge wavers.
        own: spread of the opinion that a group adds to each score.
        first: log-odds that the first position adds. shift: log-odds a level that the usual ordering adds upwards.
        prompts: spread of what each prompt of an item adds to each score, in log-odds.
        soft: whether option probabilities are known. greedy: whether the most probable score is written.
    """

    name: str
    point: int
    asks: str = BIASED
    most: float = WRONG
    least: float = math.nan
    n: int = 5
    groups: int = 60
    per_group: int = 1
    design: str = "balanced"
    usual: int = 1
    lost: float = 0.0
    centre: float = 0.5
    spread: float = 0.25
    tolerance: float = 0.25
    own: float = 0.0
    first: float = 0.0
    shift: float = 0.0
    prompts: float = 0.3
    soft: bool = False
    greedy: bool = False
    repeats: int = field(default=1, repr=False)
    places: float = field(default=0.0, repr=False)
    by_length: float = field(default=0.0, repr=False)
    stated: bool = field(default=True, repr=False)


LENIENT = {"centre": 0.85, "spread": 0.15}
CEILING = {"centre": 1.05, "spread": 0.1, "tolerance": 0.2}
PASS_FAIL = {"n": 2, "tolerance": 0.7}
FIRST = 0.3


def right(name: str, point: int, asks: str, least: float, **settings: object) -> Cell:
    """A cell in which a verdict is right."""
    return Cell(name, point, asks, most=math.nan, least=least, **settings)


CELLS = (
    # Without a bias; reads that are not spread evenly over orderings.
    Cell("five rotations, the usual one read three times more, lenient", 1, design="rotations", usual=4, **LENIENT),
    Cell("ten orderings, the usual one read twice more, lenient", 1, usual=3, **LENIENT),
    Cell("ten orderings, the usual one read twice more, lenient", 1, usual=3, soft=True, **LENIENT),
    *(
        Cell("8% of the reads lost, all of the usual ordering, lenient", 1, groups=groups, lost=0.8, **LENIENT)
        for groups in (100, 400)
    ),
    Cell("five rotations", 9, design="rotations"),
    # Without a bias; kinds of judges.
    Cell("20 groups of 3 with opinions of their own", 1, groups=20, per_group=3, own=0.7),
    Cell("lenient", 1, groups=100, **LENIENT),
    Cell("at the ceiling", 1, groups=100, **CEILING),
    *(Cell("lenient", 1, n=n, groups=40, **LENIENT) for n in (3, 9, 10)),
    *(Cell("pass or fail", 3, groups=groups, **PASS_FAIL) for groups in (20, 40, 200)),
    Cell("pass or fail, the usual order read three times more", 3, groups=60, usual=4, **PASS_FAIL | {"centre": 0.8}),
    *(Cell("no bias", 7, groups=groups, soft=True) for groups in (20, 40, 200)),
    Cell("at the ceiling", 7, groups=100, soft=True, **CEILING),
    Cell("most probable score written", 7, groups=100, soft=True, greedy=True),
    # With a bias at the margins: never small.
    *(
        Cell(
            "first position worth .27 more than others: at the margin", 7, EQUIVALENT, groups=200, first=0.27, soft=soft
        )
        for soft in (False, True)
    ),
    *(
        Cell(
            "pass or fail, .42 log-odds from first to last: at the margin",
            3,
            EQUIVALENT,
            groups=g,
            first=0.42,
            **PASS_FAIL,
        )
        for g in (100, 400)
    ),
    *(
        Cell("usual ordering shifted .1 points: at the margin", 7, EQUIVALENT, groups=200, shift=0.142, soft=soft)
        for soft in (False, True)
    ),
    Cell(
        "usual ordering shifted .1 points, most probable score written: at the margin",
        7,
        EQUIVALENT,
        groups=200,
        shift=0.115,
        soft=True,
        greedy=True,
    ),
    # Power.
    right("first position worth .3", 7, BIASED, 0.95, groups=40, first=FIRST, soft=True),
    right("first position worth .3", 7, BIASED, math.nan, groups=100, first=FIRST),
    right("first position worth .3, at the ceiling", 7, BIASED, math.nan, groups=100, first=FIRST, **CEILING),
    right(
        "first position worth .3, at the ceiling",
        7,
        BIASED,
        0.95,
        groups=100,
        first=FIRST,
        soft=True,
        **CEILING,
    ),
    right("usual ordering shifted .1 points", 7, BIASED, math.nan, groups=400, shift=0.142),
    # Prompts that do more to single items than .2 move these by the margin: such a judge is no equivalent one.
    right("no bias", 7, EQUIVALENT, POWER, groups=200, soft=True, prompts=0.2),
    *(right("no bias", 7, EQUIVALENT, math.nan, groups=groups, prompts=0.2) for groups in (400, 1000)),
    *(
        right("pass or fail, no bias", 3, EQUIVALENT, math.nan, groups=groups, prompts=0.2, **PASS_FAIL)
        for groups in (100, 200, 400)
    ),
    right(
        "five rotations, no bias",
        9,
        EQUIVALENT,
        math.nan,
        groups=200,
        design="rotations",
        soft=True,
        prompts=0.2,
    ),
)


def cells() -> list[Cell]:
    """All settings."""
    return [*CELLS]


def quantity(cell: Cell) -> str:
    """The quantity of a cell, in words."""
    wrongly = "" if math.isnan(cell.most) else "wrongly "
    return f"{wrongly}{cell.asks}"


def setting(cell: Cell) -> str:
    """The setting of a cell, in words."""
    return f"{cell.name}; {cell.n} levels{'; probabilities known' if cell.soft else ''}"


def shown(cell: Cell) -> np.ndarray:
    """The score at each position of each read of an item, shape (K, n)."""
    turns = (np.arange(cell.n)[:, None] + np.arange(cell.n)) % cell.n
    rows = turns if cell.design == "rotations" else np.vstack([turns, cell.n - 1 - turns])
    return np.repeat(np.vstack([*[rows[:1]] * (cell.usual - 1), rows]), cell.repeats, axis=0)


def reads(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """The reads of one study, as `rubric-order audit` takes them."""
    rows, items = shown(cell), cell.groups * cell.per_group
    group = np.repeat(np.arange(cell.groups), cell.per_group)
    quality = cell.centre + cell.spread * (rng.normal(size=cell.groups)[group] + rng.normal(size=items)) / math.sqrt(2)
    at = np.linspace(0, 1, cell.n)
    worth = (
        -((at - quality[:, None]) ** 2) / (2 * cell.tolerance**2)
        + cell.own * rng.normal(size=(cell.groups, cell.n))[group]
    )
    weight = worth[:, rows] + cell.first * (np.arange(cell.n) == 0)  # (items, K, n), by position
    rising = (rows == np.arange(cell.n)).all(axis=1)
    weight = weight + cell.shift * rising[:, None] * np.arange(cell.n)
    if cell.places:
        weight = weight + cell.places * rng.normal(size=(cell.groups, 1, cell.n))[group]
    if cell.by_length:
        longer = rng.normal(size=cell.groups)[group, None, None]
        weight = weight + cell.by_length * longer * np.linspace(1, -1, cell.n)
    prompt = np.maximum(np.arange(len(rows)) // cell.repeats - (cell.usual - 1), 0)  # repeated reads have one prompt
    weight = weight + cell.prompts * rng.normal(size=(items, prompt[-1] + 1, cell.n))[:, prompt]
    shares = np.exp(weight - weight.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    drawn = (shares.cumsum(axis=-1) < rng.random((*shares.shape[:2], 1))).sum(axis=-1).clip(max=cell.n - 1)
    place = shares.argmax(axis=-1) if cell.greedy else drawn
    score = np.take_along_axis(np.broadcast_to(rows, shares.shape), place[..., None], axis=-1)[..., 0] + 1.0
    score[rising & (rng.random(score.shape) < cell.lost)] = np.nan
    item, read = np.indices(score.shape)
    names = np.array([" ".join(map(str, row + 1)) for row in rows])
    table = pd.DataFrame(
        {"item": item.ravel(), "group": group[item.ravel()], "ordering": names[read.ravel()], "score": score.ravel()}
    )
    if cell.soft:
        by_score = np.empty(shares.shape)
        np.put_along_axis(by_score, np.broadcast_to(rows, shares.shape), shares, axis=-1)
        for level in range(cell.n):
            table[f"p_{level + 1}"] = by_score[..., level].ravel()
    return table


def words(cell: Cell, studies: int, seed: int) -> Iterator[str]:
    """The verdict of each study."""
    stream = zlib.crc32(repr(cell).encode())
    for first in range(0, studies, TOGETHER):
        numbers = range(first, min(first + TOGETHER, studies))
        parts = [reads(cell, np.random.default_rng([seed, stream, k])).assign(judge=f"judge{k}") for k in numbers]
        statistics = estimates.card_statistics(estimates.scores_of(pd.concat(parts, ignore_index=True)))
        yield from (made.verdict.word for made in card.cards(state_temperature(statistics, cell)))


def state_temperature(statistics: dict[str, pd.DataFrame], cell: Cell) -> dict[str, pd.DataFrame]:
    """Statistics of a judge that was asked here: scores and probabilities, where these are known, are of one answer."""
    if not (cell.soft and cell.stated):
        return statistics
    preference = statistics["position_preference"].assign(temperature=0.0 if cell.greedy else 1.0)
    return statistics | {"position_preference": preference}


@cache
def before() -> dict[tuple[str, int, str], float]:
    """Shares that an earlier version's cards gave, by setting, groups and quantity."""
    if not BEFORE.exists():
        return {}
    table = pd.read_csv(BEFORE)
    return {(row.setting, row.n_groups, row.quantity): row.before for row in table.itertuples()}


def run(cell: Cell, studies: int, seed: int = 1) -> pd.DataFrame:
    """The row of a cell: how often the verdict is the one that it asks for.

    A verdict by option probabilities alone counts as biased.
    """
    given = [word.startswith(cell.asks) for word in words(cell, studies, seed)]
    about = {"point": cell.point, "setting": setting(cell), "n_groups": cell.groups, "quantity": quantity(cell)}
    key = (about["setting"], about["n_groups"], about["quantity"])
    target = f"at most {cell.most:.0%}" if not math.isnan(cell.most) else f"at least {cell.least:.0%}"
    if math.isnan(cell.most) and math.isnan(cell.least):
        target = ""
    row = about | {
        "studies": studies,
        "before": before().get(key, math.nan),
        "now": float(np.mean(given)),
        "target": target,
    }
    return pd.DataFrame([row], columns=COLUMNS)


def lines(table: pd.DataFrame) -> Iterator[str]:
    """The lines of a table of rows, as Markdown."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield "|--:|:--|--:|:--|--:|--:|--:|:--|"
    for row in table.itertuples(index=False):
        shares = ("" if math.isnan(value) else f"{value:.1%}" for value in (row.before, row.now))
        words = (row.point, row.setting, row.n_groups, row.quantity, row.studies, *shares, row.target)
        yield f"| {' | '.join(map(str, words))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words that the setting must have")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--save-before", metavar="VERSION", help="write what this library finds as what was before")
    options = parser.parse_args()
    chosen = [cell for cell in cells() if all(word in f"{setting(cell)} {cell.groups}" for word in options.only)]
    parts = []
    with futures.ProcessPoolExecutor(options.processes) as pool:
        for part in pool.map(run, chosen, [options.studies] * len(chosen), [options.seed] * len(chosen)):
            parts.append(part)
            if options.save_before:
                kept = pd.concat(parts).assign(version=options.save_before, before=lambda rows: rows["now"])
                kept = kept[["setting", "n_groups", "quantity", "studies", "before", "version"]]
                kept.to_csv(BEFORE, index=False, float_format="%.4f")
    print("\n".join(lines(pd.concat(parts))))


if __name__ == "__main__":
    main()
