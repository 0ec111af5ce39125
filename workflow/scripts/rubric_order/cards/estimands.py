"""Evidence of a card by estimand (one effect of the order, in a unit of decisions), and the one rule of its verdict.

1. **biased**: an effect was found, is not shown smaller than its margin, and no tested cause but the order explains it.
2. **equivalent**: every estimand is shown smaller than its margin; one found and smaller is *negligible*. 3. **cannot
tell**: otherwise, for what is `missing`, or for causes.

All tests together find an effect in at most 5% of judges without one. Smallness of each is shown at the full level:
since all must be small, a bias is wrongly called small no more often than by one test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rubric_order.base.intervals import UNKNOWN, Interval

BIASED, EQUIVALENT, CANNOT_TELL = "biased", "equivalent", "cannot tell"
POINTS, SINGLE, BEST, LOG_ODDS, INTERACTION = "points", "single", "best", "log_odds", "interaction"


class Cause(NamedTuple):
    """A cause other than the order that could give the same number; it `explains` a finding that does not
    survive it.
    """

    name: str
    sentence: str
    explains: bool


@dataclass(frozen=True)
class Estimand:
    """One effect of the order: `POINTS` of the mean, share of `SINGLE` or `BEST` answers that change, `LOG_ODDS` of a
    position, or `INTERACTION` of position and score.

    `value` is printed; `bounds` (of the effect least clearly small) are compared with `margin`, the smallest effect of
    interest. `p`, adjusted for all tests, finds at `level`. `required`: `equivalent` needs it small. `missing`:
    sentences.
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
