"""Evidence on one group of reads, gathered from the tables of statistics."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import flags, of_cards
from rubric_order.base.gold import HUMAN
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.readouts import READ, Readout
from rubric_order.base.rows import Row
from rubric_order.cards import spread as spreads
from rubric_order.methods.position import cause_names, order_tests, uniformity
from rubric_order.methods.uncertainty import equivalence

# Columns that cards are made from.
SELECTORS = ("readout", "quantity", "position", "criterion", "baseline", "other", "comparison", "level", "method")
SIZES = ("n_items", "n_clusters", "n_prompts", "n_orderings", "k", "k_other", "temperature")
VALUES = ("estimate", "ci_low", "ci_high", "low", "high", "margin", "verdict", "chance")
TESTED = ("p", "p_cluster", "p_rotation", "p_order", "flag", "saturated", "se", "df", "confidence", "logarithm")
LABELLED = ("gold", "known_from")
USED = (*SELECTORS, *SIZES, *VALUES, *TESTED, *LABELLED)
Rows = list[Row]
ByKey = dict[tuple[Any, ...], Rows]  # from the values of `KEYS` to rows of estimates
# From a type to the columns of `decisiveness` that evidence takes as they are.
PLAIN = {
    int: ("n_items", "n_groups", "n_reads", "n_failed", "n_orderings", "fewest", "most"),
    bool: ("shared", "balanced", "crossed"),
    float: ("commonest_share", "discordant_share", "top_probability", "effective_groups", "heaviest_group"),
}
CLUSTER = "group"
EQUALLY_PROBABLE = 1.01  # a judge says nothing if its mean largest probability is at most so many times 1/n
ONE_SCORE = 0.9  # least share of the commonest score in each ordering of a judge that gives one score
MUCH_LESS = 0.9  # with fewer effective groups than this share of the groups, groups count as unequal
USUAL = ("single", "fixed")  # strategies of the usual ordering


@dataclass(frozen=True)
class Small:
    """Verdict, see `methods.uncertainty.equivalence.verdict`, on whether an effect is smaller than a margin; `worst` is
    the one with the weakest evidence.
    """

    verdict: str = ""
    margin: float = math.nan
    worst: Interval = UNKNOWN

    @property
    def shown(self) -> bool:
        return self.verdict == equivalence.SHOWN


@dataclass(frozen=True)
class ReadoutResults:
    """Results of one readout of some reads; NaN, empty or unknown where there is none.

    By position: `shares` of selections (if every score stands in every position, with Cramer's `v`) and `preference` in
    log-odds. `interaction`: log-odds that the highest score gains last and the lowest first, beyond the preference.
    `usual`: mean score in the usual ordering less the mean over orderings; `largest_gap`: between the two orderings
    that differ most; `p_points`: of no mean effect. `*_errors` are standard errors, `shift_errors` of each ordering's
    shift, `usual_error` of the usual one's. `saturated`: scores vary so little that an order can hardly change them.
    """

    name: Readout
    shares: tuple[Interval, ...] = ()
    v: Interval = UNKNOWN
    p_selection: float = math.nan
    preference: tuple[Interval, ...] = ()
    p_preference: float = math.nan
    preference_flag: str = ""
    interaction: Interval = UNKNOWN
    p_interaction: float = math.nan
    usual: Interval = UNKNOWN
    p_usual: float = math.nan
    largest_gap: float = math.nan
    gap_by_chance: float = math.nan
    p_points: float = math.nan
    small_points: Small = Small()
    small_log_odds: Small = Small()
    small_interaction: Small = Small()
    preference_errors: tuple[float, ...] = ()
    interaction_error: float = math.nan
    shift_errors: tuple[float, ...] = ()
    usual_error: float = math.nan
    saturated: bool = False

    @property
    def tests(self) -> dict[str, float]:
        """p-values of the tests of this readout that could be made, see `order_tests.TESTS`."""
        p = (self.p_selection, self.p_preference, self.p_interaction, self.p_points, self.p_usual)
        return {name: value for name, value in zip(order_tests.TESTS, p, strict=True) if not math.isnan(value)}


@dataclass(frozen=True)
class Agreement:
    """Pearson's r with people over all items: of one read in the `usual` ordering, one read in any (`single`), the
    `mean`.

    `order`: `single` less `usual` (items scored in the usual ordering); `averaging`: `mean` less `single`.
    `reliability`: of the mean of several people; `gold`: kind of label; `expected`: r of expected scores, where `mean`
    is of written ones.
    """

    usual: Interval = UNKNOWN
    single: float = math.nan
    mean: Interval = UNKNOWN
    order: Interval = UNKNOWN
    averaging: Interval = UNKNOWN
    reliability: Interval = UNKNOWN
    n_items: int = 0
    gold: str = HUMAN
    expected: Interval = UNKNOWN

    @property
    def ceiling(self) -> float:
        """r between a judge without error and the mean of people's scores: the square root of `reliability`."""
        return math.sqrt(self.reliability.estimate) if self.reliability.estimate > 0 else math.nan


@dataclass(frozen=True)
class Rankings:
    """Share of prompts whose best candidate changes from the usual ordering to the mean over orderings; no candidate is
    best in both.

    `excess`: the part that noise of few reads does not explain.
    """

    flip: Interval = UNKNOWN
    excess: Interval = UNKNOWN
    usual_reads: int = 0
    n_prompts: int = 0


@dataclass(frozen=True)
class Evidence:
    """Evidence on one group of reads; attributes that are not named here are columns of `decisiveness.estimate`.

    `hard`, `soft`: results by readout; `known_share`: reads with known probabilities; `drawn`: answers are draws from
    them, see `order_tests.drawn_as_they_are`, by `exponent`; `detectable_v`: found with 80% power. `spread`: effects on
    single items, by probabilities where known; `written_spread`: by scores. `causes`: rows of tested causes;
    `failures`: number of reads by reason, the commonest first.
    """

    keys: dict[str, Any]
    n_items: int
    n_groups: int
    n_reads: int
    n_failed: int
    n_orderings: int
    fewest: int
    most: int
    shared: bool
    balanced: bool
    crossed: bool
    commonest_score: int | None
    commonest_share: float
    discordant_share: float
    top_probability: float
    hard: ReadoutResults | None
    soft: ReadoutResults | None
    known_share: float = 0.0
    drawn: bool = False
    exponent: tuple[float, float] = (math.nan, math.nan)
    detectable_v: float = math.nan
    agreement: Agreement | None = None
    rankings: Rankings | None = None
    effective_groups: float = math.nan
    heaviest_group: float = math.nan
    spread: spreads.Spread = spreads.NOTHING
    written_spread: spreads.Spread = spreads.NOTHING
    temperature: float = math.nan
    causes: tuple[Row, ...] = ()
    n_copies: int = 0
    copies: str = ""
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return int(self.keys["n"])

    @property
    def main(self) -> ReadoutResults:
        """Written scores if there are any, else option probabilities; without results if no read has a score."""
        return self.hard or self.soft or ReadoutResults(Readout.HARD)

    @property
    def deciding(self) -> order_tests.Deciding:
        """The names of the readouts that decide the verdict."""
        known_share = self.known_share if self.soft else 0.0
        hard = self.hard is not None
        return order_tests.deciding(hard=hard, known=known_share, drawn=self.drawn, crossed=self.crossed)

    @property
    def log_odds(self) -> ReadoutResults:
        """The readout that decides effects in log-odds."""
        return (self.soft if self.deciding.log_odds == Readout.SOFT else self.hard) or self.main

    @property
    def points(self) -> ReadoutResults:
        """The readout that decides effects in points."""
        return (self.soft if self.deciding.points == Readout.SOFT else self.hard) or self.main

    @property
    def tests(self) -> dict[order_tests.Test, float]:
        """Dictionary from readout and test to p-value: the deciding tests, after Holm's adjustment for their number."""
        p = {(readout.name, name): value for readout in self.readouts for name, value in readout.tests.items()}
        return order_tests.adjusted(p, self.n, self.deciding)

    @property
    def readouts(self) -> tuple[ReadoutResults, ...]:
        return tuple(readout for readout in (self.hard, self.soft) if readout)

    @property
    def one_score(self) -> bool:
        """True if nearly all reads have one score, in every ordering."""
        least = [row["least"] for row in self.causes_of(cause_names.SATURATION)]
        return self.commonest_share >= uniformity.COMMONEST and min(least, default=1.0) >= ONE_SCORE

    @property
    def saturated(self) -> bool:
        """True if the scores of the main readout vary so little that an order can hardly change them."""
        return self.one_score or (self.main.saturated and self.commonest_share < uniformity.COMMONEST)

    @property
    def unlinked(self) -> bool:
        """True if probabilities decide on single items, and scores may be of other answers.

        With a known temperature, both are of one answer, but for second requests.
        """
        both = self.hard is not None and self.spread.readout == Readout.SOFT
        others = math.isnan(self.temperature) or any(row["second"] for row in self.causes_of(cause_names.WRITTEN))
        return both and not self.written_spread.shown and others

    def causes_of(self, name: str) -> list[Row]:
        """Rows of a cause."""
        return [row for row in self.causes if row["cause"] == name]

    @property
    def copied(self) -> bool:
        """True if repeats hardly differ although orderings do, and the judge is not said to answer without chance."""
        return bool(self.causes_of(cause_names.COPIES)) and self.temperature != 0

    @property
    def says_nothing(self) -> bool:
        """True if all scores have nearly the same probability in all reads, as if the text had not been read."""
        return self.soft is not None and self.top_probability <= EQUALLY_PROBABLE / self.n

    @property
    def unequal(self) -> bool:
        """True if groups are so unequal that they say clearly less than the same number of equal groups would say."""
        return self.effective_groups < MUCH_LESS * self.n_groups

    @property
    def independent_groups(self) -> float:
        """Number of equal groups with as much information, by the correlation of the order's effects in a group; 1 if
        unknown.
        """
        by_readout = {row["readout"]: row["groups"] for row in self.causes_of(cause_names.GROUP)}
        worst = self.n_groups if math.isnan(self.effective_groups) else self.effective_groups
        return float(by_readout.get(self.log_odds.name, worst))

    @property
    def failed_share(self) -> float:
        """Share of the reads without a score; where no score was written, without option probabilities."""
        if self.hard is None and self.soft is not None:
            return 1 - self.known_share
        asked = self.n_reads + self.n_failed
        return self.n_failed / asked if asked else math.nan


def gather(statistics: Mapping[str, pd.DataFrame]) -> Iterator[Evidence]:
    """Evidence on each group of reads by `KEYS`, one for each row of `decisiveness`.

    `statistics`: all of `of_cards.REQUIRED`, and those of `of_cards.OPTIONAL` that were made.
    """
    tables = {name: statistics[name] for name in (*of_cards.REQUIRED[1:], *of_cards.OPTIONAL) if name in statistics}
    parts = {name: _rows_by_key(table) for name, table in tables.items()}
    for row in statistics[of_cards.REQUIRED[0]].to_dict("records"):
        key = tuple(row[name] for name in KEYS)
        by_statistic = {name: groups.get(key) for name, groups in parts.items() if name in of_cards.REQUIRED}
        score, main = row["commonest_score"], Readout.HARD if row["n_reads"] else Readout.SOFT
        temperature = float(_first(by_statistic["position_preference"] or [], "temperature"))
        rows = tuple(json.loads(row.get("causes") or "[]"))
        plain: Row = {name: kind(row[name]) for kind, columns in PLAIN.items() for name in columns}
        yield Evidence(
            keys={name: row[name] for name in KEYS},
            **plain,
            commonest_score=None if pd.isna(score) else int(score),
            hard=_readout(Readout.HARD, by_statistic) if row["n_reads"] else None,
            soft=_readout(Readout.SOFT, by_statistic) if not pd.isna(row["top_probability"]) else None,
            known_share=float(row["known_share"]),
            temperature=temperature,
            causes=rows,
            drawn=order_tests.drawn_as_they_are(row["exponent_low"], row["exponent_high"], temperature),
            exponent=(float(row["exponent_low"]), float(row["exponent_high"])),
            detectable_v=_one(by_statistic["position_selection"], readout=main, quantity="detectable_v").estimate,
            agreement=_agreement(key, parts, main),
            rankings=_rankings(key, parts, main),
            spread=spreads.gather(by_statistic.get(spreads.NAME)),
            written_spread=spreads.gather(by_statistic.get(spreads.NAME), READ[:1]),
            n_copies=int(row.get("n_copies", 0)),
            copies=str(row.get("copies", "")),
            failures=json.loads(row.get("failures") or "{}"),
        )


def _rows_by_key(table: pd.DataFrame) -> ByKey:
    """Rows by the values of `KEYS`, as plain values: with a thousand keys, small tables take more time than their
    contents.
    """
    rows_by_key: ByKey = {}
    used = [*KEYS, *(name for name in USED if name in table)]
    columns = [
        [math.nan if value is pd.NA or value is None else value for value in table[name].tolist()] for name in used
    ]
    by_group = [value is not pd.NA and value == CLUSTER for value in table.get("cluster", [CLUSTER] * len(table))]
    for values in compress(zip(*columns, strict=True), by_group):
        rows_by_key.setdefault(values[: len(KEYS)], []).append(
            dict(zip(used[len(KEYS) :], values[len(KEYS) :], strict=True))
        )
    return rows_by_key


def _agreement(key: tuple[Any, ...], parts: Mapping[str, ByKey], readout: str) -> Agreement | None:
    of = {"readout": readout, "criterion": EVERY}
    rows = parts.get("human_agreement", {}).get(key)
    mean = _one(rows, **of, quantity="pearson")
    if not mean.known:
        return None
    values: Row = {"mean": mean, "reliability": _one(rows, **of, quantity="human_reliability")}
    first = _rows(rows, **of)[0]
    values |= {"n_items": int(first["n_items"]), "gold": str(first.get("gold", HUMAN))}
    if readout == Readout.HARD:
        values["expected"] = _one(rows, readout=Readout.SOFT, criterion=EVERY, quantity="pearson")
    compared = parts.get("strategy_comparison", {}).get(key)
    for baseline in USUAL:
        order, averaging, of_usual = (
            _one(compared, **of, baseline=baseline, quantity=name)
            for name in ("order", "averaging", "averaging_baseline")
        )
        usual = _one(parts["human_agreement"].get(_replace_strategy(key, baseline)), **of, quantity="pearson")
        # r of one read in the usual ordering. If an item has several reads, the gain from averaging them is subtracted
        # from the r of their mean, and no interval is known.
        if order.known and usual.known:
            one = usual if baseline == "single" else Interval(usual.estimate - of_usual.estimate)
            single = one.estimate + order.estimate
            return Agreement(**values, usual=one, single=single, order=order, averaging=averaging)
    return Agreement(**values)


def _rankings(key: tuple[Any, ...], parts: Mapping[str, ByKey], readout: str) -> Rankings | None:
    reversals, current = parts.get("rank_reversal", {}), key[KEYS.index("strategy")]
    for usual in USUAL:
        # A pair of strategies has one row, in either order.
        for strategy, other, usual_reads in ((current, usual, "k_other"), (usual, current, "k")):
            part = reversals.get(_replace_strategy(key, strategy))
            of = {"readout": readout, "other": other, "quantity": "top1_flip"}
            between = _rows(part, **of, comparison="between")
            flip = Interval.of(between[0]) if between else UNKNOWN
            if flip.known:
                row, excess = between[0], _one(part, **of, comparison="excess")
                return Rankings(flip, excess, int(row[usual_reads]), int(row["n_prompts"]))
    return None


def _replace_strategy(key: tuple[Any, ...], strategy: str) -> tuple[Any, ...]:
    return tuple(strategy if name == "strategy" else value for name, value in zip(KEYS, key, strict=True))


def _rows(part: Rows | None, **values: object) -> Rows:
    return [row for row in part or () if all(row[name] == value for name, value in values.items())]


def _one(part: Rows | None, **values: object) -> Interval:
    rows = _rows(part, **values)
    return Interval.of(rows[0]) if rows else UNKNOWN


def _readout(name: Readout, own: Mapping[str, Rows | None]) -> ReadoutResults:
    rows = {statistic: _rows(part, readout=name) for statistic, part in own.items()}
    values: dict[str, Any] = {}
    if part := rows.get("position_selection"):
        values |= _selection(part)
    if part := rows.get("position_preference"):
        values["preference"] = tuple(map(Interval.of, _position_rows(part, "preference")))
        values["preference_flag"] = str(part[0]["flag"])
        # If one position is always chosen, its preference may have no bound, although a penalised estimate is finite.
        if any(flags.has(row["flag"], flags.SEPARATED) for row in part):
            values["preference"] = (UNKNOWN,) * len(values["preference"])
        values["p_preference"] = _first(_rows(part, quantity="no_preference"), "p_cluster")
        values["interaction"] = _one(part, quantity="interaction")
        values["p_interaction"] = _first(_rows(part, quantity="interaction"), "p")
        values["preference_errors"] = tuple(float(row["se"]) for row in _position_rows(part, "preference"))
        values["interaction_error"] = float(_first(_rows(part, quantity="interaction"), "se"))
        values["saturated"] = values.get("saturated", False) or flags.has(part[0]["flag"], flags.SATURATED)
    if part := rows.get("score_effects"):
        gap, test = (_rows(part, quantity=quantity) for quantity in ("largest_gap", "order_test"))
        values["usual"] = _one(part, quantity="usual_minus_balanced")
        values["p_usual"] = float(_first(_rows(part, quantity="usual_minus_balanced"), "p_order"))
        values |= {"largest_gap": _first(gap, "estimate"), "gap_by_chance": _first(gap, "chance")}
        values["p_points"] = _first(test, "p_order")
        values["shift_errors"] = _errors(_rows(part, quantity="ordering"))
        (values["usual_error"],) = _errors(_rows(part, quantity="usual_minus_balanced")[:1]) or (math.nan,)
        flag = _first(test, "flag", "")
        alike = any(flags.has(flag, name) for name in (flags.SATURATED, flags.NO_VARIATION))
        values["saturated"] = values.get("saturated", False) or alike
    if part := rows.get("equivalence"):
        values |= {f"small_{name}": _small(part, name) for name in ("points", "log_odds", "interaction")}
        test = _rows(rows.get("score_effects"), quantity="order_test")
        same = flags.has(_first(test, "flag", ""), flags.NO_VARIATION)
        if name == Readout.SOFT and same and _first(test, "n_clusters") >= uniformity.FEW_CLUSTERS:
            # The expected score of every item is the same in all orderings, so that the shift is 0.
            values["small_points"] = Small(equivalence.SHOWN, values["small_points"].margin, Interval(0.0, 0.0, 0.0))
    return ReadoutResults(name, **values)


def _selection(part: Rows) -> dict[str, Any]:
    test = _rows(part, quantity="chi2")
    # With fewer clusters than `ENOUGH_CLUSTERS` both tests must agree.
    p = [_first(test, column) for column in ("p_cluster", "p_rotation")]
    return {
        "shares": tuple(map(Interval.of, _position_rows(part, "share"))),
        "v": _one(part, quantity="cramers_v"),
        "p_selection": max([value for value in p if not math.isnan(value)], default=math.nan),
        "saturated": bool(part[0]["saturated"]),
    }


def _errors(rows: Rows) -> tuple[float, ...]:
    """Standard errors behind intervals of Student's t."""
    if not rows:
        return ()
    low, high, df = (np.array([row[name] for row in rows], dtype=float) for name in ("ci_low", "ci_high", "df"))
    return tuple(equivalence.error_of_interval(low, high, df, float(rows[0]["confidence"])).tolist())


def _position_rows(part: Rows, quantity: str) -> Rows:
    return sorted(_rows(part, quantity=quantity), key=lambda row: row["position"])


def _first(rows: Rows, column: str, default: object = math.nan) -> Any:
    return rows[0][column] if rows else default


def _small(part: Rows, quantity: str) -> Small:
    rows = _rows(part, quantity=quantity)
    if not rows:
        return Small()
    row = rows[0]
    return Small(row["verdict"], float(row["margin"]), Interval(*(float(row[e]) for e in ("estimate", "low", "high"))))
