"""Test of bias cards against limits: passed or failed if the whole interval lies inside or outside, else cannot tell.

A saturated judge keeps no limit on V, nor on points and log-odds of written scores, but can break them. Log-odds hold
for every position. The share of reads without a score has no interval and needs no groups; other limits need
`Limits.groups`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rubric_order.base.gold import HUMAN, OTHERS
from rubric_order.base.readouts import Readout
from rubric_order.cards.numbers import list_text
from rubric_order.cards.record import CardRecord, name

PASSED, FAILED, CANNOT_TELL = OUTCOMES = ("passed", "failed", "cannot tell")
SATURATED = "saturated: scores nearly never differ"
STATUS = {PASSED: 0, FAILED: 1, CANNOT_TELL: 2}


class Limits(NamedTuple):
    """Limits of a card, None for none: greatest V, shift in points and log-odds either way, share without a score;
    least r of the mean with human scores, and groups (with fewer, only the limit on reads without a score decides).
    """

    v: float | None = None
    points: float | None = None
    log_odds: float | None = None
    failed: float | None = None
    agreement: float | None = None
    groups: int | None = None


class Finding(NamedTuple):
    """Outcome of one limit for one card."""

    card: str
    limit: str
    outcome: str
    found: str


def check(cards: Iterable[CardRecord], limits: Limits) -> list[Finding]:
    """Compare cards, as `summary.read` returns them, with limits."""
    return [finding for card in cards for finding in _card_findings(card, limits)]


def status(findings: Iterable[Finding]) -> int:
    """Exit status: 0 all kept, 1 one broken, 2 no finding or one that cannot tell."""
    outcomes = {finding.outcome for finding in findings}
    return STATUS[FAILED if FAILED in outcomes else CANNOT_TELL if CANNOT_TELL in outcomes or not outcomes else PASSED]


def _card_findings(card: CardRecord, limits: Limits) -> Iterator[Finding]:
    label, groups = name(card), card["n_groups"]
    few = limits.groups is not None and groups < limits.groups
    if limits.groups is not None:
        yield Finding(label, f"groups at least {limits.groups}", CANNOT_TELL if few else PASSED, f"{groups}")
    decided_by = card.get("decided_by", {})

    def blind(what: str) -> str:
        if card.get("saturated") and decided_by.get(what) != Readout.SOFT:
            return SATURATED
        return "too few groups" if few else ""

    if limits.v is not None:
        yield _within(label, f"V at most {limits.v:g}", _ends(card, "v"), limits.v, blind("v"))
    if limits.points is not None:
        text = f"usual ordering within {limits.points:g} points"
        yield _within(label, text, _ends(card, "usual_minus_balanced"), limits.points, blind("points"))
    if limits.log_odds is not None:
        yield _preferences(label, card, limits.log_odds, blind("log_odds"))
    if limits.failed is not None:
        asked = card.get("n_reads", 0) + card.get("n_failed", 0)
        share = card.get("n_failed", 0) / asked if asked else None
        outcome = CANNOT_TELL if share is None else PASSED if share <= limits.failed else FAILED
        share_text = "no reads" if share is None else f"{share:.1%}"
        yield Finding(label, f"reads without a score at most {limits.failed:.1%}", outcome, share_text)
    if limits.agreement is not None:
        yield _agrees(label, card.get("agreement"), limits.agreement, "too few groups" if few else "")


def _ends(card: Mapping[str, Any], key: str) -> tuple[float | None, float | None, float | None]:
    return card.get(key), card.get(f"{key}_low"), card.get(f"{key}_high")


def decision(low: float | None, high: float | None, limit: float) -> str:
    """Outcome for an interval: passed within the limit, failed outside, else `CANNOT_TELL`."""
    if low is None or high is None:
        return CANNOT_TELL
    if -limit <= low and high <= limit:
        return PASSED
    return FAILED if low > limit or high < -limit else CANNOT_TELL


def _within(about: str, text: str, ends: tuple[Any, ...], limit: float, blind: str) -> Finding:
    _, low, high = ends
    return _finding(about, text, decision(low, high, limit), _written(*ends), blind)


def _agrees(about: str, agreement: Mapping[str, Any] | None, limit: float, blind: str) -> Finding:
    """Finding on Pearson's r between the mean of all reads and human scores, also for a saturated judge."""
    others = OTHERS[(agreement or {}).get("gold", HUMAN)]
    text = f"agreement with {others} (r) at least {limit:g}"
    if agreement is None:
        return Finding(about, text, CANNOT_TELL, "no human scores, or no correlation with them")
    _, low, high = ends = _ends(agreement, "mean")
    outcome = CANNOT_TELL
    if low is not None and high is not None:
        outcome = PASSED if low >= limit else FAILED if high < limit else CANNOT_TELL
    return _finding(about, text, outcome, _written(*ends), blind)


def _written(value: float | None, low: float | None, high: float | None) -> str:
    text = "not known" if value is None else f"{value:.3f}"
    return text + (f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else " [no interval]")


def _finding(about: str, text: str, outcome: str, found: str, blind: str) -> Finding:
    """Finding about a limit; a reason in `blind` follows the value and makes it "cannot tell"."""
    blinds = blind and not (outcome == FAILED and blind == SATURATED)
    return Finding(about, text, CANNOT_TELL, f"{found}; {blind}") if blinds else Finding(about, text, outcome, found)


def _preferences(about: str, card: CardRecord, limit: float, blind: str) -> Finding:
    """Finding on the preferences for all positions: kept if each keeps the limit, broken if one breaks it."""
    readouts = card.get("readouts", {})
    decides = card.get("decided_by", {}).get("log_odds", Readout.HARD)
    preferences = (readouts.get(decides) or readouts.get(Readout.SOFT) or {}).get("preference") or []
    outcomes = {decision(preference["log_odds_low"], preference["log_odds_high"], limit) for preference in preferences}
    outcome = FAILED if FAILED in outcomes else PASSED if outcomes == {PASSED} else CANNOT_TELL
    values = [preference["log_odds"] for preference in preferences if preference["log_odds"] is not None]
    words = list_text(values) or "not known"
    text = f"preferences within {limit:g} log-odds"
    return _finding(about, text, outcome, words, blind)
