"""A bias card: what is known of one judge's reads, with the verdict, as numbers and sentences."""

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pandas as pd

from rubric_order.base import flags
from rubric_order.base.gold import HUMAN, OTHERS
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import Readout
from rubric_order.cards import anchors as of_suite
from rubric_order.cards import evidence as gathering
from rubric_order.cards import groups, headline, spread
from rubric_order.cards import verdict as rules
from rubric_order.cards.evidence import Agreement, Evidence, Rankings, ReadoutResults
from rubric_order.cards.numbers import list_text, number, unknown, written
from rubric_order.cards.record import CardRecord
from rubric_order.methods.position import order_tests

MOST_NAMED = 3  # most reasons for reads without a score that a card names


@dataclass(frozen=True, repr=False)
class Card:
    """Card of one judge's reads.

    Attributes:
        evidence: the numbers.
        verdict: the verdict on these numbers.
        notes: sentences about the reads. The verdict does not depend on them.
        anchors: values that a later run over the same items is compared with; None if they were not computed.
        cost: cost of reading 1,000 items as often as the items of this card, and its currency; None if the cost is not
            known.
    """

    evidence: Evidence
    verdict: rules.Verdict
    notes: tuple[str, ...] = field(default=())
    anchors: of_suite.Anchors | None = None
    cost: tuple[float, str] | None = None

    @property
    def judge(self) -> str:
        """The judge's name."""
        return str(self.evidence.keys["judge"])

    def to_dict(self) -> CardRecord:
        """The card as JSON has it: numbers that are not known are None.

        Main keys:

        - ``judge``, ``verdict``, ``headline``, ``reasons``, ``notes`` and ``advice``;
        - ``v``, ``v_low`` and ``v_high``: V of written options or, if no read has one, of option probabilities;
        - ``preference``: preference for each position, in log-odds;
        - ``usual_minus_balanced`` (with ``_low`` and ``_high``): shift by the usual ordering, in points;
        - ``decided_by``: readout that decides the preference, and readout that decides the shift;
        - ``groups_for_biased`` and ``groups_for_equivalent``: on a card that cannot tell, numbers of groups that these
          verdicts need;
        - ``single_items``, ``agreement`` and ``rankings``: effects of the order on single items, on agreement with
          people, and on rankings;
        - ``readouts``: further results of each readout;
        - ``cost`` of 1,000 items, if it is known;
        - ``anchors``: values of each group that a later run is compared with.
        """
        evidence, main = self.evidence, self.evidence.main
        log_odds, points = evidence.log_odds, evidence.points
        tests = self.verdict.tests
        record: dict[str, Any] = {
            "judge": self.judge,
            "verdict": self.verdict.word,
            "headline": headline.headline(self.evidence, self.verdict).sentence,
            "reasons": list(self.verdict.reasons),
            "notes": list(self.notes),
            "advice": self.verdict.advice,
            **_interval("v", main.v),
            "preference": _estimates(log_odds),
            **_interval("usual_minus_balanced", points.usual),
            "decided_by": {"log_odds": str(evidence.deciding.log_odds), "points": str(evidence.deciding.points)},
            "level": order_tests.LEVEL,
            "n_tests": len(tests),
            "smallest_p": min(tests.values(), default=None),
            **{name: getattr(evidence, name) for name in ("n_items", "n_groups", "n_reads", "n_failed", "n_orderings")},
            "effective_groups": number(evidence.effective_groups),
            "heaviest_group": number(evidence.heaviest_group),
            "design": {name: getattr(evidence, name) for name in ("fewest", "most", "shared", "balanced", "crossed")},
            "failures": dict(evidence.failures),
            "n_copies": evidence.n_copies,
            "n_levels": evidence.n,
            "saturated": evidence.saturated,
            "says_nothing": evidence.says_nothing,
            "commonest_score": evidence.commonest_score,
            "commonest_share": number(evidence.commonest_share),
            "discordant_share": number(evidence.discordant_share),
            "top_probability": number(evidence.top_probability),
            "margin_points": number(points.small_points.margin),
            "margin_log_odds": number(log_odds.small_log_odds.margin),
            "detectable_v": number(evidence.detectable_v),
            **(self.verdict.planned.content() if self.verdict.planned else groups.NOTHING),
            "estimands": [estimand.content() for estimand in self.verdict.table],
            "single_items": spread.content(evidence.spread),
            "agreement": _agreement(evidence.agreement),
            "rankings": _rankings(evidence.rankings),
            "readouts": {str(readout.name): self._readout(readout) for readout in evidence.readouts},
            **({"cost": {"per_1000_items": self.cost[0], "currency": self.cost[1]}} if self.cost else {}),
            **({"anchors": self.anchors.to_dict()} if self.anchors else {}),
            **{name: evidence.keys[name] for name in KEYS if name not in ("judge", "n")},
        }
        return cast(CardRecord, record)

    def _readout(self, readout: ReadoutResults) -> dict[str, Any]:
        """Further results of one readout."""
        adjusted = {name: p for (of, name), p in self.verdict.tests.items() if of == readout.name}
        return {
            **_interval("v", readout.v),
            "shares": [_interval("share", share) for share in readout.shares],
            "preference": [_interval("log_odds", value) for value in readout.preference],
            **_interval("usual_minus_balanced", readout.usual),
            "largest_gap": number(readout.largest_gap),
            "gap_by_chance": number(readout.gap_by_chance),
            "saturated": readout.saturated,
            "p": {name: number(p) for name, p in readout.tests.items()},
            "p_holm": {name: number(p) for name, p in adjusted.items()},
            "smaller_than_margin": {
                "points": readout.small_points.verdict or None,
                "log_odds": readout.small_log_odds.verdict or None,
            },
        }

    def __repr__(self) -> str:
        """The card as text."""
        head = headline.headline(self.evidence, self.verdict).sentence
        sentences = (f"• {text}" for text in (*self.verdict.reasons, *self.notes))
        rows = (f"  {name}: {value}" for name, value in facts(self.evidence))
        title = f"{self.judge}: {self.verdict.word}"
        return "\n".join([title, head, f"→ {self.verdict.advice}", *sentences, *rows])

    def _repr_html_(self) -> str:
        """The card as a notebook shows it."""
        reasons = "".join(f"<li>{html.escape(text)}</li>" for text in (*self.verdict.reasons, *self.notes))
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in facts(self.evidence)
        )
        reasons += f"<li>{html.escape(self.verdict.advice)}</li>"
        title = f"{html.escape(self.judge)}: {html.escape(self.verdict.word)}"
        return f"<section><h3>{title}</h3><ul>{reasons}</ul><table>{rows}</table></section>"


