"""Evidence of a card by estimand, and the one rule that makes a verdict of it.

Each estimand is one effect of the order in the unit that a reader decides in. A card's verdict, headline, reasons,
advice and JSON are read from the table of its estimands:

1. **biased**: an effect was found, is not shown to be smaller than its margin, and no tested cause other than the order
   explains it.
2. **equivalent**: every estimand is shown to be smaller than its margin. An effect that was found and is smaller than
   its margin is *negligible*, and does not prevent this verdict.
3. **cannot tell**: otherwise. The reasons are what is missing (`missing`), and the causes that may explain a finding.

All tests together find an effect in at most 5% of the judges without one, and rule 1 calls fewer of these findings a
bias. Each estimand is shown to be small at the full level; since all of them must be, a bias is wrongly called small no
more often than by the test of one estimand alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_order.base.intervals import UNKNOWN, Interval

BIASED, EQUIVALENT, CANNOT_TELL = "biased", "equivalent", "cannot tell"
POINTS, SINGLE, BEST, LOG_ODDS, INTERACTION = "points", "single", "best", "log_odds", "interaction"


class Cause(NamedTuple):
    """A cause other than the order that could give the same number.

    Attributes:
        name: the cause, such as `failures`, `copies`, `one order`, `scale`, `group`.
        sentence: what was found of it, for the card.
        explains: True if the finding does not survive it.
    """

    name: str
    sentence: str
    explains: bool


@dataclass(frozen=True)
class Estimand:
    """One effect of the order on one judge's answers.

    Attributes:
        name: `POINTS` of the mean, share of `SINGLE` scores or winners that change, share of `BEST` answers that
            change, `LOG_ODDS` that a position adds, or `INTERACTION` of position and score.
        value: estimate and interval as the card prints them.
        bounds: the effect with the weakest evidence that it is small, with the interval that is compared with the
            margin.
        margin: smallest effect of interest; NaN if the estimand has none.
        p: p-value of no effect, adjusted for all tests of the card; NaN if no test was made.
        level: an adjusted p-value of at most `level` is a finding.
        required: whether `equivalent` needs this estimand to be small.
        missing: sentences on what would have to be read or known to decide; empty if nothing is missing.
        causes: causes other than the order that were tested.
    """

    name: str
    value: Interval = UNKNOWN
    bounds: Interval = UNKNOWN
    margin: float = math.nan
    p: float = math.nan
    level: float = 0.05
    required: bool = True
    missing: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def found(self) -> bool:
        """True if a test finds an effect of any size."""
        return self.p <= self.level

    @property
    def small(self) -> bool:
        """True if the effect is shown to be smaller than the margin, and no cause makes this doubtful."""
        return (
            not self.missing
            and not self.explained
            and -self.margin < self.bounds.low
            and self.bounds.high < self.margin
        )

    @property
    def explained(self) -> tuple[Cause, ...]:
        """The causes that a finding does not survive."""
        return tuple(cause for cause in self.causes if cause.explains)

    @property
    def biased(self) -> bool:
        """True if an effect was found that is not negligible and that no other cause explains."""
        return self.found and not self.small and not self.explained

    def content(self) -> dict[str, Any]:
        """The row as JSON has it: null stands for a value that is not known."""
        numbers = self.value.columns() | {"bound_low": self.bounds.low, "bound_high": self.bounds.high}
        numbers |= {"margin": self.margin, "p": self.p}
        return {
            "name": self.name,
            **{name: None if math.isnan(value) else value for name, value in numbers.items()},
            "found": self.found,
            "small": self.small,
            "biased": self.biased,
            "missing": list(self.missing),
            "causes": [cause._asdict() for cause in self.causes],
        }


def verdict(estimands: Sequence[Estimand]) -> str:
    """The verdict on a judge, see the rules of this module."""
    if any(estimand.biased for estimand in estimands):
        return BIASED
    required = [estimand for estimand in estimands if estimand.required]
    return EQUIVALENT if required and all(estimand.small for estimand in required) else CANNOT_TELL
