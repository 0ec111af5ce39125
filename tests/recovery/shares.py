"""Shares of studies in percent; bold where chance does not explain their distance from the nominal level."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def chance(studies: ArrayLike) -> NDArray[np.float64]:
    """Two standard errors of a share whose nominal level is 5% or 95%."""
    return np.sqrt(4 * 0.95 * 0.05 / np.asarray(studies, float))


def percent(share: float, studies: float, nominal: float) -> str:
    """A share in percent, bold where it is further from its nominal level than two standard errors; '' for none."""
    return "" if np.isnan(share) else span(share, studies, nominal)


def span(shares: ArrayLike, studies: ArrayLike, nominal: float) -> str:
    """The smallest and the largest of some shares in percent, bold where one of them would be, see `percent`."""
    values = np.asarray(shares, float)
    ends = dict.fromkeys(f"{100 * end:.1f}%" for end in (values.min(), values.max()))
    outside = np.abs(values - nominal) > chance(studies) + 1e-9
    return f"**{' to '.join(ends)}**" if outside.any() else " to ".join(ends)
