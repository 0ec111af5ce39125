"""Whether something is too small to be worth mention: two one-sided tests.

That an effect is not significant does not say that it is small. Here the hypotheses are that it is at least as large as
a margin, in one direction and in the other; where both are rejected, it is shown to be smaller.
"""

import numpy as np

from rubric_order.methods import distributions

SHOWN, NOT_SHOWN, UNDECIDED = "shown", "not shown", "undecided"


def error_of_interval(low: np.ndarray, high: np.ndarray, df: np.ndarray, confidence: float) -> np.ndarray:
    """Standard error behind an interval of Student's t; NaN where it has no width. All of one shape."""
    error = (high - low) / 2 / distributions.t_quantile((1 + confidence) / 2, np.maximum(df, 1))
    return np.where(error > 0, error, np.nan)


def p_values(estimate: np.ndarray, error: np.ndarray, df: np.ndarray, margin: float) -> np.ndarray:
    """p-value of an effect of `margin` or more, in either direction: the greater of two one-sided ones.

    Args:
        estimate, error, df: of each effect, its standard error and degrees of freedom, shape (k,).
        margin: greater than 0, in the same unit.

    Returns:
        Shape (k,); NaN where there is no error.

    Source: Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach.
    """
    return np.asarray(distributions.t_tail((margin - np.abs(estimate)) / error, np.maximum(df, 1)))


def interval(estimate: np.ndarray, error: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval at confidence 1 - 2 level: it lies within the margins exactly where both tests reject. Shapes (k,)."""
    width = distributions.t_quantile(1 - level, np.maximum(df, 1)) * error
    return estimate - width, estimate + width


def verdict(low: np.ndarray, high: np.ndarray, margin: float) -> str:
    """What the intervals of one effect, or of several that are to be small together, say.

    Each of several has to be shown at the same level; no adjustment is needed for their number.

    Args:
        low, high: see `interval`, shape (k,).

    Returns:
        ``shown``: all lie within the margins. ``not shown``: one lies beyond them as a whole, so that there is an
        effect worth mention. ``undecided``: the data allow both, or an interval is missing.

    Source: Berger (1982), Multiparameter hypothesis testing and acceptance sampling (intersection-union tests).
    """
    if (low >= margin).any() or (high <= -margin).any():
        return NOT_SHOWN
    return SHOWN if len(low) and ((low > -margin) & (high < margin)).all() else UNDECIDED
