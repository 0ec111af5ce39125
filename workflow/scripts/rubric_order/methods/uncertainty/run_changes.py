"""Change of a judge between runs over the same items: tests and intervals with one level for any number of runs.

Under the hypothesis that nothing has changed since the first run, the values of a group in all runs are exchangeable:
the runs differ only by the judge's noise, and any of them could have been the first. So the test permutes the runs
within each group, independently of other groups. It also permutes the first run, the baseline, so that the baseline's
error counts like the error of any other run. The test estimates no variance that could be 0, assumes no normal
distribution, and allows groups of any sizes.

The test compares two parts: the last runs, and the runs before. The p-value is Chernoff's bound on the tail of the
difference over all permutations, given the values. So it is never too small. If one part is a single run, the bound
uses the generating function of the permutations. Otherwise it is Hoeffding's bound, with the generating function of
runs drawn with replacement.

A server may move all groups together for a day. Then groups are not independent, and whole runs are exchangeable
instead. Where a standard deviation of such shocks is allowed for, a difference has to stand out against the variance
between whole runs too (`_Days`).

Runs are tested one after the other, with no fixed last run. `spending` gives each run its part of the level; the parts
of all runs add up to 1.

Source: Hoeffding (1963), Probability inequalities for sums of bounded random variables, section 6. Ours: permutations
of runs within groups, the variance between whole runs, the test of reused answers, and the parts of the level.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

YEAR = 365  # runs that together take half of the remaining level for regular runs
LATEST = (1, 7, 28)  # counts of last runs; the last runs are compared with all runs before them
ENOUGH = 2  # least ratio of the number of all runs to that of the last runs; with less, Hoeffding's bound is not close
NEAR = 2.0  # standard errors; a smaller difference gets a p-value of 1
STEPS = 60  # largest number of steps of the search for the smallest bound; the bound of any step is valid
CLOSE = 1e-4  # tolerance of that search: relative for the rate, absolute for the logarithm of the bound
HALVINGS = 30  # halvings in the search for an end of an interval
DIGITS = 9  # decimals of differences; smaller ones are due to rounding
ADJACENT = 14  # last runs in which answers that were used again are looked for, beside all runs


class Difference(NamedTuple):
    """Difference between the last runs and the runs before.

    Attributes:
        latest: number of runs at the end.
        estimate: mean over groups of (mean of the last runs - mean of the earlier runs); NaN if no group has values in
            both parts.
        greater: p-value of no change against a rise.
        less: p-value of no change against a fall.
        n_groups: number of groups that have values in both parts.
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

    One half of the level goes mainly to the first runs, in which a new version of a judge is compared with its
    baseline. The other half goes to regular runs. Of this other half, the first year of `YEAR` runs takes a half, the
    second year a quarter, and so on, evenly over the runs of a year.

    Args:
        run: index of the run, 1 for the first run after the baseline.

    Raises:
        ValueError: `run` is below 1.

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
    """Counts of last runs; for each count, the last runs are compared with all runs before them.

    The counts are those of `LATEST` for which there are enough runs (`ENOUGH`), and the number of all runs but the
    first. A count of 1 needs only two runs.

    Args:
        n_runs: number of runs, including the baseline.
    """
    recent = [count for count in LATEST if count == 1 or ENOUGH * count <= n_runs]
    return sorted({*recent, n_runs - 1}) if n_runs > 1 else []


def difference(runs: np.ndarray, weights: np.ndarray, latest: int, *, daily: float | None = None) -> Difference:
    """Compare the last runs with the runs before, group by group.

    Args:
        runs: value of each group in each run, shape (n_runs, n_groups), oldest first; NaN where a run has none.
        weights: weights of the groups, such as their numbers of items, shape (n_groups,).
        latest: number of runs at the end, which are compared with the runs before.
        daily: standard deviation of shocks to whole runs that is allowed for before runs show their own; None if
            groups are independent.

    Returns:
        The difference. Each p-value is at least the share of permutations of runs within groups that give as large a
        difference. Both p-values are 1 for a difference within `NEAR` standard errors of 0.

    Raises:
        ValueError: no run is before the last runs, or `latest` is below 1.

    Examples:
        Eight groups, each a point higher than in the baseline: the signs of all eight agree once in 2**8 times.

        >>> change = difference(np.array([[3.0] * 8, [4.0] * 8]), np.ones(8), 1)
        >>> change.estimate, round(change.greater * 2**8, 3), change.less
        (1.0, 1.0, 1.0)
    """
    split = _split(runs, weights, latest)
    greater, less = split.tail(1.0), split.tail(-1.0)
    if daily is not None and min(greater, less) < 1:
        days = split.days(daily)
        greater, less = max(greater, days.tail(1.0)), max(less, days.tail(-1.0))
    return Difference(latest, split.estimate, greater, less, split.n_groups)


def single(runs: np.ndarray, latest: int) -> np.ndarray:
    """The smaller p-value of `difference` for each group alone, shape (n_groups,)."""
    parts = (_split(runs[:, [group]], np.ones(1), latest) for group in range(runs.shape[1]))
    return np.array([min(part.tail(1.0), part.tail(-1.0)) for part in parts])


