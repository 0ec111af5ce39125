"""Asking in rounds: each text is read, in a random order of its own, until its score is known well enough.

Probe groups are read completely, for the card and for the rule (`methods.adaptive.boundary`). The next request depends
on the answers so far alone: a killed run goes on, and a replay of complete answers stops the same texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rubric_order.base import files, randomness
from rubric_order.base.errors import InputError
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.contracts.responses import RESPONSES
from rubric_order.extras.one_read.methods.adaptive import boundary, sequences, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Boundary, Goal, Scale
from rubric_order.judging import answers, shard
from rubric_order.judging.progress import progress
from rubric_order.library.certify.folders import ADAPTIVE, STRATEGIES
from rubric_order.library.estimates import SEED
from rubric_order.methods.uncertainty import enough
from rubric_order.planning.requests import read_studies
from rubric_order.run.stages import Scores
from rubric_order.scoring.scores import score_reads

if TYPE_CHECKING:
    from rubric_order.library.certify.study import Certification

LEVEL = 0.95
DRAWS = 8
UNSCORED = "unscored"  # reason for a text that was read completely, and has a read without a score

Ask = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class Adaptive:
    """Settings of rounds: `target` width in points of a text's interval; groups read completely, 0 for confidence
    sequences.

    With `places`, a text also stops once its place among the candidates of its group is settled.
    """

    target: float
    probe_groups: int = 40
    places: bool = False

    def check(self) -> None:
        """Refuse settings that no rule can follow."""
        if not 0 < self.target < math.inf:
            raise InputError(f"--target-width: expected points above 0, found {self.target:g}")
        if self.probe_groups > 0 and (few := enough.RULE.refusal(self.probe_groups, self.probe_groups)):
            raise InputError(f"--probe-groups: {few}, or 0 for confidence sequences")

    def ask(self, made: Certification, watch: shard.Watch = progress) -> pd.DataFrame:
        """Ask until the score of each text is known well enough; returns `described` with ``probe``, as in
        `ADAPTIVE`.

        Responses and scores of the probe groups alone are written: how often others are read depends on their answers,
        so their reads are no sample for a bias.
        """
        plan = PLAN.read(made.file(PLAN))
        texts = laid_out(plan, STRATEGIES[0])
        requests, studies = read_studies([made.file(REQUESTS)], [made.study.probe], 1, 1)
        settings = Scores(made.run).answer_settings(made.judge)

        def asked(reads: pd.DataFrame) -> pd.DataFrame:
            return requests[requests["request_id"].isin(reads["request_id"])]

        def scored(reads: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
            return score_reads(reads, responses, probe=made.study.probe, **settings)

        chosen = probes(texts, self.probe_groups)
        parts, rule = [], None
        with made.asking(watch) as ask:
            if chosen.any():
                of_probes = texts.only(chosen)
                reads = plan[plan["unit_id"].isin(of_probes.firsts["unit_id"])]
                responses = ask(asked(reads))
                chosen_studies = [studies[place] for place in asked(reads).index]
                names = made.judge.accepted_names
                answers.write(responses, made.file(RESPONSES), studies=chosen_studies, judge=made.judge, names=names)
                made.score(reads)
                scores = scored(of_probes.reads, responses)["score"].to_numpy(dtype=float, na_value=np.nan)
                scores = scores.reshape(-1, texts.scale.size)
                rule = learnt(of_probes, scores, self)
                parts.append(complete(of_probes, scores).assign(probe=True))
            if not chosen.all():
                others = texts.only(~chosen)
                table = read_rounds(others, rule, self, lambda reads: scored(reads, ask(asked(reads))))
                parts.append(table.assign(probe=False))
        table = pd.concat(parts, ignore_index=True).sort_values("item_id", ignore_index=True)
        files.write_csv(table, made.folder / ADAPTIVE)
        return table

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Sentences on the reads that were made, and on the reads that were spared."""
        others = table[~table["probe"]]
        lines = []
        if count := int(table["probe"].sum()):
            groups = table.loc[table["probe"], "group_id"].nunique()
            lines.append(
                f"{count:,} texts in {groups:,} probe groups were read in all orderings; the card is of these."
            )
        if others.empty:
            return [*lines, "There are no further groups, so that nothing was spared: expected fewer --probe-groups."]
        asked, spared = int(others["reads"].sum()), int(others["spared"].sum())
        reasons = others["stopped_by"].value_counts()
        words = {
            "width": "narrow enough",
            "place": "place settled",
            "all": "read to the end",
            "unscored": "without a score",
        }
        counts = ", ".join(f"{reasons[name]:,} {word}" for name, word in words.items() if name in reasons)
        lines.append(
            f"{len(others):,} other texts: {asked / len(others):.1f} reads each, {spared:,} of {asked + spared:,}"
            f" spared (target {self.target:g} points; {counts})."
        )
        return lines


