"""Asking in rounds: each text is read until its score is known well enough, and no further.

The judge reads some groups of texts, the probe groups, in all orderings. The card is made from these groups, and a rule
is learnt on them (`methods.adaptive.boundary`). The judge reads every other text in one ordering after another, in a
random order of the text's own, until the text is stopped. The next request depends only on the answers so far. So a
killed run goes on where it was, and a replay of complete answers stops the same texts after the same reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.errors import InputError
from rubric_order.library.estimates import SEED
from rubric_order.methods.adaptive import boundary, sequences, stopping
from rubric_order.methods.adaptive.boundary import Boundary, Goal, Scale
from rubric_order.methods.uncertainty import enough

LEVEL = 0.95
DRAWS = 8
UNSCORED = "unscored"  # reason for a text that was read completely, and has a read without a score

Ask = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Adaptive:
    """Settings of asking in rounds.

    Attributes:
        target: width in points at which the interval of a text's score is narrow enough.
        probe_groups: number of groups that are read completely; 0 to stop by confidence sequences, which need no such
            groups.
        places: stop a text also if its place among the candidates of its group is settled.
    """

    target: float
    probe_groups: int = 40
    places: bool = False

    def check(self) -> None:
        """Refuse settings that no rule can follow.

        Raises:
            InputError: a setting is out of range; the message says what was found and what was expected.
        """
        if not 0 < self.target < math.inf:
            raise InputError(f"--target-width: expected points above 0, found {self.target:g}")
        if self.probe_groups > 0 and (few := enough.RULE.refusal(self.probe_groups, self.probe_groups)):
            raise InputError(f"--probe-groups: {few}, or 0 for confidence sequences")


@dataclass(frozen=True)
class Texts:
    """Texts with their planned reads.

    Attributes:
        reads: reads of strategy ``balanced``, one row per read and N rows per text, sorted by text and then by index of
            the read.
        scale: scale of the scores.
        group: index of each text's group, from 0, shape (m,).
        cell: index of each text's combination of group and criterion, from 0, shape (m,).
        order: see `stopping.orders`, shape (m, N).
    """

    reads: pd.DataFrame
    scale: Scale
    group: np.ndarray
    cell: np.ndarray
    order: np.ndarray

    @property
    def firsts(self) -> pd.DataFrame:
        """One row per text: its first read."""
        return self.reads.iloc[:: self.scale.size]

    def only(self, rows: np.ndarray) -> Texts:
        """Some of the texts, with new indices of groups and cells, from 0."""
        reads = self.reads[np.repeat(rows, self.scale.size)]
        group, cell = (np.unique(number[rows], return_inverse=True)[1] for number in (self.group, self.cell))
        return Texts(reads, self.scale, group, cell, self.order[rows])

    def next(self, rows: np.ndarray, read: int) -> pd.DataFrame:
        """The reads that the texts `rows` get in round `read`. Texts and rounds are given by index, from 0."""
        return self.reads.iloc[rows * self.scale.size + self.order[rows, read]]


def laid_out(plan: pd.DataFrame, strategy: str) -> Texts:
    """Texts in a plan, with their reads.

    Args:
        plan: plan of one dataset, scale and profile, see `contracts.reads.PLAN`.
        strategy: strategy whose reads are taken.

    Raises:
        InputError: reads of a text share a request, so that no request can be spared.
    """
    reads = plan[plan["strategy"] == strategy].sort_values(["unit_id", "read_index"], kind="stable")
    firsts = reads.drop_duplicates("unit_id")
    size, n = len(reads) // len(firsts), int(reads["n"].iloc[0])
    if reads["request_id"].duplicated().any():
        raise InputError(
            "--adaptive: reads of a text share a request, as where all orderings are asked at once or a scale has two"
            " levels; expected a request per read"
        )
    group, cell = (firsts.groupby(keys).ngroup().to_numpy() for keys in (["group_id"], ["group_id", "criterion"]))
    keys = [(dataset, unit, n) for dataset, unit in zip(firsts["dataset"], firsts["unit_id"], strict=True)]
    return Texts(reads, Scale(size, 1, n), group, cell, stopping.orders(SEED, keys, size))


def probes(texts: Texts, count: int) -> np.ndarray:
    """Mask of the texts in probe groups, shape (m,), bool. Probe groups are drawn at random, to be like the others."""
    ids = texts.firsts["group_id"].to_numpy()
    drawn = sorted(set(ids))
    rng = randomness.generator(SEED, "probe groups", str(texts.firsts["dataset"].iloc[0]))
    chosen = [drawn[place] for place in rng.permutation(len(drawn))[:count]]
    return np.isin(ids, chosen)


def learnt(texts: Texts, scores: np.ndarray, setting: Adaptive) -> Boundary:
    """Rule learnt from texts that were read completely. Texts with a read without a score are left out.

    Args:
        scores: score of each text in each ordering, shape (m, N).
    """
    complete = ~np.isnan(scores).any(axis=1)
    goal = Goal(setting.target, setting.places, 1 - LEVEL)
    if not complete.any():
        nothing = np.zeros(texts.scale.size)
        return Boundary(nothing, boundary.Spread(0.0, boundary.MOST_PRIOR), np.inf, 0)
    kept = texts.only(complete)
    rng = randomness.generator(SEED, "adaptive rule", str(texts.firsts["dataset"].iloc[0]))
    return boundary.learn(scores[complete], kept.group, kept.cell, kept.scale, goal, draws=DRAWS, rng=rng)


def in_rounds(texts: Texts, rule: Boundary | None, setting: Adaptive, ask: Ask) -> pd.DataFrame:
    """Read texts in rounds until each is stopped.

    Args:
        texts: texts on which no rule was learnt.
        rule: rule that was learnt; None for confidence sequences.
        ask: function that takes some of `Texts.reads`, and returns their scores in column ``score``, in the same order.

    Returns:
        See `described`.
    """
    size, m = texts.scale.size, len(texts.group)
    values, going = np.full((m, size), np.nan), np.arange(m)
    claimed = None
    for read in range(size):
        if not len(going):
            break
        asked = ask(texts.next(going, read))
        values[going, read] = asked["score"].to_numpy(dtype=float, na_value=np.nan)
        claimed = claims(texts, values[:, : read + 1], rule, setting)
        going = np.flatnonzero(claimed.stops.reason == stopping.READING)
    if claimed is None:
        nothing = np.empty(0)
        claimed = boundary.Claims(stopping.Stops(nothing.astype(int), nothing.astype(int)), nothing, nothing, nothing)
    return described(texts, values, claimed)


def claims(texts: Texts, values: np.ndarray, rule: Boundary | None, setting: Adaptive) -> boundary.Claims:
    """State of each text after t rounds.

    Args:
        values: scores in the order of the reads, shape (m, t); scores after a text was stopped do not matter.
        rule: see `in_rounds`.
    """
    groups, scale, alpha = stopping.grouped(texts.cell), texts.scale, 1 - LEVEL
    if rule is not None:
        offsets = rule.offsets[texts.order[:, : values.shape[1]]]
        walk = boundary.paths(values, offsets, rule.spread, scale)
        return boundary.claims(walk, rule.factor, Goal(setting.target, setting.places, alpha), scale, groups)
    options = {**scale._asdict(), "whole": True}
    ends = sequences.intervals(values, alpha=alpha, **options)
    shared = alpha / np.bincount(texts.cell)[texts.cell]
    places = sequences.intervals(values, alpha=shared, **options) if setting.places else None
    stops = stopping.stop(ends[..., 1] - ends[..., 0], scale.size, setting.target, groups, places=places)
    means = np.cumsum(values, axis=1) / np.arange(1, values.shape[1] + 1)
    return boundary.Claims(stops, stops.taken(means), *stops.taken(ends).T)


def described(texts: Texts, values: np.ndarray, claimed: boundary.Claims) -> pd.DataFrame:
    """One row per text: its score with an interval, the number of its reads, and the reason why reading stopped.

    Returns:
        Columns `item_id`, `group_id`, `candidate`, `criterion`, `score`, `low`, `high`, `reads`, `orderings`, `spared`
        and `stopped_by`. `orderings` is the number of reads of a complete text. `spared` is the number of reads that
        were not asked; such reads are no failures.

        `stopped_by` is ``width``, ``place``, ``all`` or ``unscored``. With ``width``, the interval is narrow enough.
        With ``place``, the text's place in its group is settled. With ``all``, all reads were asked, and `score` is
        certain. With ``unscored``, all reads were asked, but a read has no score: `score` is the mean of the other
        reads, and there is no interval.
    """
    firsts, size = texts.firsts, texts.scale.size
    reads, reason = claimed.stops
    with np.errstate(invalid="ignore"):
        scored = (~np.isnan(values)).sum(axis=1)
        means = np.nansum(values, axis=1) / scored
    unscored = scored < reads
    words = np.array(stopping.REASONS, dtype=object)[reason]
    ends = (np.where(unscored, np.nan, np.round(end, 9)) for end in (claimed.low, claimed.high))
    columns = dict(zip(("low", "high"), ends, strict=True))
    return pd.DataFrame(
        {
            "item_id": firsts["unit_id"].to_numpy(),
            **{name: firsts[name].to_numpy() for name in ("group_id", "candidate", "criterion")},
            "score": np.round(np.where(unscored, means, claimed.estimate), 9),
            **columns,
            "reads": reads,
            "orderings": size,
            "spared": size - reads,
            "stopped_by": np.where(unscored, UNSCORED, words),
        }
    )


def complete(texts: Texts, scores: np.ndarray) -> pd.DataFrame:
    """Texts that were read completely, in the form of `described`.

    Args:
        scores: score of each text in each ordering, shape (m, N).
    """
    m, size = scores.shape
    stops = stopping.Stops(np.full(m, size), np.full(m, stopping.ALL))
    mean = scores.mean(axis=1)
    return described(texts, scores, boundary.Claims(stops, mean, mean, mean))
