"""Flags of estimates: short notes in column `flag`, joined by commas. Flags on which code depends are named here."""

FEW_CLUSTERS = "few clusters"  # intervals and tests depend on which clusters happen to be in the data
SATURATED = "saturated"  # the scores vary so little that an order can hardly change them
NO_VARIATION = "no variation"  # every item has the same scores in all orderings
SEPARATED = "separated"  # only a penalty keeps the estimate finite
NO_COMPARISONS = "no comparisons"  # no two reads of one item say anything about positions


def has(flags: object, flag: str) -> bool:
    """True if a value of column `flag` has a flag.

    >>> has("saturated, few clusters", FEW_CLUSTERS)
    True
    """
    return flag in str(flags).split(", ")
