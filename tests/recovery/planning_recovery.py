"""The number of groups that `rubric-order plan-groups` names, beside the one that four of five simulated studies need.

    python tests/recovery/planning_recovery.py --studies 200 [--only WORD ...]

Prints its rows as Markdown. Reads come from `card_recovery`, whose judges are not those of the calculator: their items'
qualities are normal, scores end at the ends of the scale, groups have opinions. `now` is the calculator's number of
groups over the one at which 80% of whole cards say what is asked for. That one is found by simulation: numbers of
groups are tried until some lie below 80% and some above, and a probit line in their logarithm goes through all shares.
`before` is the same of the sentence that cards had (interval narrowed by the root of the number), the median over
cards that `cannot tell` of studies of `PILOT` groups; it was about `equivalent` only. For `biased` of pass or fail,
`before` is the number by the errors of a judge without an effect, and of an F test.
"""

import argparse
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import card_recovery
import numpy as np
import pandas as pd
from card_recovery import BIASED, EQUIVALENT, Cell
from scipy import optimize, special

from rubric_order.analyses.position.equivalence import estimate as equivalence
from rubric_order.cards import card
from rubric_order.library import estimates
from rubric_order.methods.position import planning_groups

POINT = 7
POWER = 0.8
TRIED = (0.8, 1.0, 1.25)  # numbers of groups, by the calculator's
FURTHER = 1.4  # factor between others, until 80% lies between two
READS_AT_ONCE = 60_000
MANY = 20_000  # groups from which the share of pairs that differ is taken
PILOT = 100
MARGINS = {"margin_points": estimates.POINTS, "margin_log_odds": estimates.LOG_ODDS}
MARGINS |= {"margin_spread": estimates.SPREAD}


@dataclass(frozen=True)
class Planned:
    """One kind of study, and what is asked of it.

    Attributes:
        reads: the simulated judge without a bias; its number of groups is not used.
        asks: the verdict. log_odds, points: the effect that is planted where it is `biased`, at least the margin: more
            groups show that a smaller one is negligible.
    """

    reads: Cell
    asks: str
    log_odds: float = 0.0
    points: float = 0.0


def _judge(name: str, **settings: object) -> Cell:
    return Cell(name, POINT, **{"prompts": 0.2} | settings)


WAVERING, DECISIVE = {"tolerance": 0.25}, {"tolerance": 0.12}
PASS_FAIL = {"n": 2, "tolerance": 0.5, "design": "rotations"}
CELLS = (
    Planned(_judge("wavering", **WAVERING), BIASED, log_odds=0.3),
    Planned(_judge("decisive, groups of 3 with opinions", per_group=3, own=0.5, **DECISIVE), BIASED, points=0.1),
    Planned(
        _judge("pass or fail, groups of 3 that prefer positions", per_group=3, places=0.2, **PASS_FAIL), BIASED, 0.25
    ),
    Planned(_judge("mostly passing", centre=1.05, spread=0.1, **PASS_FAIL), BIASED, points=0.1),
    Planned(_judge("mostly passing, many undecided", centre=0.9, spread=0.5, **PASS_FAIL), BIASED, log_odds=0.5),
    Planned(_judge("decisive, each ordering read twice", repeats=2, **DECISIVE), EQUIVALENT),
    Planned(_judge("pass or fail, each ordering read four times", repeats=4, **PASS_FAIL), EQUIVALENT),
    Planned(_judge("wavering, groups of 2 with opinions", soft=True, per_group=2, own=0.5, **WAVERING), EQUIVALENT),
    Planned(_judge("pass or fail", soft=True, **PASS_FAIL | {"prompts": 0.3}), EQUIVALENT),
    *(
        Planned(_judge(f"{name}, a table without a temperature", soft=True, stated=False, **settings), EQUIVALENT)
        for name, settings in (
            ("wavering, groups of 2", WAVERING | {"per_group": 2}),
            ("decisive", DECISIVE),
            ("pass or fail", PASS_FAIL),
        )
    ),
)


def cells() -> list[Planned]:
    """All settings."""
    return [*CELLS]


