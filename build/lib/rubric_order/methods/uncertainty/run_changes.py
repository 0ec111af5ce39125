"""Change of a judge between runs over the same items: tests and intervals whose errors add up to one level for ever.

Under the hypothesis that nothing has changed since the first run, the values of a group in all runs are exchangeable:
the runs differ by the judge's noise alone, and any of them could have been the first. So the test permutes the runs
within each group, by itself. The first run, the baseline, is one of the runs, so that its own error counts as that of
any other. No variance is estimated that could be 0, no normal distribution is assumed, and groups can be of any sizes.

The p-value is Chernoff's bound on the tail of the difference over all permutations, given the values. So it is never
too small. Of parts of which one is a single run, the generating function is that of the permutations. Of others it is
Hoeffding's bound, of runs drawn with replacement.

Runs are looked at one after the other, for as long as anybody likes. `spending` gives each its part of the level; all
parts add up to 1.

Source: Hoeffding (1963), Probability inequalities for sums of bounded random variables, section 6. Ours: permutations
of runs within groups, and the parts of the level.
"""

import math
from typing import NamedTuple

import numpy as np

YEAR = 365  # runs that share half of what is left of the level for regular runs
LATEST = (1, 7, 28)  # runs at the end that are set against those before
ENOUGH = 2  # times as many runs in all: there the bound of runs drawn with replacement is near
NEAR = 2.0  # standard errors; a smaller difference has no small p-value
STEPS = 60  # of the search for the smallest bound; any step gives a valid one
CLOSE = 1e-4  # of that search: relative, and of the logarithm of the bound
HALVINGS = 30  # of the search for an end of an interval


class Difference(NamedTuple):
    """Difference between the last runs and those before.

    Attributes:
        latest: number of runs at the end.
        estimate: mean over groups of the last runs less that of the others; NaN without a group that has both.
        greater, less: p-values of no change against a rise and against a fall.
        n_groups: groups that have values in both parts.
    """

    latest: int
    estimate: float
    greater: float
    less: float
    n_groups: int

    @property
    def p(self) -> float:
        """p-value against a change in either direction."""
        return min(1.0, 2 * min(self.greater, self.less))


def spending(run: int) -> float:
    """Part of the level that a run after the baseline takes; the parts of all runs add up to 1.

    A half goes to the first runs, where a new version of a judge is compared with its baseline; a half to regular ones,
    of which each year of `YEAR` runs has half of what the years before have left.

    Args:
        run: number of the run after the baseline, from 1.

    Raises:
        ValueError: there is no such run.

    Examples:
        >>> [round(spending(run), 4) for run in (1, 2, 365)]
        [0.2507, 0.084, 0.0007]
        >>> round(sum(spending(run) for run in range(1, 5000)), 3)
        1.0
    """
    if run < 1:
        raise ValueError(f"expected a run from 1, found {run}")
    return 0.5 / (run * (run + 1)) + 0.5 ** math.ceil(run / YEAR) / (2 * YEAR)


def latest(n_runs: int) -> list[int]:
    """Numbers of runs at the end that are compared with those before: `LATEST`, and all but the first run.

    Args:
        n_runs: number of runs, with the baseline.
    """
    recent = [count for count in LATEST if count == 1 or ENOUGH * count <= n_runs]
    return sorted({*recent, n_runs - 1}) if n_runs > 1 else []


def difference(runs: np.ndarray, weights: np.ndarray, latest: int) -> Difference:
    """Compare the last runs with those before, group by group.

    Args:
        runs: value of each group in each run, shape (n_runs, n_groups), oldest first; NaN where a run has none.
        weights: of the groups, such as their numbers of items, shape (n_groups,).
        latest: number of runs at the end.

    Returns:
        The p-values are at least the share of the permutations of runs within groups with as large a difference, and 1
        for a difference within `NEAR` standard errors of 0.

    Raises:
        ValueError: one of the two parts has no run.

    Examples:
        Eight groups, each a point higher than in the baseline: the signs of all eight agree once in 2**8 times.

        >>> change = difference(np.array([[3.0] * 8, [4.0] * 8]), np.ones(8), 1)
        >>> change.estimate, round(change.greater * 2**8, 3), change.less
        (1.0, 1.0, 1.0)
    """
    split = _split(runs, weights, latest)
    greater, less = split.tail(1.0), split.tail(-1.0)
    return Difference(latest, split.estimate, greater, less, split.n_groups)


