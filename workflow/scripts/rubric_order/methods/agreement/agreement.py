"""Agreement of scores with golden scores, with intervals from leaving out clusters."""

import numpy as np

from rubric_order.base.intervals import Interval
from rubric_order.base.rows import Row
from rubric_order.methods.agreement import correlations
from rubric_order.methods.uncertainty import resampling


def _absolute_error(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (weights @ np.abs(x - y)) / weights.sum(axis=-1)


def _kappa(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
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
    """Scores `x` of items beside what they are compared with, `y`, in clusters, laid out once for all statistics."""

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
        """One of `STATISTICS` over all items, then without each part of the clusters (`resampling.left_out_sums`),
        shape (1 + n_parts,); NaN, shape (1,), below two items.
        """
        if quantity not in self._parts:
            with np.errstate(invalid="ignore", divide="ignore"):
                self._parts[quantity] = STATISTICS[quantity](*self._pairs)
        return self._parts[quantity]

    def single(self, quantity: str, confidence: float) -> Interval:
        """One of `STATISTICS` with a jackknife's interval over clusters by Student's t."""
        scales = {"scale": np.arctanh, "back": np.tanh} if quantity in FISHER else {}
        return resampling.jackknife_t(self.parts(quantity), confidence, sizes=self._sizes, **scales).interval

    def minus(self, other: "Compared", quantity: str, confidence: float) -> Row:
        """Statistic of these scores less that of other scores of the same items: `difference` with `_se`, `_low`,
        `_high` and `p`, and its `influence`.

        NaN but for the difference if a part is undefined, or if no part changes it.
        """
        values = self.parts(quantity) - other.parts(quantity)
        jackknife = resampling.jackknife_t(values, confidence, sizes=self._sizes)
        columns = ("difference", "difference_se", "difference_low", "difference_high", "p")
        varies = jackknife.error > 1e-12
        ends = (jackknife.error, jackknife.low, jackknife.high, jackknife.p) if varies else (np.nan,) * 4
        row: Row = dict(zip(columns, (float(values[0]), *map(float, ends)), strict=True))
        return row | {"influence": values[1:] - values[0]}
