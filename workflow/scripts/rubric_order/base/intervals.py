"""An estimate with its interval."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple


class Interval(NamedTuple):
    """An estimate with the ends of its interval; unknown values are NaN.

    >>> Interval(0.5, 0.4, 0.7).columns()
    {'estimate': 0.5, 'ci_low': 0.4, 'ci_high': 0.7}
    >>> -Interval(0.5, 0.4, 0.7)
    Interval(estimate=-0.5, low=-0.7, high=-0.4)
    """

    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Interval":
        """Interval in a row of a table of estimates, see `columns`."""
        return cls(float(row["estimate"]), float(row["ci_low"]), float(row["ci_high"]))

    @property
    def known(self) -> bool:
        return not math.isnan(self.estimate)

    @property
    def bounded(self) -> bool:
        """True where the estimate has an interval."""
        return not math.isnan(self.low)

    def columns(self) -> dict[str, float]:
        return {"estimate": self.estimate, "ci_low": self.low, "ci_high": self.high}

    def __neg__(self) -> "Interval":
        return Interval(-self.estimate, -self.high, -self.low)


UNKNOWN = Interval()