def cards(statistics: Mapping[str, pd.DataFrame]) -> list[Card]:
    """A card for each group of reads, see `evidence.gather`; with anchors if the statistic `anchors` was computed."""
    suites = of_suite.gather(statistics.get(of_suite.NAME))
    return [
        Card(evidence, rules.judge(evidence), anchors=suites.get(tuple(evidence.keys[name] for name in KEYS)))
        for evidence in gathering.gather(statistics)
    ]


def facts(evidence: Evidence) -> list[tuple[str, str]]:
    """The numbers of a card as people read them, in pairs of name and value."""
    log_odds = evidence.log_odds
    commonest = f"score {evidence.commonest_score} in {evidence.commonest_share:.0%} of the reads"
    return [
        *_shares(evidence),
        *spread.facts(evidence.spread, competing=evidence.n_items > evidence.n_groups),
        *_v(evidence),
        (f"Preference of each position, log-odds{_of(evidence, log_odds)}", _preference(evidence)),
        *_usual(evidence),
        (f"Smallest p, adjusted ({order_tests.LEVEL:g} or less is a finding)", _smallest(evidence.tests)),
        ("Commonest score", "no score" if evidence.commonest_score is None else commonest),
        (
            "Pairs of reads of an item, in any orderings, whose scores differ",
            _plain(evidence.discordant_share, ".0%", "no item has two scores"),
        ),
        ("Mean probability of the most probable score", _most_probable(evidence)),
        *_people_facts(evidence),
        (
            f"Smallest V that a study of this size finds with 80% power{_of(evidence, evidence.main)}",
            _plain(evidence.detectable_v, ".3f", "the reads of an item hardly differ" if evidence.saturated else ""),
        ),
        ("Items", f"{evidence.n_items:,} in {_count(evidence.n_groups, 'group')}"),
        ("Effective number of groups", _effective(evidence)),
        *_copy_facts(evidence),
        ("Reads", f"{evidence.n_reads:,} with a score, {evidence.n_failed:,} without{_failures(evidence.failures)}"),
        ("Orderings", _design(evidence)),
    ]


