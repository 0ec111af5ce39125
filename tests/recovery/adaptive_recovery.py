"""Adaptive reading of simulated judges: how often what is claimed at stopping is right, and what it saves.

    python tests/recovery/adaptive_recovery.py --studies 2000

A study has groups that are read completely, from which a rule is learnt, and new groups that are read until they are
stopped. The truth is the mean of all reads of an item, computed from the reads alone. Judges prefer the first place,
the last, both ends, high scores first; groups and items differ in what positions are worth to them; some judges write
the same score in nearly every read, or almost anything; some answer a few groups otherwise than all others.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

from rubric_order.extras.one_read.methods.adaptive import boundary, sequences, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Goal, Scale
from rubric_order.methods.position import blocks
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

NOISE = {"prompts": 0.3, "item_positions": 0.3, "group_positions": 0.3, "item_scores": 0.3}
JUDGES: Mapping[str, Mapping[str, object]] = {
    "no preference": {},
    "first": {"preference": "first", "preference_strength": 1.5},
    "last": {"preference": "last", "preference_strength": 1.5},
    "both ends": {"preference": "u_shaped", "preference_strength": 1.5},
    "interaction": {"interaction": 1.5},
    "groups differ": {"preference": "first", "preference_strength": 1.5, "group_positions": 1.0},
    "items differ": {"preference": "first", "preference_strength": 1.5, "item_positions": 1.0},
    "saturated": {"leniency": 3.0, "decisiveness": 4.0},
    "partly saturated": {"leniency": 1.5, "decisiveness": 3.0, "preference": "first", "preference_strength": 1.5},
    "indecisive": {"decisiveness": 0.1, "preference": "first"},
}
SATURATED, STRONG = JUDGES["saturated"], {"preference_strength": 2.0, "decisiveness": 2.0}
MIXED: Mapping[str, tuple[Mapping[str, object], Mapping[str, object], float]] = {
    "saturated, 3% of groups almost any score": (SATURATED, {"decisiveness": 0.1}, 0.03),
    "saturated, 8% of groups almost any score": (SATURATED, {"decisiveness": 0.1}, 0.08),
    "first, 10% of groups last": ({"preference": "first"} | STRONG, {"preference": "last"} | STRONG, 0.1),
    "first, 50% of groups last": ({"preference": "first"} | STRONG, {"preference": "last"} | STRONG, 0.5),
}
SCALE = Scale(10, 1, 5)
TARGET, LEVEL = 1.0, 0.95


class Mixture(NamedTuple):
    """Judge that answers some groups as another one would.

    Attributes:
        share: of the groups that have the other one.
    """

    judge: Simulation
    other: Simulation
    share: float


def judges() -> Iterator[tuple[str, Simulation | Mixture]]:
    """All judges with their names."""
    for name, settings in JUDGES.items():
        yield name, Simulation(**NOISE | settings)
    for name, (settings, others, share) in MIXED.items():
        yield name, Mixture(Simulation(**NOISE | settings), Simulation(**NOISE | others), share)


def reads(of: Simulation | Mixture, *, groups: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Written scores by ordering, shape (m, 10), and groups; of unequal sizes, 1 to 4 items."""
    if isinstance(of, Mixture):
        (values, group), (others, other_group) = (
            reads(judge, groups=groups, seed=own) for judge, own in ((of.judge, seed), (of.other, seed + 10**6))
        )
        odd = np.random.default_rng([seed, 7]).random(groups) < of.share
        kept, added = ~odd[group], odd[other_group]
        values = np.concatenate([values[kept], others[added]])
        return values, np.unique(np.concatenate([group[kept], other_group[added]]), return_inverse=True)[1]
    made = studies.read_items(of, n=5, strategies=["balanced"], groups=groups, candidates=4, seed=seed)
    (block,) = blocks.blocks(studies.as_scores(made, candidates=4))
    group = block.units("group")
    sizes = np.random.default_rng(seed).integers(1, 5, groups)
    slot = stopping.grouped(group).slot
    kept = slot < sizes[group]
    return block.matrix("score")[kept], np.unique(group[kept], return_inverse=True)[1]


