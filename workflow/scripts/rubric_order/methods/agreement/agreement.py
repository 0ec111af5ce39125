"""Agreement of scores with golden scores, with intervals from leaving out clusters."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.base.rows import Row
from rubric_order.methods.agreement import correlations, variants
from rubric_order.methods.uncertainty import resampling


def _absolute_error(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (weights @ np.abs(x - y)) / weights.sum(axis=-1)


def _kappa(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted kappa of scores that are rounded to whole numbers; halves are rounded up."""
    first, second = (np.floor(scores + 0.5 + 1e-9) for scores in (x, y))
    return correlations.weighted_kappa(first, second, weights)


STATISTICS: dict[str, correlations.Statistic] = {
    "spearman": correlations.weighted_spearman,
    "pearson": correlations.weighted_pearson,
    "kappa": _kappa,
    "mean_absolute_error": _absolute_error,
}
FISHER = ("spearman", "pearson")  # statistics whose intervals are computed on the scale of Fisher's z


class Compared:
    """Scores of items beside the numbers that they are compared with, laid out once for all statistics.

    Args:
        x: score of each item, shape (items,).
        y: number with which the score of each item is compared, such as its golden score, shape (items,).
        unit: index of each item's cluster, from 0, shape (items,).
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, unit: np.ndarray) -> None:
        clusters = np.unique(unit, return_inverse=True)[1]
        self._sizes = resampling.part_sizes(clusters)
        self._parts: dict[str, np.ndarray] = {}
        if len(x) < 2:
            self._parts |= {quantity: np.full(1, np.nan) for quantity in STATISTICS}
            return
        pairs = correlations.Pairs(x, y, clusters)
        self._pairs = pairs.x, pairs.y, np.vstack([pairs.once, pairs.left_out()])

    def parts(self, quantity: str) -> np.ndarray:
        """A statistic over all items, then over the items without each part of the clusters, shape (1 + n_parts,).

        A part is one cluster, or several clusters if there are many, see `resampling.left_out_sums`. Fewer than two
        items have one value, NaN.

        Args:
            quantity: one of `STATISTICS`.
        """
        if quantity not in self._parts:
            with np.errstate(invalid="ignore", divide="ignore"):
                self._parts[quantity] = STATISTICS[quantity](*self._pairs)
        return self._parts[quantity]

    def single(self, quantity: str, confidence: float) -> Interval:
        """A statistic over all items, with a jackknife's interval over clusters by Student's t.

        Args:
            quantity: one of `STATISTICS`.
            confidence: nominal coverage of the interval, such as 0.95.
        """
        scales = {"scale": np.arctanh, "back": np.tanh} if quantity in FISHER else {}
        return resampling.jackknife_t(self.parts(quantity), confidence, sizes=self._sizes, **scales).interval

    def minus(self, other: "Compared", quantity: str, confidence: float) -> Row:
        """Statistic of these scores minus the statistic of other scores of the same items.

        Args:
            other: the other scores, compared with the same numbers, in the same clusters.
            quantity: one of `STATISTICS`.
            confidence: nominal coverage of the interval, such as 0.95.

        Returns:
            `difference`, its standard error `difference_se`, `difference_low`, `difference_high`, and the p-value `p`
            of no difference, which is NaN with fewer than three parts of the clusters. All but `difference` are NaN
            with fewer than two parts, if a statistic is undefined without some part, or if the difference is the same
            whichever part is left out. `influence` has the difference without each part, less the difference.
        """
        values = self.parts(quantity) - other.parts(quantity)
        jackknife = resampling.jackknife_t(values, confidence, sizes=self._sizes)
        columns = ("difference", "difference_se", "difference_low", "difference_high", "p")
        varies = jackknife.error > 1e-12
        ends = (jackknife.error, jackknife.low, jackknife.high, jackknife.p) if varies else (np.nan,) * 4
        row: Row = dict(zip(columns, (float(values[0]), *map(float, ends)), strict=True))
        return row | {"influence": values[1:] - values[0]}


def share(told: np.ndarray, unit: np.ndarray, confidence: float) -> Row:
    """Share of items, with an interval that is cut off at 0 and 1: `estimate`, `ci_low`, `ci_high` and `n_clusters`.

    Args:
        told: 1 for each item that the share counts, 0 for other items, shape (items,).
        unit: index of each item's cluster, from 0, shape (items,).
        confidence: nominal coverage of the interval.
    """
    row = variants.ratio(told, np.ones(len(told)), unit, confidence)
    ends = {name: np.clip(row[name], 0, 1) for name in ("ci_low", "ci_high")}
    return {"estimate": row["estimate"], "n_clusters": row["n_clusters"]} | ends
