"""Correlation with human scores, corrected for the noise of the human scores."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

COLUMNS_DIFFER = 0.05  # level of the F test of column means; if it rejects, each column counts as one rater
_NO_VARIANCE = 1e-9  # a variance up to this is the rounding error of a constant


def rater_noise(scores: np.ndarray) -> tuple[np.ndarray, bool]:
    """Variance of each item's mean of k human scores, shape (m, k) -> (m,), after column means; and whether columns
    differ by an F test, as raters do who each have a column.

    A rater's severity is no noise if it is a column; if raters come in another order for each item, it cannot be seen
    and counts as noise.

    Source: residual of the two-way analysis of variance (Shrout and Fleiss, 1979, case 3, consistency).
    """
    m, k = scores.shape
    away = scores - scores.mean(axis=1, keepdims=True)
    column = away.mean(axis=0)
    if m < 2:
        return np.square(away).sum(axis=1) / (k - 1) / k, False
    rest = away - column
    squares = np.square(rest).sum(axis=1) / (k - 1) * m / (m - 1)
    between, within = m * np.square(column).sum() / (k - 1), squares.mean()
    differ = between > 0 and (
        within <= _NO_VARIANCE or distributions.f_tail(between / within, k - 1, (m - 1) * (k - 1)) < COLUMNS_DIFFER
    )
    return squares / k, bool(differ)


def corrected(
    judge: np.ndarray, human: np.ndarray, noise: np.ndarray, clusters: np.ndarray, confidence: float
) -> dict[str, Interval]:
    """``human_reliability`` of the mean human score and ``pearson_corrected`` for it, by a jackknife over clusters.

    Raters are taken to err independently. The corrected r can be above 1 by chance; NaN if scores do not vary, or human
    ones by no more than `noise` (`rater_noise`).

    Source: Spearman (1904), The proof and measurement of association between two things; Shrout and Fleiss (1979), case
    1 if columns are not raters, else case 3.
    """
    x, y = judge - judge.mean(), human - human.mean()
    moments = resampling.sum_units(np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y, noise]), clusters)
    total = moments.sum(axis=0)
    count, x, y, xx, yy, xy, noise = (np.vstack([total, total - moments])).T
    with np.errstate(invalid="ignore", divide="ignore"):
        of_judge, of_human = (squares - sums**2 / count for squares, sums in ((xx, x), (yy, y)))
        true = of_human - noise * (count - 1) / count
        defined = (of_judge > _NO_VARIANCE * count) & (true > _NO_VARIANCE * count)
        values = np.column_stack([true / of_human, (xy - x * y / count) / np.sqrt(of_judge * true)])
    values = np.where(defined[:, None], values, np.nan)
    ends = resampling.left_out_interval(values, confidence, sizes=moments[:, 0])
    return dict(zip(("human_reliability", "pearson_corrected"), map(Interval, values[0], *ends), strict=True))
