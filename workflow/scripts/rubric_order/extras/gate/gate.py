"""Comparison of the cards of a run with those of a baseline: the findings of ``rubric-order check --baseline``.

A change that `drift` finds fails, whatever its size, or only beyond a largest drift if one is given; it stays a failure
until there is a new baseline, since later runs are compared with reads of the changed judge. Reads whose means all
equal those of an earlier run are copies, no evidence, unless the judge was asked anew.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.cards.anchors import Anchors
from rubric_order.cards.record import CardRecord, name
from rubric_order.extras.gate import drift as drifts
from rubric_order.extras.gate import history, limits
from rubric_order.extras.gate.limits import CANNOT_TELL, FAILED, PASSED, Finding

SAME = ("dataset", "study", "strategy", "profile", "condition", "n_levels")  # keys that must be equal
EARLIER = "no change in earlier runs"
NEW = "reads are new"
REUSED = "more answers equal those of earlier runs than chance gives: these are not new reads; ask without a cache"
MOST = 3  # groups, or names, that a message lists


class Checked(NamedTuple):
    """Outcome of a run: findings by quantity and card, its line of the history (None if counted already), notes."""

    findings: list[Finding]
    line: history.Run | None
    notes: list[str]


def check(
    cards: Sequence[CardRecord],
    baseline: Sequence[CardRecord],
    runs: Sequence[history.Run],
    *,
    where: object,
    baseline_where: object,
    run: str | None = None,
    daily: bool = True,
    max_drift: float | None = None,
    new_reads: bool = False,
) -> Checked:
    """Compare the cards of a run with the cards of a baseline, in the light of the history; every card needs its own
    partner.

    `daily`: more checks share the level. `max_drift`: of the mean score, in points. `new_reads`: reads count even if
    equal.
    """
    pairs: dict[str, Pair] = {}
    for card in cards:
        pair = _pair(card, baseline, where, baseline_where)
        if name(pair.before) in pairs:
            raise InputError(
                f"{where}: two cards are compared with {name(pair.before)!r:.100} of {baseline_where}; expected one"
            )
        pairs[name(pair.before)] = pair
    seen = {key: _seen(pair.card, pair.anchors) for key, pair in pairs.items()}
    first = {key: _seen(pair.before, pair.earlier) for key, pair in pairs.items()}
    place = _place(runs, seen, first, run, new_reads)
    findings: list[Finding] = []
    for key, pair in pairs.items():
        past = history.cards(place.before, key, without=place.name)
        between = [Anchors.of(card.anchors, "history") for card in past]
        check = 1 + sum(key in line.cards for line in place.before) if daily else None
        changes = pair.changes(between, n_cards=len(cards), check=check)
        judge = pair.before["judge"]
        label = name(pair.card) + (f", baseline {judge}" if judge != pair.card["judge"] else "")
        series = pair.earlier, [*between, pair.anchors]
        groups = list(pair.anchors.names or pair.earlier.names)
        reused = drifts.reused(*series)
        outcomes = [
            _name_groups(_finding(label, change, max_drift, reused), groups, drifts.moved(*series, change))
            for change in changes
        ]
        seen[key].failed = [
            change.label for change, finding in zip(changes, outcomes, strict=True) if finding.outcome == FAILED
        ]
        findings += outcomes
        if reused:
            findings.append(Finding(label, NEW, CANNOT_TELL, REUSED))
        now = place.name if seen[key].failed else None
        earlier = ((line.run, line.cards[key].failed) for line in runs if key in line.cards and line.run != now)
        failed = [
            Finding(label, EARLIER, FAILED, f"run {run} found one: {', '.join(words)}")
            for run, words in earlier
            if words
        ]
        findings += failed[:1]
    if place.counted:
        return Checked(findings, None, place.notes)
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    line = history.Run(run=place.name or time, time=time, baseline=history.digest(baseline), cards=seen)
    return Checked(findings, line, place.notes)


class _Place(NamedTuple):
    """Place of a run in the history: lines `before` it, and whether its reads are `counted` in it or in the
    baseline.
    """

    name: str | None
    before: Sequence[history.Run]
    counted: bool
    notes: list[str]


def _place(
    runs: Sequence[history.Run],
    seen: Mapping[str, history.Seen],
    first: Mapping[str, history.Seen],
    run: str | None,
    new_reads: bool,
) -> _Place:
    """Place of the run, or the baseline, with the same reads; else the last.

    An earlier run of the same name is replaced unless it found a change; then this run is a further attempt.
    """
    for number, past in enumerate(runs):
        if (not new_reads or history.is_attempt(past.run, run)) and _equal(seen, past.cards):
            return _Place(past.run, runs[:number], True, [_copy(f"run {past.run}")])
    if not new_reads and _equal(seen, first):
        return _Place(run, [], True, [_copy("the baseline")])
    again = [past.cards[key] for past in runs if past.run == run for key in seen if key in past.cards]
    if run is not None and any(card.failed for card in again):
        attempt = history.attempt(run, {past.run for past in runs})
        note = f"Run {run} found a change, which stays found: these reads count as run {attempt}."
        return _Place(attempt, runs, False, [note])
    notes = [f"Run {run} is checked again: new reads replace its earlier ones."] if again else []
    return _Place(run, runs, False, notes)


def _equal(seen: Mapping[str, history.Seen], past: Mapping[str, history.Seen]) -> bool:
    return all(
        key in past and (card.judge, card.anchors) == (past[key].judge, past[key].anchors) for key, card in seen.items()
    )


def _copy(of: str) -> str:
    return (
        f"The reads are those of {of}, to the last digit, and do not count again. "
        "If the judge was asked anew and gave the same answers, add --new-reads."
    )


def _seen(card: CardRecord, anchors: Anchors) -> history.Seen:
    return history.Seen(judge=card["judge"], anchors=anchors.drop_names().to_dict())


def anchors_of(card: CardRecord, where: object) -> Anchors:
    """Anchors of a card that has them, complete."""
    if "anchors" not in card:
        raise InputError(
            f"{where}: card {name(card)!r:.100} has no anchors; expected a summary of this version: make it anew"
        )
    return Anchors.of(card["anchors"], where)


class Pair(NamedTuple):
    """A card and an earlier card of the same suite, each with its anchors."""

    card: CardRecord
    before: CardRecord
    anchors: Anchors
    earlier: Anchors

    def changes(self, between: Sequence[Anchors] = (), **options: Any) -> list[drifts.Drift]:
        """Drifts from the earlier card over the runs `between` to the card, see `drift.drifts`."""
        levels = int(self.card.get("n_levels", 10))
        return drifts.drifts(self.earlier, [*between, self.anchors], levels=levels, **options)


def _pair(card: CardRecord, baseline: Sequence[CardRecord], where: object, baseline_where: object) -> Pair:
    """A card and the baseline's card of its suite; if several cards have it, the card of the same judge."""
    anchors = anchors_of(card, where)
    alike = [other for other in baseline if all(other.get(key) == card.get(key) for key in SAME)]
    pairs = [Pair(card, other, anchors, anchors_of(other, baseline_where)) for other in alike]
    same = [pair for pair in pairs if pair.earlier.suite == anchors.suite]
    if not same:
        raise InputError(
            f"{where}: card {name(card)!r:.100}: another suite than in {baseline_where}, which cannot be compared: "
            f"{_difference(card, anchors, alike or baseline, baseline_where)}"
        )
    of_judge = [pair for pair in same if pair.before["judge"] == card["judge"]] or same
    if len(of_judge) > 1:
        listed = ", ".join(str(pair.before["judge"]) for pair in of_judge)
        raise InputError(
            f"{where}: card {name(card)!r:.100}: several cards of {baseline_where} have its suite: {listed:.100}; "
            "expected one of the same judge, or one alone"
        )
    return of_judge[0]


