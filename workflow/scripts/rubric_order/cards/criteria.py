"""Cards of prompts that ask for the scores of several criteria: one card per criterion, and one for all criteria.

A card says whether the position of a criterion in the prompt moves its mean score. The rules, in this order:

1. **cannot tell**, if the reads cannot answer: the criterion always stood in the same position, there are fewer groups
   than `verdict.FEWEST_GROUPS`, more than `verdict.MOST_FAILED` of the scores are missing, nearly all scores are the
   same, or no test could be made.
2. **biased**, if the gap between the criterion's best and worst position is larger than chance makes it. The test
   compares the gap with the gaps that come out if the effects of the order in each whole group keep or change their
   sign at random. It rejects at `order_tests.LEVEL` after Holm's adjustment for the number of criteria of the prompt.
3. **equivalent**, if the intervals of the shifts at all positions lie within the margin in points. These are the
   intervals of the statistic, at 95% by default. They are wider than the 90% intervals of two one-sided tests at 5%.
4. **cannot tell**, if an interval reaches beyond the margin.

The card for all criteria is biased if the card of any criterion is biased. This keeps the level, because p-values are
adjusted for the number of criteria. The card for all criteria is equivalent if the cards of all criteria are
equivalent. Otherwise it cannot tell.
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
from rubric_order.cards import card, verdict
from rubric_order.cards.verdict import BIASED, CANNOT_TELL, EQUIVALENT
from rubric_order.methods.position import order_tests, uniformity
from rubric_order.methods.uncertainty import multiplicity

STATISTIC = "criterion_order"
COUNTS = ("n_texts", "n_groups", "n_scores", "n_failed")
AVERAGE = (
    "A score from one order of the criteria carries the bias. Where the judge is used, average its scores over orders"
    " in which each criterion stands in each place, or ask for one criterion per prompt."
)
ONE_ORDER = "As far as means go, one order of the criteria will do. The judge can still be wrong or lenient in all."
MORE = f"Read more groups of texts: at least {verdict.FEWEST_GROUPS}; a hundred tell much more."


@dataclass(frozen=True)
class CriterionCard:
    """Card of one criterion, or of all criteria of a prompt.

    Attributes:
        keys: values of `keys.KEYS`.
        criterion: id of the criterion; `EVERY` for the card of all criteria.
        verdict: one of `verdict.VERDICTS`.
        reasons: sentences, the most important first.
        advice: action that a user of the judge can take.
        shifts: mean score at each position minus the mean over positions, in points; empty on the card of all criteria.
        gap: mean score at the best position minus mean score at the worst, in points; on the card of all criteria, the
            mean gap over criteria.
        by_chance: mean of the gap if chance alone makes it.
        p: p-value for no effect of the position, adjusted for the number of criteria of the prompt; on the card of all
            criteria, the smallest p-value.
        margin: margin of equivalence, in points.
        commonest_share: share of the commonest score among the criterion's scores; on the card of all criteria, the
            greatest of these shares.
        n_texts, n_groups, n_scores, n_failed: counts of texts, groups, scores and missing scores.
    """

    keys: dict[str, Any]
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
        numbers = {name: card.number(getattr(self, name)) for name in ("by_chance", "p", "margin", "commonest_share")}
        return {
            **{name: self.keys[name] for name in KEYS if name != "n"},
            **plain,
            **numbers,
            "reasons": list(self.reasons),
            "shifts": [_ends(shift) for shift in self.shifts],
            "gap": _ends(self.gap),
            "n_levels": int(self.keys["n"]),
        }


def cards(criterion_order: pd.DataFrame, margin: float) -> list[CriterionCard]:
    """The cards of each group of reads by `KEYS`: the card for all criteria, then one card per criterion.

    Args:
        criterion_order: the statistic of that name. Written scores decide; if there are none, expected scores decide.
        margin: margin of equivalence, in points.
    """
    made = []
    for key, rows in criterion_order.groupby(KEYS, sort=False):
        readout = Readout.HARD if (rows["readout"] == Readout.HARD).any() else Readout.SOFT
        of_readout = rows[rows["readout"] == readout]
        own = _of_criteria(dict(zip(KEYS, key, strict=True)), of_readout, margin)
        made += [_of_all(own, of_readout), *own]
    return made


def _of_criteria(keys: dict[str, Any], rows: pd.DataFrame, margin: float) -> list[CriterionCard]:
    """The card of each criterion of one group of reads."""
    gaps = rows[rows["quantity"] == "gap"]
    adjusted = multiplicity.holm(gaps["p_cluster"].to_numpy(dtype=float))
    made = []
    for row, p in zip(gaps.to_dict("records"), adjusted.tolist(), strict=True):
        of_criterion = rows[rows["criterion"] == row["criterion"]]
        shifts = of_criterion[of_criterion["quantity"] == "shift"].sort_values("position")
        (commonest,) = of_criterion[of_criterion["quantity"] == "commonest_share"].to_dict("records")
        made.append(
            _judged(
                CriterionCard(
                    keys=keys,
                    criterion=str(row["criterion"]),
                    verdict=CANNOT_TELL,
                    reasons=(),
                    advice="",
                    shifts=tuple(map(Interval.of, shifts.to_dict("records"))),
                    gap=Interval.of(row),
                    by_chance=float(row["null"]),
                    p=p,
                    margin=margin,
                    commonest_share=float(commonest["estimate"]),
                    **{name: int(commonest[name]) for name in COUNTS},
                ),
                n_tests=len(gaps),
            )
        )
    return made


def _judged(made: CriterionCard, n_tests: int) -> CriterionCard:
    """The card with the verdict that the rules of this module give."""
    problems = [*_problems(made)]
    if problems:
        return dataclasses.replace(made, reasons=(*problems, *_seen(made)), advice=MORE)
    tested = f"p {_p(made.p)}, adjusted for {n_tests} criteria; {order_tests.LEVEL:g} or less is a finding"
    if made.p <= order_tests.LEVEL:
        reasons = (f"Its place in the prompt moves its mean score: {_gap(made)} ({tested}).", *_extremes(made))
        return dataclasses.replace(made, verdict=BIASED, reasons=reasons, advice=AVERAGE)
    none = f"No effect of its place is found: {_gap(made)} ({tested})."
    reach = max(max(abs(shift.low), abs(shift.high)) for shift in made.shifts)
    if reach < made.margin:
        small = f"No place moves its mean score by {made.margin:g} points or more: by intervals at most {_up(reach)}."
        small += " This is about means: single texts can move more."
        return dataclasses.replace(made, verdict=EQUIVALENT, reasons=(none, small), advice=ONE_ORDER)
    wide = f"Intervals do not exclude a shift of {made.margin:g} points: they reach up to {_up(reach)}."
    return dataclasses.replace(made, reasons=(none, wide), advice=f"Until more is known, average over orders. {MORE}")


def _problems(made: CriterionCard) -> Iterator[str]:
    """Reasons why the reads cannot answer the question."""
    if len(made.shifts) < 2 or not made.gap.known:
        yield "It stood in one place alone, or has too few scores, so nothing can be compared."
    if made.n_groups < verdict.FEWEST_GROUPS:
        are = "is 1 group" if made.n_groups == 1 else f"are {made.n_groups} groups"
        yield f"There {are} of texts that are independent of each other; at least {verdict.FEWEST_GROUPS} are needed."
    asked = made.n_scores + made.n_failed
    if not asked or made.n_failed / asked > verdict.MOST_FAILED:
        yield f"{made.n_failed:,} of {asked:,} scores are missing, and those could change the result."
    if made.commonest_share >= uniformity.COMMONEST:
        yield f"The judge is saturated: {made.commonest_share:.0%} of the scores are one score."
    if math.isnan(made.p) or any(not shift.bounded for shift in made.shifts):
        yield "No test of the order could be made."


def _seen(made: CriterionCard) -> Iterator[str]:
    """Sentence of a card that cannot tell: the gap that was found nevertheless."""
    if made.gap.known:
        yield f"In these reads {_gap(made)}."


def _gap(made: CriterionCard) -> str:
    chance = f", where chance alone makes {made.by_chance:.2f}" if not math.isnan(made.by_chance) else ""
    return f"its best and its worst place are {made.gap.estimate:.2f} points apart{chance}"


def _extremes(made: CriterionCard) -> Iterator[str]:
    """Sentence on the positions at which the score of the criterion is highest and lowest."""
    estimates = [shift.estimate for shift in made.shifts]
    most, least = int(np.argmax(estimates)), int(np.argmin(estimates))
    yield (
        f"Against the mean of the places, place {most + 1} gives it {card.written(made.shifts[most], '+z.2f')} points"
        f" and place {least + 1} {card.written(made.shifts[least], '+z.2f')}."
    )


def _of_all(own: Sequence[CriterionCard], rows: pd.DataFrame) -> CriterionCard:
    """The card for all criteria of one group of reads."""
    by_verdict = {word: [made.criterion for made in own if made.verdict == word] for word in verdict.VERDICTS}
    word = BIASED if by_verdict[BIASED] else EQUIVALENT if len(by_verdict[EQUIVALENT]) == len(own) else CANNOT_TELL
    mean = rows[rows["quantity"] == "mean_gap"].to_dict("records")
    gap, by_chance = (Interval.of(mean[0]), float(mean[0]["null"])) if mean else (UNKNOWN, math.nan)
    said = {BIASED: "biased", EQUIVALENT: "equivalent", CANNOT_TELL: "cannot tell"}
    listed = "; ".join(f"{text}: {', '.join(by_verdict[of])}" for of, text in said.items() if by_verdict[of])
    reasons = [f"Of {len(own)} criteria, {listed}."]
    if gap.known:
        chance = f", where chance alone makes {by_chance:.2f}" if not math.isnan(by_chance) else ""
        reasons.append(f"Best and worst place of a criterion are {gap.estimate:.2f} points apart on average{chance}.")
    p = [made.p for made in own if not math.isnan(made.p)]
    return CriterionCard(
        keys=own[0].keys,
        criterion=EVERY,
        verdict=word,
        reasons=tuple(reasons),
        advice={BIASED: AVERAGE, EQUIVALENT: ONE_ORDER, CANNOT_TELL: MORE}[word],
        shifts=(),
        gap=gap,
        by_chance=by_chance,
        p=min(p, default=math.nan),
        margin=own[0].margin,
        commonest_share=max(made.commonest_share for made in own),
        n_texts=own[0].n_texts,
        n_groups=own[0].n_groups,
        n_scores=sum(made.n_scores for made in own),
        n_failed=sum(made.n_failed for made in own),
    )


def facts(made: CriterionCard) -> list[tuple[str, str]]:
    """The numbers of a card as people read them, in pairs of name and value."""
    of = "mean over criteria" if made.criterion == EVERY else "points"
    return [
        (f"Best less worst place, {of}", card.written(made.gap, ".2f")),
        ("The same by chance", "not known" if math.isnan(made.by_chance) else f"{made.by_chance:.2f}"),
        (f"Smallest p, adjusted ({order_tests.LEVEL:g} or less is a finding)", _p(made.p).removeprefix("= ")),
        ("Margin of equivalence, points", f"{made.margin:g}"),
        ("Texts", f"{made.n_texts:,} in {made.n_groups:,} group{'' if made.n_groups == 1 else 's'}"),
        ("Scores", f"{made.n_scores:,}, and {made.n_failed:,} missing"),
    ]


def _ends(value: Interval) -> dict[str, float | None]:
    return {name: card.number(part) for name, part in value._asdict().items()}


def _up(value: float) -> str:
    """A size with two decimals, rounded up."""
    return f"{math.ceil(value * 100 - 1e-9) / 100:.2f}"


def _p(p: float) -> str:
    return "not known" if math.isnan(p) else "< 0.001" if p < 0.001 else f"= {p:.3f}"