def distances(runs: np.ndarray) -> np.ndarray:
    """Distance of each group from its first run, in the runs after it, beside the median group.

    A shock to a whole run moves the median too. It would lengthen most distances else, more than in proportion.

    Args:
        runs: see `difference`.

    Returns:
        Shape (n_runs - 1, n_groups); NaN where a run or the first one has no value.
    """
    away = runs[1:] - runs[0]
    median = np.nanmedian(np.where(np.isnan(away).all(axis=1, keepdims=True), 0.0, away), axis=1, keepdims=True)
    return np.abs(away - median).round(DIGITS)


def reused(runs: np.ndarray, weights: np.ndarray) -> float:
    """p-value of new answers in each run, against answers of the run before that are used again.

    Of three runs in a row, the first is as near to the last as the second is. Each group of each such three counts, in
    all runs or in the last `ADJACENT`. After a change of all groups the second is nearer once, so the three runs in
    which the second is nearer in most groups are left out.

    Args:
        runs, weights: see `difference`. The weighted mean of each run, which a shock to the whole run moves, is taken
            out; one degree of freedom of the groups goes with it.

    Returns:
        The p-value, the smaller one of all runs and the last ones, twice; 1 with less than four runs.
    """
    n_groups = runs.shape[1]
    if len(runs) < 4 or n_groups < 2:
        return 1.0
    values = np.where(np.isnan(runs), np.nanmean(np.where(np.isnan(runs).all(axis=0), 0.0, runs), axis=0), runs)
    own = values - (values @ weights / weights.sum())[:, None]
    nearer = np.abs(own[2:] - own[:-2]) - np.abs(own[2:] - own[1:-1])
    still = (values[2:] == values[:-2]) & (values[2:] == values[1:-1])  # only the mean of the run differs
    sign = np.sign(np.where(still, 0.0, nearer.round(DIGITS)))

    def p(sign: np.ndarray) -> float:
        rest = np.delete(sign, np.argmax(sign.sum(axis=1)), axis=0)
        freedom = np.count_nonzero(rest) * n_groups / (n_groups - 1)
        return float(special.ndtr(-rest.sum() / math.sqrt(max(freedom, 1.0))))

    return min(1.0, 2 * min(p(sign), p(sign[-ADJACENT:])))


def interval(
    runs: np.ndarray, weights: np.ndarray, latest: int, level: float, *, reach: float, daily: float | None = None
) -> tuple[float, float]:
    """Interval of the change of the values from the earlier runs to the last runs.

    The values of the last runs minus the true change are like the values of the earlier runs. The interval is the set
    of changes that the test of `difference` does not reject, at half of the level on either side. If all groups change
    by the same amount, the interval contains this amount with a probability of at least 1 - `level`. If groups change
    by different amounts, it is an interval of the weighted mean of their changes, and is wider.

    Args:
        runs: value of each group in each run, shape (n_runs, n_groups), oldest first; NaN where a run has none.
        weights: weights of the groups, such as their numbers of items, shape (n_groups,).
        latest: number of runs at the end, which are compared with the runs before.
        level: level of the test.
        reach: size of the largest possible change, in the unit of the values. Both ends lie between -reach and reach.
        daily: see `difference`.

    Returns:
        Both ends; NaN without a group that has values in both parts.
    """
    split = _split(runs, weights, latest)
    estimate = split.estimate
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

    half = 0.0 if daily is None or not split.size.any() else split.days(daily).half_width(level)
    return max(min(end(1.0), estimate - half), -reach), min(max(end(-1.0), estimate + half), reach)


def smallest(n_runs: int, latest: int, n_groups: int) -> float:
    """Smallest p-value of `difference`: the bound for the most unlikely permutation.

    Args:
        n_runs: number of all runs.
        latest: number of runs at the end, which are compared with the runs before.
        n_groups: number of groups, each with a value in every run.
    """
    return float(n_runs) ** (-min(latest, n_runs - latest) * n_groups)


class _Days(NamedTuple):
    """A difference beside the variance between whole runs, whose shocks are taken for normal.

    Attributes:
        estimate: the difference.
        allowed: its standard error by the groups' own variance and the shocks that are allowed for, or by the variance
            between runs where this is larger; with the quantiles of a normal distribution.
        observed: its standard error by the variance between runs alone, with those of Student's t.
        freedom: degrees of freedom of `observed`.
    """

    estimate: float
    allowed: float
    observed: float
    freedom: int

    def tail(self, direction: float) -> float:
        """p-value against a difference in direction 1 or -1: twice the smaller of those by both standard errors."""
        size = direction * self.estimate
        if not size > 0:
            return 1.0
        by_allowed = float(special.ndtr(-size / self.allowed))
        if not self.freedom:
            return min(1.0, 2 * by_allowed)
        by_runs = float(special.stdtr(self.freedom, -size / self.observed)) if self.observed else 0.0
        return min(1.0, 2 * min(by_allowed, by_runs))

    def half_width(self, level: float) -> float:
        """Half of the width of the interval at a level."""
        by_runs = -float(special.stdtrit(self.freedom, level / 4)) * self.observed if self.freedom else math.inf
        return min(-float(special.ndtri(level / 4)) * self.allowed, by_runs)


