"""Means of people's scores by prediction-powered inference: people - weight * (judge (labelled) - judge (all)).

Groups are the sample. Unbiased in large samples, whatever the judge, if labelled groups are a random sample; an
uninformative judge gets a weight near 0. A labelled item has the weight (items of its group) / (labelled ones).
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, enough, resampling

FEWEST = enough.LABELS.least  # effective labelled groups
NOTHING = 1e-12  # share of the variance of the judge's scores; less is rounding
MOST_GROUPS = 10_000_000  # largest number of groups that is planned
_WEIGHT, _HUMAN, _JUDGED, _ITEMS, _JUDGE = range(5)  # indices of the sums in `Sums.values`


class Sums(NamedTuple):
    """Sums over each group and kind of item (such as a system's), after `middles` are subtracted against rounding.

    `values` (n_groups, 5, kinds): weights of labelled items, people's and the judge's scores times these; number of all
    items, their judge's scores. `spread` is the mean square of the judge's scores, `seen` the ends of people's.
    """

    values: np.ndarray
    labels: np.ndarray
    middles: tuple[float, float]
    spread: float
    seen: tuple[float, float] = (-np.inf, np.inf)

    @property
    def labelled(self) -> np.ndarray:
        """True for the groups that have a label of any kind, shape (n_groups,)."""
        return self.labels.sum(axis=1) > 0

    @property
    def effective(self) -> float:
        """Number of effective labelled groups, see `resampling.effective`; 0 without labels."""
        return resampling.effective(self.values[self.labelled, _WEIGHT].sum(axis=1)) if self.labelled.any() else 0.0


class Corrected(NamedTuple):
    """An estimate from labelled groups and a judge; error and degrees of freedom are NaN without an interval.

    `weight` is points of people's scores per point of the judge's, 0 for labels alone.
    """

    interval: Interval
    se: float
    df: float
    weight: float
    n_labelled: int
    effective: float


def sums(
    human: np.ndarray, judge: np.ndarray, group: np.ndarray, kind: np.ndarray | None = None, kinds: int = 1
) -> Sums:
    """Sums over groups, from which all estimates are computed. An item that the judge did not score stays in the
    sample, with the others' mean.
    """
    human, judge = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    labelled, scored = ~np.isnan(human), ~np.isnan(judge)
    middles = (
        float(human[labelled].mean()) if labelled.any() else 0.0,
        float(judge[scored].mean()) if scored.any() else 0.0,
    )
    y = np.where(labelled, human - middles[0], 0)
    f = np.where(scored, judge - middles[1], 0)
    shape = (int(group.max(initial=-1)) + 1, kinds)
    cell: np.ndarray = group * kinds + (0 if kind is None else kind)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=values, minlength=shape[0] * kinds)

    labels, items = total(labelled.astype(float)), total(np.ones(len(y)))
    weight = np.where(labelled, (items / np.maximum(labels, 1))[cell], 0)
    parts = [total(weight), total(weight * y), total(weight * f), items, total(f)]
    values = np.stack([part.reshape(shape) for part in parts], axis=1)
    seen = (float(human[labelled].min()), float(human[labelled].max())) if labelled.any() else (-np.inf, np.inf)
    return Sums(values, labels.reshape(shape).astype(int), middles, float((f**2).mean()) if len(f) else 0.0, seen)


class _Moments(NamedTuple):
    """Sums over labelled groups and over all groups, over all rows and then without each labelled group, shape (rows,
    5, kinds); and their products over groups, shape (5 kinds, 5 kinds).
    """

    labelled: np.ndarray
    everything: np.ndarray
    squares: np.ndarray
    all_squares: np.ndarray
    sizes: tuple[int, int]


def _moments(of: Sums) -> _Moments:
    """Moments over groups. In sums without a labelled group, the others are scaled up to replace it."""
    labelled_sums, others = of.values[of.labelled], of.values[~of.labelled]
    width = of.values[0].size
    flat, rest = labelled_sums.reshape(-1, width), others.reshape(-1, width)
    m = len(labelled_sums)
    total = labelled_sums.sum(axis=0, keepdims=True)
    labelled = np.concatenate([total, (total - labelled_sums) * (m / (m - 1) if m > 1 else np.nan)])
    squares = flat.T @ flat
    return _Moments(labelled, labelled + others.sum(axis=0), squares, squares + rest.T @ rest, (m, len(of.values)))


class _Residuals(NamedTuple):
    """Weights, shape (5 kinds,), that turn a group's sums into its residuals in people's mean, in the judge's by
    labelled items, and in the judge's by all; and, for each row of `_Moments`, people's mean and the judge's labelled
    less all.
    """

    human: np.ndarray
    judged: np.ndarray
    judge: np.ndarray
    value: np.ndarray
    correction: np.ndarray


def _residuals(of: _Moments, contrast: np.ndarray) -> _Residuals:
    m, count = of.sizes
    weight, human, judged = (of.labelled[:, part] for part in (_WEIGHT, _HUMAN, _JUDGED))
    items, judge = of.everything[:, _ITEMS], of.everything[:, _JUDGE]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = human / weight, judged / weight, judge / items
        scales = contrast * m / weight, contrast * count / items

    def weights(scale: np.ndarray, mean: np.ndarray, value: int, size: int) -> np.ndarray:
        parts = np.zeros_like(of.labelled[0])
        parts[value], parts[size] = scale[0], -scale[0] * mean[0]
        return parts.reshape(-1)

    return _Residuals(
        weights(scales[0], means[0], _HUMAN, _WEIGHT),
        weights(scales[1], means[2], _JUDGED, _WEIGHT),
        weights(scales[1], means[2], _JUDGE, _ITEMS),
        (contrast * means[0]).sum(axis=1),
        (contrast * (means[1] - means[2])).sum(axis=1),
    )


def _weight(of: _Moments, residuals: _Residuals, spread: float) -> float:
    """Weight of the judge with the least error, cov(A, D) / var(D): A is people's mean, D the judge's labelled less
    all, its variance from all groups.
    """
    m, count = of.sizes
    shared = 1 / m - 1 / count
    total = of.labelled[0].reshape(-1)
    human, judged, judge = residuals.human, residuals.judged, residuals.judge
    aside = judged - judge

    def within(left: np.ndarray, right: np.ndarray) -> float:
        return float(left @ of.squares @ right / m - (left @ total) * (right @ total) / m**2)

    of_all = float(judge @ of.all_squares @ judge) / max(count - 1, 1)
    common = within(human, judged) / m - within(human, judge) / count
    variance = (of_all + 2 * within(judge, aside)) * shared + within(aside, aside) / m
    return common / variance if variance > NOTHING * spread / m else 0.0


def _sizes_unseen(of: Sums) -> float:
    """Factor, at least 1, for the variance of labelled groups, because a large group may be missing among them by
    chance: ratio of (mean squared size) / (squared mean size), all to labelled.

    Ours, after Royall and Cumberland (1981), An empirical study of the ratio estimator.
    """

    def unequal(sizes: np.ndarray) -> float:
        return float((sizes**2).mean() / sizes.mean() ** 2)

    sizes = of.values[:, _ITEMS].sum(axis=1)
    return max(unequal(sizes[sizes > 0]) / unequal(sizes[of.labelled]), 1.0)


def corrected(
    of: Sums,
    confidence: float,
    *,
    contrast: tuple[float, ...] = (1.0,),
    weight: float | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    share: bool = False,
) -> Corrected:
    """Mean of people's scores over all items, or a difference of means, from labels and a judge.

    The error is a jackknife over labelled groups with the weight fixed (times `_sizes_unseen`), plus the variance
    between other groups; Student's t, one degree fewer for a chosen weight; `_unvaried` if 0, NaN if a kind has no
    labels. `bounds` cut estimate and interval, else the estimate stays within `Sums.seen`. `share`: Wilson's interval.

    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453, Section 6; groups as the sample, t, n - 1 and
    an unbounded weight (scales differ) are ours.
    """
    contrasts = np.asarray(contrast, dtype=float)
    m, count, worth = int(of.labelled.sum()), len(of.values), of.effective
    if not (of.labels.sum(axis=0) > 0).all():
        return Corrected(Interval(), np.nan, np.nan, 0.0, m, worth)
    moments = _moments(of)
    residuals = _residuals(moments, contrasts)
    tuned = weight is None and worth >= FEWEST and count > 1
    judge_weight = _weight(moments, residuals, of.spread) if tuned else weight or 0.0
    values = residuals.value - judge_weight * residuals.correction
    estimate = float(values[0] + contrasts.sum() * of.middles[0])
    bounded = estimate if np.isfinite(bounds).all() else float(np.clip(estimate, *_seen(of, contrasts)))
    if m < 2:
        return Corrected(Interval(bounded), np.nan, np.nan, judge_weight, m, worth)
    variance = (m - 1) / m * ((values[1:] - values[0]) ** 2).sum() * _sizes_unseen(of)
    others = judge_weight * of.values[~of.labelled].reshape(-1, of.values[0].size) @ residuals.judge / count
    of_others = float(len(others) * others.var(ddof=1)) if len(others) > 1 else float((others**2).sum())
    sizes = of.values[of.labelled, _WEIGHT].sum(axis=1)
    used_up = float(tuned and judge_weight != 0)
    df = max(resampling.degrees(sizes) - used_up, 1.0)
    if of_others > 0:
        rest = max(len(others) - 1.0, 1.0)
        df = (variance + of_others) ** 2 / (variance**2 / df + of_others**2 / rest)
    se = float(np.sqrt(variance + of_others))
    if not np.isfinite(se):
        return Corrected(Interval(bounded), np.nan, np.nan, judge_weight, m, worth)
    if se <= resampling.LEAST_ERROR:
        return Corrected(_unvaried(estimate, worth, confidence, bounds), 0.0, float(df), judge_weight, m, worth)
    width = distributions.t_quantile((1 + confidence) / 2, df)
    interval = _wilson(estimate, se, width, worth) if share else _wald(estimate, se, width, bounds, bounded)
    return Corrected(interval, se, float(df), judge_weight, m, worth)


def _seen(of: Sums, contrast: np.ndarray) -> tuple[float, float]:
    ends = np.where(contrast[:, None] > 0, of.seen, of.seen[::-1])
    return tuple((contrast[:, None] * ends).sum(axis=0).tolist())


def _wald(estimate: float, se: float, width: float, bounds: tuple[float, float], bounded: float) -> Interval:
    bounded = float(np.clip(bounded, *bounds))
    low, high = np.clip([estimate - width * se, estimate + width * se], *bounds)
    return Interval(bounded, float(min(low, bounded)), float(max(high, bounded)))


def _wilson(estimate: float, se: float, width: float, worth: float) -> Interval:
    """Wilson's interval for as many independent labels as give this error; the estimate is kept 0.5 / (`worth` + 1)
    from the ends.

    Source: Wilson (1927); with the error of clusters as in Korn and Graubard (1998).
    """
    least = 0.5 / (worth + 1)
    p = float(np.clip(estimate, least, 1 - least))
    square = width**2 * se**2 / (p * (1 - p))
    center = (p + square / 2) / (1 + square)
    reach = np.sqrt(p * (1 - p) * square + square**2 / 4) / (1 + square)
    bounded = float(np.clip(estimate, 0, 1))
    return Interval(bounded, float(min(max(center - reach, 0), bounded)), float(max(min(center + reach, 1), bounded)))


def _unvaried(estimate: float, worth: float, confidence: float, bounds: tuple[float, float]) -> Interval:
    if not np.isfinite(bounds).all():
        return Interval(estimate)
    unseen = 1 - ((1 - confidence) / 2) ** (1 / worth)
    least, most = bounds
    return Interval(estimate, estimate - unseen * (estimate - least), estimate + unseen * (most - estimate))


def judge_alone(
    of: Sums,
    confidence: float,
    *,
    contrast: tuple[float, ...] = (1.0,),
    bounds: tuple[float, float] = (-np.inf, np.inf),
    share: bool = False,
) -> Corrected:
    """Mean of the judge's own scores over all items; the interval does not allow for its errors."""
    values = of.values.copy()
    values[:, _WEIGHT], values[:, _HUMAN] = values[:, _ITEMS], values[:, _JUDGE]
    labels: np.ndarray = of.values[:, _ITEMS].astype(int)
    judged = Sums(values, labels, (of.middles[1], of.middles[1]), of.spread)  # the judge's own scores may be anything
    return corrected(judged, confidence, contrast=contrast, weight=0.0, bounds=bounds, share=share)


class Selection(NamedTuple):
    """The judge's mean over labelled groups less its mean over the other groups, with p of no difference."""

    interval: Interval
    p: float


def selection(of: Sums, confidence: float) -> Selection:
    """Test whether labelled groups are like the others, by the judge's means; blind to what the judge does not see.

    Source: Welch (1947), The generalization of "Student's" problem.
    """
    means = of.values[:, _JUDGE].sum(axis=1) / of.values[:, _ITEMS].sum(axis=1)
    parts = [means[of.labelled], means[~of.labelled]]
    if min(map(len, parts)) < 2:
        return Selection(Interval(), np.nan)
    difference = float(parts[0].mean() - parts[1].mean())
    errors = np.array([part.var(ddof=1) / len(part) for part in parts])
    se = float(np.sqrt(errors.sum()))
    if se <= resampling.LEAST_ERROR:
        return Selection(Interval(difference), np.nan)
    df = errors.sum() ** 2 / (errors**2 / [len(part) - 1 for part in parts]).sum()
    reach = float(distributions.t_quantile((1 + confidence) / 2, df)) * se
    interval = Interval(difference, difference - reach, difference + reach)
    return Selection(interval, float(2 * distributions.t_tail(abs(difference) / se, df)))


class Worth(NamedTuple):
    """Value of a judge in addition to labels: correlation of groups' contributions; ratio of labels needed with the
    judge to without, now and with unlimited further groups; corrected squared correlation.

    `share` is above 1 if choosing the weight costs more labels than the judge saves.
    """

    correlation: Interval
    share: Interval
    at_best: Interval
    square: float


def worth(of: Sums, confidence: float, *, contrast: tuple[float, ...] = (1.0,)) -> Worth:
    """Share of labels still needed with a judge for the same error: 1 - r² (1 - labelled / groups), r² `unbiased`,
    times the `price` of a weight.

    Source: Cochran (1977), Sampling Techniques, Section 12.6, regression estimators in double sampling.
    """
    moments = _moments(of)
    (m, count), effective = moments.sizes, of.effective
    if effective < FEWEST:
        return Worth(Interval(), Interval(), Interval(), 0.0)
    y, x = (_added(of.values[of.labelled], np.asarray(contrast, dtype=float), part) for part in (_HUMAN, _JUDGED))
    if (x**2).mean() <= NOTHING * max(of.spread, 1e-300) or (y**2).mean() <= NOTHING:
        nothing = Interval(price(0.0, effective), np.nan, np.nan)
        return Worth(Interval(), nothing, nothing, 0.0)
    correlation = resampling.correlation(x, y, np.arange(m), confidence)
    squares = [unbiased(correlation.estimate**2, effective)]
    ends = np.array([correlation.low, correlation.high])
    squares += [0.0 if ends[0] < 0 < ends[1] else float((ends**2).min()), float((ends**2).max())]
    of_all, at_best = (
        Interval(*(price(square * used, effective) for square in (squares[0], squares[2], squares[1])))
        for used in (1 - m / count, 1.0)
    )
    return Worth(correlation, of_all, at_best, squares[0])


def _added(values: np.ndarray, contrast: np.ndarray, part: int) -> np.ndarray:
    size, total = values[:, _WEIGHT], values[:, part]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total.sum(axis=0) / size.sum(axis=0)
        return ((total - means * size) / size.sum(axis=0)) @ contrast * len(values)


def unbiased(square: float, labelled: float) -> float:
    """Squared correlation over effective `labelled` groups, corrected for what chance adds to it; at least 0."""
    return float(np.clip(1 - (1 - square) * (labelled - 1) / (labelled - 2), 0, 1))


def price(explained: float, labelled: float) -> float:
    """Variance with a judge over that of labels alone, with the cost of the weight, infinite below `FEWEST`."""
    return float((1 - explained) * (labelled - 2) / (labelled - 3)) if labelled >= FEWEST else np.inf


def groups_needed(
    margin: float, variance: float, confidence: float, *, groups: int, square: float | None = None, alike: float = 1.0
) -> float:
    """Labelled groups for a margin of error (half-width, in points); of labels alone if the judge's are too few.

    `variance` is on the scale of one group, `square` the judge's squared correlation, `alike` effective groups per
    group. NaN above `MOST_GROUPS`.
    """
    if not (variance > 0 and margin > 0):
        return np.nan

    def reached(m: int) -> bool:
        rest = 1.0 if square is None else price(square * (1 - m / groups), m * alike)
        df = max(m * alike - (1 if square is None else 2), 1.0)
        error = np.sqrt(variance / m * rest)
        return bool(distributions.t_quantile((1 + confidence) / 2, df) * error <= margin)

    low, high = FEWEST, MOST_GROUPS if square is None else groups
    if high < low or not reached(high):
        return np.nan if square is None else groups_needed(margin, variance, confidence, groups=groups, alike=alike)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return float(low)
