"""Means of people's scores from a judge's scores of all items and people's of some: prediction-powered inference.

The sample are groups. Some are labelled: people scored all of their items, or some. A mean of people's scores over the
labelled items is moved by what the judge says about the others:

    people (labelled) - weight * (judge (labelled) - judge (all))

Whatever the judge is like, the mean of this over samples is right, if the labelled groups are a random sample of all
groups. The weight is chosen for the least error; a judge that says nothing gets a weight near 0.

Labelled items of a group stand for all of its items: each counts as often as the group has items for one that is
labelled. So groups with few labels count no less than others.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

FEWEST = 4  # labelled groups; with fewer nothing is corrected, since a weight of two or three of them is chance
NOTHING = 1e-12  # share of the variance of the judge's items; less is rounding
MOST_GROUPS = 10_000_000  # that are planned
_WEIGHT, _HUMAN, _JUDGED, _ITEMS, _JUDGE = range(5)  # what is summed over each group


class Sums(NamedTuple):
    """Sums over each group and kind of item, such as the items of a system.

    Attributes:
        values: shape (n_groups, 5, kinds): weights of labelled items, people's scores and the judge's by these weights,
            number of items, and sum of the judge's scores of all items. Scores are less their `middles`.
        labels: number of labelled items, shape (n_groups, kinds).
        middles: subtracted from people's scores and from the judge's, against rounding.
        spread: mean square of the judge's scores less their middle.
    """

    values: np.ndarray
    labels: np.ndarray
    middles: tuple[float, float]
    spread: float

    @property
    def labelled(self) -> np.ndarray:
        """True for the groups that have a label of any kind, shape (n_groups,)."""
        return self.labels.sum(axis=1) > 0


class Corrected(NamedTuple):
    """An estimate from labelled groups and a judge.

    Attributes:
        interval: of the mean, or the difference.
        se: standard error. df: degrees of freedom of the error; both NaN where there is no interval.
        weight: of the judge, in points of people's scores for one of the judge's; 0 for labels alone.
        n_labelled: groups with labels that it rests on.
    """

    interval: Interval
    se: float
    df: float
    weight: float
    n_labelled: int


def sums(
    human: np.ndarray, judge: np.ndarray, group: np.ndarray, kind: np.ndarray | None = None, kinds: int = 1
) -> Sums:
    """Sums over groups that all estimates are made from.

    Args:
        human: people's score of each item, NaN where there is none, shape (m,).
        judge: the judge's score, shape (m,). An item of which the judge says nothing has NaN; it stays in the sample,
            with the mean of the others.
        group: number of each item's group, from 0, shape (m,).
        kind: number of the kind of each item, from 0 to `kinds` - 1, shape (m,); one kind by default.
    """
    human, judge = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    given, scored = ~np.isnan(human), ~np.isnan(judge)
    middles = (
        float(human[given].mean()) if given.any() else 0.0,
        float(judge[scored].mean()) if scored.any() else 0.0,
    )
    y = np.where(given, human - middles[0], 0)
    f = np.where(scored, judge - middles[1], 0)
    shape = (int(group.max(initial=-1)) + 1, kinds)
    cell: np.ndarray = group * kinds + (0 if kind is None else kind)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=values, minlength=shape[0] * kinds)

    labels, items = total(given.astype(float)), total(np.ones(len(y)))
    weight = np.where(given, (items / np.maximum(labels, 1))[cell], 0)
    parts = [total(weight), total(weight * y), total(weight * f), items, total(f)]
    values = np.stack([part.reshape(shape) for part in parts], axis=1)
    return Sums(values, labels.reshape(shape).astype(int), middles, float((f**2).mean()) if len(f) else 0.0)


class _Moments(NamedTuple):
    """First and second moments over groups.

    Attributes:
        labelled, everything: sums over the labelled groups and over all, as they are and without each labelled group, a
            row each; shape (rows, 5, kinds).
        squares, all_squares: sums of products of a group's numbers, of labelled groups and of all, shape (5 kinds, 5
            kinds).
        sizes: number of labelled groups and of all.
    """

    labelled: np.ndarray
    everything: np.ndarray
    squares: np.ndarray
    all_squares: np.ndarray
    sizes: tuple[int, int]


def _moments(of: Sums) -> _Moments:
    """Moments, first of all groups; where a labelled group is left out, the other labelled ones stand for it."""
    own, others = of.values[of.labelled], of.values[~of.labelled]
    width = of.values[0].size
    flat, rest = own.reshape(-1, width), others.reshape(-1, width)
    m = len(own)
    total = own.sum(axis=0, keepdims=True)
    labelled = np.concatenate([total, (total - own) * (m / (m - 1) if m > 1 else np.nan)])
    squares = flat.T @ flat
    return _Moments(labelled, labelled + others.sum(axis=0), squares, squares + rest.T @ rest, (m, len(of.values)))


class _Residuals(NamedTuple):
    """Residuals of a group in three means, as weights of its sums, shape (5 kinds,); and what the means say.

    Attributes:
        human: to people's mean over labelled items. judge: to the judge's over all. judged: of its labelled items alone
            the same, so that it is the same number for a group of which all items are labelled.
        value, correction: people's mean (or difference), and the judge's over labelled items less that over all; of
            each row of `_Moments`, shape (rows,).
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
    """Weight of the judge with the least error.

    With A people's mean over labelled items and D what the judge says of labelled items less of all, the error of
    A - weight * D is least where the weight is cov(A, D) / var(D). What is known of the variance of the judge's scores
    from all groups is used.
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
    """Variance of a mean by what the sizes of all groups say, in that which labelled groups show; from 1.

    What a group adds to a mean is its size times how far its items are off on average. Its variance over groups is in
    proportion to the mean square of sizes, in the unit of the mean size. Of few labelled groups by chance none may be
    large; the sizes of all groups are known.

    Source: ours. Estimates of variance that are set right by what is known of all sizes: Royall and Cumberland (1981),
    An empirical study of the ratio estimator and estimators of its variance.
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
    """Mean of people's scores over all items, or a difference of such means, from labels and a judge.

    Args:
        of: see `sums`.
        confidence: nominal coverage, such as 0.95.
        contrast: what the mean of each kind counts, such as (1, -1) for a difference, none of them 0; shape (kinds,).
        weight: of the judge; by default the one with the least error, 0 with fewer than `FEWEST` labelled groups.
        bounds: least and greatest value that the estimate can have. Its interval is cut off there.
        share: whether it is a share: then the interval is Wilson's, for as many independent labels as have its error.

    Returns:
        Estimate and interval NaN without labels of some kind; the interval NaN where it rests on one group alone. The
        error is a jackknife over labelled groups, the weight being kept, and the variance between the others. Where
        labelled groups happen to be more alike in size than all groups, it is enlarged, see `_sizes_unseen`. Student's
        t has the degrees of freedom of groups as unequal as these, one less where the weight is chosen. Labels that are
        all the same have the interval of `_unvaried`.

    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv:2311.01453,
    Section 6, here with groups as the sample and without bounds of the weight, since people and judge may use different
    scales. Of items that are groups of their own it is theirs, but for Student's t and n - 1 for n.
    """
    contrasts = np.asarray(contrast, dtype=float)
    m, count = int(of.labelled.sum()), len(of.values)
    if not (of.labels.sum(axis=0) > 0).all():
        return Corrected(Interval(), np.nan, np.nan, 0.0, m)
    moments = _moments(of)
    residuals = _residuals(moments, contrasts)
    tuned = weight is None and m >= FEWEST and count > 1
    own = _weight(moments, residuals, of.spread) if tuned else weight or 0.0
    values = residuals.value - own * residuals.correction
    estimate = float(values[0] + contrasts.sum() * of.middles[0])
    if m < 2:
        return Corrected(Interval(estimate), np.nan, np.nan, own, m)
    variance = (m - 1) / m * ((values[1:] - values[0]) ** 2).sum() * _sizes_unseen(of)
    others = own * of.values[~of.labelled].reshape(-1, of.values[0].size) @ residuals.judge / count
    of_others = float(len(others) * others.var(ddof=1)) if len(others) > 1 else float((others**2).sum())
    worth = resampling.effective(of.values[of.labelled, _WEIGHT].sum(axis=1))
    used_up = float(tuned and own != 0)
    df = max(worth - 1 - used_up, 1.0)
    if of_others > 0:
        rest = max(len(others) - 1.0, 1.0)
        df = (variance + of_others) ** 2 / (variance**2 / df + of_others**2 / rest)
    se = float(np.sqrt(variance + of_others))
    if not np.isfinite(se):
        return Corrected(Interval(estimate), np.nan, np.nan, own, m)
    if se <= resampling.LEAST_ERROR:
        return Corrected(_unvaried(estimate, worth, confidence, bounds), 0.0, float(df), own, m)
    width = distributions.t_quantile((1 + confidence) / 2, df)
    interval = _of_share(estimate, se, width, worth) if share else _of_mean(estimate, se, width, bounds)
    return Corrected(interval, se, float(df), own, m)


