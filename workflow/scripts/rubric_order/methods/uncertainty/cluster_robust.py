"""Estimates with clusters as the sample: the influence of each cluster, and intervals and tests from the influences.

A cluster gives its score (derivative of the log-likelihood, or of minus half the sum of squares) and information;
within it, anything may depend. A few clusters with most of the information tell less about errors: see `Weights`.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rubric_order.base import flags
from rubric_order.base.rows import Row
from rubric_order.methods.uncertainty import distributions

COMMON = 0.1  # what a cluster's reads have in common adds this share to the variance of an average cluster's score
DEPENDENT = 0.01  # level of the test that clusters vary more than independent comparisons do
ROUNDING = 1e-9  # values below this share of the largest count as rounding
NEGLIGIBLE = 1e-12  # a smaller estimate is rounding
# Method of `Fit.interval`, for columns `method`: first if errors come from clusters alone, then with a least error.
SANDWICH = "sandwich CR3 over {0}s, Student's t with degrees of freedom by what each {0} holds"
LARGER = (
    "the larger error of sandwich CR3 over {0}s and of independent comparisons; normal distribution, or Student's t "
    "where separated or where {0}s vary more than such comparisons do"
)


class Weights(NamedTuple):
    """Whitened information per cluster, shape (n_clusters, r, r), for Satterthwaite degrees of freedom; `inverse` is
    that of (identity - share).

    The degrees are those of the scaled chi-square (Wishart) distribution with the sandwich's mean and variance, if
    estimates are normal and what a cluster's reads share adds `COMMON` to its score's variance at average size, more in
    proportion: clusters less 1 if equal.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors; HTZ of Pustejovsky and Tipton (2018), Section
    3.2, for several estimates.
    """

    root: np.ndarray
    share: np.ndarray
    inverse: np.ndarray

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of the covariance of contrasts (q, k); NaN if singular or `inverse` not finite."""
        of_root = contrasts @ self.root
        if not np.isfinite(self.inverse).all():
            return np.nan
        diagonal, left, right = self._covariance(of_root)
        mean = np.einsum("gst->st", diagonal) + np.einsum("gsr,gtr->st", left, right)
        values, vectors = np.linalg.eigh((mean + mean.T) / 2)
        if not values[0] > ROUNDING * values[-1]:
            return np.nan
        scaled = (vectors / np.sqrt(values)).T
        diagonal = scaled @ diagonal @ scaled.T
        left, right = scaled @ left, scaled @ right
        q = len(contrasts)
        return float(q * (q + 1) / _variance(diagonal, left, right))

    def _covariance(self, of_root: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrays of the covariance of what clusters g, h add to contrasts: left[g] @ right[h].T, plus own[g] if g =
        h.
        """
        n = int((self.share != 0).any(axis=(1, 2)).sum())
        variance = self.share + COMMON * n * self.share @ self.share
        of_score = of_root @ self.inverse  # (n_clusters, q, r)
        added = of_score @ variance
        diagonal = added @ of_score.transpose(0, 2, 1)
        of_total = of_score @ self.share
        left = np.concatenate([of_total @ variance.sum(axis=0) - added, -of_total], axis=2)
        return diagonal, left, np.concatenate([of_total, added], axis=2)


def _variance(own: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
    """Summed variances of all entries of a covariance estimated from normal clusters: trace(P)^2 + trace(P P) over
    pairs, without a table of them.
    """
    n, q, r = left.shape
    both = own + left @ right.transpose(0, 2, 1)
    alone = left @ right.transpose(0, 2, 1)

    def squares(of: np.ndarray) -> float:
        return float((np.trace(of, axis1=1, axis2=2) ** 2).sum() + np.einsum("gst,gts->", of, of))

    flat = left.reshape(n, q * r), right.reshape(n, q * r)
    first, second = flat[0].T @ flat[0], flat[1].T @ flat[1]
    pairs = (first * second).sum()
    first, second = first.reshape(q, r, q, r), second.reshape(q, r, q, r)
    pairs += np.vdot(first, second.transpose(2, 1, 0, 3))
    return pairs + squares(both) - squares(alone)


class Fit(NamedTuple):
    """Coefficients (the shortest that fit best), and how far each cluster moves them if left out, (n_clusters, k).

    `space` projects onto contrasts that the design determines. `least` is the covariance if a cluster's observations
    were independent: no error may be smaller, because agreeing clusters tell little. `separated`: infinite if
    unpenalised.
    """

    coefficients: np.ndarray
    influence: np.ndarray
    space: np.ndarray
    problem: str = ""
    least: np.ndarray | None = None
    separated: bool = False
    weights: Weights | None = None

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the coefficients, shape (k, k); NaN for fewer than two clusters with an influence."""
        n = counted(self.influence)
        return self.influence.T @ self.influence * ((n - 1) / n) if n > 1 else np.full(self.space.shape, np.nan)

    @property
    def flags(self) -> list[str]:
        """The `problem` of the fit; else ``separated`` if it is."""
        return [self.problem] if self.problem else [flags.SEPARATED] if self.separated else []

    def tells(self, weights: np.ndarray) -> bool:
        """True if the design determines a weighted sum of coefficients."""
        return bool(not self.problem and np.abs(self.space @ weights - weights).max() < 1e-6)

    def contrast(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Weighted sum of coefficients and each cluster's influence, scaled up to `least`; NaN if undetermined."""
        estimate, influence = self._contrast(weights)
        if self.least is not None and (spread := _error(influence)) > 0:
            influence = influence * max(1.0, self._least(weights) / spread)
        return estimate, influence

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of contrasts (q, k), see `Weights.df`; at most n - 1 for n clusters with an influence."""
        most = counted(self.influence @ contrasts.T) - 1.0
        return most if self.weights is None else min(most, self.weights.df(contrasts))

    def interval(self, weights: np.ndarray, confidence: float) -> Row:
        """`estimate`, `se`, `df`, `ci_low`, `ci_high` and `p` of a contrast, by Student's t over clusters, or by
        `least` if its error is larger.

        With `least`, normal if clusters vary no more than it explains (chi-square at 1%), because it is as certain with
        few clusters; t if more, or if `separated`, where clusters cannot show how they vary.
        """
        estimate, influence = self._contrast(weights)
        row = interval(estimate, influence, confidence, df=self.df(weights[None]) if self.tells(weights) else np.nan)
        if self.least is None or not row["se"] > 0:
            return row
        least, df = self._least(weights), row["df"]
        se = max(row["se"], least)
        if self.separated or (row["se"] / least) ** 2 * df > distributions.chi_square_critical(DEPENDENT, df):
            width, p = distributions.t_quantile((1 + confidence) / 2, df), distributions.t_tail(abs(estimate) / se, df)
        else:
            width, df = distributions.normal_quantile((1 + confidence) / 2), np.inf
            p = distributions.normal_tail(abs(estimate) / se)
        reach = width * se
        return row | {"se": se, "df": df, "ci_low": estimate - reach, "ci_high": estimate + reach, "p": float(2 * p)}

    def _contrast(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        if not self.tells(weights):
            return np.nan, np.full(len(self.influence), np.nan)
        return float(drop_rounding(weights @ self.coefficients)), self.influence @ weights

    def _least(self, weights: np.ndarray) -> float:
        return float(np.sqrt(weights @ self.least @ weights))

    def no_effect(self, contrasts: np.ndarray) -> float:
        """p-value of all determined contrasts (q, k) being 0, by `all_zero`, or `interval` for one."""
        rows = contrasts[[self.tells(row) for row in contrasts]]
        if not len(rows):
            return np.nan
        if np.linalg.matrix_rank(rows) == 1:
            return self.interval(rows[0], 0.95)["p"]
        _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
        rows = directions[sizes > ROUNDING * sizes[0]]
        return all_zero(rows @ self.coefficients, self.influence @ rows.T, df=self.df(rows))


class Sums(NamedTuple):
    """Coefficients, with each cluster's score (n_clusters, k) and information at them; other fields as in `Fit`.

    Clusters can be merged without another fit.
    """

    coefficients: np.ndarray
    score: np.ndarray
    information: np.ndarray
    problem: str = ""
    least: np.ndarray | None = None
    separated: bool = False

    def regroup(self, cluster: np.ndarray) -> "Sums":
        """Sums of merged clusters, from the index of each cluster's."""
        return self._replace(score=together(self.score, cluster), information=together(self.information, cluster))

    def fit(self) -> Fit:
        """Fit with each cluster's influence on the coefficients."""
        if self.problem:
            return nothing(self.score.shape, self.problem)
        moved, space, weights = influence(self.score, self.information)
        return Fit(self.coefficients, moved, space, least=self.least, separated=self.separated, weights=weights)


def together(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sum values of smaller clusters, (n, ...), over the clusters to which they belong, (n_clusters, ...)."""
    if np.array_equal(cluster, np.arange(len(values))):
        return values
    return sums_by(cluster, np.arange(len(values)), None, int(cluster.max(initial=-1)) + 1, values)


def sums_by(
    cluster: np.ndarray, row: np.ndarray, weight: np.ndarray | None, n_clusters: int, values: np.ndarray
) -> np.ndarray:
    """Sum rows of a table, times weights (1 if None), over clusters, in the order given."""
    order = np.argsort(cluster, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cluster, minlength=n_clusters))])
    weight = np.ones(len(cluster)) if weight is None else weight[order]
    weights = sparse.csr_array((weight, row[order], starts), shape=(n_clusters, len(values)))
    columns = np.ascontiguousarray(values, dtype=float).reshape(len(values), int(np.prod(values.shape[1:])))
    return (weights @ columns).reshape(n_clusters, *values.shape[1:])


def least_squares(right: np.ndarray, information: np.ndarray) -> Sums:
    """Coefficients from each cluster's sums of column times response (`right`) and column times column."""
    total = information.sum(axis=0)
    values, vectors = np.linalg.eigh(total)
    positive = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    if not positive.any():
        return without(right.shape, flags.NO_COMPARISONS)
    coefficients = (vectors[:, positive] / values[positive]) @ (vectors[:, positive].T @ right.sum(axis=0))
    return Sums(coefficients, right - information @ coefficients, information)


def without(shape: tuple[int, int], problem: str) -> Sums:
    """Sums of a fit without numbers; shape is (clusters, coefficients)."""
    return Sums(np.full(shape[1], np.nan), np.zeros(shape), np.zeros((*shape, shape[1])), problem)


def nothing(shape: tuple[int, int], problem: str) -> Fit:
    """A fit without numbers; shape is (clusters, coefficients)."""
    numbers = np.full(shape[1], np.nan), np.full(shape, np.nan), np.zeros((shape[1], shape[1]))
    return Fit(*numbers, problem, separated=problem == flags.SEPARATED)


def influence(score: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, np.ndarray, Weights]:
    """Move of the estimate without each cluster (n_clusters, k), projection onto determined contrasts, weights.

    The score over the information of all other clusters (one-step jackknife): CR3, which is not too small with few
    clusters as the plain sandwich is. NaN if a cluster alone tells about a contrast.

    Source: Bell and McCaffrey (2002); Mancl and DeRouen (2001), A covariance estimator for GEE with improved
    small-sample properties.
    """
    values, vectors = np.linalg.eigh(information.sum(axis=0))
    positive = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    basis = vectors[:, positive]
    root = basis / np.sqrt(values[positive])
    share = root.T @ information @ root
    left = np.eye(int(positive.sum())) - share
    alone = np.linalg.eigvalsh(left)[:, :1].ravel() < ROUNDING if positive.any() else np.zeros(len(score), bool)
    left[alone] = np.nan
    inverse = np.linalg.inv(left)
    moved = (inverse @ (score @ root)[..., None])[..., 0]
    return moved @ root.T, basis @ basis.T, Weights(root, share, inverse)


def drop_rounding(estimates: np.ndarray | float) -> np.ndarray:
    """Estimates, with 0 for those below `NEGLIGIBLE`: where all clusters round alike, rounding would be significant."""
    return np.where(np.abs(estimates) < NEGLIGIBLE, 0.0, estimates)


def counted(influence: np.ndarray) -> int:
    """Number of clusters with a nonzero influence; other clusters do not show how clusters vary."""
    size = np.abs(influence.reshape(len(influence), -1))
    rounding = NEGLIGIBLE * np.nanmax(size, initial=0)
    return int((~(size <= rounding)).any(axis=1).sum())  # NaN counts


def interval(estimate: float, influence: np.ndarray, confidence: float, *, df: float | None = None) -> Row:
    """`estimate` (0 below `NEGLIGIBLE`), `se`, `df`, `ci_low`, `ci_high` and `p` of no effect, by Student's t; `df` is
    that of equal clusters by default.

    All but the estimate are NaN if fewer than two clusters have an influence, or one is NaN.
    """
    estimate = float(drop_rounding(estimate))
    se, df = _error(influence), counted(influence) - 1.0 if df is None else df
    if not (df > 0 and se > 0 and counted(influence) > 1):
        return {"estimate": estimate, "se": np.nan, "df": np.nan, "ci_low": np.nan, "ci_high": np.nan, "p": np.nan}
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    p = float(2 * distributions.t_tail(abs(estimate) / se, df))
    ends = {"ci_low": estimate - reach, "ci_high": estimate + reach}
    return {"estimate": estimate, "se": float(se), "df": float(df), **ends, "p": p}


def _error(influence: np.ndarray) -> float:
    n = counted(influence)
    return float(np.sqrt((influence**2).sum() * (n - 1) / max(n, 1)))


def all_zero(estimates: np.ndarray, influence: np.ndarray, *, df: float | None = None) -> float:
    """p-value of several estimates being 0: Hotelling's T-squared as F, with a Wishart covariance of `df` degrees.

    NaN with fewer clusters or degrees than estimates that vary. Source: HTZ of Pustejovsky and Tipton (2018),
    Small-sample methods for cluster-robust variance estimation.
    """
    n = counted(influence)
    if n - 1 < max((influence != 0).any(axis=0).sum(), 1) or np.isnan(influence).any():
        return np.nan
    values, vectors = np.linalg.eigh(influence.T @ influence * (n - 1) / n)
    positive = values > ROUNDING * max(values.max(), 1e-300)
    q = int(positive.sum())
    rest = (n - 1.0 if df is None else df) - q + 1
    if q == 0 or not rest >= 1 - ROUNDING:  # degrees of freedom of equal clusters are whole, apart from rounding
        return np.nan
    squared = ((vectors[:, positive].T @ drop_rounding(estimates)) ** 2 / values[positive]).sum()
    return float(distributions.f_tail(squared * rest / (q * (rest + q - 1)), q, rest))
