"""Shares of right and wrong bias cards where something else than a position gives the same numbers.

    python tests/recovery/causes_recovery.py --studies 200 [--only WORD ...] [--save-before VERSION]

The judge gives score s of item i at position p a log-weight and draws from the softmax, or writes its maximum. What is
planted is known from these weights alone. `before` holds what an earlier version's cards gave, see `card_recovery`.
"""

import argparse
import math
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from rubric_order.cards import card
from rubric_order.library import estimates

BEFORE = Path(__file__).with_name("causes_recovery_before.csv")
TOGETHER = 10  # studies whose cards are made in one call
BIASED, EQUIVALENT, CLAIMED, CHANGED, MISSED = (
    "biased",
    "equivalent",
    "preference claimed",
    "share that changes",
    "missed",
)
WRONG, POWER = 0.05, 0.95
COLUMNS = ["point", "setting", "n_groups", "quantity", "studies", "before", "now", "target"]

Weights = np.ndarray  # log-weights of each item, read and position, shape (items, K, n)


@dataclass(frozen=True)
class Study:
    """What a judge is asked: the group of each item, and the score at each position of each read."""

    group: np.ndarray
    rows: np.ndarray
    rng: np.random.Generator

    @property
    def usual(self) -> np.ndarray:
        return (self.rows == np.arange(self.rows.shape[1])).all(axis=1)


def same(weight: Weights, _: Study) -> Weights:
    return weight


def usual_scores_higher(share: float, most: int) -> Callable[[Weights, Study], Weights]:
    """Add 1 to `most` points to a share of the items in the usual ordering, for a judge that is sure of each score."""

    def effect(weight: Weights, of: Study) -> Weights:
        items, _, n = weight.shape
        score = of.rows[0][weight[:, 0].argmax(axis=1)]  # of the first read, which is the usual one
        score = np.repeat(score[:, None], len(of.rows), axis=1)
        added = (of.rng.random(items) < share) * of.rng.integers(1, most + 1, items)
        score[:, of.usual] = np.minimum(score + added[:, None], n - 1)[:, of.usual]
        return 50.0 * (of.rows == score[..., None])

    return effect


def hidden_ceiling(weight: Weights, of: Study) -> Weights:
    """The highest score in nearly all reads, and in 60% of those of the usual ordering."""
    items, reads, n = weight.shape
    lower = of.rng.random((items, reads)) < 0.4 * of.usual + 0.004
    score = np.where(lower, of.rng.integers(n - 3, n - 1, (items, reads)), n - 1)
    return 50.0 * (of.rows == score[..., None])


def first(size: float) -> Callable[[Weights, Study], Weights]:
    """Log-odds that the first position adds."""
    return lambda weight, of: weight + size * (np.arange(weight.shape[2]) == 0)


def groups_apart(size: float) -> Callable[[Weights, Study], Weights]:
    """The first position adds `size` in one half of the groups, and takes as much in the other."""

    def effect(weight: Weights, of: Study) -> Weights:
        sign = of.rng.choice([-1.0, 1.0], of.group.max() + 1)[of.group]
        return weight + size * sign[:, None, None] * (np.arange(weight.shape[2]) == 0)

    return effect


def sharper(times: float, of_reads: int = 2) -> Callable[[Weights, Study], Weights]:
    """Log-weights of one ordering are multiplied."""
    return lambda weight, of: weight * np.where(np.arange(len(of.rows)) == of_reads, times, 1.0)[:, None]


def shifted(size: float) -> Callable[[Weights, Study], Weights]:
    """Log-odds a level that one ordering alone adds upwards."""
    return lambda weight, of: weight + size * of.usual[:, None] * of.rows


def heavy_tailed(weight: Weights, of: Study) -> Weights:
    """Groups differ in what a position adds, with heavy tails and no mean."""
    drawn = of.rng.standard_t(3, (of.group.max() + 1, 1, weight.shape[2]))
    return weight + 0.3 * drawn[of.group]