def _of_mean(estimate: float, se: float, width: float, bounds: tuple[float, float]) -> Interval:
    low, high = np.clip([estimate - width * se, estimate + width * se], *bounds)
    return Interval(float(np.clip(estimate, *bounds)), float(low), float(high))


def _of_share(estimate: float, se: float, width: float, worth: float) -> Interval:
    """Wilson's interval for as many independent labels as have this error, at most as if half a label were otherwise.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference; with the error of
    clusters as in Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data.
    """
    least = 0.5 / (worth + 1)
    p = float(np.clip(estimate, least, 1 - least))
    square = width**2 * se**2 / (p * (1 - p))
    center = (p + square / 2) / (1 + square)
    reach = np.sqrt(p * (1 - p) * square + square**2 / 4) / (1 + square)
    shown = float(np.clip(estimate, 0, 1))
    return Interval(shown, float(min(max(center - reach, 0), shown)), float(max(min(center + reach, 1), shown)))


def _unvaried(estimate: float, worth: float, confidence: float, bounds: tuple[float, float]) -> Interval:
    """Interval where groups do not vary, see `shares.mean`; NaN where nothing says how far they could."""
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
    """Mean of the judge's own scores over all items, or a difference of such means, with groups as the sample.

    Arguments as of `corrected`. Its interval says nothing of how far people would disagree.
    """
    values = of.values.copy()
    values[:, _WEIGHT], values[:, _HUMAN] = values[:, _ITEMS], values[:, _JUDGE]
    labels: np.ndarray = of.values[:, _ITEMS].astype(int)
    own = Sums(values, labels, (of.middles[1], of.middles[1]), of.spread)
    return corrected(own, confidence, contrast=contrast, weight=0.0, bounds=bounds, share=share)


