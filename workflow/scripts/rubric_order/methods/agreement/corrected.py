"""Means of people's scores by prediction-powered inference: from people's scores of some items and a judge's of all.

Groups are the sample. In labelled groups, people scored all items or some of them. The mean of people's scores over
labelled items is corrected by the judge's scores:

    people (labelled) - weight * (judge (labelled) - judge (all))

If the labelled groups are a random sample of all groups, this estimate has no bias in large samples, whatever the judge
is like. The weight is chosen for the least error. An uninformative judge gets a weight near 0.

Labelled items represent all items of their group. In means over labelled items, a labelled item has the weight (number
of items in its group) / (number of labelled items in its group). So groups with few labels count no less than other
groups.
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
    """Sums over each group and kind of item, such as the items of a system.

    Attributes:
        values: five sums over each group and kind, shape (n_groups, 5, kinds). The first three are over labelled items:
            their weights, people's scores times these weights, and the judge's scores times these weights. The last two
            are the number of all items, and the judge's scores of all items. `middles` are subtracted from the scores.
        labels: number of labelled items, shape (n_groups, kinds).
        middles: numbers that are subtracted from people's scores, and from the judge's scores, against rounding.
        spread: mean square of the judge's scores after their middle is subtracted.
        seen: least and greatest of people's scores.
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
    """An estimate from labelled groups and a judge.

    Attributes:
        interval: the mean, or the difference, with its interval.
        se: standard error; NaN without an interval.
        df: degrees of freedom of the error; NaN without an interval.
        weight: weight of the judge, in points of people's scores per point of the judge's; 0 for labels alone.
        n_labelled: number of groups with labels.
        effective: number of effective groups among them.
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
    """Sums over groups, from which all estimates are computed.

    Args:
        human: people's score of each item, shape (m,); NaN for an item without a label.
        judge: the judge's score of each item, shape (m,); NaN if the judge gives no score. Such an item stays in the
            sample, with the mean score of the other items.
        group: index of each item's group, from 0, shape (m,).
        kind: index of each item's kind, from 0, shape (m,); one kind by default.
        kinds: number of kinds.
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
    seen = (float(human[given].min()), float(human[given].max())) if given.any() else (-np.inf, np.inf)
    return Sums(values, labels.reshape(shape).astype(int), middles, float((f**2).mean()) if len(f) else 0.0, seen)


class _Moments(NamedTuple):
    """First and second moments over groups.

    Attributes:
        labelled: sums over labelled groups, shape (rows, 5, kinds). The first row has the sums over all labelled
            groups. Each further row has the sums without one labelled group.
        everything: sums over all groups, with the same rows.
        squares: sums over labelled groups of the products of each two of a group's sums, shape (5 kinds, 5 kinds).
        all_squares: sums of the same products over all groups.
        sizes: number of labelled groups, and number of all groups.
    """

    labelled: np.ndarray
    everything: np.ndarray
    squares: np.ndarray
    all_squares: np.ndarray
    sizes: tuple[int, int]


def _moments(of: Sums) -> _Moments:
    """Moments over groups. In sums without a labelled group, the other labelled groups are scaled up to replace it."""
    own, others = of.values[of.labelled], of.values[~of.labelled]
    width = of.values[0].size
    flat, rest = own.reshape(-1, width), others.reshape(-1, width)
    m = len(own)
    total = own.sum(axis=0, keepdims=True)
    labelled = np.concatenate([total, (total - own) * (m / (m - 1) if m > 1 else np.nan)])
    squares = flat.T @ flat
    return _Moments(labelled, labelled + others.sum(axis=0), squares, squares + rest.T @ rest, (m, len(of.values)))