def setting(cell: Planned) -> str:
    """The setting of a cell, in words."""
    effect = f"; one position worth {cell.log_odds:g}" if cell.log_odds else ""
    effect += f"; usual ordering shifted {cell.points:g} points" if cell.points else ""
    return f"{card_recovery.setting(cell.reads)}{effect}"


@cache
def differing(cell: Planned) -> float:
    """Share of the pairs of reads of an item that differ, without an effect."""
    many = replace(cell.reads, groups=MANY // cell.reads.per_group, repeats=1, soft=False)
    table = card_recovery.reads(many, np.random.default_rng(7))
    scores = table["score"].to_numpy().reshape(-1, len(card_recovery.shown(many)))
    times = (scores[..., None] == np.arange(1, many.n + 1)).sum(axis=1)
    reads = scores.shape[1]
    return float(1 - (times * (times - 1)).sum(axis=1).mean() / (reads * (reads - 1)))


@cache
def planted(cell: Planned) -> Cell:
    """The judge with its effect: of points the slope in log-odds that moves the usual ordering's mean score so far."""
    if not cell.points:  # a position is worth more than the mean of all
        return replace(cell.reads, first=cell.log_odds * cell.reads.n / (cell.reads.n - 1))

    by = "shift" if cell.reads.n > 2 else "first"  # of two levels the first position

    def shift(slope: float) -> float:
        many = replace(cell.reads, groups=MANY // cell.reads.per_group, soft=True, **{by: slope})
        table = card_recovery.reads(many, np.random.default_rng(7))
        expected = sum(level * table[f"p_{level}"].to_numpy() for level in range(1, many.n + 1))
        by_read = expected.reshape(-1, len(card_recovery.shown(many))).mean(axis=0)
        return float(abs(by_read[0] - by_read.mean()))

    return replace(cell.reads, **{by: optimize.brentq(lambda slope: shift(slope) - cell.points, 0, 3, xtol=1e-3)})


@cache
def planned(cell: Planned, *, before: bool = False) -> float:
    """The calculator's number, from the share of pairs that differ and what is known of the design."""
    judge, within = cell.reads, 0.0
    n_orderings = len(card_recovery.shown(replace(judge, repeats=1)))
    if judge.places:  # variance of a group's own preference, and that of an item's estimate
        alone = planning_groups.expected(judge.n, differing(cell), orderings=n_orderings)
        own = judge.places**2 * (1 - 1 / judge.n)
        within = own / (own + float(np.square(alone.log_odds).mean()))
    errors = planning_groups.expected(
        judge.n,
        differing(cell),
        orderings=n_orderings,
        repeats=judge.repeats,
        items=judge.per_group,
        within=within,
        soft=judge.soft,
        prompt_noise=judge.prompts,
        one_answer=judge.stated,
    )
    if before:
        errors = errors._replace(differ=math.nan)
    if cell.asks == BIASED:
        margin = MARGINS["margin_points" if cell.points else "margin_log_odds"]
        return planning_groups.bias_groups(errors, log_odds=cell.log_odds, points=cell.points, margin=margin).groups
    return planning_groups.equivalence_groups(errors, **MARGINS).groups


def made(cell: Cell, studies: int, seed: int) -> Iterator[card.Card]:
    """The card of each study. Resamples are few: no verdict depends on them."""
    stream = zlib.crc32(f"{cell!r}{cell.repeats}{cell.places}".encode())
    step = max(1, READS_AT_ONCE // (cell.groups * cell.per_group * len(card_recovery.shown(cell))))
    for first in range(0, studies, step):
        parts = [
            card_recovery.reads(cell, np.random.default_rng([seed, stream, k])).assign(judge=f"judge{k}")
            for k in range(first, min(first + step, studies))
        ]
        scores = estimates.scores_of(pd.concat(parts, ignore_index=True))
        found = {name: estimates.estimate(name, scores) for name in ("decisiveness", "position_preference")}
        found |= {name: estimates.estimate(name, scores) for name in ("score_effects", "order_spread")}
        found["position_selection"] = estimates.estimate("position_selection", scores, resamples=2)
        found["equivalence"] = equivalence.estimate(
            score_effects=found["score_effects"],
            position_preference=found["position_preference"],
            **{name: pd.DataFrame(columns=equivalence.COLUMNS[name]) for name in estimates.NOT_COMPARED},
            level=estimates.LEVEL,
            points=estimates.POINTS,
            log_odds=estimates.LOG_ODDS,
            r=estimates.R,
        )
        yield from card.cards(card_recovery.state_temperature(found, cell))


def needed(cell: Planned, studies: int, seed: int) -> float:
    """The number of groups at which `POWER` of the cards say what is asked for."""
    judge, shares = planted(cell), {}

    def share(groups: int) -> float:
        if groups not in shares:
            found = made(replace(judge, groups=groups), studies, seed)
            shares[groups] = float(np.mean([each.verdict.word.startswith(cell.asks) for each in found]))
        return shares[groups]

    for factor in TRIED:
        share(max(20, round(planned(cell) * factor)))
    while min(shares.values()) > POWER and min(shares) > 20:
        share(max(20, round(min(shares) / FURTHER)))
    while max(shares.values()) < POWER and max(shares) < 20 * planned(cell):
        share(round(max(shares) * FURTHER))
    return _at_power(shares, studies)


def _at_power(shares: dict[int, float], studies: int) -> float:
    """The number of groups at which a probit line through shares has `POWER`."""
    at, share = np.log([*shares]), np.array([*shares.values()])
    if share.max() < POWER:
        raise ValueError(f"expected a share from {POWER:.0%} on, found {shares}")

    def loss(line: np.ndarray) -> float:
        p = np.clip(special.ndtr(line[0] + math.exp(line[1]) * (at - at.mean())), 1e-9, 1 - 1e-9)
        return -float(studies * (share * np.log(p) + (1 - share) * np.log(1 - p)).sum())

    fits = [
        optimize.minimize(loss, [0.84, start], method="Nelder-Mead", bounds=[(-5, 5), (-3, 5)])
        for start in (0.5, 1.5, 2.5)
    ]
    level, slope = min(fits, key=lambda fit: fit.fun).x
    return math.exp(at.mean() + (special.ndtri(POWER) - level) / math.exp(slope))


def narrowed(cell: Planned, studies: int, seed: int) -> float:
    """The number that cards said before, see the module."""
    numbers = []
    for each in made(replace(cell.reads, groups=PILOT), studies, seed):
        found, wanted = each.evidence, [PILOT]
        for small in (found.points.small_points, found.log_odds.small_log_odds, found.log_odds.small_interaction):
            reach = max(abs(small.worst.low), abs(small.worst.high))
            if not small.shown and not math.isnan(reach):
                room = small.margin - abs(small.worst.estimate)
                half = reach - abs(small.worst.estimate)
                wanted.append(PILOT * (half / room) ** 2 if room > 0 else math.inf)
        if each.verdict.word == "cannot tell" and PILOT < max(wanted) < 100 * PILOT:
            numbers.append(max(wanted))
    return float(np.median(numbers)) if numbers else math.nan


def run(cell: Planned, studies: int, seed: int = 1) -> pd.DataFrame:
    """The row of a cell: the calculator's number of groups over the one that is needed."""
    groups = needed(cell, studies, seed)
    if cell.asks == EQUIVALENT:
        before = narrowed(cell, max(studies // 5, 10), seed) / groups
    else:
        before = planned(cell, before=True) / groups if cell.reads.n == 2 and not cell.reads.soft else math.nan
    row = {"point": POINT, "setting": setting(cell), "n_groups": round(groups), "studies": studies, "before": before}
    row |= {"quantity": f"groups for `{cell.asks}`, planned by needed", "now": planned(cell) / groups}
    return pd.DataFrame([row | {"target": "75% to 125%"}], columns=card_recovery.COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words that the setting must have")
    options = parser.parse_args()
    chosen = [cell for cell in cells() if all(word in f"{setting(cell)} {cell.asks}" for word in options.only)]
    parts = [run(cell, options.studies, options.seed) for cell in chosen]
    print("\n".join(card_recovery.lines(pd.concat(parts))))


if __name__ == "__main__":
    main()