def interval(runs: np.ndarray, weights: np.ndarray, latest: int, level: float, *, reach: float) -> tuple[float, float]:
    """Interval of the change by which all values of the last runs would have to be taken back to be as those before.

    It is the set of changes that the test of `difference` does not reject, at half of the level on either side. It is
    exact for a change that is the same in all groups. Where groups change by different amounts it is that of their
    weighted mean, and wider.

    Args:
        runs, weights, latest: see `difference`.
        level: of the test.
        reach: the largest change there can be; ends lie within it.

    Returns:
        Both ends; NaN without a group that has values in both parts.
    """
    estimate = _split(runs, weights, latest).estimate
    if math.isnan(estimate):
        return math.nan, math.nan
    later = np.arange(len(runs)) >= len(runs) - latest

    def rejects(change: float, direction: float) -> bool:
        shifted = np.where(later[:, None], runs - change, runs)
        return _split(shifted, weights, latest).tail(direction) <= level / 2

    def end(direction: float) -> float:
        inside, outside = estimate, -direction * reach
        if not rejects(outside, direction):
            return outside
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if rejects(middle, direction) else (middle, outside)
        return inside

    return end(1.0), end(-1.0)


def smallest(n_runs: int, latest: int, n_groups: int) -> float:
    """Smallest p-value that a comparison can have: that of the most unlikely permutation.

    Args:
        n_runs, latest: numbers of runs in all and at the end. n_groups: number of groups.
    """
    return float(n_runs) ** (-min(latest, n_runs - latest) * n_groups)


class _Split(NamedTuple):
    """A difference, and what groups add to it under permutations.

    Attributes:
        estimate: the difference.
        added: what a run adds to the difference of its group's smaller part from all its runs, shape (n_runs,
            n_groups).
        log_share: logarithm of the probability of each run, -inf where it has no value, shape (n_runs, n_groups).
        observed: what the smaller part adds to the difference, shape (n_groups,).
        size: runs in the smaller part, shape (n_groups,).
        variance: of the difference under permutations.
        n_groups: groups that have values in both parts.
    """

    estimate: float
    added: np.ndarray
    log_share: np.ndarray
    observed: np.ndarray
    size: np.ndarray
    variance: float
    n_groups: int

    def tail(self, direction: float) -> float:
        """Bound on the probability of a difference as large in a direction, 1 or -1."""
        size = direction * self.estimate
        if not (self.variance > 0 and size >= NEAR * math.sqrt(self.variance)):
            return 1.0
        # Beside the observed sum of each group, so that large rates lose no digits.
        beside = direction * (self.added - self.observed / self.size)
        rate, best = size / self.variance, 0.0
        for _ in range(STEPS):
            exponent = rate * beside + self.log_share
            top = exponent.max(axis=0)
            terms = np.exp(exponent - top)
            total = terms.sum(axis=0)
            bound = float(self.size @ (top + np.log(total)))
            gained, best = best - bound, min(best, bound)
            tilted = terms / total
            mean = (tilted * beside).sum(axis=0)
            spread = float(self.size @ np.maximum((tilted * beside**2).sum(axis=0) - mean**2, 0))
            step = -float(self.size @ mean) / spread if spread > 0 else rate
            new = min(max(rate + step, rate / 2), rate * 2)
            if abs(new - rate) <= CLOSE * rate or abs(gained) <= CLOSE:
                break
            rate = new
        return math.exp(best)


def _split(runs: np.ndarray, weights: np.ndarray, latest: int) -> _Split:
    """The last runs and those before, see `difference`."""
    n_runs = len(runs)
    if not 0 < latest < n_runs:
        raise ValueError(f"expected 1 to {n_runs - 1} runs at the end, found {latest}")
    later = np.arange(n_runs) >= n_runs - latest
    has_value = ~np.isnan(runs)
    after, before = has_value[later].sum(axis=0), has_value[~later].sum(axis=0)
    used = (after > 0) & (before > 0)
    if not used.any():
        nothing = np.zeros((n_runs, 0))
        return _Split(math.nan, nothing, nothing, np.zeros(0), np.zeros(0), 0.0, 0)
    has_value, after, before = has_value[:, used], after[used], before[used]
    lowest = np.where(has_value, runs[:, used], np.inf).min(axis=0)
    values = np.where(has_value, runs[:, used] - lowest, 0.0)  # exactly 0 where all runs are the same
    values = np.where(has_value, values - values.sum(axis=0) / (after + before), 0.0)
    weight = weights[used] / weights[used].sum()
    means = values[later].sum(axis=0) / after - values[~later].sum(axis=0) / before
    count = after + before
    factor = weight * count / (after * before)
    variance = float((factor**2 * after * before / count * (values**2).sum(axis=0) / (count - 1)).sum())
    varies = (values != 0).any(axis=0)
    sign = np.where(after <= before, 1.0, -1.0)
    with np.errstate(divide="ignore"):
        log_share = np.log(has_value / count)
    return _Split(
        float(weight @ means),
        (sign * factor * values)[:, varies],
        log_share[:, varies],
        (weight * means)[varies],
        np.minimum(after, before)[varies].astype(float),
        variance,
        int(used.sum()),
    )
