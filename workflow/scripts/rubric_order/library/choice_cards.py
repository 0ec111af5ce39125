"""Cards of judges that choose between candidates: effects of the order on their choices."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.analyses.comparisons.position_consistency import estimate as position_consistency
from rubric_order.base.errors import InputError
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY
from rubric_order.cards.estimands import BEST, BIASED, EQUIVALENT, LOG_ODDS, SINGLE, Cause, Estimand, verdict
from rubric_order.cards.numbers import list_text, number, written
from rubric_order.intake import choice_tables
from rubric_order.intake.choices import Labels
from rubric_order.intake.columns import Columns
from rubric_order.library import estimates
from rubric_order.methods.comparisons import comparison_reads, series
from rubric_order.methods.position import repetition
from rubric_order.methods.uncertainty import distributions, enough, rao_scott, resampling, shares
from rubric_order.parsing.choices import EMPTY

FORMAT = "rubric-order choices"
LEVEL = 0.05
PARTS = {LOG_ODDS: 0.8, BEST: 0.1, SINGLE: 0.1}  # of `LEVEL` that each test has; their sum is 1
MANY_TIES = 0.05  # from this share of ties among the choices on, a card warns of ties
FEWEST_CROSSED = 0.5  # if at least this share of comparisons is read in several orders, these comparisons decide
MOST_FAILED = 0.2  # largest share of reads without a choice with which effects can be shown to be small
COPIED = "Two reads of one order hardly ever disagree, so that they may be copies."
BOTH_ORDERS = "Judge each comparison in all orders, and count a candidate as the winner where it wins in all."


class Evidence(NamedTuple):
    """Findings on one judge's choices among `n` candidates; positions count from 1, shares are of choices or
    comparisons.

    `places`: share of each position among choices that are no ties. `changed`: comparisons whose winner changes with
    the order. `excess`: how much more often two orders disagree than two reads of one, unknown if repeats are so alike
    that they may be `copied` (`repetition.HARDLY`). `worth`: log-odds that a position adds. `worst`: ends of
    `first_last` if each read without a choice had chosen the last, or the first, position. `position` has the clearest
    effect, over `over` (0: the mean). `chance`: greatest share that changes by chance alone. `always`: position that
    all changing comparisons choose. `fairness`: see `series.preference_fairness`. `gold_gap`: agreement with people
    where their choice stands first minus later. `groups`: effective number that tells the worth.
    """

    judge: str
    n: int
    places: tuple[Interval, ...]
    changed: Interval
    excess: Interval
    copied: bool
    worth: tuple[Interval, ...]
    first_last: Interval
    worst: Interval
    position: int
    over: int
    limits: str
    chance: float
    always: int
    fairness: Interval
    ties: Interval
    failed: Interval
    gold: Interval
    gold_first: Interval
    gold_later: Interval
    gold_gap: Interval
    longest: Interval
    crossed: float
    groups: float
    estimands: tuple[Estimand, ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class ChoiceCard:
    """Card of one judge's choices, with one of `VERDICTS`."""

    evidence: Evidence
    verdict: str
    reasons: tuple[str, ...]
    advice: str
    notes: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        return self.evidence.judge

    def to_dict(self) -> dict[str, Any]:
        """The card as JSON has it: numbers that are not known are None."""
        evidence = self.evidence
        ends: dict[str, float | None] = {}
        for name in ("changed", "excess", "first_last", "worst", "fairness", "ties", "failed", "gold", "longest"):
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
    """Cards of choices, one per judge and number of candidates; log-odds below the margin count as none."""
    scores = choice_tables.as_comparisons(table, where, columns=columns, labels=labels)
    cards = []
    for (judge, n), rows in scores.groupby(["judge", "n"], sort=True):
        if rows["score"].isna().all():
            raise InputError(f"{where}: judge {judge!r:.60}: no choice in any row")
        evidence = _gather(rows.reset_index(drop=True), str(judge), int(n), margin_log_odds)
        word, reasons, advice = _verdict(evidence)
        cards.append(ChoiceCard(evidence, word, reasons, advice, (*notes, *_notes(rows, evidence))))
    return cards


