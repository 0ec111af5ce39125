"""Verdict of a card on a judge: biased, equivalent to a judge without bias within stated margins, or cannot tell.

The rules, in this order:

1. **cannot tell**, if the reads cannot answer the question. These are the cases:

   - No read has a score.
   - No item was read in several orderings.
   - There are fewer groups than `FEWEST_GROUPS`, too few for the error of the tests to be known.
   - More than `MOST_FAILED` of the reads failed.
   - Not every score was shown in every position. An exception is a judge that read all items in the same orderings,
     such as from lowest to highest and back, if the mean scores are found to differ between these orderings.
   - Every score is equally probable in all reads, and no test finds an effect of the order. Such a judge says nothing
     about the texts.

2. **biased by its option probabilities**, if the written scores are saturated, but a test of the option probabilities
   finds that the order matters. If no such test finds this, the verdict is **cannot tell**, because an order can hardly
   change saturated scores.
3. **biased**, if at least one test of no effect of the order rejects at `order_tests.LEVEL` after Holm's adjustment.
   `order_tests` says which tests are made. Their hypotheses are: positions are selected equally often; no position is
   preferred to another in log-odds; high and low scores have the same preferences; the order does not move the mean
   score; the usual ordering does not move the mean score. After adjustment, all tests together wrongly find a bias in
   at most 5% of the judges without one. A small bias is called a bias as well; the card then says how small it is.
4. **equivalent**, if no test rejects, and all effects are shown to be small. Two one-sided tests show that no order
   moves the mean score by the margin in points or more, and that no position adds the margin in log-odds or more. With
   more than two levels, they also show that no position adds that margin more to high scores than to low ones. An
   interval shows that no ordering moves single items, one up and another down, by the margin for single items or more.
   Each effect is tested at the full level. Since all of them must be shown to be small, a bias is wrongly called small
   no more often than by the test of one effect alone.
5. **cannot tell**: no bias was found, and the intervals are too wide to exclude a bias that matters.

If option probabilities are known, they decide effects in log-odds, and expected scores may decide effects in points.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.cards import doubt, groups, spread
from rubric_order.cards.evidence import Evidence, ReadoutResults, Small
from rubric_order.methods.position import order_tests, uniformity
from rubric_order.methods.uncertainty import equivalence

BIASED, EQUIVALENT, CANNOT_TELL = "biased", "equivalent", "cannot tell"
BIASED_IN_PROBABILITIES = "biased by its option probabilities"
VERDICTS = (BIASED, BIASED_IN_PROBABILITIES, EQUIVALENT, CANNOT_TELL)
FEWEST_GROUPS = 20  # with fewer groups, the verdict is `CANNOT_TELL`
MOST_FAILED = 0.2  # largest share of reads without a score
AVERAGE = (
    "A score from one ordering carries the bias. Where the judge is used, average its scores over all these orderings, "
    "and compare only scores that were made in the same way."
)
AVERAGE_PROBABILITIES = "Where expected scores or probabilities are used, average them over all these orderings."
HARDLY_WRITTEN = "The written scores of these items hardly depend on the order. Those of items between two scores can."
ONE_ORDER = "As far as the order goes, one ordering will do. The judge can still be wrong or lenient in every ordering."
UNKNOWN_POSITIONS = (
    "Which positions are preferred cannot be told: not every score was shown in every position. Strategy balanced has "
    "orderings that tell."
)
NEARLY_ALL = 0.995  # larger shares would be written as 100%
SINGLE = (
    "One ordering will not do for single items, nor for comparing them: average over all these orderings. Means over "
    "many items hardly depend on it."
)
READ_AS: dict[str, str] = {Readout.HARD: "", Readout.SOFT: " by the option probabilities"}
MISSED = 0.05  # probability of seeing no change, if the share that changes is at its upper bound
WRITTEN_AS_0 = 0.005  # smaller values are written as 0 with two decimals
ROUNDING = 1e-12  # smaller values are rounding errors
POINTS_AS = {Readout.HARD: "", Readout.SOFT: " (expected scores)"}


class Verdict(NamedTuple):
    """A verdict with its reasons.

    Attributes:
        word: one of `VERDICTS`.
        reasons: sentences, the most important first.
        tests: dictionary from readout and test to the p-value after Holm's adjustment, also of tests that the verdict
            does not rest on.
        advice: a few sentences on what a user of the judge can do.
        planned: for `cannot tell`, numbers of groups that the other verdicts need; None if the reads do not say.
    """

    word: str
    reasons: tuple[str, ...]
    tests: dict[order_tests.Test, float]
    advice: str = ""
    planned: groups.Groups | None = None


def judge(evidence: Evidence) -> Verdict:
    """The verdict that the rules of this module give.

    A sentence on single items follows the first reason or, in the verdict `equivalent`, the last reason. If the scores
    are not shown to agree with people, a further reason says so. This reason comes first, because averaging over
    orderings does not remove the doubt. But it comes last if many reads have no score or groups are few, because more
    scores are needed first.
    """
    verdict = _with_single(evidence, _judged(evidence))
    doubtful = doubt.reason(evidence.agreement)
    if not doubtful:
        return verdict
    if _few_groups(evidence) or evidence.failed_share > MOST_FAILED:
        return verdict._replace(reasons=(*verdict.reasons, doubtful))
    advice = f"{doubt.advice(evidence.agreement)} {verdict.advice}"
    return verdict._replace(reasons=(doubtful, *verdict.reasons), advice=advice)


def _with_single(evidence: Evidence, verdict: Verdict) -> Verdict:
    """The verdict with the sentence on single items among its reasons."""
    single = spread.said_first(evidence.spread) if evidence.crossed and not _few_groups(evidence) else ()
    if verdict.word == EQUIVALENT:
        single = (f"{sentence} Such changes are small, go up and down, and cancel in means." for sentence in single)
        return verdict._replace(reasons=(*verdict.reasons, *single))
    return verdict._replace(reasons=(*verdict.reasons[:1], *single, *verdict.reasons[1:]))


def _judged(evidence: Evidence) -> Verdict:
    tests = evidence.tests
    findings = order_tests.findings(tests)
    problems, saturation = [*_problems(evidence)], _saturation(evidence)
    of_probabilities = {key: p for key, p in findings.items() if key[0] == Readout.SOFT}
    uncrossed = _uncrossed(evidence)
    if uncrossed and not (findings and not saturation):
        problems.insert(0, uncrossed)
    if saturation and of_probabilities and evidence.soft and not problems:
        hidden = f"The judge hardly shows a bias in its written scores: {saturation}."
        reasons = (hidden, *_of_bias(evidence, of_probabilities, evidence.soft))
        return Verdict(
            BIASED_IN_PROBABILITIES, reasons, tests, f"{_with_calls(AVERAGE_PROBABILITIES, evidence)} {HARDLY_WRITTEN}"
        )
    silent = evidence.says_nothing and (bool(problems) or not findings)
    if silent:
        problems.insert(0, _silence(evidence))
    elif saturation:
        cannot = "So these scores cannot show what it prefers."
        problems.insert(0, _unmoved(evidence) or f"The judge is saturated: {saturation}. {cannot}")
    if problems:
        reasons = (*problems, *_seen_anyway(evidence, tests))
        planned = None if silent else groups.of_reads(evidence)
        advice = _remedy(evidence) + (f" {groups.sentence(planned)}" if planned else "")
        return Verdict(CANNOT_TELL, reasons, tests, advice, planned)
    if findings:
        unknown = (UNKNOWN_POSITIONS,) if uncrossed else ()
        advice = _with_calls(AVERAGE, evidence)
        return Verdict(BIASED, (*_of_bias(evidence, findings, evidence.points), *unknown), tests, advice)
    if evidence.spread.shown and all(small.shown for small in _criteria(evidence)):
        return Verdict(EQUIVALENT, tuple(_of_equivalence(evidence, tests)), tests, ONE_ORDER)
    planned = groups.of_reads(evidence)
    reasons = (no_finding(tests), *_too_wide(evidence))
    return Verdict(CANNOT_TELL, reasons, tests, _until_more_is_known(evidence, planned), planned)


def no_finding(tests: dict[order_tests.Test, float]) -> str:
    """The sentence that no test finds an effect of the order, with the smallest p-value and the level."""
    if not tests:
        return "No test of the order could be made."
    least, level = min(tests.values()), f"{order_tests.LEVEL:g} or less would be a finding"
    if len(tests) == 1:
        return f"The test finds no effect of the order: {_p(least)}, where {level}."
    return (
        f"No test finds that the order matters: of {len(tests)} tests the smallest p is "
        f"{_p(least).removeprefix('p ').removeprefix('= ')}, adjusted for their number, where {level}."
    )


def _criteria(evidence: Evidence) -> tuple[Small, ...]:
    """Effects that must be shown to be small. With two levels there is no interaction."""
    criteria = (evidence.points.small_points, evidence.log_odds.small_log_odds)
    return (*criteria, evidence.log_odds.small_interaction) if evidence.n > 2 else criteria


def _problems(evidence: Evidence) -> Iterator[str]:
    """Reasons why the reads cannot answer the question."""
    main = evidence.main
    if not evidence.readouts:
        yield "No read has a score."
        return
    if evidence.n_orderings == 1:
        yield "All reads show the scores in one ordering, so a preference for a score looks like one for a position."
    elif evidence.crossed and not main.v.known:
        yield "No item was read in several orderings, so nothing can be compared."
    if _few_groups(evidence):
        are = "is 1 group" if evidence.n_groups == 1 else f"are {evidence.n_groups} groups"
        yield (
            f"There {are} of items that are independent of each other{_worth(evidence)}; at least {FEWEST_GROUPS} are "
            "needed."
        )
    if evidence.failed_share > MOST_FAILED:
        yield f"{_percent(evidence.failed_share)} of the reads have no score, and those could change the result."


def _uncrossed(evidence: Evidence) -> str:
    """Reason why several orderings do not distinguish positions from scores; empty if they do."""
    if not evidence.readouts or evidence.n_orderings == 1 or evidence.crossed:
        return ""
    return (
        f"Not every score was shown often enough in every position ({evidence.n_orderings} orderings), so a preference "
        "for a score looks like one for a position."
    )


def _silence(evidence: Evidence) -> str:
    """Reason why a judge that gives all scores the same probability cannot be called fair."""
    return (
        f"The judge says nothing of these texts: each of the {evidence.n} scores has the same probability in every read"
        f" (the most probable one has {evidence.top_probability:.3f} on average, and equal ones have"
        f" {1 / evidence.n:.3f}). That no order changes such an answer is no sign of a fair judge."
    )


def _saturation(evidence: Evidence) -> str:
    """Reason why an order can hardly change the written scores; empty if it can."""
    if evidence.hard and evidence.commonest_share >= uniformity.COMMONEST:
        share = evidence.commonest_share
        often = "more than 99%" if NEARLY_ALL < share < 1 else f"{share:.0%}"
        return f"it gives score {evidence.commonest_score} in {often} of its reads"
    if evidence.hard and evidence.crossed and evidence.hard.saturated and not math.isnan(evidence.discordant_share):
        few = f"only {_percent(evidence.discordant_share)}" if evidence.discordant_share else "none"
        return f"{few} of the pairs of reads of an item have different scores"
    return ""


def is_stable(evidence: Evidence) -> bool:
    """True if scores differ between items, but hardly ever between the reads of one item."""
    return bool(_saturation(evidence)) and evidence.commonest_share < uniformity.COMMONEST


def _unmoved(evidence: Evidence) -> str:
    """Reason why unchanged scores give no verdict; empty if an order changed one, or if nearly all scores are equal.

    The reason is given if no group has two reads of an item with different scores. It states an exact upper bound of
    the share of groups that have such reads. The bound holds for groups of any sizes that were drawn independently.
    """
    if not is_stable(evidence) or evidence.discordant_share > 0:
        return ""
    most = 1 - MISSED ** (1 / evidence.n_groups)
    return (
        f"The order changed no score: in {evidence.n_reads:,} reads every item has one score in all its orderings. "
        f"With {1 - MISSED:.0%} confidence it changes a score in at most {_percent(most)} of the groups. "
        "Scores that never change cannot show a weak preference."
    )


def _few_groups(evidence: Evidence) -> bool:
    return evidence.independent_groups < FEWEST_GROUPS


def _worth(evidence: Evidence) -> str:
    """Words for the effective number of groups, if groups are unequal; else empty."""
    if not evidence.unequal:
        return ""
    return (
        f", so unequal that they say no more than {evidence.effective_groups:.0f} equal ones "
        f"(the largest has {evidence.heaviest_group:.0%} of the items)"
    )


def _remedy(evidence: Evidence) -> str:
    """Change that would let the reads answer the question."""
    main = evidence.main
    if evidence.says_nothing:
        return (
            "Look at single answers first. A server gives all levels the same probability where it does not know the"
            " tokens of its labels, or has no trained head for the question."
        )
    if not evidence.readouts or evidence.failed_share > MOST_FAILED:
        return (
            "Look at the single reads first: most likely the prompt, or the longest length of an answer, is at fault."
        )
    if evidence.n_orderings == 1 or not evidence.crossed or not main.v.known:
        return "Read each item in orderings in which every score stands in every position, as strategy balanced does."
    if is_stable(evidence):
        return (
            "Check that the judge sees the rubric: some servers ignore system messages, and then no order can change a "
            "score. If it does, averaging over orderings changes next to nothing here. Option probabilities, or items "
            "between two scores, could show a preference that is too weak to change these scores."
        )
    if evidence.saturated:
        return (
            "Judge items that differ more, or look at the option probabilities where they are known. A judge that "
            "gives nearly one score hardly tells these items apart, in any order."
        )
    return f"Read more groups of items: at least {FEWEST_GROUPS}; a hundred tell much more."


def _until_more_is_known(evidence: Evidence, planned: groups.Groups | None) -> str:
    """Advice if the intervals are too wide, with the number of groups that would make them narrow enough."""
    if evidence.spread.verdict == equivalence.NOT_SHOWN:
        average = _with_calls(SINGLE, evidence)
        return f"{average} {groups.sentence(planned)}" if planned else average
    more = groups.sentence(planned) if planned else "More groups of items would make the intervals narrower."
    return f"{_with_calls('Until more is known, average over all these orderings.', evidence)} {more}"


def _with_calls(average: str, evidence: Evidence) -> str:
    """Advice to average, with the cost of averaging."""
    calls = (
        evidence.n_orderings if evidence.shared else round((evidence.n_reads + evidence.n_failed) / evidence.n_items)
    )
    return f"{average} {spread.calls(evidence.spread, calls)}"


def _seen_anyway(evidence: Evidence, tests: dict[order_tests.Test, float]) -> Iterator[str]:
    """Sentences on findings of reads that cannot answer the question, so that no verdict rests on these findings."""
    if not evidence.readouts:
        return
    if not evidence.crossed:
        if evidence.points.usual.known and not _saturation(evidence):
            where = f"{_interval(evidence.points.usual, '+z.2f')} points from the mean of these orderings"
            yield f"The usual ordering lies {where}{POINTS_AS[evidence.points.name]}. {no_finding(tests)}"
        return
    main, soft = evidence.main, evidence.soft
    of_soft = {key: p for key, p in tests.items() if key[0] == Readout.SOFT}
    if _saturation(evidence):
        if soft and of_soft and not order_tests.findings(of_soft):
            yield f"The option probabilities do not show it either. {no_finding(of_soft)}"
    elif main.v.known:
        yield (
            f"In these reads V is {_interval(main.v, '.2f')}, where 0 is every position equally often"
            f"{', but intervals of so few groups cannot be relied on' if _few_groups(evidence) else ''}."
        )


def _of_bias(evidence: Evidence, found: dict[order_tests.Test, float], points: ReadoutResults) -> Iterator[str]:
    """The findings in words, and the size of the effect on the scores of one readout."""
    for readout in evidence.readouts:
        how = READ_AS[readout.name]
        own = {name: p for (of, name), p in found.items() if of == readout.name}
        if "selection" in own:
            yield (
                f"Positions are not selected equally often{how}: {_extremes(readout)} "
                f"(V {_interval(readout.v, '.2f')}, {_p(own['selection'])})."
            )
        if "preference" in own:
            yield f"Some positions are preferred{how} ({_p(own['preference'])}). {_preference(readout)}"
        if "interaction" in own:
            p = _p(own["interaction"])
            yield f"High and low scores are preferred at different positions{how} ({p}). {_interaction(readout)}"
        if "points" in own:
            usual = f"; of the usual ordering {_p(own['usual'])}" if "usual" in own else ""
            p = f"{_p(own['points'])}{usual}"
            yield f"The order moves the mean score{POINTS_AS[readout.name]}: {_points(readout)} ({p})."
        elif "usual" in own:
            where = f"it lies {_interval(readout.usual, '+z.2f')} points from the mean of all orderings"
            yield f"The usual ordering moves the mean score{POINTS_AS[readout.name]}: {where} ({_p(own['usual'])})."
    yield from spread.of_bias(evidence.spread)
    yield from _size(points)
    if len(evidence.tests) > 1:
        yield f"p is adjusted for {len(evidence.tests)} tests, and {order_tests.LEVEL:g} or less is a finding."


def _size(points: ReadoutResults) -> Iterator[str]:
    """Sentence on the size of the effect on scores, compared with the margin."""
    small, how = points.small_points, POINTS_AS[points.name]
    if small.shown:
        yield f"The mean score is hardly moved: no ordering moves it by {small.margin:g} points or more{how}."
    elif small.verdict == equivalence.NOT_SHOWN:
        apart = f"; the two that differ most are {points.largest_gap:.2f} apart" if points.largest_gap > 0 else ""
        yield f"It is not small: one ordering moves the mean score by more than {small.margin:g} points{how}{apart}."
    elif small.verdict and _reach(small.worst) < small.margin:
        yield (
            f"Whether it is small cannot be told: with so few groups one ordering could move the mean score by "
            f"{small.margin:g} points or more{how}."
        )
    elif small.verdict and not math.isnan(_reach(small.worst)):
        yield (
            f"Whether it is small cannot be told: one ordering could move the mean score by up to "
            f"{_reach(small.worst):.2f} points{how}, and the margin is {small.margin:g}."
        )


def _of_equivalence(evidence: Evidence, tests: dict[order_tests.Test, float]) -> Iterator[str]:
    readout = evidence.log_odds
    points, log_odds = evidence.points.small_points, readout.small_log_odds
    yield no_finding(tests)
    yield (
        f"No order moves the mean score by {points.margin:g} points or more: at most by "
        f"{_at_most(_reach(points.worst))}{POINTS_AS[evidence.points.name]}."
    )
    yield (
        f"No position is worth {log_odds.margin:g} log-odds or more: at most "
        f"{_at_most(_reach(log_odds.worst))}{READ_AS[readout.name]}."
    )
    yield from spread.of_equivalence(evidence.spread)


def _too_wide(evidence: Evidence) -> Iterator[str]:
    """Sentences on the intervals that do not exclude a bias."""
    points, readout = evidence.points.small_points, evidence.log_odds
    log_odds = readout.small_log_odds
    if evidence.independent_groups < uniformity.FEW_CLUSTERS:
        yield (
            f"{evidence.n_groups} groups{_worth(evidence)} are too few to show a bias to be small; at least "
            f"{uniformity.FEW_CLUSTERS} are needed."
        )
    if not points.verdict and not evidence.shared:
        yield "Items were read in orderings of their own, so that the shift of the score by one ordering is not known."
    elif not points.verdict:
        yield "The shift of the score by one ordering is not known: no items connect all orderings with each other."
    elif not points.shown:
        yield _open("an order could move the mean score by", points.worst, points.margin, "points")
    if not log_odds.shown:
        yield _open("a position could be worth", log_odds.worst, log_odds.margin, "log-odds")
    if evidence.n > 2 and not readout.small_interaction.shown:
        what = "a position could be worth more to high scores than to low ones by"
        yield _open(what, readout.small_interaction.worst, log_odds.margin, "log-odds")
    yield from spread.open_bound(evidence.spread)


def _open(what: str, worst: Interval, margin: float, unit: str) -> str:
    if math.isnan(_reach(worst)):
        return f"The interval is not known: {what} {margin:g} {unit} or more."
    if _reach(worst) < margin:
        return f"With so few groups {what} {margin:g} {unit} or more."
    return f"The interval is wide: {what} up to {_reach(worst):.2f} {unit}, and the margin is {margin:g}."


def _reach(interval: Interval) -> float:
    """The end of an interval that is farther from 0."""
    return max(abs(interval.low), abs(interval.high))


def _extremes(readout: ReadoutResults) -> str:
    shares = [share.estimate for share in readout.shares]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    return (
        f"position {most + 1} gets {shares[most]:.0%} and position {least + 1} {shares[least]:.0%} of the selections, "
        f"where {1 / len(shares):.0%} is equal"
    )


def _preference(readout: ReadoutResults) -> str:
    values = [interval.estimate for interval in readout.preference]
    if not values or any(math.isnan(value) for value in values):
        return "By how much cannot be told: some positions always win against others, or the orderings do not tell."
    most, least = int(np.argmax(values)), int(np.argmin(values))
    return (
        f"Position {most + 1} adds {_interval(readout.preference[most], '+z.2f')} to the log-odds of the score that "
        f"stands there, and position {least + 1} {_interval(readout.preference[least], '+z.2f')}, against the mean of "
        f"all positions.{_others(readout)}{_tiny(_widest(readout.preference), readout.small_log_odds.margin)}"
    )


def _widest(values: Sequence[Interval]) -> Interval:
    """The interval that is farthest from 0."""
    return max(values, key=_reach)


def _others(readout: ReadoutResults) -> str:
    """Sentences on the positions whose preference is clearly above 0 or below 0, if there are more than two of them."""
    above = [place for place, interval in enumerate(readout.preference, start=1) if interval.low > 0]
    below = [place for place, interval in enumerate(readout.preference, start=1) if interval.high < 0]
    if len(above) + len(below) <= 2:
        return ""
    sides = (("preferred", above), ("avoided", below))
    said = " and ".join(f"{_listed(places)} {how}" for how, places in sides if places)
    return f" By their intervals {said}."


def _listed(places: list[int]) -> str:
    *first, last = map(str, places)
    return f"positions {', '.join(first)} and {last} are" if first else f"position {last} is"


def _interaction(readout: ReadoutResults) -> str:
    value = readout.interaction
    at_first, at_last = ("highest", "lowest") if value.estimate < 0 else ("lowest", "highest")
    size = -value if value.estimate < 0 else value
    return (
        f"The first position adds {_interval(size, '+z.2f')} log-odds more to the {at_first} score than to scores on "
        f"average. So does the last position to the {at_last} score.{_tiny(size, readout.small_interaction.margin)}"
    )


def _points(readout: ReadoutResults) -> str:
    if not readout.usual.known:
        return "where each score stands changes the mean score"
    gap = f"the two orderings that differ most are {readout.largest_gap:.2f} points apart"
    chance = f"{gap}, where chance alone makes {readout.gap_by_chance:.2f}"
    return f"{chance}; the usual ordering lies {_interval(readout.usual, '+z.2f')} points from the mean of all"


def _interval(value: Interval, form: str) -> str:
    """An estimate and its interval. If two decimals would wrongly show 0, two significant digits are given."""
    numbers = [abs(number) for number in (value.estimate, value.low, value.high) if not math.isnan(number)]
    largest = max(numbers, default=0.0)
    if ROUNDING < largest < WRITTEN_AS_0:
        form = form.replace("z.2f", ".2f").replace(".2f", f".{1 - math.floor(math.log10(largest))}f")
    ends = f" [{value.low:{form}}, {value.high:{form}}]" if value.bounded else ""
    return f"{value.estimate:{form}}{ends}"


def _tiny(value: Interval, margin: float) -> str:
    """Sentence on an effect that was found but is too small to notice; empty for a larger effect."""
    if not abs(value.estimate) < WRITTEN_AS_0 or not _reach(value) < margin:
        return ""
    return f" So little is found where reads have next to no noise; the margin is {margin:g} log-odds."


def _at_most(value: float) -> str:
    """A size with two decimals, rounded up, so that a small size is not written as 0.00."""
    return f"{math.ceil(value * 100 - 1e-9) / 100:.2f}"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _percent(share: float) -> str:
    return "0%" if share == 0 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
