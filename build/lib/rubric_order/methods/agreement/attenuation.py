"""Correlation with human scores, corrected for the noise of the human scores."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.methods.uncertainty import distributions, resampling

COLUMNS_DIFFER = 0.05  # level at which columns are taken for raters of their own
_NO_VARIANCE = 1e-9  # what rounding leaves of the variance of a constant


def rater_noise(scores: np.ndarray) -> tuple[np.ndarray, bool]:
    """Variance of each item's mean human score by how its raters differ, without what columns differ in throughout.

    Where a column is one rater, a severe one lowers all means alike: that is no noise of a mean. Where raters are drawn
    anew for each item columns differ by chance alone, and taking their means out changes nothing but the degrees of
    freedom, which is allowed for. Where the same raters stand in another order in each item, their severity cannot be
    seen, and counts as noise.

    Args:
        scores: of each item by rater, shape (m, k) with k > 1.

    Returns:
        The variances, shape (m,), and whether columns differ by more than chance, as those of raters of unlike severity
        do (an F test).

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
    """Reliability of the mean human score, and Pearson's r corrected for what it falls short of 1.

    Raters are taken to err independently of each other. What they err in together, and what the judge errs in with
    them, is not seen.

    Args:
        judge, human: mean scores of each item, shape (n_items,).
        noise: variance of the item's mean human score, from how its raters differ, shape (n_items,), see `rater_noise`.
        clusters: number of each item's cluster, from 0 and without gaps, shape (n_items,).

    Returns:
        ``human_reliability`` and ``pearson_corrected``, with intervals of a jackknife over clusters with Student's t.
        The corrected r can be above 1 by chance. NaN where a score does not vary, or human scores vary by no more than
        noise.

    Source: Spearman (1904), The proof and measurement of association between two things; the reliability is that of a
    mean, in the one-way analysis of variance where no rater has a column, else in the two-way one (Shrout and Fleiss,
    1979, cases 1 and 3).
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