class Effect(NamedTuple):
    """Log-odds that positions add to a candidate, see `Evidence`.

    `bounds`: the difference of two positions least clearly small, at confidence 1 - 2 `LEVEL`. `p`: of no effect,
    adjusted for positions. `position`, `over`: those with the smallest p (`over` 0: the mean), whose difference is
    `ends`.
    """

    worth: tuple[Interval, ...]
    first_last: Interval
    bounds: Interval
    p: float
    position: int
    over: int
    ends: Interval
    groups: float
    limits: str = ""


def _effect(reads: "Reads", imputed: int = 0) -> Effect:
    """The effect of positions; with `imputed`, as if each read without a choice had chosen this position."""
    p, confidence = reads.shown.shape[2], (estimates.CONFIDENCE, 1 - 2 * LEVEL)
    winners = reads.winners
    if imputed:
        winners = np.where(reads.is_read & (winners == series.NONE), reads.shown[..., imputed - 1], winners)
    if not reads.crossed:
        won = np.where(winners > series.TIE, winners == 1, np.nan)
        unit, order = np.nonzero(reads.is_read)
        parts = reads.shown[unit, order, 0] == 1, won[unit, order], reads.pair[unit], reads.group[unit]
        rows = [series.within_pairs(*parts, level) for level in confidence]
        usual, small = map(Interval.of, rows)
        sizes = rows[0]["sizes"]
        groups = resampling.effective(sizes) if len(sizes) else 0.0
        return Effect((), usual, small, rows[0]["p"], 1, p, usual, groups)
    fit, _ = series.place_preference(winners, reads.shown, reads.group)

    def of(weights: np.ndarray, level: float = confidence[0]) -> dict[str, Any]:
        return fit.interval(weights, level)

    weights, ends = series.centred(p), series.first_last(p)
    pairs = list(itertools.combinations(range(p), 2))
    gaps = [Interval.of(of(weights[i] - weights[j], confidence[1])) for i, j in pairs]
    apart = [pair for pair, gap in zip(pairs, gaps, strict=True) if gap.known]
    whole = p > 2 and len(apart) in (0, len(pairs))
    contrasts = [*weights] if whole else [weights[i] - weights[j] for i, j in apart or pairs]
    several = [of(row, 1 - LEVEL / len(contrasts)) for row in contrasts]
    each = [row["p"] for row in several]
    least = int(np.nanargmin(each)) if not np.isnan(each).all() else 0
    position, over = (least, -1) if whole else (apart or pairs)[least]
    return Effect(
        tuple(Interval.of(of(row)) for row in weights),
        Interval.of(of(ends)),
        max(gaps, key=lambda gap: max(gap.high, -gap.low) if gap.bounded else math.inf),
        min(1.0, each[least] * len(each)),
        position + 1,
        over + 1,
        Interval.of(several[least]),
        resampling.effective(np.bincount(reads.group)),
        "" if whole or len(apart) in (0, len(pairs)) else _limits(reads, apart),
    )


def _limits(reads: "Reads", apart: Sequence[tuple[int, int]]) -> str:
    """Sentence on the positions that the reads compare, where they do not compare all."""
    moves = ((reads.shown != reads.shown[:, :1]) & reads.is_read[..., None]).any(axis=(0, 1))
    pairs = ", ".join(f"{i + 1} and {j + 1}" for i, j in apart)
    still = "".join(f"; position {i + 1} never changes its candidate" for i in np.flatnonzero(~moves))
    return f"The reads compare only positions {pairs}{still}."


class Reads(NamedTuple):
    """First read of each order of each comparison, see `position_consistency.arrays`; `group`, `pair`: indices from 0.

    Comparisons in several orders decide if `crossed`; otherwise comparisons of the same candidates do.
    """

    winners: np.ndarray
    shown: np.ndarray
    is_read: np.ndarray
    group: np.ndarray
    pair: np.ndarray
    crossed: bool


