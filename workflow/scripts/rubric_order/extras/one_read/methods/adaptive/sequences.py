"""Confidence sequences for the mean of an item's N reads, taken in random order without replacement.

With probability 1 - alpha, the intervals after all reads contain the mean, so reading may stop at any time for any
reason. Nothing is assumed but the random order.
"""

import numpy as np

# From the share of its capital that a part bets in each read, to the size of this part in the initial capital.
BETS = {0.25: 0.1, 0.5: 0.2, 1.0: 0.7}
STEPS = 400  # candidates for the mean, if scores are not whole numbers
CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-9


def certain(values: np.ndarray, *, size: int, low: float, high: float) -> np.ndarray:
    """Bounds of the mean of all reads, because further reads lie on the scale; shape (m, t) -> (m, t, 2), NaN from the
    first read without a score.

    >>> certain(np.array([[3.0, 5.0]]), size=4, low=1, high=5).tolist()
    [[[1.5, 4.5], [2.5, 4.5]]]
    """
    reads = np.arange(1, values.shape[1] + 1)
    total = np.cumsum(values, axis=1)
    return np.stack([(total + (size - reads) * end) / size for end in (low, high)], axis=-1)


def intervals(
    values: np.ndarray, *, size: int, low: float, high: float, alpha: float | np.ndarray, whole: bool
) -> np.ndarray:
    """Interval of each item's mean over all N reads, after each of the first t, shape (m, t) -> (m, t, 2).

    A mean is excluded once a gambler's capital against it reaches 1 / alpha (Ville's inequality). Half of the capital
    is bet on higher and half on lower scores, in parts that each bet a fixed share (`BETS`). Intervals only narrow,
    within `certain`; where all means are excluded, the interval is `certain`. `whole`: only multiples of 1 / N are
    possible means.

    Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Section 4. Their
    bets learn; fixed shares are ours, because reads are few.

    >>> scores = np.full((1, 10), 3.0)
    >>> found = intervals(scores, size=10, low=1, high=5, alpha=0.05, whole=True)
    >>> found[0, [0, 5, 9]].round(2).tolist()
    [[1.2, 4.8], [2.4, 3.6], [3.0, 3.0]]
    """
    candidates = np.linspace(0, 1, size * round(high - low) + 1 if whole else STEPS + 1)
    rows = max(1, CELLS_AT_ONCE // (len(candidates) * 2 * len(BETS)))
    alphas = np.broadcast_to(alpha, len(values))
    parts = [
        _accepted(
            (values[start : start + rows] - low) / (high - low), size, candidates, alphas[start : start + rows], whole
        )
        for start in range(0, len(values), rows)
    ]
    accepted = low + (high - low) * np.concatenate(parts) if parts else np.empty((0, values.shape[1], 2))
    if not whole:  # the ends lie between the last mean that is accepted and the next candidate
        accepted += np.array([-1, 1]) * (high - low) / STEPS
    bounds = certain(values, size=size, low=low, high=high)
    ends = np.stack([np.maximum(accepted[..., 0], bounds[..., 0]), np.minimum(accepted[..., 1], bounds[..., 1])], -1)
    lower, upper = np.maximum.accumulate(ends[..., 0], axis=1), np.minimum.accumulate(ends[..., 1], axis=1)
    ends = np.stack([lower, upper], axis=-1)
    return np.where((lower > upper)[..., None], bounds, ends)  # low > high if all means are excluded


def _accepted(x: np.ndarray, size: int, candidates: np.ndarray, alpha: np.ndarray, whole: bool) -> np.ndarray:
    """Least and greatest candidate mean that is not excluded, for scores from 0 to 1, shape (m, t) -> (m, t, 2). Those
    between are accepted too: the capital is convex in the candidate.
    """
    bets, parts = (np.array([*numbers]) for numbers in (BETS.keys(), BETS.values()))
    slack = _ROUNDING if whole else size / STEPS  # tolerance for the sum of all reads
    capital = np.ones((2, len(x), len(candidates), len(bets)))
    most = np.zeros((len(x), len(candidates)))
    total = np.zeros(len(x))
    ends = np.empty((*x.shape, 2))
    for step in range(x.shape[1]):
        expected = (size * candidates - total[:, None]) / (size - step)
        possible = (expected > _ROUNDING) & (expected < 1 - _ROUNDING)  # other means are excluded below, or are certain
        up = (x[:, step, None] - expected) / np.where(possible, expected, 1)
        down = (expected - x[:, step, None]) / np.where(possible, 1 - expected, 1)
        for side, gain in enumerate((up, down)):
            capital[side] *= np.where(possible[..., None], 1 + bets * gain[..., None], 1)
        most = np.maximum(most, (capital @ parts).mean(axis=0))
        total = total + x[:, step]
        rest = size * candidates - total[:, None]
        left = (most < 1 / alpha[:, None]) & (rest >= -slack) & (rest <= size - step - 1 + slack)
        ends[:, step, 0] = np.where(left, candidates, np.inf).min(axis=1)
        ends[:, step, 1] = np.where(left, candidates, -np.inf).max(axis=1)
    return np.where(np.isnan(np.cumsum(x, axis=1))[..., None], np.nan, ends)
