"""Estimates whose sample are clusters: what each cluster adds to an estimate, and the intervals and tests from that.

A model is given by two things of each cluster: its score (the derivative of the log-likelihood, or of minus half the
sum of squares) at the estimate, and its information (minus the second derivative). What a cluster holds may depend on
each other in any way.

Clusters need not be alike. Where a few hold most of what is known, how clusters vary says less of an error than their
number promises. Degrees of freedom are therefore those of clusters as unequal as these, see `Weights`.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rubric_order.base.rows import Row
from rubric_order.methods.uncertainty import distributions

COMMON = 0.1  # what reads of a cluster have in common adds this share to the variance of an average one, see `Weights`
DEPENDENT = 0.01  # level at which clusters are taken to vary more than independent comparisons do
ROUNDING = 1e-9  # what is smaller than this share of the largest is taken for rounding
SEPARATED = "separated"
# What `Fit.interval` does, for columns `method`: by the clusters alone, and where the least error is known.
SANDWICH = "sandwich CR3 over {0}s, Student's t with degrees of freedom by what each {0} holds"
LARGER = (
    "the larger error of sandwich CR3 over {0}s and of independent comparisons; normal distribution, or Student's t "
    "where separated or where {0}s vary more than such comparisons do"
)


class Weights(NamedTuple):
    """Share of the information in each cluster, on a scale on which all information is the identity.

    The number of degrees of freedom of an error is that of a scaled chi-square distribution (of several estimates, of a
    Wishart distribution) with the same mean and variance as the sandwich would have if clusters were as they are here,
    estimates were normal, and what the reads of a cluster have in common added `COMMON` to the variance of an average
    cluster's score (to that of a larger one by as much more as it is larger). Of equal clusters it is their number less
    1; of a few large ones among many small ones little more than the number of the large ones.

    Attributes:
        root: to that scale, shape (k, r).
        share: of each cluster, shape (n_clusters, r, r); the sum over clusters is the identity.
        inverse: of the identity less the share, likewise.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples;
    for several estimates the statistic HTZ of Pustejovsky and Tipton (2018), Small-sample methods for cluster-robust
    variance estimation and hypothesis testing in fixed effects models, Section 3.2.
    """

    root: np.ndarray
    share: np.ndarray
    inverse: np.ndarray

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of the covariance of contrasts, rows of shape (q, k) that are independent of each other.

        A real number; NaN where the covariance of some contrast is not known.
        """
        of_root = contrasts @ self.root
        if not np.isfinite(self.inverse).all():
            return np.nan
        own, left, right = self._covariance(of_root)
        mean = np.einsum("gst->st", own) + np.einsum("gsr,gtr->st", left, right)
        values, vectors = np.linalg.eigh((mean + mean.T) / 2)
        if not values[0] > ROUNDING * values[-1]:
            return np.nan
        scaled = (vectors / np.sqrt(values)).T
        own = scaled @ own @ scaled.T
        left, right = scaled @ left, scaled @ right
        q = len(contrasts)
        return float(q * (q + 1) / _variance(own, left, right))

    def _covariance(self, of_root: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariances between what clusters g and h add to the contrasts, own[g] (g = h) + left[g] @ right[h].T."""
        n = int((self.share != 0).any(axis=(1, 2)).sum())
        variance = self.share + COMMON * n * self.share @ self.share
        of_score = of_root @ self.inverse  # (n_clusters, q, r)
        added = of_score @ variance
        own = added @ of_score.transpose(0, 2, 1)
        of_total = of_score @ self.share
        left = np.concatenate([of_total @ variance.sum(axis=0) - added, -of_total], axis=2)
        return own, left, np.concatenate([of_total, added], axis=2)


def _variance(own: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
    """Summed variances of all entries of a covariance matrix from normal contributions, see `Weights._covariance`.

    Over pairs of clusters of covariance P, the sum of trace(P)^2 + trace(P P), without a table of all pairs.
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
    pairs += np.einsum("srtu,trsu->", first, second, optimize=True)
    return pairs + squares(both) - squares(alone)


class Fit(NamedTuple):
    """Coefficients, and what each cluster adds to them.

    Attributes:
        coefficients: shape (k,); of all that fit equally well, the shortest.
        influence: how much each cluster moves them, shape (n_clusters, k), see `influence`.
        space: projection onto the contrasts that the design tells, shape (k, k).
        problem: why there are no numbers; empty where there are.
        least: covariance of the coefficients if all that clusters hold were independent, shape (k, k); None where it is
            not known. No error is taken to be smaller: where nearly all clusters say the same, how they vary says
            little of the error.
        separated: whether some sum of coefficients would be infinite but for a penalty.
        weights: what each cluster holds of the information; None where there are no numbers.
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
        """Covariance of the coefficients, shape (k, k); NaN for one cluster."""
        n = counted(self.influence)
        return self.influence.T @ self.influence * ((n - 1) / n) if n > 1 else np.full(self.space.shape, np.nan)

    @property
    def flags(self) -> list[str]:
        """Reasons why there are no numbers, or what is the matter with them; empty where nothing is."""
        return [self.problem] if self.problem else [SEPARATED] if self.separated else []

    def tells(self, weights: np.ndarray) -> bool:
        """Tell whether the design determines a weighted sum of coefficients."""
        return bool(not self.problem and np.abs(self.space @ weights - weights).max() < 1e-6)

    def contrast(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """A weighted sum of coefficients, and what each cluster adds to it; NaN where the design does not tell it.

        What clusters add is stretched where its error is smaller than the least.
        """
        estimate, influence = self._contrast(weights)
        if self.least is not None and (spread := _error(influence)) > 0:
            influence = influence * max(1.0, self._least(weights) / spread)
        return estimate, influence

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of contrasts, rows of shape (q, k), see `Weights.df`; fewer than clusters that tell."""
        most = counted(self.influence @ contrasts.T) - 1.0
        return most if self.weights is None else min(most, self.weights.df(contrasts))

    def interval(self, weights: np.ndarray, confidence: float) -> Row:
        """`estimate`, `se`, `df`, `ci_low`, `ci_high` and `p` of a contrast, see the function of this name.

        By Student's t over clusters. Where the least error is known and clusters do not vary more than it explains (a
        chi-square test at 1%), by the larger error of the two and the normal distribution: few clusters make the error
        no less sure then. Where the fit is `separated`, clusters cannot tell, and it is Student's t.
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
        return float(weights @ self.coefficients), self.influence @ weights

    def _least(self, weights: np.ndarray) -> float:
        return float(np.sqrt(weights @ self.least @ weights))

    def no_effect(self, contrasts: np.ndarray) -> float:
        """p-value of all contrasts (rows, shape (q, k)) being 0; NaN where the design tells none.

        Contrasts that the design does not tell are left out. See `all_zero`; of one contrast, or several that are
        multiples of it, the p-value of its interval.
        """
        told = contrasts[[self.tells(row) for row in contrasts]]
        if not len(told):
            return np.nan
        if np.linalg.matrix_rank(told) == 1:
            return self.interval(told[0], 0.95)["p"]
        _, sizes, rows = np.linalg.svd(told, full_matrices=False)
        told = rows[sizes > ROUNDING * sizes[0]]
        return all_zero(told @ self.coefficients, self.influence @ told.T, df=self.df(told))


class Sums(NamedTuple):
    """Coefficients, and the sums over each cluster that their errors come from.

    Clusters can be put together: the coefficients stay, and nothing is computed anew from what clusters hold.

    Attributes:
        coefficients: shape (k,).
        score: at the coefficients, shape (n_clusters, k).
        information: likewise, shape (n_clusters, k, k).
        problem, least, separated: see `Fit`.
    """

    coefficients: np.ndarray
    score: np.ndarray
    information: np.ndarray
    problem: str = ""
    least: np.ndarray | None = None
    separated: bool = False

    def by_cluster(self, cluster: np.ndarray) -> "Sums":
        """These sums with clusters put together: number of each one's larger cluster, from 0, shape (n_clusters,)."""
        return self._replace(score=together(self.score, cluster), information=together(self.information, cluster))

    def fit(self) -> Fit:
        """Fit with each cluster's influence on the coefficients."""
        if self.problem:
            return nothing(self.score.shape, self.problem)
        moved, space, weights = influence(self.score, self.information)
        return Fit(self.coefficients, moved, space, least=self.least, separated=self.separated, weights=weights)


def together(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sums over clusters of what smaller ones add up to.

    Args:
        values: shape (n, ...).
        cluster: number of the cluster of each row, from 0, shape (n,).

    Returns:
        Shape (n_clusters, ...).
    """
    if np.array_equal(cluster, np.arange(len(values))):
        return values
    return sums_by(cluster, np.arange(len(values)), None, int(cluster.max(initial=-1)) + 1, values)


def sums_by(
    cluster: np.ndarray, row: np.ndarray, weight: np.ndarray | None, n_clusters: int, values: np.ndarray
) -> np.ndarray:
    """Sums over clusters of weighted rows of a table, row after row as they are given.

    Args:
        cluster, row, weight: of each summand its cluster, its row of `values`, and its weight (1 by default).
        values: shape (n_rows, ...).

    Returns:
        Shape (n_clusters, ...).
    """
    order = np.argsort(cluster, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cluster, minlength=n_clusters))])
    weight = np.ones(len(cluster)) if weight is None else weight[order]
    weights = sparse.csr_array((weight, row[order], starts), shape=(n_clusters, len(values)))
    columns = np.ascontiguousarray(values, dtype=float).reshape(len(values), int(np.prod(values.shape[1:])))
    return (weights @ columns).reshape(n_clusters, *values.shape[1:])


def least_squares(right: np.ndarray, information: np.ndarray) -> Sums:
    """Coefficients by least squares from sums over each cluster.

    Args:
        right: products of the columns with the response, shape (n_clusters, k).
        information: products of the columns, shape (n_clusters, k, k).
    """
    total = information.sum(axis=0)
    values, vectors = np.linalg.eigh(total)
    kept = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    if not kept.any():
        return without(right.shape, "no comparisons")
    coefficients = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ right.sum(axis=0))
    return Sums(coefficients, right - information @ coefficients, information)


def without(shape: tuple[int, int], problem: str) -> Sums:
    """Sums without numbers, of so many clusters and coefficients."""
    return Sums(np.full(shape[1], np.nan), np.zeros(shape), np.zeros((*shape, shape[1])), problem)


def nothing(shape: tuple[int, int], problem: str) -> Fit:
    """A fit without numbers.

    Args:
        shape: numbers of clusters and of coefficients.
    """
    numbers = np.full(shape[1], np.nan), np.full(shape, np.nan), np.zeros((shape[1], shape[1]))
    return Fit(*numbers, problem, separated=problem == SEPARATED)


def influence(score: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, np.ndarray, Weights]:
    """Move of the estimate when a cluster is left out, the projection onto what the design tells, and weights.

    A cluster's score is divided by the information of all others, not of all: this is the jackknife's estimate after
    one step, and its covariance the sandwich named CR3, or that of Mancl and DeRouen. With few clusters it is not too
    small, as the plain sandwich is. Where the others tell nothing about a contrast that a cluster tells, its influence
    is NaN.

    Args:
        score: of each cluster, shape (n_clusters, k).
        information: of each cluster, shape (n_clusters, k, k).

    Returns:
        Shapes (n_clusters, k) and (k, k); and see `Weights`.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples;
    Mancl and DeRouen (2001), A covariance estimator for GEE with improved small-sample properties.
    """
    values, vectors = np.linalg.eigh(information.sum(axis=0))
    kept = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    basis = vectors[:, kept]
    root = basis / np.sqrt(values[kept])
    share = np.einsum("ki,gkl,lj->gij", root, information, root, optimize=True)
    left = np.eye(int(kept.sum())) - share
    alone = np.linalg.eigvalsh(left)[:, :1].ravel() < ROUNDING if kept.any() else np.zeros(len(score), bool)
    left[alone] = np.nan
    inverse = np.linalg.inv(left)
    moved = (inverse @ (score @ root)[..., None])[..., 0]
    return moved @ root.T, basis @ basis.T, Weights(root, share, inverse)


def counted(influence: np.ndarray) -> int:
    """Number of clusters that add anything, shape (n_clusters, ...): others say nothing about how clusters vary."""
    return int((influence.reshape(len(influence), -1) != 0).any(axis=1).sum())


def interval(estimate: float, influence: np.ndarray, confidence: float, *, df: float | None = None) -> Row:
    """`estimate`, its standard error `se`, `df`, `ci_low`, `ci_high`, and `p` of no effect, by Student's t.

    Args:
        influence: what each cluster adds to the estimate, shape (n_clusters,); those that add nothing do not count.
        confidence: nominal coverage, such as 0.95.
        df: degrees of freedom, see `Fit.df`; by default those of clusters that are alike.

    Returns:
        All but the estimate NaN for one cluster, or where no cluster adds anything.
    """
    se, df = _error(influence), counted(influence) - 1.0 if df is None else df
    if not (df > 0 and se > 0 and counted(influence) > 1):
        return {"estimate": estimate, "se": np.nan, "df": np.nan, "ci_low": np.nan, "ci_high": np.nan, "p": np.nan}
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    p = float(2 * distributions.t_tail(abs(estimate) / se, df))
    ends = {"ci_low": estimate - reach, "ci_high": estimate + reach}
    return {"estimate": estimate, "se": float(se), "df": float(df), **ends, "p": p}


def _error(influence: np.ndarray) -> float:
    """Standard error of an estimate, see `interval`."""
    n = counted(influence)
    return float(np.sqrt((influence**2).sum() * (n - 1) / max(n, 1)))


def all_zero(estimates: np.ndarray, influence: np.ndarray, *, df: float | None = None) -> float:
    """p-value of several estimates being 0: an F test with clusters as the sample.

    Hotelling's T-squared, where the covariance has the degrees of freedom of a Wishart distribution that is as sure as
    it: with clusters that are alike their number less 1.

    Args:
        estimates: shape (q,).
        influence: what each cluster adds to them, shape (n_clusters, q).
        df: see `Fit.df`; by default those of clusters that are alike.

    Returns:
        NaN where there are fewer degrees of freedom than independent estimates, or no cluster adds anything.

    Source: the statistic HTZ of Pustejovsky and Tipton (2018), Small-sample methods for cluster-robust variance
    estimation and hypothesis testing in fixed effects models.
    """
    n = counted(influence)
    if n < 2 or np.isnan(influence).any():
        return np.nan
    values, vectors = np.linalg.eigh(influence.T @ influence * (n - 1) / n)
    kept = values > ROUNDING * max(values.max(), 1e-300)
    q = int(kept.sum())
    rest = (n - 1.0 if df is None else df) - q + 1
    if q == 0 or not rest >= 1:
        return np.nan
    squared = ((vectors[:, kept].T @ estimates) ** 2 / values[kept]).sum()
    return float(distributions.f_tail(squared * rest / (q * (rest + q - 1)), q, rest))
