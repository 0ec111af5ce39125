"""Shares of right and wrong cards of choices, where the truth is known, by simulators that share nothing with the rest.

    python tests/recovery/choice_recovery.py --studies 200 [--only NAME ...] [--save-before a59edb56]

A study is a table of pairs as `rubric-order audit` takes it. Candidates a and b of a comparison have qualities; a judge
chooses the first with log-odds (quality of the first - quality of the second + the effect of the order) / temperature.
`before` holds what an earlier version's cards gave, see `card_recovery`.
"""

import argparse
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from card_recovery import BIASED, COLUMNS, EQUIVALENT, POWER, WRONG

from rubric_order.library.choice_cards import choice_cards

BEFORE = Path(__file__).with_name("choice_recovery_before.csv")


@dataclass(frozen=True)
class Cell:
    """One kind of study.

    Attributes:
        name, point: what it is, and the point of the issue that it is about.
        asks: the verdict that is counted. most: the greatest share of it that is right; least: the smallest.
        groups, per_group: groups, and comparisons in each.
        models: number of models, of which each comparison has two; their qualities are `strength` apart.
        spread: standard deviation of a comparison's own difference of qualities, half of it of its group.
        temperature: 0 for a judge whose choices are not drawn.
        first: log-odds that the first position adds. single: size of the effect that each comparison has of its own, up
            or down. of_group: SD of the effect that each group has.
        orders: ``both``; ``one`` drawn for each comparison; ``better 62%``, where the better one stands first in 62%;
            or ``better``, where it always stands first except in the commonest pair. repeats: reads of each order.
            again: further reads of the first order. copied: whether repeats are copies of the first read.
        tie: probability of a tie in each of the two orders.
        lost: probability that a read has no choice. refused: the same of wins of model 0 in the order that shows it
            first. refused_first: the same of wins of the first position.
        flips: share of the comparisons whose winner is the one that stands first, whatever its quality.
    """

    name: str
    point: int
    asks: str = BIASED
    most: float = WRONG
    least: float = math.nan
    groups: int = 200
    per_group: int = 1
    models: int = 2
    strength: float = 0.0
    spread: float = 1.0
    temperature: float = 1.0
    first: float = 0.0
    single: float = 0.0
    of_group: float = 0.0
    orders: str = "both"
    repeats: int = 1
    again: int = 0
    copied: bool = False
    tie: tuple[float, float] = (0.0, 0.0)
    lost: float = 0.0
    refused: float = 0.0
    refused_first: float = 0.0
    flips: float = 0.0


def right(name: str, point: int, asks: str, least: float, **settings: object) -> Cell:
    """A cell in which a verdict is right."""
    return Cell(name, point, asks, most=math.nan, least=least, **settings)