class _Residuals(NamedTuple):
    """Weights that turn the sums of a group into the group's residuals, and the means that are corrected.

    Attributes:
        human: weights for the group's residual in people's mean over labelled items, shape (5 kinds,).
        judged: weights for the group's residual in the judge's mean over all items, from the group's labelled items
            alone, shape (5 kinds,).
        judge: weights for the group's residual in the judge's mean over all items, from all items of the group, shape
            (5 kinds,). Both residuals are equal for a group whose items are all labelled.
        value: people's mean over labelled items, or a difference of such means, for each row of `_Moments`, shape
            (rows,).
        correction: (the judge's mean over labelled items - the judge's mean over all items), or a difference of such
            values, shape (rows,).
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

    Let A be people's mean over labelled items. Let D be the judge's mean over labelled items minus the judge's mean
    over all items. The error of A - weight * D is least if the weight is cov(A, D) / var(D). The variance of the
    judge's scores comes from all groups.
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
    """Factor for the variance that labelled groups show, from the sizes of all groups; at least 1.

    A group adds to a mean its size times the average deviation of its items. The variance of these contributions over
    groups is proportional to (mean squared size) / (squared mean size). If few groups are labelled, a large group may
    be missing among them by chance. But the sizes of all groups are known. The factor is the ratio of this quotient
    over all groups to the quotient over labelled groups.

    Source: ours. Royall and Cumberland (1981), An empirical study of the ratio estimator and estimators of its
    variance, for estimates of variance that are corrected by known sizes.
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
        of: sums over groups, see the function `sums`.
        confidence: nominal coverage, such as 0.95.
        contrast: factor of the mean of each kind, such as (1, -1) for a difference, shape (kinds,); no factor is 0.
        weight: weight of the judge. By default it is the weight with the least error, or 0 with fewer than `FEWEST`
            effective labelled groups.
        bounds: least and greatest value that the estimate can have. The interval is cut off there. Without bounds, the
            estimate stays within what people's scores show (`Sums.seen`), and only its interval goes beyond.
        share: True if the estimate is a share. The interval is then Wilson's, for the number of independent labels that
            gives the same error.

    Returns:
        The estimate. Estimate and interval are NaN if some kind has no labels. The interval is NaN if only one group is
        labelled.

        The error has two parts: a jackknife over labelled groups, with the weight kept fixed, and the variance between
        the other groups. The first part is enlarged if labelled groups happen to be more alike in size than all groups,
        see `_sizes_unseen`. Student's t has the degrees of freedom of groups of these sizes, one fewer if the weight is
        chosen. If the error is 0, because labels are all the same, the interval is that of `_unvaried`.

    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv:2311.01453,
    Section 6. Here groups are the sample, and the weight has no bounds, because people and judge may use different
    scales. If each item is its own group, the method is theirs, except for Student's t and n - 1 instead of n.
    """
    contrasts = np.asarray(contrast, dtype=float)
    m, count, worth = int(of.labelled.sum()), len(of.values), of.effective
    if not (of.labels.sum(axis=0) > 0).all():
        return Corrected(Interval(), np.nan, np.nan, 0.0, m, worth)
    moments = _moments(of)
    residuals = _residuals(moments, contrasts)
    tuned = weight is None and worth >= FEWEST and count > 1
    own = _weight(moments, residuals, of.spread) if tuned else weight or 0.0
    values = residuals.value - own * residuals.correction
    estimate = float(values[0] + contrasts.sum() * of.middles[0])
    shown = estimate if np.isfinite(bounds).all() else float(np.clip(estimate, *_seen(of, contrasts)))
    if m < 2:
        return Corrected(Interval(shown), np.nan, np.nan, own, m, worth)
    variance = (m - 1) / m * ((values[1:] - values[0]) ** 2).sum() * _sizes_unseen(of)
    others = own * of.values[~of.labelled].reshape(-1, of.values[0].size) @ residuals.judge / count
    of_others = float(len(others) * others.var(ddof=1)) if len(others) > 1 else float((others**2).sum())
    sizes = of.values[of.labelled, _WEIGHT].sum(axis=1)
    used_up = float(tuned and own != 0)
    df = max(resampling.degrees(sizes) - used_up, 1.0)
    if of_others > 0:
        rest = max(len(others) - 1.0, 1.0)
        df = (variance + of_others) ** 2 / (variance**2 / df + of_others**2 / rest)
    se = float(np.sqrt(variance + of_others))
    if not np.isfinite(se):
        return Corrected(Interval(shown), np.nan, np.nan, own, m, worth)
    if se <= resampling.LEAST_ERROR:
        return Corrected(_unvaried(estimate, worth, confidence, bounds), 0.0, float(df), own, m, worth)
    width = distributions.t_quantile((1 + confidence) / 2, df)
    interval = _of_share(estimate, se, width, worth) if share else _of_mean(estimate, se, width, bounds, shown)
    return Corrected(interval, se, float(df), own, m, worth)


def _seen(of: Sums, contrast: np.ndarray) -> tuple[float, float]:
    """Least and greatest difference, or mean, that people's scores show."""
    ends = np.where(contrast[:, None] > 0, of.seen, of.seen[::-1])
    return tuple((contrast[:, None] * ends).sum(axis=0).tolist())


def _of_mean(estimate: float, se: float, width: float, bounds: tuple[float, float], shown: float) -> Interval:
    shown = float(np.clip(shown, *bounds))
    low, high = np.clip([estimate - width * se, estimate + width * se], *bounds)
    return Interval(shown, float(min(low, shown)), float(max(high, shown)))