def _gather(own: pd.DataFrame, judge: str, n: int, margin: float) -> Evidence:
    table = position_consistency.estimate(own, confidence=estimates.CONFIDENCE, forms={})
    table = table[(table["task"] == EVERY) & (table["cluster"] == "group")]
    rows = {str(row["quantity"]): row for row in table.to_dict("records")}

    def value(quantity: str) -> Interval:
        return Interval.of(rows[quantity]) if quantity in rows else UNKNOWN

    group = pd.factorize(own["group_id"])[0]
    place = own["position"].to_numpy(dtype=float, na_value=np.nan)
    decided = np.where(place > 0, place, np.nan)

    def share(values: np.ndarray) -> Interval:
        return shares.share(values, group, estimates.CONFIDENCE).interval

    consistent = value("position_consistency")
    gold = own["gold"].to_numpy(dtype=float)
    right = np.where(np.isnan(gold) | np.isnan(place), np.nan, own["score"].to_numpy(dtype=float, na_value=-1) == gold)
    first = np.array([ordering[0] for ordering in own["ordering"]])
    gold_first, gold_later = (np.where(mask & (gold > 0), right, np.nan) for mask in (first == gold, first != gold))
    run = comparison_reads.first_run(comparison_reads.prepared(own, None))
    units = run.drop_duplicates("unit_id")
    per_unit = run.groupby("unit_id").size()
    crossed = float((per_unit > 1).mean())
    reads = Reads(
        *position_consistency.arrays(run, n),
        pd.factorize(units["group_id"])[0],
        pd.factorize(units["candidates"].map("\n".join))[0],
        crossed >= FEWEST_CROSSED,
    )
    effect = _effect(reads) if reads.crossed or n == 2 else Effect((), UNKNOWN, UNKNOWN, math.nan, 1, 0, UNKNOWN, 0)
    low, high = effect, effect
    if (reads.is_read & (reads.winners == series.NONE)).any() and effect.ends.known:
        least = effect.over or int(np.argmin([worth.estimate for worth in effect.worth])) + 1
        low, high = (_effect(reads, imputed) for imputed in (least, effect.position))
    longest = own["longest"].to_numpy()
    primacy, recency = (value(name).estimate for name in ("primacy", "recency"))
    always = 0 if not primacy + recency > 0 else 1 if recency == 0 else n if primacy == 0 and n == 2 else 0
    ties = share(np.where(np.isnan(place), np.nan, place == 0))
    called = min(ties.high, 1 / (n + 1)) if ties.estimate > 0 and ties.bounded else 0.0
    copied = value("same_order").high < repetition.HARDLY * value("other_order").estimate
    evidence = Evidence(
        judge=judge,
        n=n,
        places=tuple(share(np.where(np.isnan(decided), np.nan, decided == k)) for k in range(1, n + 1)),
        changed=Interval(1 - consistent.estimate, 1 - consistent.high, 1 - consistent.low),
        excess=UNKNOWN if copied else value("excess"),
        copied=copied,
        worth=effect.worth,
        first_last=effect.first_last,
        worst=Interval(effect.first_last.estimate, low.first_last.low, high.first_last.high),
        position=effect.position,
        over=effect.over,
        limits=effect.limits,
        chance=1 - series.random_judge(n, called, orders=int(per_unit.max()))[0],
        always=always,
        fairness=value("preference_fairness"),
        ties=ties,
        failed=share(np.isnan(place).astype(float)),
        gold=share(right),
        gold_first=share(gold_first),
        gold_later=share(gold_later),
        gold_gap=_gap(gold_first, gold_later, own["unit_id"], group),
        longest=share(np.where(np.isnan(decided) | np.isnan(longest), np.nan, decided == longest)),
        crossed=crossed,
        groups=effect.groups,
        estimands=(),
        counts={
            "n_items": int(own["unit_id"].nunique()),
            "n_groups": int(own["group_id"].nunique()),
            "n_reads": int((~np.isnan(place)).sum()),
            "n_failed": int(np.isnan(place).sum()),
            "n_orderings": int(per_unit.max()),
        },
    )
    survives = low.ends.low > 0 if effect.ends.estimate > 0 else high.ends.high < 0
    repeated = float(rows["excess"]["n_clusters"]) if "excess" in rows else 0.0
    effects = _estimands(evidence, reads, effect, survives=survives, repeated=repeated, margin=margin)
    return evidence._replace(estimands=effects)


