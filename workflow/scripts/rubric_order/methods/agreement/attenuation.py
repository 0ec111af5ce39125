"""Correlation with human scores, corrected for the noise of the human scores."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

COLUMNS_DIFFER = 0.05  # level of the F test by which each column is taken as one rater
_NO_VARIANCE = 1e-9  # a variance up to this is the rounding error of a constant


def rater_noise(scores: np.ndarray) -> tuple[np.ndarray, bool]:
    """Variance of each item's mean human score, from the differences between its raters, less column means.

    If a column is one rater, a severe rater lowers all means alike, which is not noise of a mean. If raters are drawn
    anew for each item, columns differ by chance alone. Taking their means out then changes only the degrees of freedom,
    and the divisor accounts for this. If the same raters come in another order for each item, their severity cannot be
    seen, and counts as noise.

    Args:
        scores: human scores, items by raters, shape (m, k) with k > 1.

    Returns:
        The variances, shape (m,), and whether columns differ by more than chance (an F test), as if they were raters of
        different severity.

    Source: the residual of the two-way analysis of variance (Shrout and Fleiss, 1979, case 3, consistency).
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
    """Reliability of the mean human score, and Pearson's r corrected for this reliability.

    Raters are assumed to err independently of each other. Errors that they share, or that the judge shares with them,
    cannot be seen.

    Args:
        judge, human: mean scores of each item, shape (n_items,).
        noise: variance of the item's mean human score, from how its raters differ, shape (n_items,), see `rater_noise`.
        clusters: number of each item's cluster, from 0 and without gaps, shape (n_items,).

    Returns:
        ``human_reliability`` and ``pearson_corrected``, with intervals of a jackknife over clusters with Student's t.
        The corrected r can be above 1 by chance. NaN if a score does not vary, or if human scores vary by no more than
        noise.

    Source: Spearman (1904), The proof and measurement of association between two things; Shrout and Fleiss (1979), for
    the reliability of a mean: case 1, the one-way analysis of variance, if columns are not raters; otherwise case 3,
    the two-way analysis.
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
