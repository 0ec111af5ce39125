"""First line of a card, for people who decide: the verdict, and the size of the effect in points and decisions."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.cards import verdict as verdicts
from rubric_order.cards.evidence import Evidence
from rubric_order.cards.spread import SMALL_SHARE

WORDS = {
    verdicts.BIASED: "Biased",
    verdicts.BIASED_IN_PROBABILITIES: "Biased by its option probabilities",
    verdicts.EQUIVALENT: "Equivalent to a judge without bias",
    verdicts.CANNOT_TELL: "Cannot tell",
}
RARE = 0.005  # smaller shares are written as "hardly a score" or "hardly a prompt"
HALF = 0.5  # share of the reads


class Headline(NamedTuple):
    """The first line of a card.

    Attributes:
        verdict: the verdict in a few words.
        size: size of the effect in points and in decisions (scores and best answers that change); empty if it is not
            known.
    """

    verdict: str
    size: str

    @property
    def sentence(self) -> str:
        """The line as one sentence."""
        return f"{self.verdict}: {self.size}." if self.size else f"{self.verdict}."


def headline(evidence: Evidence, verdict: verdicts.Verdict) -> Headline:
    """The first line of a card: effects of the order on the mean score, on single scores, and on the best answer.

    Args:
        evidence: the numbers of the card.
        verdict: the verdict on these numbers.
    """
    parts = [*_points(evidence, verdict.word), *_decisions(evidence)]
    if evidence.readouts and evidence.failed_share > verdicts.MOST_FAILED:
        # If most reads have no score, no size is given.
        failed = f"{evidence.failed_share:.0%} of the reads have no score"
        parts = [failed] if evidence.failed_share > HALF else [failed, *parts]
    return Headline(WORDS[verdict.word], "; ".join(parts))


def _points(evidence: Evidence, word: str) -> Iterator[str]:
    """Size in points: the shift if the judge is biased, else the largest shift that the reads do not exclude.

    The size of a bias of the option probabilities is given in expected scores, because written scores hardly show it.
    """
    points = evidence.points
    if word == verdicts.BIASED_IN_PROBABILITIES and evidence.soft and evidence.soft.usual.known:
        shift = _shifted(evidence.soft.usual.estimate)
        yield f"the usual order's expected score is {shift} the mean of all orders"
        return
    if word in (verdicts.BIASED, verdicts.BIASED_IN_PROBABILITIES):
        if points.usual.known:
            yield f"the usual order scores {_shifted(points.usual.estimate)} the mean of all orders"
        return
    small = points.small_points
    reach = max(abs(small.worst.low), abs(small.worst.high))
    if small.shown:
        yield f"no order moves the mean score by {small.margin:g} points or more"
    elif not math.isnan(reach):
        yield f"an order could move the mean score by up to {reach:.2f} points"


def _shifted(points: float) -> str:
    size = f"{abs(points):.2f}"
    if size == "0.00":
        return "as"
    return f"{size} points {'above' if points > 0 else 'below'}"


def _decisions(evidence: Evidence) -> Iterator[str]:
    """Size in decisions: scores and best answers that another order changes beyond chance.

    If written scores are saturated, scores by the option probabilities can still change. The line then says that it is
    about these scores.
    """
    spread = evidence.spread
    soft = "by the option probabilities " if evidence.saturated and spread.readout == Readout.SOFT else ""
    if verdicts.is_stable(evidence) and not evidence.discordant_share:
        yield f"no order changed a score in {evidence.n_reads:,} reads"
    if spread.scores.known:
        least = "at least " if spread.readout == Readout.HARD else ""
        yield f"{soft}{least}{that_change(spread.scores)} with the order beyond chance"
    if spread.best.known:
        yield f"{'' if spread.scores.known else soft}the best answer changes in {_prompts(spread.best.estimate)}"


def that_change(share: Interval) -> str:
    """Words for a share of scores that change, rounded as in the reasons of a card.

    Examples:
        >>> that_change(Interval(0.31)), that_change(Interval(0.02)), that_change(Interval(-0.01))
        ('31% of scores change', '2.0% of scores change', 'hardly a score changes')
    """
    value = max(share.estimate, 0.0)
    if value < RARE:
        return "hardly a score changes"
    return f"{value:{'.1%' if value < SMALL_SHARE else '.0%'}} of scores change"


def _prompts(share: float) -> str:
    return "hardly a prompt" if share < RARE else f"{share:.0%} of prompts"