def _estimands(
    found: Evidence, reads: Reads, effect: Effect, *, survives: bool, repeated: float, margin: float
) -> tuple[Estimand, Estimand, Estimand]:
    """Effects of the order: `BEST` (winners that change, tested against chance), `SINGLE` (root of `excess`),
    `LOG_ODDS`.

    Each test has its part of `LEVEL` (`PARTS`), by which its p is divided. The margin in log-odds moves the choice
    between equals by tanh(margin / 2): the margin of `SINGLE`, twice that of `BEST`. A failed read counts as a change,
    in the test of `BEST` as none, and prevents a finding of `SINGLE`. Few changing winners are a small effect whatever
    the log-odds. `survives`: the finding does not depend on failed reads; `repeated`: groups read twice in each order.
    """
    shift = math.tanh(margin / 2)
    p = min(1.0, effect.p / PARTS[LOG_ODDS]) if enough.VERDICT.met(found.groups) else math.nan
    few = () if enough.VERDICT.met(found.groups) else (_few(found),)
    lost, cause = _losses(found, reads, survives)
    whole = (reads.is_read.sum(axis=1) == reads.is_read.sum(axis=1).max()) & reads.crossed
    winners, asked = reads.winners[whole], reads.is_read[whole]
    differs = (asked & ((winners != winners[:, :1]) | (winners == series.NONE))).any(axis=1).astype(float)
    changed = shares.share(differs, reads.group[whole], estimates.CONFIDENCE).interval
    best = Estimand(BEST, found.changed, changed, shift / 2, p, missing=few)
    if not best.small:
        sure = differs * ~(asked & (winners == series.NONE)).any(axis=1)
        sides = [(level, 1 - 2 * PARTS[BEST] * level) for level in (0.001, 0.01, LEVEL)]
        lows = [(level, shares.share(sure, reads.group[whole], confidence).low) for level, confidence in sides]
        above = next((level for level, low in lows if low > found.chance), 1.0)
        best = dataclasses.replace(best, p=math.nan if few else above, required=False)
    bounded = found.excess.bounded and enough.VERDICT.met(repeated)
    unknown = COPIED if found.copied else "Not every order was read twice."
    root = [math.sqrt(max(end, 0)) for end in found.excess]
    single = Estimand(
        SINGLE,
        Interval(*root) if bounded else UNKNOWN,
        Interval(0, 0, root[2]) if bounded else UNKNOWN,
        shift,
        _excess_p(found.excess, repeated) if bounded and not cause else math.nan,
        required=not best.small,
        missing=(*few, *lost, *(() if bounded else (unknown,))),
    )
    log_odds = Estimand(
        LOG_ODDS,
        effect.ends,
        effect.bounds,
        margin,
        math.nan if best.small else p,
        required=not best.small,
        missing=(*few, *lost),
        causes=cause,
    )
    return best, single, log_odds


def _excess_p(excess: Interval, groups: float) -> float:
    """One-sided p-value, divided by its part of the level, of an interval by Student's t over groups."""
    error = (excess.high - excess.low) / 2 / float(distributions.t_quantile((1 + estimates.CONFIDENCE) / 2, groups - 1))
    return min(1.0, float(distributions.t_tail(excess.estimate / error, groups - 1)) / PARTS[SINGLE]) if error else 1.0


def _few(found: Evidence) -> str:
    return f"{enough.VERDICT.refusal(found.counts['n_groups'], found.groups).capitalize()}."