def _difference(card: CardRecord, own: Anchors, others: Sequence[CardRecord], where: object) -> str:
    """Difference, in words, of a card's suite from the suite of the most similar card of a baseline."""
    if not others:
        return "there is no card"
    other = min(others, key=lambda other: (len(_unlike(card, other)), other["judge"] != card["judge"]))
    there = anchors_of(other, where)
    parts = [f"{key} {card.get(key)!r:.40}, there {other.get(key)!r:.40}" for key in _unlike(card, other)]
    parts += [f"{_size(card, own)}, there {_size(other, there)}", *_names(own, there)]
    return "; ".join(parts)


def _unlike(card: CardRecord, other: CardRecord) -> list[str]:
    return [key for key in SAME if other.get(key) != card.get(key)]


def _size(card: CardRecord, anchors: Anchors) -> str:
    counts = {"group": len(anchors.items), "item": int(anchors.items.sum())}
    counts |= {"ordering": card["n_orderings"]} if "n_orderings" in card else {}
    counts |= {"read": card["n_reads"] + card["n_failed"]} if {"n_reads", "n_failed"} <= card.keys() else {}
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items())


def _names(own: Anchors, other: Anchors) -> list[str]:
    """Items that are new, missing or in another group, compared with another suite, in words."""
    if not (own.names and other.names):
        return ["names of items are not known, since a summary is of an earlier version"]
    own_groups, groups = (
        {item: group for group, items in suite.names.items() for item in items} for suite in (own, other)
    )
    moved = [item for item in own_groups if item in groups and own_groups[item] != groups[item]]
    parts = {
        "new items": [item for item in own_groups if item not in groups],
        "missing items": [item for item in groups if item not in own_groups],
        "items in another group": moved,
    }
    listed = [f"{heading} ({len(items)}): {_first(items)}" for heading, items in parts.items() if items]
    return listed or ["the items are the same, so that their orderings or repeats differ"]


