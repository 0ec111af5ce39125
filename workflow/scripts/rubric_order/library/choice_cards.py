"""Cards of judges that choose between candidates: effects of the order on their choices."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.analyses.comparisons.position_consistency import estimate as position_consistency
from rubric_order.base import flags
from rubric_order.base.errors import InputError
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, FEW_CLUSTERS
from rubric_order.cards.card import number, written
from rubric_order.library import choices, estimates
from rubric_order.library.choices import Labels
from rubric_order.library.columns import Columns
from rubric_order.methods.uncertainty import shares
from rubric_order.parsing.choices import EMPTY

BIASED, EQUIVALENT, CANNOT_TELL = VERDICTS = ("biased", "equivalent", "cannot tell")
FORMAT = "rubric-order choices"
LEVEL = 0.05
EVEN = (0.35, 0.65)  # orders of a pair count as drawn if each candidate is first in such a share of reads
MANY_TIES = 0.05  # from this share of ties among the choices on, a card warns of ties
FEWEST_CROSSED = 0.5  # if at least this share of comparisons is read in several orders, these comparisons decide


class Evidence(NamedTuple):
    """Findings on one judge's choices.

    Attributes:
        judge: name of the judge.
        n: number of candidates.
        places: share of each position among the choices that are no ties.
        changed: share of comparisons whose winner changes with the order.
        excess: how much more often two orders disagree than two reads of one order.
        worth: log-odds that each position adds to a candidate.
        first_last: worth of the first position minus worth of the last.
        small: `first_last` with its 90% interval.
        largest: worth of the position whose interval is farthest from 0. The intervals hold for all positions together.
        separated: whether `worth` is finite only because of the penalty.
        fairness: share of comparisons that are inconsistent and choose a later position most often, minus the share
            that are inconsistent and choose the first position most often, see `series.preference_fairness`.
        ties: share of ties among the choices.
        failed: share of reads without a choice.
        gold: share of choices that agree with people's choice.
        gold_first: this share among reads that show people's choice first.
        gold_later: this share among reads that show people's choice later.
        gold_gap: mean over comparisons of `gold_first` minus `gold_later`, from comparisons that have both.
        longest: share of choices that name the longest candidate.
        crossed: share of comparisons that are read in several orders.
        drawn: whether orders look as if they were drawn at random.
        counts: numbers of comparisons, of groups, and of reads with and without a choice; and the greatest number of
            orders in which a comparison was read.
    """

    judge: str
    n: int
    places: tuple[Interval, ...]
    changed: Interval
    excess: Interval
    worth: tuple[Interval, ...]
    first_last: Interval
    small: Interval
    largest: Interval
    separated: bool
    fairness: Interval
    ties: Interval
    failed: Interval
    gold: Interval
    gold_first: Interval
    gold_later: Interval
    gold_gap: Interval
    longest: Interval
    crossed: float
    drawn: bool
    counts: dict[str, int]


@dataclass(frozen=True)
class ChoiceCard:
    """Card of one judge's choices.

    Attributes:
        evidence: the numbers.
        verdict: one of `VERDICTS`.
        reasons, advice, notes: sentences.
    """

    evidence: Evidence
    verdict: str
    reasons: tuple[str, ...]
    advice: str
    notes: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        """The judge's name."""
        return self.evidence.judge

    def to_dict(self) -> dict[str, Any]:
        """The card as JSON has it: numbers that are not known are None."""
        evidence = self.evidence
        ends: dict[str, float | None] = {}
        for name in ("changed", "excess", "first_last", "fairness", "ties", "failed", "gold", "longest"):
            value = getattr(evidence, name)
            ends |= {f"{name}{end}": number(part) for end, part in zip(("", "_low", "_high"), value, strict=True)}
        return {
            "format": FORMAT,
            "judge": evidence.judge,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "notes": list(self.notes),
            "advice": self.advice,
            "n_candidates": evidence.n,
            "shares": [[number(part) for part in share] for share in evidence.places],
            "preference": [number(worth.estimate) for worth in evidence.worth] or None,
            **ends,
            "gold_first": number(evidence.gold_first.estimate),
            "gold_later": number(evidence.gold_later.estimate),
            **evidence.counts,
        }