def _losses(found: Evidence, reads: Reads, survives: bool) -> tuple[tuple[str, ...], tuple[Cause, ...]]:
    """Reason why, with failed reads, no effect can be shown to be small; and the cause that they may be.

    Two tests within comparisons (or pairs of candidates): whether reads fail more often in one order, and where the
    winner of the other reads stands.
    """
    failed = reads.is_read & (reads.winners == series.NONE)
    if not failed.any():
        return (), ()
    unit, order = np.nonzero(reads.is_read)
    other = np.roll(reads.winners, 1, axis=1)[unit, order]  # winner in another read of the comparison
    candidate, failure, group = reads.shown[unit, order], failed[unit, order], reads.group[unit]
    clear = other > series.TIE
    tests = [
        _alike(failure, (candidate == 1).argmax(axis=1), unit if reads.crossed else reads.pair[unit], group),
        _alike(
            failure[clear],
            (candidate == other[:, None]).argmax(axis=1)[clear],
            np.zeros(clear.sum()),
            group[clear],
        ),
    ]
    depends = min(tests) <= LEVEL / 2
    share = failed.sum() / reads.is_read.sum()
    how = ", more often in one order, or where the winner stands in one position" if depends else ""
    sentence = f"{share:.1%} of the reads have no choice{how}."
    if found.worst.bounded:
        ends = f"from {found.worst.low:+.2f} to {found.worst.high:+.2f}"
        sentence = f"{sentence[:-1]}: if they all had chosen one position, the first could add {ends} log-odds."
    return (sentence,) if depends or share > MOST_FAILED else (), (Cause("failures", sentence, not survives),)


def _alike(failed: np.ndarray, position: np.ndarray, stratum: np.ndarray, group: np.ndarray) -> float:
    """p-value of reads that fail equally often at each position, compared within strata, with groups as the sample."""
    table = pd.DataFrame(np.column_stack([np.eye(int(position.max(initial=0)) + 1)[position], failed]))
    away = (table - table.groupby(stratum).transform("mean")).to_numpy()
    return rao_scott.zero_total(resampling.sum_units(away[:, :-1] * away[:, -1:], group)) if len(table) else 1.0


def _gap(first: np.ndarray, later: np.ndarray, unit: pd.Series, group: np.ndarray) -> Interval:
    """Agreement with people if their choice stands first, minus agreement if it stands later, within comparisons."""
    table = pd.DataFrame({"unit": unit.to_numpy(), "group": group, "first": first, "later": later})
    means = table.groupby("unit").agg({"group": "first", "first": "mean", "later": "mean"})
    gaps = (means["first"] - means["later"]).to_numpy()
    return shares.mean(gaps, means["group"].to_numpy(), estimates.CONFIDENCE, bounds=(-1, 1)).interval


