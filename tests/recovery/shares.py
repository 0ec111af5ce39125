"""Shares of studies in percent; bold where chance does not explain their distance from the nominal level."""

import numpy as np
from numpy.typing import ArrayLike


def chance(studies: ArrayLike) -> np.ndarray:
    """Two standard errors of a share whose nominal level is 5% or 95%."""
    return 2 * np.sqrt(0.95 * 0.05 / np.asarray(studies))


def percent(share: float, studies: float, nominal: float) -> str:
    """A share in percent, bold where it is further from its nominal level than two standard errors; '' for none."""
    return "" if np.isnan(share) else span(share, studies, nominal)


def span(shares: ArrayLike, studies: ArrayLike, nominal: float) -> str:
    """The smallest and the largest of some shares in percent, bold where one of them would be, see `percent`."""
    ends = dict.fromkeys(f"{100 * end:.1f}%" for end in (np.min(shares), np.max(shares)))
    outside = np.abs(np.asarray(shares) - nominal) > chance(studies) + 1e-9
    return f"**{' to '.join(ends)}**" if outside.any() else " to ".join(ends)