def choice_cards(
    table: pd.DataFrame,
    where: str | Path = "choices",
    *,
    columns: Columns | None = None,
    labels: Labels | None = None,
    margin_log_odds: float = estimates.LOG_ODDS,
    notes: Sequence[str] = (),
) -> list[ChoiceCard]:
    """Cards of choices, one per judge and number of candidates.

    Args:
        table, where, columns, labels: see `choices.as_comparisons`.
        margin_log_odds: a smaller preference for a position counts as none.
        notes: sentences that each card has.

    Raises:
        InputError: see `choices.as_comparisons`.
    """
    scores = choices.as_comparisons(table, where, columns=columns, labels=labels)
    made = []
    for (judge, n), own in scores.groupby(["judge", "n"], sort=True):
        if own["score"].isna().all():
            raise InputError(f"{where}: judge {judge!r:.60}: no choice in any row")
        evidence = _gather(own.reset_index(drop=True), str(judge), int(n))
        word, reasons, advice = _verdict(evidence, margin_log_odds)
        made.append(ChoiceCard(evidence, word, reasons, advice, (*notes, *_notes(own, evidence))))
    return made


def _gather(own: pd.DataFrame, judge: str, n: int) -> Evidence:
    tables = {
        confidence: position_consistency.estimate(own, confidence=confidence, forms={})
        for confidence in (estimates.CONFIDENCE, 1 - 2 * LEVEL, 1 - LEVEL / _tests(n))
    }
    rows = {
        confidence: {
            (row["quantity"], row["position"]): row
            for row in table[(table["task"] == EVERY) & (table["cluster"] == "group")]
            .astype({"position": float})
            .fillna({"position": 0})
            .to_dict("records")
        }
        for confidence, table in tables.items()
    }

    def value(quantity: str, position: int = 0, confidence: float = estimates.CONFIDENCE) -> Interval:
        row = rows[confidence].get((quantity, position))
        return UNKNOWN if row is None else Interval.of(row)

    group = pd.factorize(own["group_id"])[0]
    place = own["position"].to_numpy(dtype=float, na_value=np.nan)
    decided = np.where(place > 0, place, np.nan)

    def share(values: np.ndarray) -> Interval:
        return shares.share(values, group, estimates.CONFIDENCE).interval

    consistent = value("position_consistency")
    worth = [value("place_preference", k, 1 - LEVEL / _tests(n)) for k in range(1, n + 1)]
    bounded = [interval for interval in worth if interval.bounded]
    largest = max(bounded, key=lambda interval: max(interval.low, -interval.high), default=UNKNOWN)
    gold = own["gold"].to_numpy(dtype=float)
    right = np.where(np.isnan(gold) | np.isnan(place), np.nan, own["score"].to_numpy(dtype=float, na_value=-1) == gold)
    first = np.array([ordering[0] for ordering in own["ordering"]])
    gold_first, gold_later = (np.where(mask & (gold > 0), right, np.nan) for mask in (first == gold, first != gold))
    orders = own.assign(shown=["".join(map(str, ordering)) for ordering in own["ordering"]])
    per_unit = orders.groupby("unit_id")["shown"].nunique()
    longest = own["longest"].to_numpy()
    last = rows[estimates.CONFIDENCE].get(("first_last", 0), {})
    return Evidence(
        judge=judge,
        n=n,
        places=tuple(share(np.where(np.isnan(decided), np.nan, decided == k)) for k in range(1, n + 1)),
        changed=Interval(1 - consistent.estimate, 1 - consistent.high, 1 - consistent.low),
        excess=value("excess"),
        worth=tuple(value("place_preference", k) for k in range(1, n + 1)),
        first_last=value("first_last"),
        small=value("first_last", 0, 1 - 2 * LEVEL),
        largest=largest,
        separated=flags.has(last.get("flag", ""), flags.SEPARATED),
        fairness=value("preference_fairness"),
        ties=share(np.where(np.isnan(place), np.nan, place == 0)),
        failed=share(np.isnan(place).astype(float)),
        gold=share(right),
        gold_first=share(gold_first),
        gold_later=share(gold_later),
        gold_gap=_gap(gold_first, gold_later, own["unit_id"], group),
        longest=share(np.where(np.isnan(decided) | np.isnan(longest), np.nan, decided == longest)),
        crossed=float((per_unit > 1).mean()),
        drawn=_drawn(own, first),
        counts={
            "n_items": int(own["unit_id"].nunique()),
            "n_groups": int(own["group_id"].nunique()),
            "n_reads": int((~np.isnan(place)).sum()),
            "n_failed": int(np.isnan(place).sum()),
            "n_orderings": int(per_unit.max()),
        },
    )


