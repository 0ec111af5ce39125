"""The tests of a bias card, and the one rule by which a p-value of such a test counts as a finding.

Five tests ask whether the order moves a judge's scores:

- `SELECTION`: some positions are selected more often than others.
- `PREFERENCE`: some position is preferred in log-odds.
- `INTERACTION`: high and low scores are preferred at different positions.
- `POINTS`: mean scores differ between orderings.
- `USUAL`: the mean score in the usual ordering differs from the mean over all orderings.

The tests that decide form one family. Their p-values are adjusted by Holm for the size of the family. An adjusted
p-value of at most `LEVEL` is a finding.

The readouts that a judge has determine which tests decide:

- Option probabilities decide the tests in log-odds (`PREFERENCE`, `INTERACTION`) if at least half of the reads have
  them, or if some reads have them and no scores were written. Probabilities do not depend on a draw, and every pair of
  reads tells something about positions. So if probabilities decide these tests, `SELECTION` adds nothing and does not
  decide.
- Written scores decide the tests in points (`POINTS`, `USUAL`). Expected scores decide them instead if option
  probabilities decide the tests in log-odds, and one of two conditions holds: no scores were written; or answers are
  drawn from the probabilities as they are, so that written and expected scores estimate the same quantity (see
  `drawn_as_they_are`).
- With two levels, a score's position determines the ordering, and no interaction exists. So one test decides by each
  readout that decides: by written scores, by option probabilities, or by both.
- If some score is not shown in every position, as in reads from lowest to highest and back, the effect of the position
  cannot be distinguished from the effect of the score. But mean scores of the same items can still be compared between
  orderings. So `POINTS` alone decides.
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
    """The readouts by which tests decide.

    Attributes:
        log_odds: readout that decides the tests in log-odds.
        points: readout that decides the tests in points.
        crossed: True if every score is shown in every position.
    """

    log_odds: Readout
    points: Readout
    crossed: bool = True


def drawn_as_they_are(low: float, high: float, temperature: float) -> bool:
    """True if a judge's answers are drawn from its option probabilities as they are.

    This is the case if two conditions hold: the temperature is 1 or unknown; and the interval of the exponent contains
    1 and lies between 1 / `NEAR` and `NEAR`.

    Args:
        low: lower end of the interval of the exponent, see `sampling.exponent`.
        high: upper end of the interval of the exponent.
        temperature: temperature at which answers were drawn; NaN if it is unknown.
    """
    as_they_are = math.isnan(temperature) or temperature == 1
    return bool(as_they_are and 1 / NEAR < low <= 1 <= high < NEAR)


def deciding(*, hard: bool, known: float, drawn: bool, crossed: bool = True) -> Deciding:
    """The readouts by which tests decide.

    Args:
        hard: True if scores were written.
        known: share of the reads whose option probabilities are known.
        drawn: True if answers are drawn from the option probabilities as they are, see `drawn_as_they_are`.
        crossed: True if every score was shown in every position.
    """
    soft = known >= LEAST_KNOWN or (known > 0 and not hard)
    log_odds = Readout.SOFT if soft else Readout.HARD
    return Deciding(log_odds, log_odds if drawn or not hard else Readout.HARD, crossed)


def adjusted(p: Mapping[Test, float], n: int, by: Deciding) -> dict[Test, float]:
    """p-values of the tests that decide, after Holm's adjustment for their number.

    Args:
        p: dictionary from readout and test to p-value; NaN or absent for a test that could not be made.
        n: number of score levels.
        by: the readouts that decide.
    """
    used = [key for key in family(n, by, p) if not math.isnan(p.get(key, math.nan))]
    return dict(zip(used, map(float, multiplicity.holm(np.array([p[key] for key in used]))), strict=True))


def family(n: int, by: Deciding, p: Mapping[Test, float] | None = None) -> list[Test]:
    """The tests that decide, each with its readout.

    Args:
        n: number of score levels.
        by: the readouts that decide.
        p: dictionary from readout and test to p-value, for tests that are already made; None if no test is made yet.
            With two levels, a test without a p-value is replaced by the next test of the same readout that has a
            p-value.
    """
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
    """The adjusted p-values that are findings.

    Args:
        tests: dictionary from readout and test to the adjusted p-value.
    """
    return {key: p for key, p in tests.items() if p <= LEVEL}
