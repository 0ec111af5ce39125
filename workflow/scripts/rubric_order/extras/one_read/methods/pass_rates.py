"""Share of items that people would pass, by Rogan and Gladen: from verdicts of a judge, corrected for its errors.

Labelled groups may have another pass rate than all groups, but the judge must have the same sensitivity and specificity
in them: a strong condition, because a judge errs less often on items that clearly pass or fail.
"""

from typing import NamedTuple

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

NEAR_ONE = "cannot tell: sensitivity + specificity near 1"
NO_LABELS = "cannot tell: fewer than two labelled groups with items that people pass, or that they fail"
NO_FIT = "cannot tell: the judge's rate fits no share, given its errors"


class PassRate(NamedTuple):
    """Pass rate of people over all items, and a judge's error rates; NaN with the `problem` where it is undefined."""

    rate: Interval
    sensitivity: Interval
    specificity: Interval
    problem: str
    n_passed: int
    n_failed: int


def rogan_gladen(human: np.ndarray, judge: np.ndarray, group: np.ndarray, confidence: float) -> PassRate:
    """Pass rate of people over all items: (rate of the judge + specificity - 1) / (sensitivity + specificity - 1).

    Fieller's interval, cut off at 0 and 1, by a jackknife over groups; a rate's variance is at least that of as many
    independent labels with one right and one wrong verdict added (of groups, if verdicts are all right or all wrong).
    Satterthwaite's degrees of freedom.

    Source: Rogan and Gladen (1978); Fieller (1954); for labels that are all right, Lang and Reiczigel (2014).
    """
    human, judge = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    there = ~np.isnan(judge)
    human, judge = human[there], judge[there]
    unit = np.unique(np.asarray(group)[there], return_inverse=True)[1]
    labelled = ~np.isnan(human)
    passed, failed = labelled & (human == 1), labelled & (human == 0)
    counts = int(passed.sum()), int(failed.sum())
    labels = np.bincount(unit, weights=labelled, minlength=int(unit.max(initial=-1)) + 1)
    items = np.bincount(unit, minlength=len(labels))
    weight = (items / np.maximum(labels, 1))[unit]  # labelled items represent all items of their group
    table = np.column_stack([judge, np.ones(len(judge)), *(weight * part for part in _parts(passed, failed, judge))])
    sums = resampling.sum_units(table, unit) if len(table) else np.zeros((0, 6))
    of_passed, of_failed = (sums[sums[:, column] > 0, column] for column in (3, 5))
    if min(len(of_passed), len(of_failed)) < 2:
        return PassRate(Interval(), Interval(), Interval(), NO_LABELS, *counts)
    rates, covariance, degrees = _covariance(sums, labels > 0, counts)
    right = [_share(float(rates[k]), float(covariance[k, k]), float(degrees[k]), confidence) for k in (1, 2)]
    rate, problem = _fieller(rates, covariance, degrees, confidence)
    return PassRate(rate, right[0], right[1], problem, *counts)


def _parts(passed: np.ndarray, failed: np.ndarray, judge: np.ndarray) -> list[np.ndarray]:
    return [passed * judge, passed.astype(float), failed * (1 - judge), failed.astype(float)]


def _covariance(
    sums: np.ndarray, labelled: np.ndarray, counts: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rates (of the judge, sensitivity, specificity), their covariance, and degrees of freedom of each, from sums over
    groups, shape (n_groups, 6).
    """
    total = sums.sum(axis=0)
    values = total[0::2] / total[1::2]
    left_out = total - sums
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = left_out[:, 0::2] / left_out[:, 1::2] - values
    count, m = len(sums), int(labelled.sum())
    moves[~labelled, 1:] = 0
    moves *= np.sqrt([(count - 1) / count, *[(m - 1) / m] * 2])
    covariance = moves.T @ moves
    degrees = [resampling.degrees(sums[:, 1])]
    for k, labels in zip((1, 2), counts, strict=True):
        sizes = sums[sums[:, 2 * k + 1] > 0, 2 * k + 1]
        independent = labels if 0 < values[k] < 1 else len(sizes)
        likely = (values[k] * independent + 1) / (independent + 2)
        covariance[k, k] = max(covariance[k, k], likely * (1 - likely) / (independent + 2))
        degrees.append(max(resampling.degrees(sizes), 1.0))
    return values, covariance, np.array(degrees)


def _share(value: float, variance: float, degrees: float, confidence: float) -> Interval:
    width = float(distributions.t_quantile((1 + confidence) / 2, degrees))
    p = min(max(value, 1e-3), 1 - 1e-3)
    square = width**2 * variance / max(p * (1 - p), variance)
    center = (value + square / 2) / (1 + square)
    reach = np.sqrt(value * (1 - value) * square + square**2 / 4) / (1 + square)
    return Interval(float(value), float(max(center - reach, 0)), float(min(center + reach, 1)))


def _fieller(rates: np.ndarray, covariance: np.ndarray, degrees: np.ndarray, confidence: float) -> tuple[Interval, str]:
    """Interval of (rate + specificity - 1) / (sensitivity + specificity - 1), or the reason why there is none."""
    to_top, to_bottom = np.array([1, 0, 1]), np.array([0, 1, 1])
    top, bottom = rates @ to_top - 1, rates @ to_bottom - 1
    if bottom <= 0:
        return Interval(), NEAR_ONE
    rate = top / bottom
    parts = np.diag(covariance) * np.array([1, np.clip(rate, 0, 1) ** 2, (1 - np.clip(rate, 0, 1)) ** 2])
    used = parts > 0
    df = parts.sum() ** 2 / (parts[used] ** 2 / degrees[used]).sum() if used.any() else np.inf
    square = float(distributions.t_quantile((1 + confidence) / 2, df)) ** 2
    a = bottom**2 - square * (to_bottom @ covariance @ to_bottom)
    if a <= 0:
        return Interval(), NEAR_ONE
    b = top * bottom - square * (to_top @ covariance @ to_bottom)
    c = top**2 - square * (to_top @ covariance @ to_top)
    root = np.sqrt(max(b**2 - a * c, 0))
    low, high = (b - root) / a, (b + root) / a
    if high < 0 or low > 1:
        return Interval(), NO_FIT
    return Interval(*(float(np.clip(value, 0, 1)) for value in (rate, low, high))), ""
