"""The one refusal of too few groups, and the least number of effective groups for each use of them."""

from typing import NamedTuple

from rubric_order.base.keys import FEW_CLUSTERS


class Need(NamedTuple):
    """Least number of effective groups (`resampling.effective`) for a use, and the use in words."""

    least: int
    use: str = ""

    def met(self, effective: float) -> bool:
        """True if groups are enough; an effective number is a rounded quotient."""
        return round(effective, 6) >= self.least

    def refusal(self, groups: int, effective: float, kind: str = "", heaviest: float = 0.0) -> str:
        """Words for too few groups, without the sentence's ends; empty if enough. `kind` follows the word groups;
        `heaviest` is the largest's share.
        """
        if self.met(effective):
            return ""
        counted = "is 1 group" if groups == 1 else f"are {groups} groups"
        largest = f" (the largest has {heaviest:.0%} of the items)" if heaviest else ""
        worth = f", as informative as {effective:.0f} equal ones{largest}" if effective < groups - 0.5 else ""
        return f"there {counted}{kind}{worth}; at least {self.least} are needed{self.use}"


FINDING = Need(20)  # the tests of a card keep their level by Student's t from some 20 groups on
SMALL = Need(FEW_CLUSTERS, " to show that an effect is small")  # the error of an interval itself must be known
VERDICT = Need(FEW_CLUSTERS, " for a verdict")  # choices are 0 or 1, so that their errors are known later than scores'
DIFFERENCES = Need(FEW_CLUSTERS, " to know how groups differ")  # a plan rests on the error of an error
RULE = Need(19, " to learn a rule of 95% from")  # the largest of 19 is exceeded in 1 of 20: a rank, no variance
LABELS = Need(4, " to correct a mean")  # the cost of a fitted weight, 1 / (groups - 3), is finite
LEARNING = Need(2, " to learn from")  # one group does not show how groups vary
