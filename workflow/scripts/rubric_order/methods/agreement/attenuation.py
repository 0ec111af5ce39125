"""Correlation with human scores, corrected for the noise of the human scores."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

COLUMNS_DIFFER = 0.05  # level of the F test of column means; if it rejects, each column counts as one rater
_NO_VARIANCE = 1e-9  # a variance up to this is the rounding error of a constant


def rater_noise(scores: np.ndarray) -> tuple[np.ndarray, bool]:
    """Variance of each item's mean human score, from the differences of its raters after column means are subtracted.

    There are three cases:

    - A column is one rater. A severe rater lowers the means of all items alike. This is no noise, and is subtracted.
    - Raters are drawn anew for each item. Then columns differ by chance alone. Subtracting the means of columns changes
      only the degrees of freedom, and the divisor allows for this.
    - The same raters come in another order for each item. Then their severity cannot be seen, and counts as noise.

    Args:
        scores: human scores, items by raters, shape (m, k) with k > 1.

    Returns:
        The variances, shape (m,). And True if columns differ by more than chance (an F test), as they do if each column
        is one rater and raters differ in severity.

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

    The method assumes that raters err independently of each other. It cannot see errors that raters share with each
    other, or with the judge.

    Args:
        judge: the judge's mean score of each item, shape (n_items,).
        human: mean human score of each item, shape (n_items,).
        noise: variance of each item's mean human score by the noise of raters, shape (n_items,), see `rater_noise`.
        clusters: index of each item's cluster, from 0 and without gaps, shape (n_items,).
        confidence: nominal coverage of the intervals.

    Returns:
        ``human_reliability`` and ``pearson_corrected``, with intervals of a jackknife over clusters with Student's t.
        The corrected r can be above 1 by chance. NaN if scores of the judge or of people do not vary, or if human
        scores vary by no more than noise.

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