@dataclass(frozen=True)
class Texts:
    """Texts with N planned reads each, of strategy ``balanced``, sorted by text and index of the read.

    `group` and `cell` (group and criterion) are indices from 0, shape (m,); `order` is of `stopping.orders`, shape (m,
    N).
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
    """Texts in a plan of one dataset, scale and profile, with their reads of a strategy, which may share no request."""
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
    """Rule learnt from texts that were read completely, without those with a missing score; `scores` has shape
    (m, N).
    """
    complete = ~np.isnan(scores).any(axis=1)
    goal = Goal(setting.target, setting.places, 1 - LEVEL)
    if not complete.any():
        nothing = np.zeros(texts.scale.size)
        return Boundary(nothing, boundary.Spread(0.0, boundary.MOST_PRIOR), np.inf, 0)
    whole = texts.only(complete)
    rng = randomness.generator(SEED, "adaptive rule", str(texts.firsts["dataset"].iloc[0]))
    return boundary.learn(scores[complete], whole.group, whole.cell, whole.scale, goal, draws=DRAWS, rng=rng)


def read_rounds(texts: Texts, rule: Boundary | None, setting: Adaptive, ask: Ask) -> pd.DataFrame:
    """Read texts in rounds until each is stopped, see `described`; a rule of None stands for confidence sequences.

    `ask` takes some of `Texts.reads` and returns them in the same order with column ``score``.
    """
    size, m = texts.scale.size, len(texts.group)
    values, going = np.full((m, size), np.nan), np.arange(m)
    claimed = None
    for turn in range(size):
        if not len(going):
            break
        asked = ask(texts.next(going, turn))
        values[going, turn] = asked["score"].to_numpy(dtype=float, na_value=np.nan)
        claimed = claims(texts, values[:, : turn + 1], rule, setting)
        going = np.flatnonzero(claimed.stops.reason == stopping.READING)
    if claimed is None:
        nothing = np.empty(0)
        claimed = boundary.Claims(stopping.Stops(nothing.astype(int), nothing.astype(int)), nothing, nothing, nothing)
    return described(texts, values, claimed)


def claims(texts: Texts, values: np.ndarray, rule: Boundary | None, setting: Adaptive) -> boundary.Claims:
    """State of each text after t rounds, from scores in the order of the reads, shape (m, t); those after a stop do not
    count.
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
    """One row per text: score with interval, `reads`, `orderings` (reads of a complete text), `spared`, and
    `stopped_by`.

    ``width``: the interval is narrow enough. ``place``: the place is settled. ``all``: every read, so `score` is
    certain. ``unscored``: every read, one without a score; `score` is the mean of the others, without an interval.
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
    """Texts that were read completely, in the form of `described`; `scores` has shape (m, N)."""
    m, size = scores.shape
    stops = stopping.Stops(np.full(m, size), np.full(m, stopping.ALL))
    mean = scores.mean(axis=1)
    return described(texts, scores, boundary.Claims(stops, mean, mean, mean))
