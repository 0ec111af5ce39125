"""What a correlation with human scores would be if the human scores had no noise."""

import numpy as np

from rubric_order.methods import resampling

_NO_VARIANCE = 1e-9  # what rounding leaves of the variance of a constant


def corrected(
    judge: np.ndarray, human: np.ndarray, noise: np.ndarray, clusters: np.ndarray, confidence: float
) -> dict[str, tuple[float, float, float]]:
    """Reliability of the mean human score, and Pearson's r corrected for what it falls short of 1.

    Raters are taken as drawn anew for each item, and to err independently of each other. What they err in together, and
    what the judge errs in with them, is not seen.

    Args:
        judge, human: mean scores of each item, shape (n_items,).
        noise: variance of the item's mean human score, from how its raters differ, shape (n_items,).
        clusters: number of each item's cluster, from 0 and without gaps, shape (n_items,).

    Returns:
        ``human_reliability`` and ``pearson_corrected``, each as estimate and ends of its interval: a jackknife over
        clusters with Student's t. The corrected r can be above 1 by chance. NaN where a score does not vary, or human
        scores vary by no more than noise.

    Source: Spearman (1904), The proof and measurement of association between two things; the reliability is that of a
    mean in the one-way analysis of variance (Shrout and Fleiss, 1979, case 1).
    """
    x, y = judge - judge.mean(), human - human.mean()
    moments = resampling.sum_units(np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y, noise]), clusters)
    total = moments.sum(axis=0)
    count, x, y, xx, yy, xy, noise = (np.vstack([total, total - moments])).T
    with np.errstate(invalid="ignore", divide="ignore"):
        of_judge, of_human = (squares - sums**2 / count for squares, sums in ((xx, x), (yy, y)))
        true = of_human - noise * (count - 1) / count
        known = (of_judge > _NO_VARIANCE * count) & (true > _NO_VARIANCE * count)
        values = np.column_stack([true / of_human, (xy - x * y / count) / np.sqrt(of_judge * true)])
    values = np.where(known[:, None], values, np.nan)
    low, high = resampling.left_out_interval(values, confidence, sizes=moments[:, 0])
    names = ("human_reliability", "pearson_corrected")
    return dict(zip(names, zip(values[0].tolist(), low.tolist(), high.tolist(), strict=True), strict=True))