class _Split(NamedTuple):
    """A difference, and the contributions of groups to it under permutations.

    The arrays leave out groups whose values are the same in all runs.

    Attributes:
        estimate: the difference.
        added: contribution of a run to the difference if this run is in the smaller part of the group's runs, shape
            (n_runs, n_groups).
        log_share: logarithm of the probability with which each run is drawn, -inf if the run has no value, shape
            (n_runs, n_groups).
        observed: contribution of the runs that are in the smaller part in the data, shape (n_groups,).
        size: number of runs in the smaller part, shape (n_groups,).
        variance: variance of the difference under permutations.
        between: variance of the difference by how much the groups' own differences differ.
        shocks: mean over groups of each run less those of its part, shape (n_runs,).
        share: variance of the difference of a shock to each run, for shocks of variance 1.
        n_groups: number of groups that have values in both parts.
    """

    estimate: float
    added: np.ndarray
    log_share: np.ndarray
    observed: np.ndarray
    size: np.ndarray
    variance: float
    between: float
    shocks: np.ndarray
    share: float
    n_groups: int

    def days(self, daily: float) -> _Days:
        """The difference beside the variance between whole runs, see `difference`."""
        freedom = len(self.shocks) - 2
        observed = float(self.shocks @ self.shocks) / freedom * self.share if freedom else 0.0
        allowed = max(self.between + daily**2 * self.share, observed)
        return _Days(self.estimate, math.sqrt(allowed), math.sqrt(observed), freedom)

    def tail(self, direction: float) -> float:
        """Upper bound on the probability of a difference as large as `estimate`, in direction 1 or -1."""
        size = direction * self.estimate
        if not (self.variance > 0 and size >= NEAR * math.sqrt(self.variance)):
            return 1.0
        # Contributions relative to the observed sum of each group, so that large rates lose no digits.
        beside = direction * (self.added - self.observed / self.size)
        rate, best = size / self.variance, 0.0
        for _ in range(STEPS):
            exponent = rate * beside + self.log_share
            top = exponent.max(axis=0)
            terms = np.exp(exponent - top)
            moved = terms * beside
            total = terms.sum(axis=0)
            bound = float(self.size @ (top + np.log(total)))
            gained, best = best - bound, min(best, bound)
            mean = moved.sum(axis=0) / total
            spread = float(self.size @ np.maximum((moved * beside).sum(axis=0) / total - mean**2, 0))
            step = -float(self.size @ mean) / spread if spread > 0 else rate
            new = min(max(rate + step, rate / 2), rate * 2)
            if abs(new - rate) <= CLOSE * rate or abs(gained) <= CLOSE:
                break
            rate = new
        return math.exp(best)


def _split(runs: np.ndarray, weights: np.ndarray, latest: int) -> _Split:
    """Compare the last runs with the runs before, see `difference`."""
    n_runs = len(runs)
    if not 0 < latest < n_runs:
        raise ValueError(f"expected 1 to {n_runs - 1} runs at the end, found {latest}")
    has_value = ~np.isnan(runs)
    after, before = has_value[-latest:].sum(axis=0), has_value[:-latest].sum(axis=0)
    used = (after > 0) & (before > 0)
    if not used.any():
        nothing = np.zeros((n_runs, 0))
        return _Split(math.nan, nothing, nothing, np.zeros(0), np.zeros(0), 0.0, 0.0, np.zeros(n_runs), 1.0, 0)
    runs, has_value, after, before = runs[:, used], has_value[:, used], after[used], before[used]
    count = after + before
    values = np.where(has_value, runs - np.fmin.reduce(runs, axis=0), 0.0)  # exactly 0 where all runs are the same
    values = np.where(has_value, values - values.sum(axis=0) / count, 0.0)
    weight = weights[used] / weights[used].sum()
    levels = values[:-latest].sum(axis=0) / before, values[-latest:].sum(axis=0) / after
    means = levels[1] - levels[0]
    estimate = float(weight @ means)
    between = float(weight**2 @ (means - estimate) ** 2) / max(1 - float(weight @ weight), CLOSE)
    rest = np.concatenate([values[:-latest] - levels[0], values[-latest:] - levels[1]]) * has_value
    shocks = rest @ weight / np.maximum(has_value @ weight, CLOSE)
    factor = weight * count / (after * before)
    variance = float((factor**2 * after * before / count * (values**2).sum(axis=0) / (count - 1)).sum())
    varies = (values != 0).any(axis=0)
    sign = np.where(after <= before, 1.0, -1.0)
    log_share = np.where(has_value, np.log(1 / count), -np.inf)
    return _Split(
        estimate,
        (sign * factor * values)[:, varies],
        log_share[:, varies],
        (weight * means)[varies],
        np.minimum(after, before)[varies].astype(float),
        variance,
        between,
        shocks,
        1 / latest + 1 / (n_runs - latest),
        int(used.sum()),
    )
