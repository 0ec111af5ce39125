"""Bounds on how far reads without a score could change a result, whatever they would have said."""

import numpy as np


def share_bounds(counts: np.ndarray, n_failed: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest share of each position that failed reads allow; not all at once.

    Source: Manski (1989), Anatomy of the selection problem, for a share.
    """
    total = counts.sum() + n_failed
    return counts / total, (counts + n_failed) / total


def v_bounds(counts: np.ndarray, n_failed: int) -> tuple[float, float]:
    """Least and greatest Cramer's V: failed reads fill the least selected positions, or heap on the most selected."""
    n = len(counts)
    filled, remaining = np.sort(np.asarray(counts, dtype=float)), float(n_failed)
    for place in range(1, n + 1):  # raise the `place` lowest counts to the next count, or as far as the reads go
        step = (filled[place] - filled[0]) * place if place < n else np.inf
        filled[:place] += min(step, remaining) / place
        remaining -= min(step, remaining)
    heaped = np.sort(np.asarray(counts, dtype=float))
    heaped[-1] += n_failed
    first, second = (float(np.sqrt(max(n * (c**2).sum() / c.sum() ** 2 - 1, 0) / (n - 1))) for c in (filled, heaped))
    return first, second


def correlation_bounds(low: np.ndarray, high: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """Bounds of Pearson's r between human scores and scores known as intervals; NaN if human ones are constant.

    The greatest r is exact where positive (quasiconcave), the least where negative; others come from separate bounds on
    covariance and variance.
    """
    low, high, human = (np.asarray(values, dtype=float) for values in (low, high, human))
    if len(human) < 2 or np.ptp(human) <= 1e-12:
        return np.nan, np.nan
    human = (human - human.mean()) / np.sqrt(((human - human.mean()) ** 2).sum())
    return -_greatest(low, high, -human), _greatest(low, high, human)


def _greatest(low: np.ndarray, high: np.ndarray, y: np.ndarray) -> float:
    """Upper bound of the correlation of y (mean 0, length 1) with any x between low and high."""
    covariance = np.where(y > 0, high, low) @ y
    if covariance <= 1e-12:
        # No x has a positive r. r is nearest to 0 where the variance is greatest. The variance is at most the largest
        # spread about any point, here the point whose largest spread is least. This point is the mean of the farther
        # ends: an item's farther end is `high` if the point is below the middle of the item's interval, else `low`.
        order = np.argsort(low + high)
        means = (high.sum() - np.cumsum(np.append(0, (high - low)[order]))) / len(y)
        point = np.minimum(means, np.append((low + high)[order] / 2, np.inf)).max()
        spread = (np.maximum(point - low, high - point) ** 2).sum()
        return float(max(covariance / np.sqrt(spread), -1)) if covariance < -1e-12 else 0.0
    # The gradient of log r is y / (x y) - (x - mean) / |x - mean|^2. Where r is greatest, the gradient is 0 for all
    # items that are not at an end. So x is a line a + b y, cut off at low and high. The loop searches the best b; a is
    # the mean of x.
    length = np.sqrt(len(y)) * max(np.ptp(np.concatenate([low, high])), 1e-12)
    slopes = np.geomspace(1e-3 * length, 1e3 * length, 61)
    for _ in range(4):
        correlation = _correlation_of_lines(slopes, low, high, y)
        best = int(
            np.argmax(correlation >= correlation.max() - 1e-12)
        )  # once all x are at an end, r no longer changes with b
        slopes = np.geomspace(slopes[max(best - 1, 0)], slopes[min(best + 1, len(slopes) - 1)], 21)
    return float(min(correlation.max(), 1))


def _correlation_of_lines(slopes: np.ndarray, low: np.ndarray, high: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correlation of y with x = a + b y for each slope b, cut off at low and high, where a is the mean of x."""
    free = high > low
    fixed, low, high, line = low[~free], low[free], high[free], slopes[:, None] * y[free]
    x = np.clip(_means_of_lines(line, low, high, fixed)[:, None] + line, low, high)
    mean = (fixed.sum() + x.sum(axis=1)) / len(y)
    length = np.sqrt(((fixed - mean[:, None]) ** 2).sum(axis=1) + ((x - mean[:, None]) ** 2).sum(axis=1))
    covariance = fixed @ y[~free] + x @ y[free]
    return np.divide(covariance, length, out=np.zeros(len(slopes)), where=length > 1e-12)


def _means_of_lines(line: np.ndarray, low: np.ndarray, high: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """The number a of each line (n_lines, n) that is the mean of a + line, cut off, and the fixed values.

    Their sum less a falls in pieces, which end where a value leaves `low` or reaches `high`.
    """
    n, size = len(low), len(low) + len(fixed)
    if not n:
        return np.full(len(line), fixed.mean())
    ends = np.concatenate([low - line, high - line], axis=1)
    order = np.argsort(ends, axis=1)
    ends = np.take_along_axis(ends, order, axis=1)
    slopes = np.cumsum(np.where(order < n, 1, -1), axis=1) - size  # slope of the piece after each end
    excess = np.empty_like(ends)
    excess[:, 0] = fixed.sum() + low.sum() - size * ends[:, 0]
    excess[:, 1:] = excess[:, :1] + np.cumsum(slopes[:, :-1] * np.diff(ends, axis=1), axis=1)
    piece = (excess > 0).sum(axis=1) - 1  # the piece that crosses 0; -1 is the piece before the first end
    at = np.arange(len(line)), np.maximum(piece, 0)
    return ends[at] - excess[at] / np.where(piece < 0, -size, slopes[at])
