"""Numbers of score levels on their scale. Files of scores count levels from 1, also on a scale from 0."""

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LOWEST = "lowest"  # column of plans and scores with a scale from 0: the lowest score of each read


def lowest_of(reads: "pd.DataFrame") -> int:
    """Return the lowest score on the scale of some reads; 1 if their scales begin with different numbers."""
    return common(reads[LOWEST].dropna().unique().tolist()) if LOWEST in reads else 1


def common(lowest: Collection[int]) -> int:
    """Number with which all scales begin; 1 if they differ, or if there is none.

    >>> common([0, 0]), common([0, 1]), common([])
    (0, 1, 1)
    """
    return int(next(iter(lowest))) if len({*lowest}) == 1 else 1