class Worth(NamedTuple):
    """Worth of a judge beside labels.

    Attributes:
        correlation: of what labelled groups add to people's mean with what they add to the judge's.
        share: of the labels that labels alone would need for the same error, with as many groups as there are; more
            than 1 where choosing the weight costs more than the judge brings.
        at_best: the same with as many further groups as one likes.
    """

    correlation: Interval
    share: Interval
    at_best: Interval


def worth(of: Sums, confidence: float, *, contrast: tuple[float, ...] = (1.0,)) -> Worth:
    """Share of labels that are needed beside a judge. Arguments as of `corrected`.

    With r the correlation, the error is that of labels alone times 1 - r² (1 - labelled / groups); r² is less what
    chance adds to it, and choosing the weight costs as much as choosing the slope of a line.

    Source: Cochran (1977), Sampling Techniques, Section 12.6, regression estimators in double sampling.
    """
    moments = _moments(of)
    m, count = moments.sizes
    if m < FEWEST:
        return Worth(Interval(), Interval(), Interval())
    y, x = (_added(of.values[of.labelled], np.asarray(contrast, dtype=float), part) for part in (_HUMAN, _JUDGED))
    if (x**2).mean() <= NOTHING * max(of.spread, 1e-300) or (y**2).mean() <= NOTHING:
        nothing = Interval(price(0.0, m), np.nan, np.nan)
        return Worth(Interval(), nothing, nothing)
    correlation = resampling.correlation(x, y, np.arange(m), confidence)
    squares = [unbiased(correlation.estimate**2, m)]
    ends = np.array([correlation.low, correlation.high])
    squares += [0.0 if ends[0] < 0 < ends[1] else float((ends**2).min()), float((ends**2).max())]
    of_all, at_best = (
        Interval(*(price(square * used, m) for square in (squares[0], squares[2], squares[1])))
        for used in (1 - m / count, 1.0)
    )
    return Worth(correlation, of_all, at_best)


def _added(values: np.ndarray, contrast: np.ndarray, part: int) -> np.ndarray:
    """Residual of each labelled group in a mean, or a difference of means; sums to 0. Shape (n_groups,)."""
    size, total = values[:, _WEIGHT], values[:, part]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total.sum(axis=0) / size.sum(axis=0)
        return ((total - means * size) / size.sum(axis=0)) @ contrast * len(values)


def unbiased(square: float, labelled: int) -> float:
    """Squared correlation over labelled groups without what chance adds to it; from 0."""
    return float(np.clip(1 - (1 - square) * (labelled - 1) / (labelled - 2), 0, 1))


def price(explained: float, labelled: int) -> float:
    """Share of the variance of labels alone that stays, that of the chosen weight included.

    Args:
        explained: share that the judge explains. labelled: groups; at least `FEWEST`.
    """
    return float((1 - explained) * (labelled - 2) / (labelled - 3))


def alike(of: Sums) -> float:
    """Effective groups for each labelled group, at most 1: 1 where groups are equally large."""
    sizes = of.values[of.labelled, _WEIGHT].sum(axis=1)
    return float(min(resampling.effective(sizes) / len(sizes), 1)) if len(sizes) > 1 else 1.0


def groups_needed(
    margin: float, variance: float, confidence: float, *, groups: int, square: float | None = None, alike: float = 1.0
) -> float:
    """Number of labelled groups for a margin of error: half of the width of an interval.

    Args:
        margin: in points.
        variance: of what a group adds to the mean of labels, on the scale of one group (squared error times groups).
        groups: that the judge has scored. Where more are labelled than these, labels alone count.
        square: squared correlation of labels and judge, see `worth`; None for labels alone.
        alike: effective groups a group, see `resampling.effective`: 1 where groups are equally large.

    Returns:
        A whole number; NaN where more than `MOST_GROUPS` would be needed, or nothing is known.
    """
    if not (variance > 0 and margin > 0):
        return np.nan

    def reached(m: int) -> bool:
        rest = 1.0 if square is None else price(square * (1 - m / groups), m)
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