BETTER = {"models": 5, "strength": 0.5, "groups": 400}
CELLS = (
    Cell("no preference", 4, groups=60),
    Cell("no preference, groups of 5 with effects of their own", 4, groups=60, per_group=5, of_group=0.7),
    Cell("no preference, each order read twice", 4, repeats=2),
    Cell("no preference, each read twice in the table", 7, repeats=2, copied=True),
    right("each comparison +-2 for the first or the last", 4, BIASED, 0.9, groups=400, single=2.0, repeats=2),
    Cell("AB three times, BA once", 8, again=2),
    *(
        Cell("each comparison +-2 for the first or the last", 4, EQUIVALENT, groups=groups, single=2.0, repeats=repeats)
        for groups, repeats in ((1000, 1), (400, 2))
    ),
    Cell("each comparison +-.4, each order read four times", 4, EQUIVALENT, groups=600, single=0.4, repeats=4),
    Cell("first position worth .2, each order read four times", 4, EQUIVALENT, groups=1000, first=0.2, repeats=4),
    Cell("winner of 5% is the first, no noise", 4, EQUIVALENT, groups=400, temperature=0, flips=0.05),
    Cell("winner of 5% is the first, no noise", 4, EQUIVALENT, groups=60, per_group=10, temperature=0, flips=0.05),
    right("no noise, no effect", 4, EQUIVALENT, 0.95, groups=2000, temperature=0),
    right("no noise, no effect", 4, EQUIVALENT, POWER, groups=100, temperature=0),
    right("no effect, each order read four times", 4, EQUIVALENT, math.nan, groups=1000, repeats=4, spread=3.0),
    right("first position worth 1", 4, BIASED, 0.95, first=1.0),
    right("the first always wins", 4, BIASED, 0.95, groups=60, temperature=0, flips=1.0),
    Cell("half of one side's wins refused in one order", 6, groups=200, refused=0.5),
    Cell("half of one side's wins refused in one order", 6, groups=1000, refused=0.1),
    Cell("30% of the first position's wins refused", 6, groups=400, refused_first=0.3),
    Cell("30% of the first position's wins refused", 6, groups=400, refused_first=0.3, spread=0.0),
    right("first position worth 1, 3% of the reads lost", 6, BIASED, 0.9, groups=400, first=1.0, lost=0.03),
    right("no noise, no effect, 1% of the reads lost", 6, EQUIVALENT, POWER, groups=1000, temperature=0, lost=0.01),
    Cell("one order; the better one first in 62%", 8, orders="better 62%", strength=1.0, groups=400),
    Cell("one order; the better one first in 62%", 8, orders="better 62%", **BETTER),
    Cell("one order; the better one first but in the commonest pair", 8, orders="better", **BETTER),
    Cell("one order, groups of 5", 8, orders="one", groups=100, per_group=5, of_group=0.0, strength=1.0, spread=2.0),
    right("one order, first position worth .6", 8, BIASED, 0.9, orders="one", first=0.6, **BETTER),
    right("one order; the better one first in 62%; worth .6", 8, BIASED, 0.9, orders="better 62%", first=0.6, **BETTER),
    *(Cell("ties likelier in one order", 12, strength=1.0, groups=groups, tie=(0.1, 0.3)) for groups in (200, 1000)),
    Cell("ties likelier in one order, five models", 12, tie=(0.05, 0.4), **BETTER),
    right(
        "first position worth .6, ties likelier in one order",
        12,
        BIASED,
        0.9,
        first=0.6,
        strength=1.0,
        groups=400,
        tie=(0.1, 0.3),
    ),
)


def cells() -> list[Cell]:
    """All settings."""
    return [*CELLS]


def setting(cell: Cell) -> str:
    """The setting of a cell, in words."""
    more = [f"{cell.per_group} a group"] * (cell.per_group > 1) + [f"{cell.models} models"] * (cell.models > 2)
    more += [f"{cell.repeats} reads of each order"] * (cell.repeats > 1) + [f"{cell.refused:.0%}"] * (cell.refused > 0)
    more += ["tossed coins"] * (cell.spread == 0)
    return "; ".join([f"choices: {cell.name}", *more])


