"""Change of a judge between runs over the same items: tests and intervals with one level for any number of runs.

Without change, runs of a group (also the baseline) are exchangeable: the test permutes them within groups, by
Chernoff's bound on the tail of last less earlier runs, or Hoeffding's if both parts have several. It is never too
small, and needs no variance, normality or equal sizes. A server may move all groups for a day: where such shocks are
allowed for, a difference must also stand out against whole runs (`_Days`). Runs are tested in turn, by `spending`.

Source: Hoeffding (1963), Probability inequalities for sums of bounded random variables, section 6. Ours: permutations
within groups, the variance between runs, the test of reused answers, parts of the level.
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
    """Mean over groups of the `latest` runs less those before, with p-values against a rise and a fall."""

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
    """Part of the level that a run (1 is the first after the baseline) takes; all parts add up to 1.

    A half goes mainly to the first runs, when a new version is compared; of the other, the first year of `YEAR` runs
    takes a half, the second a quarter, and so on.

    >>> [round(spending(run), 4) for run in (1, 2, 365)]
    [0.2507, 0.084, 0.0007]
    >>> round(sum(spending(run) for run in range(1, 5000)), 3)
    1.0
    """
    if run < 1:
        raise ValueError(f"expected a run from 1, found {run}")
    return 0.5 / (run * (run + 1)) + 0.5 ** math.ceil(run / YEAR) / (2 * YEAR)


def latest(n_runs: int) -> list[int]:
    """Counts of last runs that are compared with all before: `LATEST` with `ENOUGH` runs, and all but the first."""
    recent = [count for count in LATEST if count == 1 or ENOUGH * count <= n_runs]
    return sorted({*recent, n_runs - 1}) if n_runs > 1 else []


def difference(runs: np.ndarray, weights: np.ndarray, latest: int, *, daily: float | None = None) -> Difference:
    """Compare the last runs with those before, (n_runs, n_groups), oldest first; p is 1 within `NEAR` errors.

    `daily` is the SD of shocks to whole runs that is allowed for before runs show theirs, or None.

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
    """Distance of each group from its first run beside the median group, shape (n_runs - 1, n_groups): a shock to a run
    moves the median, and would lengthen distances more than in proportion.
    """
    away = runs[1:] - runs[0]
    median = np.nanmedian(np.where(np.isnan(away).all(axis=1, keepdims=True), 0.0, away), axis=1, keepdims=True)
    return np.abs(away - median).round(DIGITS)


def reused(runs: np.ndarray, weights: np.ndarray) -> float:
    """p-value of new answers in each run against answers of the run before used again; 1 with less than four runs.

    Of three runs, the first is as near to the last as the second; groups count which is nearer, less each run's
    weighted mean (a shock). A change makes the second nearer once, so the three runs where it is in most groups are
    left out. Twice the smaller p of all runs and the last `ADJACENT`.
    """
    n_groups = runs.shape[1]
    if len(runs) < 4 or n_groups < 2:
        return 1.0
    values = np.where(np.isnan(runs), np.nanmean(np.where(np.isnan(runs).all(axis=0), 0.0, runs), axis=0), runs)
    centred = values - (values @ weights / weights.sum())[:, None]
    nearer = np.abs(centred[2:] - centred[:-2]) - np.abs(centred[2:] - centred[1:-1])
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
    """Changes within +- `reach` that the test of `difference` does not reject at half of `level` on either side; NaN
    without groups in both parts.

    Covers a change that all groups share, and else the weighted mean of theirs, wider.
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
    """Smallest p-value of `difference`: the bound for the most unlikely permutation, with all values."""
    return float(n_runs) ** (-min(latest, n_runs - latest) * n_groups)


class _Days(NamedTuple):
    """A difference beside the variance between whole runs, whose shocks are taken for normal.

    `allowed` is its error by groups and allowed shocks (or by runs, if larger), normal; `observed` by runs alone, t.
    """

    estimate: float
    allowed: float
    observed: float
    freedom: int

    def tail(self, direction: float) -> float:
        """p-value in direction 1 or -1: twice the smaller of those by both standard errors."""
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
    """A difference, and the contributions of groups to it under permutations, without groups of one value.

    By run and group: `added` if the run is in the group's smaller part, `log_share` of its draw; `observed` in the
    data; `shocks` are each run's mean less its part's, `share` their variance in the difference, per unit.
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