def shares_name(evidence: Evidence, readout: ReadoutResults) -> str:
    """Name of the fact that gives the share of each position by one readout."""
    return f"Share of each position, first to last{_of(evidence, readout)}"


def _shares(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for readout in evidence.readouts or (evidence.main,):
        shares = ", ".join(f"{share.estimate:.0%}" for share in readout.shares)
        yield shares_name(evidence, readout), shares or unknown(_uncounted(evidence))


def _v(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for readout in evidence.readouts or (evidence.main,):
        name = f"Cramér's V of the shares (0: equal){_of(evidence, readout)}"
        yield name, written(readout.v, ".3f", _uncounted(evidence))


def _preference(evidence: Evidence) -> str:
    values = _estimates(evidence.log_odds)
    if rules.differs(evidence):
        return unknown("what a position adds differs between orderings")
    if values is not None:
        return list_text(math.nan if value is None else value for value in values)
    if not evidence.crossed or not evidence.readouts:
        return unknown(_uncounted(evidence))
    return unknown(_undetermined(evidence))


def _undetermined(evidence: Evidence) -> str:
    """Reason why no preference is known although every score was shown in every position."""
    flag = evidence.log_odds.preference_flag
    if flags.has(flag, flags.SEPARATED):
        return "where scores of an item differ, some positions always win against others, so that no finite size fits"
    if flags.has(flag, flags.NO_COMPARISONS):
        if evidence.log_odds.name == Readout.SOFT:
            return "no item was read in several orderings with two scores of a probability above 0 in each"
        return "no item has different scores in orderings that show these scores at different positions"
    return "the orderings do not determine it" if evidence.log_odds.preference else _uncounted(evidence)


def _uncounted(evidence: Evidence) -> str:
    if not evidence.readouts:
        return "no read has a score"
    if not evidence.crossed:
        return "not every score was shown in every position"
    return "no item was read in several orderings"


def _failures(failures: Mapping[str, int]) -> str:
    """The commonest reasons; empty if none is known."""
    named = [f"{reason} {count:,}" for reason, count in failures.items()]
    more = [f"{len(named) - MOST_NAMED} more reasons"] if len(named) > MOST_NAMED else []
    return f" ({', '.join(named[:MOST_NAMED] + more)})" if named else ""


def _of(evidence: Evidence, readout: ReadoutResults) -> str:
    """Readout in brackets; empty if written scores are the only one."""
    if evidence.soft is None:
        return ""
    return " (option probabilities)" if readout.name == Readout.SOFT else " (written scores)"


def _usual(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for readout in evidence.readouts or (evidence.points,):
        scores = "expected scores" if readout.name == Readout.SOFT else "written scores"
        name = "Usual ordering less mean of all orderings, points"
        value = written(readout.usual, "+z.2f", "needs items that share their orderings, the usual one among them")
        yield name + (f" ({scores})" if evidence.soft else ""), value


def _smallest(tests: Mapping[order_tests.Test, float]) -> str:
    if not tests:
        return "no test"
    least = min(tests.values())
    return f"{'< 0.001' if least < 0.001 else f'{least:.3f}'} of {_count(len(tests), 'test')}"


def _design(evidence: Evidence) -> str:
    times = f"{evidence.most}" if evidence.fewest == evidence.most else f"{evidence.fewest} to {evidence.most}"
    often = f"{evidence.n_orderings:,}, each read {times} time{'' if times == '1' else 's'} per item"
    if evidence.most == 1 and evidence.balanced:
        return often
    even = "equally often" if evidence.balanced else "often enough" if evidence.crossed else "not often enough"
    return f"{often}; each ordering counts once per item, every score stands {even} in every position"


def _effective(evidence: Evidence) -> str:
    if math.isnan(evidence.effective_groups):
        return "not known"
    return f"{evidence.effective_groups:.0f}; the largest group has {_part(evidence.heaviest_group)} of the items"


def _part(share: float) -> str:
    return f"{share:.1%}" if share < 0.01 else f"{share:.0%}"


def _copy_facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Items that are likely one item under several names. They count as independent, so results look too sure."""
    if evidence.n_copies:
        equal = "option probabilities" if evidence.soft else "written scores, not all one score,"
        counted = _count(evidence.n_copies, "item")
        most = evidence.n_copies >= evidence.n_items / 2
        alike = "; or a judge that answers many items alike" if most or not evidence.soft else ""
        text = f"{counted} whose {equal} equal those of an item of another group, such as {evidence.copies}"
        yield "Copies", f"{text}: one item under several names, which belongs in one group{alike}"


def _people_facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Effects of the order on agreement with people and on rankings, if they are known."""
    agreement, ranks = evidence.agreement, evidence.rankings
    if agreement:
        if agreement.usual.known:
            name = f"Agreement with {OTHERS[agreement.gold]} (r), usual ordering, one read"
            yield name, written(agreement.usual, ".2f")
            yield "The same of one read, mean over the orderings", f"{agreement.single:.2f}"
        of_mean = "" if agreement.gold == HUMAN else f"with {OTHERS[agreement.gold]} (r), "
        which = f", {'written' if evidence.hard else 'expected'} scores" if agreement.expected.known else ""
        yield f"Agreement {of_mean or 'of the '}mean of all reads{which}", written(agreement.mean, ".2f")
        if agreement.expected.known:
            expected = written(agreement.expected, ".2f")
            yield f"Agreement {of_mean or 'of the '}mean of all reads, expected scores", expected
        if agreement.order.known:
            yield "Of the change, due to the order", written(agreement.order, "+z.2f")
            yield "Of the change, due to averaging", written(agreement.averaging, "+z.2f")
        ceiling = "not known: one human score per item"
        if agreement.reliability.known:
            ceiling = f"{agreement.ceiling:.2f}; their mean has reliability {written(agreement.reliability, '.2f')}"
        if agreement.gold == HUMAN:
            yield "Highest r that the raters allow", ceiling
    if ranks:
        usual = "one read" if ranks.usual_reads == 1 else f"{ranks.usual_reads} reads"
        share = written(ranks.flip, ".0%")
        name = f"Best candidate changes from the usual ordering ({usual}) to all"
        yield name, f"{share} of {_count(ranks.n_prompts, 'prompt')}"
        if ranks.excess.known:
            yield "Of that, more than few reads change it by chance", written(ranks.excess, "+z.0%")


def _agreement(found: Agreement | None) -> dict[str, Any] | None:
    if found is None:
        return None
    intervals = ("usual", "mean", "expected", "order", "averaging", "reliability")
    values = {
        name: value for quantity in intervals for name, value in _interval(quantity, getattr(found, quantity)).items()
    }
    others = {"single": number(found.single), "ceiling": number(found.ceiling), "n_items": found.n_items}
    return values | others | ({} if found.gold == HUMAN else {"gold": found.gold})


def _rankings(found: Rankings | None) -> dict[str, Any] | None:
    if found is None:
        return None
    counts = {"usual_reads": found.usual_reads, "n_prompts": found.n_prompts}
    return _interval("flip", found.flip) | _interval("excess", found.excess) | counts


def _plain(value: float, form: str, reason: str = "") -> str:
    return unknown(reason) if math.isnan(value) else f"{value:{form}}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _most_probable(evidence: Evidence) -> str:
    """Mean probability of the most probable score, with a flag if all scores are equally probable."""
    flag = f"; equal for all {evidence.n} scores: this judge says nothing" if evidence.says_nothing else ""
    return f"{_plain(evidence.top_probability, '.0%', 'the reads have no option probabilities')}{flag}"


def _interval(name: str, value: Interval) -> dict[str, float | None]:
    ends = {"": value.estimate, "_low": value.low, "_high": value.high}
    return {f"{name}{end}": number(part) for end, part in ends.items()}


def _estimates(readout: ReadoutResults) -> list[float | None] | None:
    values = [number(preference.estimate) for preference in readout.preference]
    return values if any(value is not None for value in values) else None