def _tests(n: int) -> int:
    """Number of tests of positions' worth. It is 1 for two positions, because their worths sum to 0."""
    return n if n > 2 else 1


def _gap(first: np.ndarray, later: np.ndarray, unit: pd.Series, group: np.ndarray) -> Interval:
    """Agreement with people if their choice stands first, minus agreement if it stands later, within comparisons."""
    table = pd.DataFrame({"unit": unit.to_numpy(), "group": group, "first": first, "later": later})
    means = table.groupby("unit").agg({"group": "first", "first": "mean", "later": "mean"})
    gaps = (means["first"] - means["later"]).to_numpy()
    return shares.mean(gaps, means["group"].to_numpy(), estimates.CONFIDENCE, bounds=(-1, 1)).interval


def _drawn(own: pd.DataFrame, first: np.ndarray) -> bool:
    """True if all candidates of the commonest list stand first about equally often, as if orders were drawn."""
    lists = own["candidates"].map("\n".join)
    of_commonest = (lists == lists.mode()[0]).to_numpy()
    at_first = np.bincount(first[of_commonest], minlength=int(own["n"].iloc[0]) + 1)[1:] / of_commonest.sum()
    even = 1 / len(at_first)
    return bool((at_first > EVEN[0] * 2 * even).all() and (at_first < EVEN[1] * 2 * even).all())


def _verdict(found: Evidence, margin: float) -> tuple[str, tuple[str, ...], str]:
    """Verdict, reasons and advice.

    With fewer groups than `FEW_CLUSTERS`, the verdict is *cannot tell*. With enough groups, there are two cases:

    - At least half of the comparisons are read in several orders. In this case the worth of positions within
      comparisons decides. The verdict is *biased* if the interval of any position's worth excludes 0; these intervals
      hold for all positions together. The verdict is *equivalent* if there are two candidates, and the 90% interval of
      the first position's worth minus the last position's worth lies inside the margin.
    - Fewer comparisons are read in several orders. In this case the verdict is never *equivalent*. It is *biased* if
      there are two candidates, orders look as if they were drawn at random, and the interval of a position's share
      among all choices excludes an equal share.

    In all other cases, the verdict is *cannot tell*.
    """
    few = found.counts["n_groups"] < FEW_CLUSTERS
    if few:
        text = f"There are {found.counts['n_groups']} groups; with fewer than {FEW_CLUSTERS} no verdict is given."
        return CANNOT_TELL, (text,), "Read more independent items, each in all orders."
    if found.crossed >= FEWEST_CROSSED:
        return _within(found, margin)
    return _between(found)


def _within(found: Evidence, margin: float) -> tuple[str, tuple[str, ...], str]:
    changed = f"The winner changes with the order in {written(found.changed, '.0%')} of the comparisons"
    excess = found.excess
    noise = (
        f"; two orders disagree {written(excess, '+z.0%')} more often than two reads of one order"
        if excess.known
        else ", by the order or by chance: no order was read twice"
    )
    reasons = [f"{changed}{noise}."] if found.changed.known else []
    if not found.largest.bounded:
        return (
            CANNOT_TELL,
            (*reasons, "Too few comparisons have different winners to tell what a place adds."),
            ("Read more comparisons, or closer ones."),
        )
    worth = f"The first place adds {written(found.first_last, '+z.2f')} to a candidate's log-odds over the last"
    if found.largest.low > 0 or found.largest.high < 0:
        sure = "; only its sign is known, since one place always wins" if found.separated else ""
        advice = "Judge each comparison in all orders, and count a candidate as the winner where it wins in all."
        return BIASED, (f"{worth}{sure}.", *reasons), advice
    reach = max(abs(found.small.low), abs(found.small.high))
    if found.n == 2 and reach < margin:
        text = f"{worth}: less than {margin:g} either way, up to {reach:.2f}."
        return EQUIVALENT, (text, *reasons), "One order is enough for means over many comparisons."
    return (
        CANNOT_TELL,
        (f"{worth}: it may be 0, and it may be more than {margin:g}.", *reasons),
        ("Read more comparisons, each in all orders."),
    )