def sensitive(share: float, size: float) -> Callable[[Weights, Study], Weights]:
    """A share of the items in which the first position wins by `size`."""
    return lambda weight, of: (
        weight + size * (of.rng.random(len(weight)) < share)[:, None, None] * (np.arange(weight.shape[2]) == 0)
    )


def all_scored(score: np.ndarray, _: Study) -> np.ndarray:
    return score


def low_lost(share: float) -> Callable[[np.ndarray, Study], np.ndarray]:
    """A share of the scores of 2 and less is lost, in the usual ordering only."""
    return lambda score, of: np.where(of.usual & (score <= 2) & (of.rng.random(score.shape) < share), np.nan, score)


def first_lost(share: float) -> Callable[[np.ndarray, Study], np.ndarray]:
    """A share of the answers at the first position is lost."""
    return lambda score, of: np.where(
        (score == of.rows[:, 0] + 1) & (of.rng.random(score.shape) < share), np.nan, score
    )


def four_of_ten(score: np.ndarray, of: Study) -> np.ndarray:
    """Each item is read in four orderings of its own."""
    rank = of.rng.random(score.shape).argsort(axis=1).argsort(axis=1)
    return np.where(rank < 4, score, np.nan)


def odd_only(score: np.ndarray, _: Study) -> np.ndarray:
    return np.floor((score - 1) / 2) * 2 + 1


@dataclass(frozen=True)
class Cell:
    """One kind of study.

    Attributes:
        name, point: what it is, and the point of the issue.
        asks: what is counted. most: the greatest share of it that is right; least: the smallest.
        heavy: share of the items that the first group has; 0 for groups of one size.
        effect: what is planted, in log-weights. lost: what becomes of the scores.
        apart: whether probabilities come from another call, which what is planted does not move.
        one_hot: whether the probability of the score that was written is 1.
        repeats: reads of each prompt. copied: share of these that are copies of the first.
        prompts: what each prompt of an item adds to each score, standard deviation in log-odds.
        own: the same, for what a group adds to each score in all prompts.
        asked: whether a read that is lost was asked for. here: whether the judge was asked here, so that scores and
            probabilities are of one answer at a known temperature.
        temperature: at which answers are drawn from the probabilities, which are those at 1.
        stray: reads of an ordering that no other item has.
    """

    name: str
    point: int
    asks: str = BIASED
    most: float = math.nan
    least: float = math.nan
    n: int = 5
    groups: int = 100
    per_group: int = 1
    heavy: float = 0.0
    centre: float = 0.5
    tolerance: float = 0.25
    prompts: float = 0.0
    own: float = 0.0
    effect: Callable[[Weights, Study], Weights] = same
    lost: Callable[[np.ndarray, Study], np.ndarray] = all_scored
    soft: bool = False
    greedy: bool = False
    apart: bool = False
    repeats: int = 1
    one_hot: bool = False
    copied: float = 0.0
    asked: bool = True
    here: bool = False
    temperature: float = 1.0
    stray: int = 0


def wrong(name: str, point: int, asks: str = BIASED, **settings: object) -> Cell:
    """A cell in which what is counted is wrong."""
    return Cell(name, point, asks, most=WRONG, **settings)


def right(name: str, point: int, asks: str = BIASED, least: float = POWER, **settings: object) -> Cell:
    """A cell in which what is counted is right."""
    return Cell(name, point, asks, least=least, **settings)


