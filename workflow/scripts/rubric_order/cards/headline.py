"""First line of a card, for people who decide: the verdict, and the size of the effect in points and decisions."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.cards import spread as spreads
from rubric_order.cards import verdict as verdicts
from rubric_order.cards.estimands import INTERACTION, LOG_ODDS, POINTS, SINGLE, Estimand
from rubric_order.cards.evidence import Evidence
from rubric_order.cards.numbers import interval_text, percent
from rubric_order.methods.position import cause_names

WORDS = {
    verdicts.BIASED: "Biased",
    verdicts.BIASED_IN_PROBABILITIES: "Biased by its option probabilities",
    verdicts.EQUIVALENT: "Equivalent to a judge without bias",
    verdicts.CANNOT_TELL: "Cannot tell",
}
OPEN = {
    LOG_ODDS: "a position adds",
    INTERACTION: "a position adds to high scores beyond low ones",
    SINGLE: "an ordering does to single items",
}
RARE = 0.005  # smaller shares are written as "hardly a score" or "hardly a prompt"
HALF = 0.5  # share of the reads


class Headline(NamedTuple):
    """First line of a card: the verdict in a few words; the effect in points and decisions, empty if not known."""

    verdict: str
    size: str

    @property
    def sentence(self) -> str:
        """The line as one sentence."""
        return f"{self.verdict}: {self.size}." if self.size else f"{self.verdict}."


def headline(evidence: Evidence, verdict: verdicts.Verdict) -> Headline:
    """The number that made the verdict, then single scores and best answers that change, each with an interval."""
    parts = [*_effect(evidence, verdict), *_decisions(evidence)]
    if evidence.copied:
        parts = ["what chance does is not known, since repeats look like copies", *parts]
    if verdict.word == verdicts.CANNOT_TELL and any(verdicts.apart(evidence)):
        # Option probabilities are no evidence on the scores that users see.
        parts = ["option probabilities do not show what the order does to these written scores, which users see"]
    if evidence.readouts and evidence.failed_share > verdicts.MOST_FAILED:
        # If most reads have no score, no size is given.
        failed = f"{percent(evidence.failed_share)} of the reads have no score"
        parts = [failed] if evidence.failed_share > HALF else [failed, *parts]
    return Headline(WORDS[verdict.word], "; ".join(parts))


def _effect(evidence: Evidence, verdict: verdicts.Verdict) -> Iterator[str]:
    """The effect that was found or, without a bias, the margin that is kept or the largest shift not excluded."""
    by_name = {row.name: row for row in verdict.table}
    for row in verdict.table:
        if row.biased and row.value.bounded and (row.value.low > 0 or row.value.high < 0):
            yield _found(evidence, row)
            return
    if verdict.word in (verdicts.BIASED, verdicts.BIASED_IN_PROBABILITIES) or POINTS not in by_name:
        return
    row = by_name[POINTS]
    reach = max(abs(row.bounds.low), abs(row.bounds.high))
    of = "mean expected score" if evidence.hard and evidence.points.name == Readout.SOFT else "mean score"
    if row.found and any(cause.name == cause_names.FAILURES for cause in row.explained):
        yield "scores that are missing could explain what was found"
    elif row.small:
        yield f"no order moves the {of} by {row.margin:g} points or more"
        if left := [OPEN[other.name] for other in verdict.table if other.required and not other.small]:
            yield f"not shown to be small: what {' and what '.join(left)}"
    elif not math.isnan(reach) and reach <= verdicts.UNBOUNDED:
        yield f"an order could move the {of} by up to {max(reach, row.margin):.2f} points"


def _found(evidence: Evidence, row: Estimand) -> str:
    """An effect with its interval, which does not contain 0."""
    value = interval_text(row.value, "+z.2f")
    if row.name == POINTS:
        low, high = sorted((abs(row.value.low), abs(row.value.high)))
        size = interval_text(Interval(abs(row.value.estimate), low, high), ".2f")
        side = "above" if row.value.estimate > 0 else "below"
        what = "'s expected score is" if evidence.points.name == Readout.SOFT else " scores"
        return f"the usual order{what} {size} points {side} the mean of all orders"
    if row.name == LOG_ODDS:
        return f"position {1 + evidence.log_odds.preference.index(row.value)} adds {value} log-odds"
    return f"the last position adds {value} log-odds more to the highest score than to scores on average"


def _decisions(evidence: Evidence) -> Iterator[str]:
    """Scores and best answers that another order changes beyond chance, by the readout that is named."""
    spread = evidence.spread
    soft = "by the option probabilities " if evidence.hard and spread.readout == Readout.SOFT else ""
    if verdicts.is_stable(evidence) and not evidence.discordant_share:
        yield f"no order changed a score in {evidence.n_reads:,} reads"
    if spread.scores.bounded:
        least = spreads.least_text(spread) if spread.scores.estimate >= RARE else ""
        yield f"{soft}{least}{that_change(spread.scores)} with the order beyond chance"
    if spread.best.bounded:
        yield f"{'' if spread.scores.bounded else soft}the best answer changes in {_prompts(spread.best)}"


def that_change(share: Interval) -> str:
    """Words for a share of scores that change, rounded as in the reasons of a card.

    >>> that_change(Interval(0.31, 0.28, 0.34)), that_change(Interval(-0.01, -0.02, 0.004))
    ('31% [28%, 34%] of scores change', 'hardly a score changes')
    """
    return "hardly a score changes" if share.estimate < RARE else f"{spreads.share_text(share)} of scores change"


def _prompts(share: Interval) -> str:
    return "hardly a prompt" if share.estimate < RARE else f"{spreads.share_text(share)} of prompts"