def reads(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """The reads of one study, as `rubric-order audit` takes them."""
    n = cell.groups * cell.per_group
    group = np.repeat(np.arange(cell.groups), cell.per_group)
    pairs = np.array([(a, b) for a in range(cell.models) for b in range(a + 1, cell.models)])
    share = (
        np.ones(len(pairs)) / len(pairs)
        if len(pairs) < 2
        else np.r_[0.3, np.full(len(pairs) - 1, 0.7 / (len(pairs) - 1))]
    )
    pair = rng.choice(len(pairs), n, p=share)
    own = rng.normal(size=cell.groups)[group] + rng.normal(size=n)
    gap = cell.strength * (pairs[pair, 1] - pairs[pair, 0]) + cell.spread * own / math.sqrt(
        2
    )  # the lower model is better
    effect = cell.first + cell.single * rng.choice([-1, 1], n) + cell.of_group * rng.normal(size=cell.groups)[group]
    swapped = np.tile([False, True], (n, 1))
    if cell.orders == "one":
        swapped = rng.random((n, 1)) < 0.5
    if cell.orders == "better 62%":
        swapped = rng.random((n, 1)) > 0.62
    if cell.orders == "better":
        swapped = (rng.random((n, 1)) < 0.5) & (pair == 0)[:, None]
    swapped = np.concatenate(
        [np.repeat(swapped, cell.repeats, axis=1), swapped[:, :1].repeat(cell.again, axis=1)], axis=1
    )
    log_odds = np.where(swapped, -gap[:, None], gap[:, None]) + effect[:, None]  # of the first over the second
    noise = rng.logistic(size=swapped.shape) * cell.temperature
    position = np.where(log_odds + noise > 0, 0, 1)
    position[rng.random(n) < cell.flips] = 0
    tie = rng.random(swapped.shape) < np.where(swapped, cell.tie[1], cell.tie[0])
    if cell.copied:
        position, tie = (np.repeat(part[:, :: cell.repeats], cell.repeats, axis=1) for part in (position, tie))
    lost = rng.random(swapped.shape) < cell.lost
    lost |= ~swapped & (position == 0) & (rng.random(swapped.shape) < cell.refused)
    lost |= (position == 0) & (rng.random(swapped.shape) < cell.refused_first)
    choice = np.select([lost, tie], ["", "tie"], np.array(["A", "B"])[position])
    item, read = np.indices(swapped.shape).reshape(2, -1)
    names = np.array([f"m{k}" for k in range(cell.models)])
    one, other = names[pairs[pair[item], 0]], names[pairs[pair[item], 1]]
    turned = swapped[item, read]
    first, second = np.where(turned, other, one), np.where(turned, one, other)
    table = {"item": [f"q{k}" for k in item], "group": [f"g{k}" for k in group[item]], "choice": choice[item, read]}
    return pd.DataFrame(table | {"first": first, "second": second})


def words(cell: Cell, studies: int, seed: int) -> Iterator[str]:
    """The verdict of each study."""
    stream = zlib.crc32(repr(cell).encode())
    for number in range(studies):
        (card,) = choice_cards(reads(cell, np.random.default_rng([seed, stream, number])))
        yield card.verdict


def row(cell: Any, setting: str, asked: Sequence[bool], before: Path) -> pd.DataFrame:
    """The row of a cell: how often the verdict is the one that it asks for, now and in an earlier version."""
    quantity = cell.asks if math.isnan(cell.most) else f"wrongly {cell.asks}"
    table = pd.read_csv(before) if before.exists() else pd.DataFrame(columns=["setting", "n_groups", "quantity"])
    same = (table["setting"] == setting) & (table["n_groups"] == cell.groups) & (table["quantity"] == quantity)
    earlier = float(table.loc[same, "before"].iloc[0]) if same.any() else math.nan
    target = f"at most {cell.most:.0%}" if not math.isnan(cell.most) else f"at least {cell.least:.0%}"
    about = {"point": cell.point, "setting": setting, "n_groups": cell.groups, "quantity": quantity}
    shares = {"studies": len(asked), "before": earlier, "now": float(np.mean(asked))}
    target = "" if math.isnan(cell.most) and math.isnan(cell.least) else target
    return pd.DataFrame([about | shares | {"target": target}], columns=COLUMNS)


def run(cell: Cell, studies: int, seed: int = 1) -> pd.DataFrame:
    """The row of a cell."""
    return row(cell, setting(cell), [word == cell.asks for word in words(cell, studies, seed)], BEFORE)


def main(cells: Sequence[Any], run: Callable[..., pd.DataFrame], setting: Callable[..., str], before: Path) -> None:
    """Print the rows of cells; with `--save-before`, keep them as those of an earlier version."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words that the setting must have")
    parser.add_argument("--save-before", metavar="VERSION", help="write what this library finds as what was before")
    options = parser.parse_args()
    parts = []
    for cell in cells:
        if not all(word in f"{setting(cell)} {cell.groups} {cell.point}" for word in options.only):
            continue
        parts.append(run(cell, options.studies, options.seed))
        print(parts[-1].to_csv(index=False, header=len(parts) == 1, sep="|").rstrip(), flush=True)
        if options.save_before:
            earlier = pd.concat(parts).assign(version=options.save_before, before=lambda rows: rows["now"])
            earlier = earlier[["setting", "n_groups", "quantity", "studies", "before", "version"]]
            earlier.to_csv(before, index=False, float_format="%.4f")


if __name__ == "__main__":
    main(cells(), run, setting, BEFORE)