CELLS = (
    right("nine orderings agree, the usual one adds 1 or 2 points to 20%", 1, effect=usual_scores_higher(0.2, 2)),
    right("highest score in 96% of the reads, in 60% of the usual ordering", 1, effect=hidden_ceiling),
    wrong("first position worth .01 log-odds", 2, effect=first(0.01), soft=True, groups=400),
    right(
        "first position worth .01 log-odds", 2, EQUIVALENT, 0.8, effect=first(0.01), soft=True, here=True, groups=400
    ),
    *(  # .6 log-odds: SD of items .102, at the margin of .1; 1: .17
        wrong(
            f"written scores of groups move by {size:g} log-odds, probabilities of another call do not",
            3,
            EQUIVALENT,
            effect=groups_apart(size),
            soft=True,
            apart=True,
            groups=groups,
            per_group=per_group,
        )
        for size, groups, per_group in ((0.6, 400, 1), (0.6, 200, 1), (0.6, 100, 4), (1.0, 200, 1))
    ),
    wrong(  # SD of items .08 by the probabilities, .13 by the answers
        "undecided judge at temperature .55",
        3,
        EQUIVALENT,
        n=3,
        tolerance=3.0,
        prompts=0.18,
        soft=True,
        here=True,
        temperature=0.55,
        groups=800,
    ),
    right("no effect", 3, EQUIVALENT, 0.8, soft=True, here=True, groups=200, per_group=2),
    right("no effect, whose answers they are is not known", 3, EQUIVALENT, 0.8, soft=True, groups=400, per_group=2),
    wrong("60% of the scores up to 2 lost in the usual ordering", 6, lost=low_lost(0.6), groups=400),
    right("the same beside a shift of one ordering", 6, lost=low_lost(0.3), effect=shifted(0.8), groups=400),
    wrong("each row three times", 7, CHANGED, repeats=3, copied=1.0),
    wrong("nine of ten repeats are copies", 7, CHANGED, repeats=2, copied=0.9),
    right("repeats are true", 7, CHANGED, repeats=2),
    wrong("probabilities of 0 and 1", 7, CHANGED, soft=True, one_hot=True),
    right("one group has 12% of the items, first position worth 1", 9, heavy=0.12, groups=200, effect=first(1.0)),
    wrong("one group has 12% of the items, opinions of groups", 9, heavy=0.12, groups=200, own=0.7, prompts=0.3),
    wrong(
        "one group has 12% of the items, first position worth .27: at the margin",
        9,
        EQUIVALENT,
        heavy=0.12,
        groups=200,
        effect=first(0.27),
        soft=True,
        prompts=0.2,
    ),
    wrong("twice as sharp in one ordering", 12, effect=sharper(2.0), soft=True, prompts=0.1),
    wrong("twice as sharp in one ordering", 12, effect=sharper(2.0)),
    wrong("one ordering shifted alone", 12, CLAIMED, effect=shifted(1.0), soft=True, prompts=0.1),
    right("one ordering shifted alone", 12, effect=shifted(1.0), soft=True, prompts=0.1),
    wrong(
        "one stray ordering, 60% of the scores up to 2 lost in the usual one",
        6,
        lost=low_lost(0.6),
        groups=400,
        stray=1,
    ),
    wrong(
        "one stray ordering, another shifted alone", 12, CLAIMED, effect=shifted(1.0), soft=True, prompts=0.1, stray=1
    ),
    *(wrong("30% of the answers at position 1 lost", 6, lost=first_lost(0.3), groups=groups) for groups in (100, 400)),
    *(
        wrong(
            "30% of the answers at position 1 lost, all near 50:50",
            6,
            n=2,
            tolerance=1.0,
            lost=first_lost(0.3),
            groups=groups,
        )
        for groups in (100, 400)
    ),
    right("10% of the answers at position 1 lost, which adds 1", 6, lost=first_lost(0.1), effect=first(1.0)),
    # Held before.
    wrong("no effect, noise of prompts", 0, prompts=0.6),
    wrong("no effect, 4 of 10 orderings an item", 0, lost=four_of_ten, asked=False),
    wrong("no effect, 3 repeats", 0, repeats=3, prompts=0.3),
    wrong("no effect", 0, n=11, tolerance=0.12),
    wrong("no effect, scores 1, 3 and 5 only", 0, lost=odd_only),
    wrong("groups prefer positions of their own, heavy tails", 0, effect=heavy_tailed, per_group=3),
    wrong("usual ordering shifted", 0, MISSED, effect=shifted(0.3), groups=60),
    right("the first position wins in 10% of the items", 0, least=0.8, effect=sensitive(0.1, 4.0), groups=200),
)