def _between(found: Evidence) -> tuple[str, tuple[str, ...], str]:
    single = f"{1 - found.crossed:.0%} of the comparisons are read in one order alone"
    if not found.drawn:
        text = f"{single}, and the same candidate nearly always stands first: place and candidate are one thing."
        return CANNOT_TELL, (text,), "Read each comparison in all orders."
    even = 1 / found.n
    off = [place for place in found.places if place.bounded and not place.low <= even <= place.high]
    share = f"The first place is chosen in {written(found.places[0], '.0%')} of the decided reads, {even:.0%} is equal"
    text = f"{single}. If the order was drawn, shares of places say what it does. {share}."
    if off and found.n == 2:
        return BIASED, (text,), "Read each comparison in all orders, and count a winner where it wins in all."
    return CANNOT_TELL, (text,), "Read each comparison in all orders: then fewer reads tell more."


def _notes(own: pd.DataFrame, found: Evidence) -> Iterator[str]:
    yield from choices.notes(own)
    if found.ties.estimate >= MANY_TIES and found.first_last.known:
        yield (
            f"{found.ties.estimate:.0%} of the choices are ties. What a place adds takes them by Davidson's model. For"
            " a judge that calls a tie where candidates are close it comes out too large: by 13% with 12% of ties, by"
            " 24% with 24%."
        )
    if not own["named_groups"].iloc[0]:
        yield "No groups are named: each item counts as independent of the others."
    failed = own["failure"][own["failure"].notna() & (own["failure"] != EMPTY)].value_counts()
    if len(failed):
        listed = ", ".join(f"{reason} {count:,}" for reason, count in failed.items())
        yield f"{failed.sum():,} answers were read and give no choice: {listed}."


def facts(found: Evidence) -> list[tuple[str, str]]:
    """The numbers of a card as people read them, in pairs of name and value."""
    rows = [
        ("Share of each place among the choices", ", ".join(f"{place.estimate:.0%}" for place in found.places)),
        ("Comparisons whose winner changes with the order", written(found.changed, ".0%")),
        ("Of reads in two orders, more disagree than in one", written(found.excess, "+z.0%")),
        ("First place less last, log-odds", written(found.first_last, "+z.2f")),
    ]
    if found.n > 2:
        worth = ", ".join("not known" if math.isnan(w.estimate) else f"{w.estimate:+z.2f}" for w in found.worth)
        rows.append(("Worth of each place, log-odds", worth))
    rows += [
        ("Recency less primacy, share of the comparisons", written(found.fairness, "+z.0%")),
        ("Ties", written(found.ties, ".0%")),
    ]
    if found.gold.known:
        rows.append(("Agreement with people", written(found.gold, ".0%")))
        rows.append(("Where their choice stands first", written(found.gold_first, ".0%")))
        rows.append(("Where it stands later", written(found.gold_later, ".0%")))
        rows.append(("Difference within comparisons", written(found.gold_gap, "+z.0%")))
    if found.longest.known:
        rows.append(("Choices of the longest candidate", written(found.longest, ".0%")))
    counts = found.counts
    rows += [
        ("Comparisons", f"{counts['n_items']:,} in {counts['n_groups']:,} groups"),
        ("Read in several orders", f"{found.crossed:.0%} of them, at most {counts['n_orderings']} orders"),
        ("Reads", f"{counts['n_reads']:,} with a choice, {counts['n_failed']:,} without"),
    ]
    return rows
