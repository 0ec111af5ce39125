"""Bounds on how far reads without a score could change a result, whatever they would have said."""

import numpy as np


def share_bounds(counts: np.ndarray, n_failed: int) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest share of each position that failed reads allow, whatever they would have selected.

    Args:
        counts: selections of each position among the reads that did not fail, shape (n,).
        n_failed: number of failed reads.

    Returns:
        Lower and upper bounds, each of shape (n,). The positions cannot all be at their bounds at once.

    Source: Manski (1989), Anatomy of the selection problem, for a share.
    """
    total = counts.sum() + n_failed
    return counts / total, (counts + n_failed) / total


def v_bounds(counts: np.ndarray, n_failed: int) -> tuple[float, float]:
    """The least and the greatest Cramer's V that failed reads allow.

    V grows with the sum of squared counts. So V is least if the failed reads fill up the positions that are selected
    least, where a read may be divided between positions. V is greatest if all failed reads select the position that is
    selected most.

    Args:
        counts: selections of each position among the reads that did not fail, shape (n,).
        n_failed: number of failed reads.
    """
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
    """Bounds of Pearson's r between human scores and scores that are known only as intervals.

    Args:
        low: least possible score of each item, shape (n_items,).
        high: greatest possible score of each item, shape (n_items,); equal to `low` for an item without a failed read.
        human: human score of each item, shape (n_items,).

    Returns:
        Least and greatest r. Any real number between `low` and `high` counts as possible, so the bounds may be wider
        than those for whole numbers. The greatest r is exact where it is positive, because r is quasiconcave there. The
        least r is exact where it is negative, because r is quasiconvex there. A greatest r below 0, and a least r above
        0, come from separate bounds on covariance and variance, and are wider than necessary. NaN if human scores are
        constant, or if there are fewer than two items.
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
    """Correlation of y with x, for each slope b: x is a + b y, cut off at low and high, and a is the mean of x."""
    free = high > low
    fixed, low, high, line = low[~free], low[free], high[free], slopes[:, None] * y[free]
    x = np.clip(_means_of_lines(line, low, high, fixed)[:, None] + line, low, high)
    mean = (fixed.sum() + x.sum(axis=1)) / len(y)
    length = np.sqrt(((fixed - mean[:, None]) ** 2).sum(axis=1) + ((x - mean[:, None]) ** 2).sum(axis=1))
    covariance = fixed @ y[~free] + x @ y[free]
    return np.divide(covariance, length, out=np.zeros(len(slopes)), where=length > 1e-12)


def _means_of_lines(line: np.ndarray, low: np.ndarray, high: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Number a for each line, such that a is the mean of all values.

    The values are a + line, cut off at `low` and `high`, and the fixed values.

    As a grows, the sum of (value - a) over all values falls in straight pieces. A piece ends where a value leaves
    `low` or reaches `high`.

    Args:
        line: the values b y of each line, shape (n_lines, n).
        low: least possible value of each item, shape (n,).
        high: greatest possible value of each item, shape (n,).
        fixed: values of further items, which are known, shape (n_fixed,).
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