def _of_share(estimate: float, se: float, width: float, worth: float) -> Interval:
    """Wilson's interval for the number of independent labels that gives this error.

    To find this number, the estimate is kept away from 0 and 1 by 0.5 / (`worth` + 1), where `worth` is the effective
    number of labelled groups.

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
    """Interval if the error is 0 because groups do not vary, see `shares.mean`; NaN without bounds."""
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

    The interval does not allow for differences between the judge and people.

    Args:
        of: sums over groups, see the function `sums`.
        confidence: nominal coverage, such as 0.95.
        contrast: factor of the mean of each kind, such as (1, -1) for a difference, shape (kinds,).
        bounds: least and greatest value that the estimate can have. The interval is cut off there.
        share: True if the estimate is a share. The interval is then Wilson's.
    """
    values = of.values.copy()
    values[:, _WEIGHT], values[:, _HUMAN] = values[:, _ITEMS], values[:, _JUDGE]
    labels: np.ndarray = of.values[:, _ITEMS].astype(int)
    own = Sums(values, labels, (of.middles[1], of.middles[1]), of.spread)  # the judge's own scores may be anything
    return corrected(own, confidence, contrast=contrast, weight=0.0, bounds=bounds, share=share)


class Selection(NamedTuple):
    """The judge's mean over labelled groups less its mean over the other groups, with p of no difference."""

    interval: Interval
    p: float


def selection(of: Sums, confidence: float) -> Selection:
    """Test whether the labelled groups are like the others, by the judge's mean of each group.

    Labelled groups that are a random sample differ by chance alone. A judge that sees nothing of what groups are worth
    finds no difference either.

    Source: Welch (1947), The generalization of "Student's" problem when several different variances are involved.
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
    """Value of a judge in addition to labels.

    Attributes:
        correlation: correlation, over labelled groups, of a group's contribution to people's mean with its contribution
            to the judge's mean.
        share: (number of labels needed with the judge) / (number needed for the same error without the judge), for the
            present number of groups. It is above 1 if choosing the judge's weight costs more labels than the judge
            saves.
        at_best: the same ratio for an unlimited number of further groups that only the judge scores.
        square: squared correlation, corrected for what chance adds to it, see `unbiased`; 0 if it is unknown.
    """

    correlation: Interval
    share: Interval
    at_best: Interval
    square: float


def worth(of: Sums, confidence: float, *, contrast: tuple[float, ...] = (1.0,)) -> Worth:
    """Share of labels that are still needed with a judge, for the same error as labels alone.

    Let r be the correlation, over labelled groups, of contributions to people's mean and to the judge's mean. With the
    best weight, the variance is that of labels alone times 1 - r² (1 - labelled / groups), where r² is corrected for
    what chance adds to it. Choosing the weight increases the variance as much as estimating the slope of a regression
    line does, see `price`. Labelled groups count as effective ones.

    Args:
        of: sums over groups, see the function `sums`.
        confidence: nominal coverage, such as 0.95.
        contrast: factor of the mean of each kind, such as (1, -1) for a difference, shape (kinds,).

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
    """Residual of each labelled group in a mean, or in a difference of means, shape (n_labelled,). They sum to 0."""
    size, total = values[:, _WEIGHT], values[:, part]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = total.sum(axis=0) / size.sum(axis=0)
        return ((total - means * size) / size.sum(axis=0)) @ contrast * len(values)


def unbiased(square: float, labelled: float) -> float:
    """Squared correlation over labelled groups, corrected for what chance adds to it; at least 0.

    Args:
        square: squared correlation as it is observed, from 0 to 1.
        labelled: number of effective labelled groups, above 2.
    """
    return float(np.clip(1 - (1 - square) * (labelled - 1) / (labelled - 2), 0, 1))


def price(explained: float, labelled: float) -> float:
    """Variance with a judge as a share of the variance of labels alone. It includes the cost of choosing the weight.

    Args:
        explained: share of the variance of labels alone that the judge explains, from 0 to 1.
        labelled: number of effective labelled groups; with fewer than `FEWEST`, the cost is infinite.
    """
    return float((1 - explained) * (labelled - 2) / (labelled - 3)) if labelled >= FEWEST else np.inf


def groups_needed(
    margin: float, variance: float, confidence: float, *, groups: int, square: float | None = None, alike: float = 1.0
) -> float:
    """Number of labelled groups for a margin of error, which is half of the width of an interval.

    Args:
        margin: margin of error in points.
        variance: variance of a group's contribution to the mean of labels, on the scale of one group (squared error
            times number of groups).
        confidence: nominal coverage of the interval.
        groups: number of groups that the judge has scored. If more groups than these must be labelled, the result is
            the number for labels alone.
        square: squared correlation, over labelled groups, of contributions to people's mean and to the judge's mean;
            None for labels alone.
        alike: number of effective groups divided by number of groups, see `resampling.effective`; 1 for groups of equal
            size.

    Returns:
        A whole number. NaN if more than `MOST_GROUPS` groups would be needed, or if `variance` or `margin` is NaN or
        not above 0.
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
