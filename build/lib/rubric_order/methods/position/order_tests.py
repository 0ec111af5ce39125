"""The tests of a bias card, and the one rule by which a p-value of the order is a finding.

Several tests ask whether the order moves a judge's scores: whether positions are selected equally often (`SELECTION`),
one is preferred in log-odds (`PREFERENCE`), high and low scores at different positions (`INTERACTION`), whether mean
scores differ between orderings (`POINTS`), and between the usual one and all (`USUAL`). The tests that decide are one
family. Each p-value is adjusted by Holm for their number, and is a finding where it is at most `LEVEL`.

Which decide follows from what is known of a judge:

- Option probabilities, where they are known of at least half of the reads, decide what is in log-odds. They depend on
  nothing that was drawn, and every pair of reads tells something. Selections then test nothing further.
- Points are decided by the scores that were written. Expected scores decide them where they are the same quantity:
  where answers are drawn from the probabilities as they are, see `drawn_as_they_are`.
- With two levels position, ordering and place of a score are one thing, and there is no interaction. One test decides,
  and a second one where written scores are another quantity than the probabilities.
- Where not every score stands in every position, as in reads from lowest to highest and back, position and score are
  not told apart. Mean scores of the same items in these orderings are: that test alone decides.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.methods.uncertainty import multiplicity

SELECTION, PREFERENCE, INTERACTION, POINTS, USUAL = "selection", "preference", "interaction", "points", "usual"
TESTS = (SELECTION, PREFERENCE, INTERACTION, POINTS, USUAL)
LEVEL = 0.03  # of all tests of a card together: some reject at up to 1.6 times their level, and 5% are to hold
LEAST_KNOWN = 0.5  # share of the reads whose probabilities must be known for these to decide
NEAR = 1.25  # factor by which the exponent of `sampling.exponent` may miss 1

Test = tuple[Readout, str]  # a readout, and one of `TESTS`


class Deciding(NamedTuple):
    """The readout that decides what is in log-odds, and what is in points; whether every score meets every position."""

    log_odds: Readout
    points: Readout
    crossed: bool = True


def drawn_as_they_are(low: float, high: float, temperature: float) -> bool:
    """True if a judge's answers are drawn from its option probabilities as they are.

    Args:
        low, high: interval of the exponent, see `sampling.exponent`.
        temperature: at which answers were drawn; NaN where it is unknown.
    """
    as_they_are = math.isnan(temperature) or temperature == 1
    return bool(as_they_are and 1 / NEAR < low <= 1 <= high < NEAR)


def deciding(*, hard: bool, known: float, drawn: bool, crossed: bool = True) -> Deciding:
    """The readouts that decide.

    Args:
        hard: whether scores were written.
        known: share of the reads whose probabilities are known.
        drawn: see `drawn_as_they_are`.
        crossed: whether every score was shown in every position.
    """
    soft = known >= LEAST_KNOWN or (known > 0 and not hard)
    log_odds = Readout.SOFT if soft else Readout.HARD
    return Deciding(log_odds, log_odds if drawn or not hard else Readout.HARD, crossed)


def adjusted(p: Mapping[Test, float], n: int, by: Deciding) -> dict[Test, float]:
    """p-values of the tests that decide, after Holm's adjustment for their number.

    Args:
        p: by readout and test; NaN, or not there, where a test could not be made.
        n: number of score levels.
    """
    used = [key for key in family(n, by, p) if not math.isnan(p.get(key, math.nan))]
    return dict(zip(used, map(float, multiplicity.holm(np.array([p[key] for key in used]))), strict=True))


def family(n: int, by: Deciding, p: Mapping[Test, float] | None = None) -> list[Test]:
    """The readouts and tests that decide.

    Args:
        n: number of score levels.
        p: p-values that are known; of two levels a test that could not be made gives way to the next one.
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
    """The adjusted p-values that are findings."""
    return {key: p for key, p in tests.items() if p <= LEVEL}