def _verdict(found: Evidence) -> tuple[str, tuple[str, ...], str]:
    """Verdict by the rule of `estimands`, reasons and advice."""
    best, single, log_odds = found.estimands
    word, crossed = verdict(found.estimands), found.crossed >= FEWEST_CROSSED
    noise = ", by the order or by chance: not every order was read twice"
    if found.copied:
        noise = f", by the order or by chance: {COPIED[0].lower()}{COPIED[1:-1]}"
    elif found.excess.known:
        noise = f"; two orders disagree {written(found.excess, '+z.1%')} more often than two reads of one order"
        noise += ", if these are two answers" if single.biased else ""
    if best.biased:
        noise = f", more than the {found.chance:.0%} that chance alone could make: the order decides"
    winners = [f"Two orders have different winners in {written(found.changed, '.1%')} of the comparisons{noise}."]
    winners = winners if found.changed.known else []
    worth = "What a position adds is not known: too few comparisons have different winners"
    if log_odds.value.known:
        which, over = f"Position {found.position}", f"position {found.over}" if found.over else "the mean position"
        if (found.position, found.over) == (1, found.n):
            which, over = "The first position", "the last"
        worth = f"{which} adds {written(log_odds.value, '+z.2f')} to a candidate's log-odds over {over}"
    if found.always:
        worth += f"; only its sign is known, since position {found.always} wins wherever the winners differ"
    alone = f"{1 - found.crossed:.0%} of the comparisons are read in a single order of their candidates"
    one = "if chance decided which of the same two candidates stood first"
    worth = worth if crossed else f"{alone}. {worth}, {one}"
    explained = [cause.sentence for cause in log_odds.explained if log_odds.found]
    lost = [] if explained else [cause.sentence for cause in log_odds.causes]
    reach = max(abs(log_odds.bounds.low), abs(log_odds.bounds.high))
    small = f"on average less than {log_odds.margin:g} (90% interval: up to {reach:.2f})"
    limits = [found.limits] if found.limits else []
    if word == BIASED:
        if not log_odds.biased:
            worth += ", on average over comparisons: what it adds in some, it takes away in others"
        ahead = found.always or not log_odds.biased
        lost = [cause.sentence for cause in log_odds.causes]
        return word, (*[f"{worth}.", *winners][:: -1 if ahead else 1], *limits, *lost), BOTH_ORDERS
    detectable = "An effect is detectable, but smaller than the margin. " if best.found or log_odds.found else ""
    if word == EQUIVALENT and best.small:
        most = math.ceil(best.bounds.high * 1000 - 1e-9) / 1000
        head = f"The order changes at most {most:.1%} of the winners, and the margin is {best.margin:.1%}."
        seen = [f"{detectable}{worth}."] if detectable else []
        return (
            word,
            (head, *seen, *winners, *lost),
            "One order is enough for these comparisons. Closer ones may need more.",
        )
    if word == EQUIVALENT:
        moved = (
            f"It moves the probability of a choice in single comparisons by at most {single.bounds.high:.1%} (root mean"
        )
        moved += f" square), and the margin is {single.margin:.1%}."
        return word, (f"{detectable}{worth}: {small}.", moved, *winners, *lost), "One order is enough."
    if not crossed and found.groups < enough.VERDICT.least <= found.counts["n_groups"]:
        text = (
            f"{alone}, and too few reads show the same candidates in both orders: position and candidate are one thing."
        )
        return word, (text,), "Read each comparison in all orders."
    if not enough.VERDICT.met(found.groups):
        return word, (_few(found), *winners), "Read more independent items, each in all orders."
    if explained:
        advice = "Look at the reads without a choice first: ask again, or mend the prompt."
        return word, (*explained, f"{worth}, but losses can explain it.", *winners), advice
    may = small if reach < log_odds.margin else f"it may be 0, or more than the margin of {log_odds.margin:g}"
    advice = "Read more comparisons, each in all orders" + (", and twice in each." if single.missing else ".")
    if not crossed:
        advice = "Read each comparison in all orders: then fewer reads show more."
    elif limits:
        advice = "Read each comparison in orders that bring each candidate to each position."
    elif not log_odds.bounds.bounded:
        advice = "Read more comparisons, or closer ones."
    elif log_odds.small and single.bounds.bounded:
        advice = f"Means over many comparisons hardly depend on the order; single comparisons can. {BOTH_ORDERS}"
    return word, (f"{worth}: {may}." if log_odds.bounds.bounded else f"{worth}.", *limits, *winners, *lost), advice


def _notes(own: pd.DataFrame, found: Evidence) -> Iterator[str]:
    yield from choice_tables.notes(own)
    if found.ties.estimate >= MANY_TIES and found.first_last.known:
        yield (
            f"{found.ties.estimate:.0%} of the choices are ties. What a position adds takes them by Davidson's model."
            " For a judge that calls a tie where candidates are close it comes out too large: by 13% with 12% of ties,"
            " by 24% with 24%."
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
        ("Share of each position among the choices", ", ".join(f"{place.estimate:.0%}" for place in found.places)),
        ("Comparisons with different winners in two orders", written(found.changed, ".0%")),
        ("Disagreement of two orders less that of two reads of one order", written(found.excess, "+z.1%")),
        ("First position less last, log-odds", written(found.first_last, "+z.2f")),
    ]
    if found.n > 2:
        worth = list_text(worth.estimate for worth in found.worth)
        rows.append(("Worth of each position, log-odds", worth))
    if found.counts["n_failed"] and found.worst.bounded:
        rows.append(("The same with failed reads at worst", f"{found.worst.low:+.2f} to {found.worst.high:+.2f}"))
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
        ("Read in several orders", f"{found.crossed:.0%} of them; orders of one: at most {counts['n_orderings']}"),
        ("Reads", f"{counts['n_reads']:,} with a choice, {counts['n_failed']:,} without"),
    ]
    return rows