def _first(items: Sequence[str]) -> str:
    return ", ".join(f"{item:.40}" for item in items[:MOST]) + (", ..." if len(items) > MOST else "")


def _finding(card: str, drift: drifts.Drift, max_drift: float | None, reused: bool) -> Finding:
    if max_drift is not None and drift.quantity == drifts.SCORE:
        outcome = limits.decision(drift.low, drift.high, max_drift)
        outcome = CANNOT_TELL if outcome == FAILED and reused else outcome
        text = f"drift of the {drift.label} within {max_drift:g} points"
        return Finding(
            card, text, outcome, drift.words + (_excluded(drift, max_drift) if outcome == CANNOT_TELL else "")
        )
    text = f"no change: {drift.label}"
    if drift.changed:
        return Finding(card, text, CANNOT_TELL if reused else FAILED, drift.words)
    if not drift.can_tell:
        return Finding(card, text, CANNOT_TELL, f"{drift.words}; {_groups(drift)} in so few runs cannot show a change")
    return Finding(card, text, PASSED, drift.words)


def _excluded(drift: drifts.Drift, max_drift: float) -> str:
    """The drift that a suite of this size can exclude; empty if not known."""
    if math.isnan(drift.low):
        return ""
    excluded = f"; drifts above {_up(max(-drift.low, drift.high))} points are excluded"
    narrowest = (drift.high - drift.low) / 2  # an interval of this width around 0 ends there
    if narrowest <= max_drift:
        return excluded
    return f"{excluded}, and {_groups(drift)} in {drift.n_runs} runs exclude none below {_up(narrowest)}"


def _up(points: float) -> str:
    """Points rounded up to three decimals, since they are a bound."""
    return f"{math.ceil(points * 1000) / 1000:.3f}"


def _groups(drift: drifts.Drift) -> str:
    return "1 group" if drift.n_groups == 1 else f"{drift.n_groups} groups"


def _name_groups(finding: Finding, groups: Sequence[str], changes: np.ndarray) -> Finding:
    """The finding. If it failed, it names the groups that moved most, and says how many moved up and down."""
    if finding.outcome != FAILED or not groups:
        return finding
    most = [place for place in np.argsort(-np.abs(changes), kind="stable")[:MOST] if changes[place]]
    if not most:
        return finding
    listed = ", ".join(f"{groups[place]:.40} ({changes[place]:+.2f})" for place in most)
    up, down = int((changes > 0).sum()), int((changes < 0).sum())
    return finding._replace(found=f"{finding.found}; most in {listed}; {up} groups up, {down} down of {len(groups)}")