def cells() -> list[Cell]:
    """All settings."""
    return [*CELLS]


def setting(cell: Cell) -> str:
    """The setting of a cell, in words."""
    size = f", {cell.per_group} items in each group" if cell.per_group > 1 else ""
    return f"{cell.name}; {cell.n} levels{size}{'; probabilities known' if cell.soft else ''}"


def quantity(cell: Cell) -> str:
    """The quantity of a cell, in words."""
    return cell.asks if math.isnan(cell.most) else f"wrongly {cell.asks}"


def shares_of(weight: Weights) -> np.ndarray:
    shares = np.exp(weight - weight.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def weights(cell: Cell, rng: np.random.Generator) -> tuple[Weights, Weights, Study]:
    """Log-weights before and after what is planted."""
    turns = (np.arange(cell.n)[:, None] + np.arange(cell.n)) % cell.n
    rows = np.vstack([turns, cell.n - 1 - turns])
    sizes = np.full(cell.groups, cell.per_group)
    if cell.heavy:
        sizes[0] = round(cell.heavy * (cell.groups - 1) / (1 - cell.heavy))
    group = np.repeat(np.arange(cell.groups), sizes)
    items = len(group)
    quality = cell.centre + 0.25 * (rng.normal(size=cell.groups)[group] + rng.normal(size=items)) / math.sqrt(2)
    worth = -((np.linspace(0, 1, cell.n) - quality[:, None]) ** 2) / (2 * cell.tolerance**2)
    worth += cell.own * rng.normal(size=(cell.groups, cell.n))[group]
    weight = worth[:, rows] + cell.prompts * rng.normal(size=(items, len(rows), cell.n))
    of = Study(group, rows, rng)
    return weight, cell.effect(weight, of), of


def reads(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """The reads of one study, as `rubric-order audit` takes them."""
    before, weight, of = weights(cell, rng)
    shares = shares_of(weight)
    tables, first = [], np.empty(0)
    for repeat in range(cell.repeats):
        if repeat == 0 or cell.copied < 1:
            drawn = shares if cell.temperature == 1 else shares_of(weight / cell.temperature)
            at = (drawn.cumsum(axis=-1) < rng.random((*shares.shape[:2], 1))).sum(axis=-1).clip(max=cell.n - 1)
            at = shares.argmax(axis=-1) if cell.greedy else at
            score = np.take_along_axis(np.broadcast_to(of.rows, shares.shape), at[..., None], axis=-1)[..., 0] + 1.0
            score = cell.lost(score, of)
            first = score if repeat == 0 else first
            score = score if repeat == 0 else np.where(rng.random(score.shape) < cell.copied, first, score)
        item, read = np.indices(score.shape).reshape(2, -1)
        names = np.array([" ".join(map(str, row + 1)) for row in of.rows])
        columns = {"item": item, "group": of.group[item], "ordering": names[read], "score": score.ravel()}
        tables.append(pd.DataFrame(columns))
        if cell.soft:
            by_score = np.empty(shares.shape)
            known = shares_of(before) if cell.apart else shares
            if cell.one_hot:
                known = np.where(np.isnan(score)[..., None], np.nan, of.rows + 1 == score[..., None])
            np.put_along_axis(by_score, np.broadcast_to(of.rows, shares.shape), known, axis=-1)
            tables[-1] = tables[-1].assign(**{f"p_{k + 1}": by_score[..., k].ravel() for k in range(cell.n)})
    table = pd.concat(tables, ignore_index=True)
    strays = table[4 : 4 + cell.stray].assign(ordering="2 1 3 5 4")
    table = pd.concat([table, strays], ignore_index=True) if cell.stray else table
    return table if cell.asked else table[table["score"].notna()]


@cache
def shift(cell: Cell) -> float:
    """Expected score in the usual ordering less the mean over orderings, from the weights of many items."""
    many = Cell(**{**cell.__dict__, "groups": 100_000})
    _, weight, of = weights(many, np.random.default_rng(1))
    expected = (shares_of(weight) * of.rows).sum(axis=2).mean(axis=0)
    return float(expected[of.usual].mean() - expected.mean())


def counts(made: card.Card, cell: Cell) -> bool:
    """True if a card has what the cell counts."""
    if cell.asks == CLAIMED:
        table = getattr(made.verdict, "table", None)
        if table is None:  # an earlier version
            return any(text.startswith(("Some positions", "High and low")) for text in made.verdict.reasons)
        return any(estimand.biased for estimand in table if estimand.name in ("log_odds", "interaction"))
    if cell.asks == CHANGED:
        return made.evidence.spread.scores.known
    if cell.asks == MISSED:
        usual = made.evidence.points.usual
        return not usual.low <= shift(cell) <= usual.high
    return made.verdict.word.startswith(cell.asks)


def answers(cell: Cell, studies: int, seed: int) -> Iterator[bool]:
    """What is counted, in each study."""
    stream = zlib.crc32(f"{setting(cell)} {cell.groups}".encode())
    for start in range(0, studies, TOGETHER):
        numbers = range(start, min(start + TOGETHER, studies))
        parts = [reads(cell, np.random.default_rng([seed, stream, k])).assign(judge=f"judge{k}") for k in numbers]
        statistics = estimates.card_statistics(estimates.scores_of(pd.concat(parts, ignore_index=True)))
        if cell.here:
            statistics["position_preference"] = statistics["position_preference"].assign(temperature=cell.temperature)
        yield from (counts(made, cell) for made in card.cards(statistics))


@cache
def before() -> dict[tuple[str, int, str], float]:
    """Shares that an earlier version's cards gave, by setting, groups and quantity."""
    if not BEFORE.exists():
        return {}
    return {(row.setting, row.n_groups, row.quantity): row.before for row in pd.read_csv(BEFORE).itertuples()}


def run(cell: Cell, studies: int, seed: int = 1) -> pd.DataFrame:
    """The row of a cell: how often cards have what it asks for."""
    about = {"point": cell.point, "setting": setting(cell), "n_groups": cell.groups, "quantity": quantity(cell)}
    target = f"at most {cell.most:.0%}" if math.isnan(cell.least) else f"at least {cell.least:.0%}"
    row = about | {"studies": studies, "now": float(np.mean([*answers(cell, studies, seed)])), "target": target}
    row["before"] = before().get((about["setting"], cell.groups, about["quantity"]), math.nan)
    return pd.DataFrame([row], columns=COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words that the setting must have")
    parser.add_argument("--point", type=int, nargs="*", help="points of these numbers")
    parser.add_argument("--save-before", metavar="VERSION", help="write what this library finds as what was before")
    options = parser.parse_args()
    parts = []
    for cell in cells():
        words = f"{setting(cell)} {quantity(cell)} {cell.groups}"
        if all(word in words for word in options.only) and (not options.point or cell.point in options.point):
            parts.append(run(cell, options.studies, options.seed))
            row = parts[-1].iloc[0]
            print(
                f"{row['point']} {words}: before {row['before']:.3f} now {row['now']:.3f} {row['target']}", flush=True
            )
            if options.save_before:
                kept = pd.concat(parts).assign(version=options.save_before, before=lambda rows: rows["now"])
                columns = ["setting", "n_groups", "quantity", "studies", "before", "version"]
                kept[columns].to_csv(BEFORE, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
