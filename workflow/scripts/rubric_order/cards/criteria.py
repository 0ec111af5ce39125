"""Cards of prompts that ask for several criteria: does a criterion's position move its mean score? One card for all of
them (biased by the pooled effect or that of any criterion, equivalent if all are small), and one per criterion.

A criterion: gap between its best and worst position, against gaps with the signs of whole groups' effects redrawn.
Pooled: the first position against later ones, or all positions, with an intercept a text and criterion. The pooled
tests share half of `order_tests.LEVEL`, criteria the other half, by Holm. Bounds of small effects allow for effects of
few groups. With fewer effective groups than `enough.FINDING` needs, among the texts with scores, a criterion is neither
biased nor small, with fewer than `enough.SMALL` not small. A finding that missing scores could explain, see
`criterion_order.lost`, is no bias.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.cards import estimands, verdict
from rubric_order.cards.estimands import BIASED, CANNOT_TELL, EQUIVALENT, POINTS, Cause, Estimand
from rubric_order.cards.numbers import number, written
from rubric_order.methods.position import order_tests, uniformity
from rubric_order.methods.uncertainty import enough, multiplicity

STATISTIC = "criterion_order"
COUNTS = ("n_texts", "n_groups", "n_scores", "n_failed")
AVERAGE = (
    "A score from one order of the criteria carries the bias. Where the judge is used, average its scores over orders"
    " in which each criterion stands in each position, or ask for one criterion per prompt."
)
ONE_ORDER = "As far as means go, one order of the criteria is enough. The judge can still be wrong or lenient in all."
MORE = f"Read more groups of texts: at least {enough.FINDING.least}; a hundred are much more informative."
FURTHER = "Read more groups of texts."
ORDERS = "Read each text with its criteria in several orders, so that each criterion stands in each position."
ONE = "A prompt that asks for one criterion has no order of criteria."
VARY = "Judge texts that differ more."
INDEPENDENT = " of texts that are independent of each other"
LOOK = "Look at the answers that lack scores first: room for longer ones, or fewer criteria a prompt, may help."
VERDICTS = (BIASED, EQUIVALENT, CANNOT_TELL)
MOST_NAMED = 12  # criteria that a sentence lists
ALL, OWN = 4, 2  # factors of p-values: two pooled tests at half of the level; Holm's p-values at half of it


@dataclass(frozen=True)
class CriterionCard:
    """Card of one criterion, or (`EVERY`) of all criteria of a prompt: then pooled, mean gap, smallest p, greatest
    share.

    `effects`: the card's, then on the card of all those of each. `shifts`: mean score at a position less the mean over
    positions, `gap`: best less worst position, `by_chance`: gap that chance makes; all in points. `p` is adjusted.
    """

    keys: dict[str, Any]
    effects: tuple[Estimand, ...]
    criterion: str
    verdict: str
    reasons: tuple[str, ...]
    advice: str
    shifts: tuple[Interval, ...]
    gap: Interval
    by_chance: float
    p: float
    margin: float
    commonest_share: float
    n_texts: int
    n_groups: int
    n_scores: int
    n_failed: int

    def to_dict(self) -> dict[str, Any]:
        """The card as JSON has it: numbers that are not known are None."""
        plain = {name: getattr(self, name) for name in ("criterion", "verdict", "advice", *COUNTS)}
        numbers = {name: number(getattr(self, name)) for name in ("by_chance", "p", "margin", "commonest_share")}
        return {
            **{name: self.keys[name] for name in KEYS if name != "n"},
            **plain,
            **numbers,
            "reasons": list(self.reasons),
            "shifts": [_ends(shift) for shift in self.shifts],
            "gap": _ends(self.gap),
            "first": _ends(self.effects[0].value if self.criterion == EVERY else UNKNOWN),
            "n_levels": int(self.keys["n"]),
        }


def cards(criterion_order: pd.DataFrame, margin: float) -> list[CriterionCard]:
    """For each group of reads by `KEYS` the card of all criteria, then one per criterion, with a margin in points.

    Written scores decide; if there are none, expected scores do.
    """
    result = []
    for key, rows in criterion_order.groupby(KEYS, sort=False):
        readout = Readout.HARD if (rows["readout"] == Readout.HARD).any() else Readout.SOFT
        of_readout = rows[rows["readout"] == readout]
        single = _criterion_cards(dict(zip(KEYS, key, strict=True)), of_readout, margin)
        result += [_pooled_card(single, of_readout, margin), *single]
    return result


def _criterion_cards(keys: dict[str, Any], rows: pd.DataFrame, margin: float) -> list[CriterionCard]:
    """The card of each criterion of one group of reads."""
    gaps = rows[rows["quantity"] == "gap"].merge(
        rows.loc[rows["quantity"] == "commonest_share", ["criterion", "estimate", "effective_groups", *COUNTS]],
        on="criterion",
        suffixes=("", "_own"),
    )
    few = gaps["effective_groups_own"] < enough.FINDING.least
    p = gaps["p_cluster"].mask(few).to_numpy(dtype=float)
    adjusted = np.minimum(OWN * multiplicity.holm(p), 1)
    worst = gaps["p_worst"].to_numpy(dtype=float)
    at_worst = np.where(np.isnan(worst), np.nan, OWN * multiplicity.holm(np.fmax(np.nan_to_num(p, nan=1.0), worst)))
    return [
        _criterion_card(keys, row, rows[rows["criterion"] == row["criterion"]], value, margin, len(gaps))
        for row, value in zip(gaps.assign(p_worst=at_worst).to_dict("records"), adjusted.tolist(), strict=True)
    ]


def _criterion_card(
    keys: dict[str, Any], row: Row, rows: pd.DataFrame, p: float, margin: float, n_criteria: int
) -> CriterionCard:
    """The card of one criterion, from the row of its gap and its other rows."""
    shifts = rows[rows["quantity"] == "shift"].sort_values("position")
    counts = {name: int(row[f"{name}_own"]) for name in COUNTS}
    gap, commonest = Interval.of(row), float(row["estimate_own"])
    missing = _few_groups(counts["n_groups"], float(row["effective_groups_own"])) | _lost(shifts, row)
    if len(shifts) < 2 or not gap.known:
        alone = "It stood in one position alone, or has too few scores, so nothing can be compared."
        missing = {alone: ONE if n_criteria == 1 else ORDERS} | missing
    if not counts["n_scores"]:
        missing = {f"None of its {counts['n_failed']:,} scores was given.": LOOK}
    if commonest >= uniformity.COMMONEST:
        missing[f"The judge is saturated: {commonest:.0%} of the scores are one score."] = VARY
    card = CriterionCard(
        keys=keys,
        effects=(_effect(gap, shifts, p, margin, missing, row),),
        criterion=str(row["criterion"]),
        verdict=CANNOT_TELL,
        reasons=(),
        advice="",
        shifts=tuple(map(Interval.of, shifts.to_dict("records"))),
        gap=gap,
        by_chance=float(row["null"]),
        p=p,
        margin=margin,
        commonest_share=commonest,
        **counts,
    )
    chance = f", where chance alone makes {card.by_chance:.2f}" if not math.isnan(card.by_chance) else ""
    size = f"its best and its worst position are {written(gap, '.2f')} points apart{chance}"
    return _judged(card, size, "Its position in the prompt moves its mean score", [*_extremes(card)], missing)


def _effect(
    value: Interval, shifts: pd.DataFrame, p: float, margin: float, missing: dict[str, str], row: Row
) -> Estimand:
    """Effect in points, from the shifts and the row with `p_worst`, adjusted like `p`; `missing` maps sentences to the
    advice for each.
    """
    least, most = shifts["least"].min(skipna=False), shifts["most"].max(skipna=False)
    reach = Interval(value.estimate, float(least), float(most)) if len(shifts) else UNKNOWN
    causes: tuple[Cause, ...] = ()
    if not math.isnan(row["p_worst"]):
        at = ", ".join(f"{n / max(n + m, 1):.1%}" for n, m in zip(shifts["n_failed"], shifts["n_scores"], strict=True))
        sentence = f"Missing scores could explain it: of positions 1 to {len(shifts)}, {at} of the scores are missing."
        causes = (Cause("failures", sentence, row["p_worst"] > order_tests.LEVEL),)
    return Estimand(POINTS, value, reach, margin, p, order_tests.LEVEL, missing=tuple(missing), causes=causes)


def _few_groups(groups: int, effective: float) -> dict[str, str]:
    if enough.SMALL.met(effective):
        return {}
    few = next(filter(None, (need.refusal(groups, effective, INDEPENDENT) for need in (enough.FINDING, enough.SMALL))))
    return {f"{few.capitalize()}.": MORE if groups < enough.FINDING.least else FURTHER}


def _lost(shifts: pd.DataFrame, row: Row) -> dict[str, str]:
    """Reasons why missing scores prevent the finding that an effect is small."""
    n_failed, asked = shifts["n_failed"].sum(), shifts["n_failed"].sum() + shifts["n_scores"].sum()
    reasons = {}
    if row["p_lost"] <= estimands.Estimand.level:
        shares = shifts["n_failed"] / (shifts["n_failed"] + shifts["n_scores"])
        at = shares.idxmax()
        position = int(shifts.loc[at, "position"])
        alone = shares[at] == shares.sum()
        where = f"position {position} alone" if alone else f"some positions, most at position {position}"
        reasons[f"More scores are missing at {where}: {shares[at]:.1%} there."] = LOOK
    if asked and n_failed / asked > verdict.MOST_FAILED:
        reasons[f"{n_failed:,.0f} of {asked:,.0f} scores are missing, and those could change the result."] = LOOK
    return reasons


def _judged(
    made: CriterionCard, found: str, moved: str, details: Sequence[str], missing: dict[str, str]
) -> CriterionCard:
    """The card with verdict, reasons and advice, from words for the size and the beginning of the sentence of a biased
    card.
    """
    effect, word = made.effects[0], estimands.verdict(made.effects)
    tested = (
        f"{found} (p {_p(effect.p)}, adjusted for all tests of the prompt; {order_tests.LEVEL:g} or less is a finding)"
    )
    explained = [cause.sentence for cause in effect.explained] if effect.found else []
    reach = max(abs(effect.bounds.low), abs(effect.bounds.high))
    lacks = [sentence for sentence in missing if enough.SMALL.use not in sentence]
    none = f"No effect of {'the' if made.criterion == EVERY else 'its'} position is found: {tested}."
    if effect.found:
        none = f"An effect is detectable, but smaller than the margin: {tested}."
    wide = (
        f"Bounds do not exclude a shift of {made.margin:g} points: they reach up to {_up(reach)}."
        if reach >= made.margin
        else ""
    )
    reasons, advice = [none, wide, *missing], f"Until more is known, average over orders. {FURTHER}"
    if word == BIASED:
        reasons, advice = [f"{moved}: {tested}.", *details, *lacks], AVERAGE
    elif word == EQUIVALENT:
        small = f"No position moves its mean score by {made.margin:g} points or more: at most {_up(reach)}."
        reasons, advice = [none, f"{small} This is about means: single texts can move more."], ONE_ORDER
    elif explained:
        reasons, advice = [f"In these reads {tested}.", *explained, *effect.missing], LOOK
    elif lacks:
        reasons, advice = [*missing, f"In these reads {found}." if effect.value.bounded else ""], missing[lacks[0]]
    elif effect.small:
        reasons[1] = f"All criteria together: at most {_up(reach)} points. Not every single criterion is known."
    return dataclasses.replace(made, verdict=word, reasons=tuple(filter(None, reasons)), advice=advice)


def _extremes(made: CriterionCard) -> Iterator[str]:
    """Sentence on the positions at which the score of the criterion is highest and lowest."""
    estimates = [shift.estimate for shift in made.shifts]
    if len(estimates) > 1:
        most, least = int(np.argmax(estimates)), int(np.argmin(estimates))
        yield (
            f"Against the mean of the positions, position {most + 1} gives it {written(made.shifts[most], '+z.2f')}"
            f" points and position {least + 1} {written(made.shifts[least], '+z.2f')}."
        )


def _pooled_card(own: Sequence[CriterionCard], rows: pd.DataFrame, margin: float) -> CriterionCard:
    """The card for all criteria of one group of reads."""
    of = {str(row["quantity"]): row for row in rows.to_dict("records")}
    first, test, mean = (of.get(name, {}) for name in ("pooled_first", "pooled_test", "mean_gap"))
    shifts = rows[rows["quantity"] == "pooled_shift"].sort_values("position")
    p = float(ALL * np.nanmin([1 / ALL, first["p_cluster"], test["p_cluster"]]))
    by = test if first["p_cluster"] > test["p_cluster"] else first
    worth, value = float(by["effective_groups"]), Interval.of(first)
    missing = _few_groups(int(by["n_groups"]), worth) | _lost(shifts, test)
    if not value.known:
        alone = "Each criterion stood in one position alone, or has too few scores."
        missing = {alone: ONE if len(own) == 1 else ORDERS} | missing
    least = min((card.commonest_share for card in own if card.n_scores), default=math.nan)
    if least >= uniformity.COMMONEST:
        missing[f"The judge is saturated: at least {least:.0%} of the scores of each criterion are one score."] = VARY
    worst = ALL * min(np.nan_to_num(row["p_cluster"], nan=1.0).clip(row["p_worst"]) for row in (first, test))
    effect = _effect(
        value, shifts, p if worth >= enough.FINDING.least else math.nan, margin, missing, by | {"p_worst": worst}
    )
    each = [card.p for card in own if not math.isnan(card.p)]
    card = CriterionCard(
        keys=own[0].keys,
        effects=(effect, *(part for card in own for part in card.effects)),
        criterion=EVERY,
        verdict=CANNOT_TELL,
        reasons=(),
        advice="",
        shifts=tuple(map(Interval.of, shifts.to_dict("records"))),
        gap=Interval.of(mean) if mean else UNKNOWN,
        by_chance=float(mean["null"]) if mean else math.nan,
        p=min([*each, *([] if math.isnan(effect.p) else [effect.p])], default=math.nan),
        margin=margin,
        commonest_share=max(card.commonest_share for card in own),
        n_texts=int(by["n_texts"]),
        n_groups=int(by["n_groups"]),
        n_scores=sum(card.n_scores for card in own),
        n_failed=sum(card.n_failed for card in own),
    )
    by_verdict = {word: [card.criterion for card in own if card.verdict == word] for word in VERDICTS}
    listed = "; ".join(f"{word}: {_named(names)}" for word, names in by_verdict.items() if names)
    each_of = f"Of {len(own)} criteri{'on' if len(own) == 1 else 'a'}, {listed}."
    size, moved = (
        "over all criteria, some positions differ",
        "The position of a criterion in the prompt moves its mean score",
    )
    if by is first or not effect.found:
        size = f"over all criteria, the first position gives {written(value, '+z.2f')} points more than later ones"
    judged = _judged(card, size, moved, [*_extremes(card)], missing)
    if by_verdict[BIASED] and not effect.biased:
        judged = dataclasses.replace(judged, reasons=(f"{moved}, for {_named(by_verdict[BIASED])}.",))
    if less := [card.criterion for card in own if card.effects[0].found and card.verdict == EQUIVALENT]:
        each_of += f" An effect smaller than the margin is found for {_named(less)}."
    return dataclasses.replace(judged, reasons=(*judged.reasons, each_of))


def _named(criteria: Sequence[str]) -> str:
    more = f" and {len(criteria) - MOST_NAMED} more" if len(criteria) > MOST_NAMED else ""
    return f"{', '.join(criteria[:MOST_NAMED])}{more}"


def facts(made: CriterionCard) -> list[tuple[str, str]]:
    """The numbers of a card as people read them, in pairs of name and value."""
    of = "mean over criteria" if made.criterion == EVERY else "points"
    first = [("First position less later ones, points", written(made.effects[0].value, "+z.2f"))]
    return [
        *(first if made.criterion == EVERY else []),
        (f"Best less worst position, {of}", written(made.gap, ".2f")),
        ("The same by chance", "not known" if math.isnan(made.by_chance) else f"{made.by_chance:.2f}"),
        (f"Smallest p, adjusted ({order_tests.LEVEL:g} or less is a finding)", _p(made.p).removeprefix("= ")),
        ("Margin of equivalence, points", f"{made.margin:g}"),
        ("Texts", f"{made.n_texts:,} in {made.n_groups:,} group{'' if made.n_groups == 1 else 's'}"),
        ("Scores", f"{made.n_scores:,}, and {made.n_failed:,} missing"),
    ]


def _ends(value: Interval) -> dict[str, float | None]:
    return {name: number(part) for name, part in value._asdict().items()}


def _up(value: float) -> str:
    """A value rounded up to two decimals, since it is a bound."""
    return f"{math.ceil(value * 100 - 1e-9) / 100:.2f}"


def _p(p: float) -> str:
    return "not known" if math.isnan(p) else "< 0.001" if p < 0.001 else f"= {p:.3f}"