def study(
    of: Simulation | Mixture, *, learning: int, groups: int, place: bool, seed: int, target: float = TARGET
) -> pd.Series:
    """One study: shares of what is right, by both rules; `learnt` beside `sequence`."""
    goal = Goal(target, place, 1 - LEVEL)
    old, old_group = reads(of, groups=learning, seed=2 * seed)
    new, group = reads(of, groups=groups, seed=2 * seed + 1)
    rng = np.random.default_rng(seed)
    rule = boundary.learn(old, old_group, old_group, SCALE, goal, draws=4, rng=rng)
    order = stopping.orders(seed, [(seed, item) for item in range(len(new))], 10)
    values, cells, truth = np.take_along_axis(new, order, axis=1), stopping.grouped(group), new.mean(axis=1)
    walk = boundary.paths(values, rule.offsets[order], rule.spread, SCALE)
    learnt = boundary.claims(walk, rule.factor, goal, SCALE, cells)
    options = {**SCALE._asdict(), "whole": True}
    ends = sequences.intervals(values, alpha=goal.alpha, **options)
    places = sequences.intervals(values, alpha=goal.alpha / np.bincount(group)[group], **options) if place else None
    stops = stopping.stop(ends[..., 1] - ends[..., 0], 10, target, cells, places=places)
    means = np.cumsum(values, axis=1) / np.arange(1, 11)
    alone = boundary.Claims(stops, stops.taken(means), *stops.taken(ends).T)
    row = {"factor": rule.factor}
    for name, claimed in (("learnt", learnt), ("sequence", alone)):
        wrong, early = boundary.wrong(claimed, truth, cells), claimed.stops.reads < 10
        # Groups are the sample: a group's share counts once, whatever its size.
        share = np.bincount(group, wrong) / np.bincount(group)
        row[f"{name} wrong"] = float(share.mean())
        row[f"{name} wrong early"] = float(wrong[early].sum())
        row[f"{name} early"] = float(early.sum())
        row[f"{name} reads"] = float(claimed.stops.reads.mean())
        row[f"{name} by place"] = float((claimed.stops.reason == stopping.PLACE).mean())
    return pd.Series(row)


def several(of: Simulation | Mixture, count: int, **options: object) -> pd.DataFrame:
    """Studies of one judge, a row each."""
    return pd.DataFrame([study(of, seed=1000 + number, **options) for number in range(count)])


def summary(rows: pd.DataFrame) -> dict[str, float]:
    """Percent right, with the standard error over studies; of the items that stopped early; and reads."""
    made = {"rule off, %": 100 * float(np.isinf(rows["factor"]).mean())}
    for name in ("learnt", "sequence"):
        wrong = rows[f"{name} wrong"]
        made[f"{name}: right, %"] = 100 * (1 - float(wrong.mean()))
        made[f"{name}: se"] = 100 * float(wrong.std(ddof=1)) / len(rows) ** 0.5
        early = rows[f"{name} early"].sum()
        made[f"{name}: right early, %"] = 100 * (1 - rows[f"{name} wrong early"].sum() / early) if early else np.nan
        made[f"{name}: reads"] = float(rows[f"{name} reads"].mean())
        made[f"{name}: by place, %"] = 100 * float(rows[f"{name} by place"].mean())
    return made


def tables(count: int, learning: int, groups: int, target: float) -> Iterator[pd.DataFrame]:
    """For both goals a row per judge."""
    for place in (False, True):
        made = {}
        for name, of in judges():
            made[name] = summary(several(of, count, learning=learning, groups=groups, place=place, target=target))
        yield pd.DataFrame(made).T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000, help="over both goals and all judges but mixtures")
    parser.add_argument("--learning", type=int, default=60, help="groups that are read completely")
    parser.add_argument("--groups", type=int, default=40, help="new groups")
    parser.add_argument("--target", type=float, default=TARGET)
    options = parser.parse_args()
    count = options.studies // (2 * len(JUDGES))
    words = f"target {options.target:g}, {options.learning} groups learnt on, {count} studies per row"
    results = tables(count, options.learning, options.groups, options.target)
    for goal, table in zip(("width", "width or place"), results, strict=True):
        print(f"goal: {goal}; {words}\n{table.round(2).to_string()}\n", flush=True)


if __name__ == "__main__":
    main()
