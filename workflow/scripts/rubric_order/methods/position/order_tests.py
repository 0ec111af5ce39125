"""The tests of a bias card, which form one family, and the rule of a finding: Holm-adjusted p of at most `LEVEL`.

Option probabilities, which depend on no draw, decide `PREFERENCE` and `INTERACTION` where half of the reads have them
or no scores were written; `SELECTION` then adds nothing. Written scores decide `POINTS` and `USUAL`, or expected ones
if none were written or answers are drawn as they are. With two levels, a position is an ordering: one test a readout.
If not every score is in every position, `POINTS` alone can tell orderings apart.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.uncertainty import multiplicity

SELECTION, PREFERENCE, INTERACTION, POINTS, USUAL = "selection", "preference", "interaction", "points", "usual"
TESTS = (SELECTION, PREFERENCE, INTERACTION, POINTS, USUAL)
LEVEL = 0.03  # of a family; if there is no effect, some tests reject in up to 1.6 times LEVEL of cases, below 5%
LEAST_KNOWN = 0.5  # probabilities decide if at least this share of the reads has them
NEAR = 1.25  # answers count as drawn as they are only if the exponent's interval lies between 1 / NEAR and NEAR

Test = tuple[Readout, str]  # a readout, and one of `TESTS`


class Deciding(NamedTuple):
    """The readouts that decide tests in log-odds and in points; `crossed`: every score in every position."""

    log_odds: Readout
    points: Readout
    crossed: bool = True


def drawn_as_they_are(low: float, high: float, temperature: float) -> bool:
    """True at temperature 1 or NaN if the interval of `sampling.exponent` has 1 and is within 1 / `NEAR` to `NEAR`."""
    as_they_are = math.isnan(temperature) or temperature == 1
    return bool(as_they_are and 1 / NEAR < low <= 1 <= high < NEAR)


def deciding(*, hard: bool, known: float, drawn: bool, crossed: bool = True) -> Deciding:
    """The readouts that decide; `hard` if scores were written, `known` is the share of reads with probabilities."""
    soft = known >= LEAST_KNOWN or (known > 0 and not hard)
    log_odds = Readout.SOFT if soft else Readout.HARD
    return Deciding(log_odds, log_odds if drawn or not hard else Readout.HARD, crossed)


def adjusted(p: Mapping[Test, float], n: int, by: Deciding) -> dict[Test, float]:
    """p-values of the tests that decide, after Holm's adjustment; NaN or absent for a test that could not be made."""
    used = [key for key in family(n, by, p) if not math.isnan(p.get(key, math.nan))]
    return dict(zip(used, map(float, multiplicity.holm(np.array([p[key] for key in used]))), strict=True))


def family(n: int, by: Deciding, p: Mapping[Test, float] | None = None) -> list[Test]:
    """The tests that decide, with readouts. With two levels, one without a p in `p` makes way for the next."""
    if not by.crossed:
        return [(by.points, POINTS)]
    if n > 2:
        both = [(by.log_odds, PREFERENCE), (by.log_odds, INTERACTION), (by.points, POINTS), (by.points, USUAL)]
        return both if by.log_odds == Readout.SOFT else [(Readout.HARD, SELECTION), *both]
    of_soft = [(Readout.SOFT, test) for test in (PREFERENCE, POINTS)]
    of_hard = [(Readout.HARD, test) for test in (POINTS, SELECTION, PREFERENCE)]
    kinds = [*([of_soft] if by.log_odds == Readout.SOFT else []), *([of_hard] if by.points == Readout.HARD else [])]
    p = p or {}
    return [next((key for key in kind if not math.isnan(p.get(key, math.nan))), kind[0]) for kind in kinds]


def findings(tests: Mapping[Test, float]) -> dict[Test, float]:
    """The adjusted p-values that are findings."""
    return {key: p for key, p in tests.items() if p <= LEVEL}
