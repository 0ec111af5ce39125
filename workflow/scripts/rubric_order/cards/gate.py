"""Cards of a run against those of a baseline: the findings of ``rubric-order check --baseline``.

A change that the tests of `drift` find is a failure, of whichever size. Where a largest drift of the mean score is
given, the mean score is compared with it instead, as other limits are: kept where the whole interval lies inside. A
change that was found in an earlier run stays a failure until there is a new baseline, since later runs are compared
with all before, and those then hold the changed judge.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.cards import drift as drifts
from rubric_order.cards import history
from rubric_order.cards.anchors import Anchors
from rubric_order.cards.limits import CANNOT_TELL, FAILED, PASSED, Finding, name

Card = Mapping[str, Any]
SAME = ("dataset", "study", "strategy", "profile", "condition", "n_levels")  # keys in which cards of two runs agree
EARLIER = "no change in earlier runs"


class Checked(NamedTuple):
    """Outcome of a run against its baseline.

    Attributes:
        findings: one for each quantity of each card, and for changes that earlier runs have found.
        run: the run as the history holds it.
        drifts: of each card, by its name, each quantity.
    """

    findings: list[Finding]
    run: history.Run
    drifts: dict[str, list[drifts.Drift]]


def check(
    cards: Sequence[Card],
    baseline: Sequence[Card],
    runs: Iterable[history.Run],
    *,
    where: object,
    baseline_where: object,
    run: str | None = None,
    daily: bool = True,
    max_drift: float | None = None,
) -> Checked:
    """Compare the cards of a run with those of a baseline.

    Args:
        cards, baseline: see `summary.read`.
        runs: the history.
        where, baseline_where: name the two files in errors.
        run: name of the run; its time by default.
        daily: see `drift.drifts`.
        max_drift: largest drift of the mean score, in points.

    Raises:
        InputError: a card has no anchors, or the baseline has none of its suite.
    """
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    seen: dict[str, history.Seen] = {}
    earlier = [other for other in runs if other.run != run]
    findings: list[Finding] = []
    by_card: dict[str, list[drifts.Drift]] = {}
    for card in cards:
        own = _of(card, where)
        other = _partner(card, own, baseline, where, baseline_where)
        key = name(other)
        if key in seen:
            raise InputError(f"{where}: two cards are compared with {key!r:.100} of {baseline_where}; expected one")
        before = [past.cards[key] for past in earlier if key in past.cards]
        anchors = [Anchors.of(past.anchors, "history") for past in before]
        changes = drifts.drifts(
            _of(other, baseline_where),
            [*anchors, own],
            n_cards=len(cards),
            daily=daily,
            levels=int(card.get("n_levels", 10)),
        )
        label = name(card) + (f", baseline {other['judge']}" if other["judge"] != card["judge"] else "")
        outcomes = [_finding(label, change, max_drift) for change in changes]
        failed = [change.label for change, finding in zip(changes, outcomes, strict=True) if finding.outcome == FAILED]
        findings += outcomes
        findings += _earlier(label, [(past, past.cards[key]) for past in earlier if key in past.cards])
        by_card[label] = changes
        seen[key] = history.Seen(judge=card["judge"], anchors=own.to_dict(), failed=failed)
    line = history.Run(run=run or time, time=time, baseline=history.digest(baseline), cards=seen)
    return Checked(findings, line, by_card)


def _of(card: Card, where: object) -> Anchors:
    if "anchors" not in card:
        raise InputError(
            f"{where}: card {name(card)!r:.100} has no anchors; expected a summary of this version: make it anew"
        )
    return Anchors.of(card["anchors"], where)


def _partner(card: Card, own: Anchors, baseline: Sequence[Card], where: object, baseline_where: object) -> Card:
    """The baseline's card of the same suite; of several that of the same judge."""
    alike = [other for other in baseline if all(other.get(key) == card.get(key) for key in SAME)]
    suites = {other.get("anchors", {}).get("suite") for other in alike or baseline}
    same = [other for other in alike if _of(other, baseline_where).suite == own.suite]
    if not same:
        listed = ", ".join(sorted(str(suite) for suite in suites))
        raise InputError(
            f"{where}: card {name(card)!r:.100}: field 'anchors/suite': found {own.suite:.40}, expected that of "
            f"{baseline_where} ({listed:.100}): another suite of items, groups, orderings or repeats cannot be compared"
        )
    of_judge = [other for other in same if other["judge"] == card["judge"]] or same
    if len(of_judge) > 1:
        listed = ", ".join(str(other["judge"]) for other in of_judge)
        raise InputError(
            f"{where}: card {name(card)!r:.100}: several cards of {baseline_where} have its suite: {listed:.100}; "
            "expected one of the same judge, or one alone"
        )
    return of_judge[0]


def _finding(card: str, drift: drifts.Drift, max_drift: float | None) -> Finding:
    if max_drift is not None and drift.quantity == drifts.SCORE:
        inside = -max_drift <= drift.low and drift.high <= max_drift
        outside = drift.low > max_drift or drift.high < -max_drift
        outcome = PASSED if inside else FAILED if outside else CANNOT_TELL
        return Finding(card, f"drift of the {drift.label} within {max_drift:g} points", outcome, drift.words)
    text = f"no change: {drift.label}"
    if drift.changed:
        return Finding(card, text, FAILED, drift.words)
    if not drift.can_tell:
        groups = "1 group" if drift.n_groups == 1 else f"{drift.n_groups} groups"
        return Finding(card, text, CANNOT_TELL, f"{drift.words}; {groups} in so few runs cannot show a change")
    return Finding(card, text, PASSED, drift.words)


def _earlier(card: str, runs: Sequence[tuple[history.Run, history.Seen]]) -> list[Finding]:
    """Finding of the first earlier run that found a change."""
    for run, seen in runs:
        if seen.failed:
            text = f"run {run.run} found one: {', '.join(seen.failed)}; a new baseline begins anew"
            return [Finding(card, EARLIER, FAILED, text)]
    return []
