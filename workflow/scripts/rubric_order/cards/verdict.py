"""Verdict of a bias card: the table of its estimands, by the rule of `estimands`, and the sentences read from it.

Each estimand has tests of `order_tests`, adjusted together. Small effects pass two one-sided tests at 5% each, also if
few groups have them (`equivalence.p_bounded`); effects on single items an interval. No judge is equivalent whose reads
are copies, whose written scores do not what its probabilities do, or whose finding a cause explains. Saturation, judged
in each ordering, is only a reason why nothing was found.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rubric_order.base.intervals import Interval
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.cards import doubt, estimands, groups, spread
from rubric_order.cards.estimands import (
    INTERACTION,
    LOG_ODDS,
    POINTS,
    SINGLE,
    Cause,
    Estimand,
)
from rubric_order.cards.evidence import Evidence, ReadoutResults, Small
from rubric_order.cards.numbers import interval_text, p_text, percent
from rubric_order.methods.position import cause_names, order_tests, uniformity
from rubric_order.methods.uncertainty import enough, equivalence

BIASED, EQUIVALENT, CANNOT_TELL = estimands.BIASED, estimands.EQUIVALENT, estimands.CANNOT_TELL
BIASED_IN_PROBABILITIES = "biased by its option probabilities"
VERDICTS = (BIASED, BIASED_IN_PROBABILITIES, EQUIVALENT, CANNOT_TELL)
MOST_FAILED = 0.2  # largest share of reads without a score
TESTS_OF = {
    POINTS: (order_tests.POINTS, order_tests.USUAL),
    LOG_ODDS: (order_tests.SELECTION, order_tests.PREFERENCE),
    INTERACTION: (order_tests.INTERACTION,),
}
SURE = 2.0  # answers drawn with a greater power of the option probabilities nearly always have the most probable score
READ_AS: dict[str, str] = {Readout.HARD: "", Readout.SOFT: " by the option probabilities"}
POINTS_AS = {Readout.HARD: "", Readout.SOFT: " (expected scores)"}
AVERAGE = "Average the scores over these orderings: a score from one ordering carries the bias."
AVERAGE_PROBABILITIES = "Where expected scores or probabilities are used, average them over these orderings."
APART = (
    "Read each prompt in two independent calls, or state that the temperature is 0. Until then, average over these "
    "orderings."
)
DRAW = (
    "Draw an ordering for each text at random: its score typically lies within {margin:g} points of the mean over all "
    "orderings. Scores from one ordering for all texts carry the bias."
)
ONE_ORDER = "As far as the order goes, one ordering is enough. The judge can still be wrong or lenient in every one."
SINGLE_ITEMS = "For single items, average over these orderings. Means over many items hardly depend on the order."
UNREAD = (
    "Look at single answers first. A server gives all levels the same probability where it does not know the tokens of "
    "its labels, or has no trained head for the question."
)
AT_FAULT = "At fault is most likely the prompt, or the longest length of an answer."
STABLE = (
    "Averaging over orderings changes next to nothing here. Check that the judge sees the rubric. Option probabilities "
    "could show a weak preference."
)
# Article, words and unit of each effect, in sentences on its size.
EFFECTS = {
    POINTS: ("an", "order moves the mean score by", "points"),
    LOG_ODDS: ("a", "position adds", "log-odds"),
    INTERACTION: ("a", "position adds to high scores, beyond low ones,", "log-odds"),
    SINGLE: ("an", "ordering moves single items, up or down, by", "points (SD)"),
}
SMALL = "Detectable, but smaller than the margin"
ONLY_POINTS = "only mean scores are compared"
NO_FINDING = {
    POINTS: "no test finds a shift of the mean score",
    LOG_ODDS: "no test finds a preference for a position",
    INTERACTION: "no test finds that positions differ for high and low scores",
}
MISSED = 0.05  # probability of seeing no change, if the share that changes is at its upper bound
UNBOUNDED = 20.0  # log-odds or points; a larger end of an interval bounds nothing


class Verdict(NamedTuple):
    """A verdict (one of `VERDICTS`), reasons (the most important first), advice, and the estimands from which they are
    read.

    `tests`: p by readout and test after Holm's adjustment, also of tests that do not decide; `planned`: groups that the
    other verdicts need, for `cannot tell`.
    """

    word: str
    reasons: tuple[str, ...]
    tests: dict[order_tests.Test, float]
    advice: str = ""
    planned: groups.Groups | None = None
    table: tuple[Estimand, ...] = ()


def judge(evidence: Evidence) -> Verdict:
    """Verdict from the table of estimands.

    Doubt about agreement comes first, since averaging does not mend it; last if reads have to be mended.
    """
    rows, tests = table(evidence), evidence.tests
    word, planned = estimands.verdict(rows), None
    if word == BIASED:
        by = {key[0] for row in rows if row.biased for key in _found(evidence, row.name)}
        word = BIASED_IN_PROBABILITIES if evidence.saturated and evidence.hard and by == {Readout.SOFT} else word
        advice = _calls(AVERAGE if word == BIASED else AVERAGE_PROBABILITIES, evidence)
        advice += " The written scores of these items hardly change." if word == BIASED_IN_PROBABILITIES else ""
    elif word == EQUIVALENT:
        advice = ONE_ORDER
    else:
        planned = None if _silent(evidence) else groups.needed_groups(evidence)
        advice = _remedy(evidence, rows, planned)
    reasons = tuple(dict.fromkeys(_reasons(evidence, rows, word)))
    if doubtful := doubt.reason(evidence.agreement):
        first = not (_few_groups(evidence) or evidence.failed_share > MOST_FAILED)
        reasons = (doubtful, *reasons) if first else (*reasons, doubtful)
        advice = f"{doubt.advice(evidence.agreement)} {advice}" if first else advice
    return Verdict(word, reasons, tests, advice, planned, rows)


def table(evidence: Evidence) -> tuple[Estimand, ...]:
    """The estimands of the reads; none if no read has a score. With two levels there is no interaction."""
    if not evidence.readouts:
        return ()
    log_odds, points, single = evidence.log_odds, evidence.points, evidence.spread
    far = max(log_odds.preference, key=_reach, default=Interval())
    rows = [
        (POINTS, points, points.usual, points.small_points),
        (LOG_ODDS, log_odds, far, log_odds.small_log_odds),
        *([(INTERACTION, log_odds, log_odds.interaction, log_odds.small_interaction)] if evidence.n > 2 else ()),
    ]
    of_items = Estimand(
        SINGLE,
        value=single.scores,
        bounds=Interval(single.sd.estimate, 0.0, single.reach) if single.shown else Interval(),
        margin=single.margin if single.shown else math.nan,
        missing=(*_unknown(evidence), *apart(evidence), *_open_readouts(evidence), *_open_single(evidence)),
    )
    best = Estimand(estimands.BEST, value=single.best, required=False)
    return (*(_estimand(evidence, *row) for row in rows), of_items, best)


def _estimand(evidence: Evidence, name: str, readout: ReadoutResults, value: Interval, small: Small) -> Estimand:
    """One row of the table, with the causes that its findings do or do not survive."""
    p = min((p for key, p in evidence.tests.items() if key[1] in TESTS_OF[name]), default=math.nan)
    lost = [row for row in evidence.causes_of(cause_names.FAILURES) if row["readout"] == readout.name and "low" in row]
    lost = [row for row in lost if row["p"] <= cause_names.LEVEL]
    bounds = small.worst
    if name == POINTS and lost:  # the shift with any plausible scores for the reads without one
        reach = (value.high - value.low) / 2 if value.bounded else 0.0
        ends = min(row["low"] for row in lost) - reach, max(row["high"] for row in lost) + reach
        bounds = Interval(bounds.estimate, min(bounds.low, ends[0]), max(bounds.high, ends[1]))
    missing = [
        *_unknown(evidence),
        *([_why_saturated(evidence)] if readout.name == Readout.HARD and _saturation(evidence) else ()),
    ]
    if not small.shown:
        missing.append(_open(evidence, name, _reach(bounds), small.margin))
    if name == POINTS and lost and not _reach(bounds) < small.margin:
        missing.append(_cause_words(lost[0]))
    by_position = [
        row for row in evidence.causes_of(cause_names.FAILURES) if row["readout"] == readout.name and "reach" in row
    ]
    missing += [_cause_words(row) for row in by_position if name != POINTS and not row["reach"] < small.margin]
    return Estimand(
        name,
        value=value,
        bounds=bounds,
        margin=small.margin,
        p=p,
        level=order_tests.LEVEL,
        missing=tuple(missing),
        causes=(*_preventing(evidence), *_explaining(evidence, name)),
    )


def _found(evidence: Evidence, name: str) -> list[order_tests.Test]:
    return [key for key in order_tests.findings(evidence.tests) if key[1] in TESTS_OF.get(name, ())]


def _explaining(evidence: Evidence, name: str) -> Iterator[Cause]:
    """Causes that were tested. A finding survives one if it is found with the p-values that allow for it."""
    tests = _found(evidence, name)
    raw = {(of.name, test): p for of in evidence.readouts for test, p in of.tests.items()}
    for row in (row for row in evidence.causes if tests and "tests" in row):
        least = {(row["readout"], test): p for test, p in row["tests"].items()}
        raised = {key: max(p, least.get(key, 0.0)) for key, p in raw.items()}
        if raised != raw:
            left = order_tests.findings(order_tests.adjusted(raised, evidence.n, evidence.deciding))
            explains = not any(key in left for key in tests)
            if explains or (row["cause"] == cause_names.FAILURES and row["p"] <= cause_names.LEVEL):
                yield Cause(row["cause"], _cause_words(row, name), explains)


def differs(evidence: Evidence) -> bool:
    """True if a finding in log-odds does not survive another scale, or the absence, of an ordering."""
    of_orderings = (cause_names.SCALE, cause_names.ONE_ORDERING)
    return any(cause.explains and cause.name in of_orderings for cause in _explaining(evidence, LOG_ODDS))


def _cause_words(row: Row, name: str = LOG_ODDS) -> str:
    """The sentence on a cause, and on what it explains."""
    if row["cause"] == cause_names.SCALE:
        return f"Ordering {row['ordering']} is {row['times']:.1f} times as sure as others. Then {NO_FINDING[name]}."
    if "orderings" in row:
        return f"With {row['orderings']} orderings, positions and single orderings cannot be separated: {ONLY_POINTS}."
    if row["cause"] == cause_names.ONE_ORDERING:
        return f"Without ordering {row['ordering']}, {NO_FINDING[name]}."
    if "could" in row and row["p"] > cause_names.LEVEL:
        return (
            f"{percent(row['lost'])} of the reads have no score, and the others do not exclude that these would have "
            f"the score in position {row['could']}."
        )
    if "position" in row:
        where = f"most often where an item's commonest score stands in position {row['position']} ({p_text(row['p'])})"
        shift = f" Depending on these, the estimated shift is {_ends(row)} points." if "low" in row else ""
        return f"Scores are missing where it matters, {where}.{shift}"
    text = (
        f"Scores are missing where it matters: in {percent(row['share'])} of the reads of ordering {row['ordering']} "
        f"and in {percent(row['others'])} of the others ({p_text(row['p'])})."
    )
    if "low" not in row:
        return text
    shift = f"{_ends(row)} points (at worst {_ends(row, 'worst_')})"
    return f"{text} Depending on these, the estimated shift by the usual ordering is {shift}."


def _ends(row: Row, of: str = "") -> str:
    return f"{row[f'{of}low']:+z.2f} to {row[f'{of}high']:+z.2f}"


def _preventing(evidence: Evidence) -> Iterator[Cause]:
    """Causes that no finding of these reads can exclude."""
    if evidence.n_orderings == 1:
        text = "All reads show the scores in one ordering, so a preference for a score looks like one for a position."
        yield Cause("one order", text, True)
    elif evidence.crossed and not evidence.main.v.known:
        yield Cause("one order", "No item was read in several orderings, so nothing can be compared.", True)
    independent = " of items that are independent of each other"
    groups = evidence.n_groups, evidence.independent_groups
    if few := enough.FINDING.refusal(*groups, independent, evidence.heaviest_group):
        yield Cause("groups", f"{few.capitalize()}.", True)
    if evidence.failed_share > MOST_FAILED:
        text = f"{percent(evidence.failed_share)} of the reads have no score, and those could change the result."
        yield Cause(cause_names.FAILURES, text, True)


def _few_groups(evidence: Evidence) -> bool:
    return not enough.FINDING.met(evidence.independent_groups)


def _unknown(evidence: Evidence) -> Iterator[str]:
    """Reasons why the reads as a whole cannot show that an effect is small."""
    if _silent(evidence):
        yield (
            f"The judge says nothing of these texts: each of the {evidence.n} scores has the same probability in every "
            f"read (the most probable one {evidence.top_probability:.3f} on average, equal ones {1 / evidence.n:.3f})."
        )
    if evidence.n_orderings > 1 and not evidence.crossed:
        yield f"Not every score was shown often enough in every position ({evidence.n_orderings} orderings)."
    if evidence.copied:
        row = evidence.causes_of(cause_names.COPIES)[0]
        rare = f"differ in {percent(row['differ'])} of the pairs" if row["differ"] else "never differ"
        yield (
            f"Repeats of one prompt {rare} ({row['cells']:,} prompts), two orderings of an item in "
            f"{percent(row['orderings'])}: the repeats are {'mostly ' * (row['differ'] > 0)}copies, unless the "
            f"temperature was {'near ' * (row['differ'] > 0)}0. What chance does is not known."
        )


def apart(evidence: Evidence) -> Iterator[str]:
    """Reasons why option probabilities do not show what the order does to the single scores that users see."""
    if not evidence.hard or evidence.spread.readout != Readout.SOFT or evidence.written_spread.shown:
        return
    users = "Users see the written scores."
    if evidence.written_spread.verdict == equivalence.NOT_SHOWN:
        sd = interval_text(evidence.written_spread.sd, ".2f")
        yield f"By repeats, an ordering moves single written scores by {sd} points (SD). {users}"
    elif math.isnan(evidence.exponent[0]):
        yield f"{_unlike(evidence)} {users}"
    elif evidence.exponent[0] >= SURE:
        yield f"The most probable score is nearly always written, and jumps where probabilities move little. {users}"
    for row in evidence.causes_of(cause_names.WRITTEN):
        if row["p"] <= cause_names.LEVEL:
            yield f"Orderings move written scores of groups beyond their probabilities ({p_text(row['p'])}). {users}"
        elif row["low"] > 0 and not row["bound"] < evidence.spread.margin:
            yield f"Positions move single written scores beyond probabilities by {_beyond(evidence, row)}. {users}"
        elif evidence.spread.shown and row["drawn"] >= evidence.spread.margin:
            reach = f"up to {row['drawn']:.2f} points (SD; margin {evidence.spread.margin:g})"
            yield f"Answers are surer than the probabilities, so that an ordering moves single ones by {reach}. {users}"
    if evidence.causes_of(cause_names.ROUNDING):
        yield "Option probabilities have one decimal, too coarse for what an ordering does to single items."


def _unlike(evidence: Evidence) -> str:
    """The sentence on written scores that no power of the option probabilities is known to give."""
    for row in evidence.causes_of(cause_names.IMPOSSIBLE):
        none = percent(row["share"])
        return f"Written scores do not follow the option probabilities: {none} of them have probability 0."
    return "Written scores are not shown to follow the option probabilities."


def _beyond(evidence: Evidence, row: Row) -> str:
    size = interval_text(Interval(row["sd"], row["low"], row["high"]), ".2f")
    return f"{size} points (SD; margin {evidence.spread.margin:g})"


def _open_readouts(evidence: Evidence) -> Iterator[str]:
    """The sentence that written scores are not shown to follow the option probabilities that decide on single items."""
    for row in evidence.causes_of(cause_names.WRITTEN) if evidence.unlinked else ():
        if not row["bound"] < evidence.spread.margin and not row["low"] > 0:
            size = "not known" if math.isnan(row["bound"]) else f"{_beyond(evidence, row)}, not shown to be less"
            yield f"What positions do to single written scores beyond their probabilities is {size}: read more items."


def _open_single(evidence: Evidence) -> Iterator[str]:
    """Reasons why the order may move single items, unless they are shown to move by less than the margin."""
    single = evidence.spread
    if single.verdict == equivalence.NOT_SHOWN:
        yield from spread.bias_sentences(single)
    elif single.readout and not single.shown and single.sd.known:
        yield _open(evidence, SINGLE, single.reach, single.margin)
    elif single.readout and not single.shown and not evidence.copied:
        yield "What orderings do to single items is not known: read each one twice, or ask for option probabilities."


def _silent(evidence: Evidence) -> bool:
    return evidence.says_nothing and not order_tests.findings(evidence.tests)


def _saturation(evidence: Evidence) -> str:
    """Reason why an order can hardly change the written scores; empty if it can."""
    if evidence.hard and evidence.one_score:
        share = evidence.commonest_share
        often = "more than 99%" if spread.NEARLY_ALL < share < 1 else f"{share:.0%}"
        return f"it gives score {evidence.commonest_score} in {often} of its reads"
    if is_stable(evidence):
        few = f"only {percent(evidence.discordant_share)}" if evidence.discordant_share else "none"
        return f"{few} of the pairs of reads of an item have different scores"
    return ""


def is_stable(evidence: Evidence) -> bool:
    """True if scores differ between items, but hardly ever between the reads of one item."""
    varied = evidence.commonest_share < uniformity.COMMONEST and not math.isnan(evidence.discordant_share)
    return bool(evidence.hard and evidence.crossed and evidence.hard.saturated and varied)


def _why_saturated(evidence: Evidence) -> str:
    """Reason why nothing was found, with an exact bound, if no order changed a score, on the share of groups that were
    drawn independently.
    """
    if is_stable(evidence) and not evidence.discordant_share:
        most = 1 - MISSED ** (1 / evidence.n_groups)
        return (
            f"No order changed a score in {evidence.n_reads:,} reads: with {1 - MISSED:.0%} confidence it changes one "
            f"in at most {percent(most)} of the groups. Such scores cannot show a weak preference."
        )
    return f"The judge is saturated: {_saturation(evidence)}, which leaves little to find."


def _reasons(evidence: Evidence, rows: Sequence[Estimand], word: str) -> Iterator[str]:
    """The sentences of a card, the most important first."""
    if not rows:
        yield "No read has a score."
        return
    prevented = [cause.sentence for cause in _preventing(evidence)]
    tested = [cause for row in rows for cause in row.causes if cause.sentence not in prevented]
    explained = {cause.name: cause.sentence for cause in reversed(tested)}  # the first of each name
    negligible = [row for row in rows if row.found and row.small and not row.biased and not row.explained]
    single = [] if prevented or not evidence.crossed else [*spread.said_first(evidence.spread)]
    if evidence.copied or _silent(evidence):
        yield from _unknown(evidence)
    yield from prevented
    yield from (_finding_words(evidence, row) for row in rows if row.biased)
    if word == BIASED_IN_PROBABILITIES:
        yield f"Written scores hardly show it: {_saturation(evidence)}."
    yield from explained.values()
    yield from (f"{SMALL} ({row.margin:g}): {_finding_words(evidence, row)}" for row in negligible)
    if word in (BIASED, BIASED_IN_PROBABILITIES):
        yield from _unknown(evidence)
        yield from (*single, *spread.bias_sentences(evidence.spread))
        return
    if word == EQUIVALENT:
        yield from () if negligible else (no_finding(evidence.tests),)
        small = "; ".join(_small_words(evidence, row) for row in rows if row.required)
        yield f"All effects are smaller than their margins: {small}."
        cancel = " Such changes are small, go up and down, and cancel in means."
        some = any(share.high >= spread.LEAST for share in (evidence.spread.scores, evidence.spread.best))
        yield from (f"{sentence}{cancel * some}" for sentence in single)
        return
    if not evidence.crossed and evidence.n_orderings > 1 and evidence.points.usual.known:
        usual = interval_text(evidence.points.usual, "+z.2f") + f" points{POINTS_AS[evidence.points.name]}"
        yield f"The usual ordering lies {usual} from the mean of these orderings."
    if not (prevented or explained or negligible):
        yield no_finding(evidence.tests)
    yield from single
    if not prevented:
        missing = [dict.fromkeys(row.missing) for row in rows if row.required and not row.explained]
        yield from _unknown(evidence)
        yield from (sentence for of_row in missing for sentence in of_row)


def no_finding(tests: dict[order_tests.Test, float]) -> str:
    """The sentence that no test finds an effect of the order, with the smallest p-value and the level."""
    if not tests:
        return "No test of the order could be made."
    how = READ_AS[Readout.SOFT] if all(readout == Readout.SOFT for readout, _ in tests) else ""
    many = f" is the smallest of {len(tests)} tests, adjusted" if len(tests) > 1 else ""
    least = f"{p_text(min(tests.values()))}{many}; {order_tests.LEVEL:g} or less is a finding"
    return f"No test finds an effect of the order over all items{how}: {least}."


def _finding_words(evidence: Evidence, row: Estimand) -> str:
    """The sentence on an effect that was found."""
    p, readout = p_text(row.p), evidence.points if row.name == POINTS else evidence.log_odds
    tests, how = [test for _, test in _found(evidence, row.name)], READ_AS[readout.name]
    if row.name == POINTS:
        usual, of_usual = readout.usual, (readout.name, order_tests.USUAL)
        if (
            usual.bounded
            and (usual.low > 0 or usual.high < 0)
            and (of_usual not in evidence.tests or order_tests.USUAL in tests)
        ):
            size = f"{interval_text(usual, '+z.2f')} points{POINTS_AS[readout.name]}"
            return (
                f"The usual ordering shifts the mean score by {size} ({p_text(evidence.tests.get(of_usual, row.p))})."
            )
        gap = (
            ""
            if math.isnan(readout.largest_gap)
            else (
                f": the two that differ most are {readout.largest_gap:.2f} points apart, where chance makes "
                f"{readout.gap_by_chance:.2f}"
            )
        )
        return f"Mean scores differ between orderings{POINTS_AS[readout.name]}{gap} ({p})."
    if row.name == INTERACTION:
        value = -row.value if row.value.estimate < 0 else row.value
        ends = ("highest", "lowest") if row.value.estimate < 0 else ("lowest", "highest")
        return (
            f"The first position adds {interval_text(value, '+z.2f')} log-odds more to the {ends[0]} score than to "
            f"scores on average{how}, and the last to the {ends[1]} score ({p})."
        )
    sizes = [value.estimate for value in readout.preference]
    if order_tests.PREFERENCE in tests and sizes and not any(map(math.isnan, sizes)):
        most, least = sizes.index(max(sizes)), sizes.index(min(sizes))
        above, below = (interval_text(readout.preference[place], "+z.2f") for place in (most, least))
        return (
            f"Position {most + 1} adds {above} to the log-odds of the score that stands there{how}, position "
            f"{least + 1} {below} ({p})."
        )
    shares = [share.estimate for share in readout.shares] or [math.nan]
    most, least = shares.index(max(shares)), shares.index(min(shares))
    return (
        f"Positions are not selected equally often{how}: position {most + 1} gets {shares[most]:.0%}, position "
        f"{least + 1} {shares[least]:.0%}, where {1 / len(shares):.0%} is equal (V "
        f"{interval_text(readout.v, '.2f')}, {p})."
    )


def _small_words(evidence: Evidence, row: Estimand) -> str:
    article, what, unit = EFFECTS[row.name]
    how = {POINTS: POINTS_AS[evidence.points.name], LOG_ODDS: READ_AS[evidence.log_odds.name]}.get(row.name, "")
    most = math.ceil(_reach(row.bounds) * 100 - 1e-9) / 100  # rounded up, so that a small size is not written as 0.00
    return f"{article} {what} at most {most:.2f} {unit}{how}, margin {row.margin:g}"


def _open(evidence: Evidence, name: str, reach: float, margin: float) -> str:
    """The sentence on an effect that is not shown to be small."""
    article, what, unit = EFFECTS[name]
    if math.isnan(reach) and name == POINTS and evidence.discordant_share == 0:
        return "No ordering moved the mean score of these reads; how far one could is not known."
    if math.isnan(reach) and name == POINTS:
        shared = "no items connect all orderings" if evidence.shared else "items were read in orderings of their own"
        return f"The shift of the mean score by one ordering is not known: {shared}."
    if reach < margin:
        return f"{evidence.n_groups} groups cannot exclude that in a few {article} {what} {margin:g} {unit} or more."
    up_to = (
        f"{margin:g} {unit} or more"
        if math.isnan(reach) or reach > UNBOUNDED
        else f"up to {reach:.2f} {unit} (margin {margin:g})"
    )
    return f"Not excluded: {article} {what} {up_to}."


def _remedy(evidence: Evidence, rows: Sequence[Estimand], planned: groups.Groups | None) -> str:
    """Advice on how reads would answer the question, for the first condition that holds."""
    more = groups.sentence(planned) if planned else ""
    explained = [cause.name for row in rows for cause in row.explained]
    lost = any(row["p"] <= cause_names.LEVEL for row in evidence.causes_of(cause_names.FAILURES))
    uncrossed = evidence.n_orderings == 1 or not evidence.crossed or not evidence.main.v.known
    remedies = (
        (_silent(evidence), UNREAD),
        (not rows or evidence.failed_share > MOST_FAILED, "Look at the reads without a score first. " + AT_FAULT),
        (
            uncrossed,
            "Read items in orderings in which every score stands in every position, as strategy balanced does.",
        ),
        (_few_groups(evidence), f"Read more groups of items, at least {enough.FINDING.least}. {more}".rstrip()),
        (evidence.copied, APART),
        (
            cause_names.FAILURES in explained or lost,
            "Find out why scores are missing in some orderings, and read those again.",
        ),
        (explained, f"Look at the ordering that differs. Until then: {_calls(AVERAGE, evidence)}"),
        (evidence.spread.verdict == equivalence.NOT_SHOWN, _calls(SINGLE_ITEMS, evidence)),
        (is_stable(evidence) and not order_tests.findings(evidence.tests), STABLE),
        (evidence.one_score, "Judge items that differ more, or look at option probabilities."),
    )
    until = f"Until more is known, average over these orderings. {more or 'More groups would narrow the intervals.'}"
    return next((text for holds, text in remedies if holds), until)


def _calls(average: str, evidence: Evidence) -> str:
    """Advice to average, with the calls that this costs; to draw an ordering for each text, where one is enough."""
    orderings = evidence.n_orderings
    if evidence.spread.needed.estimate <= 1:
        return DRAW.format(margin=evidence.spread.margin)
    most = orderings if evidence.shared else round((evidence.n_reads + evidence.n_failed) / evidence.n_items)
    return f"{average} {spread.calls(evidence.spread, most)}"


def _reach(interval: Interval) -> float:
    return max(abs(interval.low), abs(interval.high))
