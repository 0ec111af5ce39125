"""Estimates with clusters as the sample: the influence of each cluster, and intervals and tests from the influences.

Two quantities of each cluster describe a model: the cluster's score (the derivative of the log-likelihood, or of minus
half the sum of squares) at the estimate, and its information (minus the second derivative). Observations of one cluster
may depend on each other in any way.

Clusters may be unequal. Where a few clusters hold most of the information, the variation between clusters tells less
about an error than the number of clusters suggests. Degrees of freedom allow for this, see `Weights`.
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
    """Share of the information in each cluster, on a scale on which the information of all clusters is the identity.

    The degrees of freedom of an error follow from these shares. The sandwich is the variance that is estimated from the
    influences of the clusters. A scaled chi-square distribution (for several estimates, a Wishart distribution) is
    chosen that has the mean and variance of the sandwich. Its degrees of freedom are those of the error. The mean and
    variance of the sandwich are computed under three assumptions:

    - Clusters have these shares.
    - Estimates are normal.
    - The part that the reads of a cluster have in common adds the share `COMMON` to the variance of the score of a
      cluster of average size, and a proportionally larger share for a larger cluster.

    For equal clusters, the degrees of freedom are 1 less than the number of clusters. For a few large clusters among
    many small clusters, they are little more than the number of large clusters.

    Attributes:
        root: transformation to this scale, shape (k, r).
        share: share of each cluster, shape (n_clusters, r, r); the sum over clusters is the identity.
        inverse: inverse of (identity - share) of each cluster, shape (n_clusters, r, r).

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples;
    for several estimates the statistic HTZ of Pustejovsky and Tipton (2018), Small-sample methods for cluster-robust
    variance estimation and hypothesis testing in fixed effects models, Section 3.2.
    """

    root: np.ndarray
    share: np.ndarray
    inverse: np.ndarray

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of the covariance of contrasts; they need not be a whole number.

        NaN if an entry of `inverse` is not finite, or if the covariance of the contrasts is singular.

        Args:
            contrasts: weights of the coefficients in each contrast, linearly independent rows, shape (q, k).
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
        """Arrays `own`, `left` and `right`, from which the covariance between any two clusters follows.

        What clusters g and h add to the contrasts has the covariance left[g] @ right[h].T, plus own[g] if g = h.
        """
        n = int((self.share != 0).any(axis=(1, 2)).sum())
        variance = self.share + COMMON * n * self.share @ self.share
        of_score = of_root @ self.inverse  # (n_clusters, q, r)
        added = of_score @ variance
        own = added @ of_score.transpose(0, 2, 1)
        of_total = of_score @ self.share
        left = np.concatenate([of_total @ variance.sum(axis=0) - added, -of_total], axis=2)
        return own, left, np.concatenate([of_total, added], axis=2)


def _variance(own: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
    """Sum of the variances of all entries of a covariance matrix that is estimated from clusters.

    The clusters' contributions are normal. The result is the sum of trace(P)^2 + trace(P P) over all pairs of clusters,
    where P is the covariance of the contributions of a pair, see `Weights._covariance`. It is computed without a table
    of all pairs.
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
    """Coefficients, and each cluster's influence on them.

    Attributes:
        coefficients: the coefficients, shape (k,). If several vectors fit equally well, these are the shortest of them.
        influence: how far the coefficients move when each cluster is left out, shape (n_clusters, k), see the function
            `influence`.
        space: projection onto the contrasts that the design determines, shape (k, k).
        problem: reason why there are no numbers; empty where there are numbers.
        least: covariance of the coefficients if the observations of a cluster were independent, shape (k, k); None if
            the fit does not give it. No error may be smaller than the error from `least`, because the variation between
            clusters tells little about an error if nearly all clusters agree.
        separated: True if some weighted sum of coefficients would be infinite without a penalty.
        weights: share of each cluster in the information; None where there are no numbers.
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
        """The `problem` of the fit. Without a problem, ``separated`` if the fit is separated, else nothing."""
        return [self.problem] if self.problem else [flags.SEPARATED] if self.separated else []

    def tells(self, weights: np.ndarray) -> bool:
        """True if the design determines a weighted sum of coefficients.

        Args:
            weights: weight of each coefficient, shape (k,).
        """
        return bool(not self.problem and np.abs(self.space @ weights - weights).max() < 1e-6)

    def contrast(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Weighted sum of coefficients, and each cluster's influence on this sum.

        Both are NaN if the design does not determine the sum. If the influences give a smaller standard error than
        `least`, they are scaled up until both standard errors are equal.

        Args:
            weights: weight of each coefficient, shape (k,).
        """
        estimate, influence = self._contrast(weights)
        if self.least is not None and (spread := _error(influence)) > 0:
            influence = influence * max(1.0, self._least(weights) / spread)
        return estimate, influence

    def df(self, contrasts: np.ndarray) -> float:
        """Degrees of freedom of contrasts, rows of shape (q, k), see `Weights.df`.

        They are at most n - 1, for n clusters with an influence on the contrasts.
        """
        most = counted(self.influence @ contrasts.T) - 1.0
        return most if self.weights is None else min(most, self.weights.df(contrasts))

    def interval(self, weights: np.ndarray, confidence: float) -> Row:
        """`estimate`, `se`, `df`, `ci_low`, `ci_high` and `p` of a contrast, see the function `interval`.

        If `least` is None, the standard error comes from the variation between clusters, and the interval uses
        Student's t. Otherwise there is a second standard error, from `least`, and the larger of the two counts. The
        distribution of an interval with two errors is

        - normal, if clusters do not vary more than `least` explains (a chi-square test at 1%), because the error from
          `least` is as certain with few clusters as with many;
        - Student's t, if clusters vary more, or if the fit is `separated`, because in a separated fit clusters cannot
          show how they vary.

        Args:
            weights: weight of each coefficient in the contrast, shape (k,).
            confidence: nominal coverage of the interval, such as 0.95.
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
        return float(without_rounding(weights @ self.coefficients)), self.influence @ weights

    def _least(self, weights: np.ndarray) -> float:
        return float(np.sqrt(weights @ self.least @ weights))

    def no_effect(self, contrasts: np.ndarray) -> float:
        """p-value of the hypothesis that all contrasts (rows, shape (q, k)) are 0, by `all_zero`.

        Contrasts that the design does not determine are left out; NaN if no contrast is left. For one contrast, or
        several multiples of one contrast, the p-value is that of the contrast's `interval`.
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
    """Coefficients, and sums over each cluster, from which the errors of the coefficients are computed.

    Clusters can be merged: the coefficients stay, and the sums of the merged clusters are added.

    Attributes:
        coefficients: the coefficients, shape (k,).
        score: score of each cluster at the coefficients, shape (n_clusters, k).
        information: information of each cluster at the coefficients, shape (n_clusters, k, k).
        problem: reason why there are no numbers; empty where there are numbers.
        least: covariance of the coefficients if the observations of a cluster were independent, shape (k, k); None if
            the fit does not give it.
        separated: True if some weighted sum of coefficients would be infinite without a penalty.
    """

    coefficients: np.ndarray
    score: np.ndarray
    information: np.ndarray
    problem: str = ""
    least: np.ndarray | None = None
    separated: bool = False

    def by_cluster(self, cluster: np.ndarray) -> "Sums":
        """Sums of merged clusters.

        Args:
            cluster: index of the merged cluster to which each cluster belongs, from 0, shape (n_clusters,).
        """
        return self._replace(score=together(self.score, cluster), information=together(self.information, cluster))

    def fit(self) -> Fit:
        """Fit with each cluster's influence on the coefficients."""
        if self.problem:
            return nothing(self.score.shape, self.problem)
        moved, space, weights = influence(self.score, self.information)
        return Fit(self.coefficients, moved, space, least=self.least, separated=self.separated, weights=weights)


def together(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sum the values of smaller clusters over the clusters to which they belong.

    Args:
        values: values of each smaller cluster, shape (n, ...).
        cluster: index, from 0, of the cluster to which each smaller cluster belongs, shape (n,).

    Returns:
        Shape (n_clusters, ...).
    """
    if np.array_equal(cluster, np.arange(len(values))):
        return values
    return sums_by(cluster, np.arange(len(values)), None, int(cluster.max(initial=-1)) + 1, values)


def sums_by(
    cluster: np.ndarray, row: np.ndarray, weight: np.ndarray | None, n_clusters: int, values: np.ndarray
) -> np.ndarray:
    """Sum weighted rows of a table over clusters; the rows of a cluster are added in the order given.

    Each summand is a row times a weight.

    Args:
        cluster: index of each summand's cluster, from 0.
        row: index of each summand's row of `values`, from 0.
        weight: weight of each summand; 1 if None.
        n_clusters: number of clusters.
        values: the table, shape (n_rows, ...).

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
        right: sum over the observations of each cluster of column times response, shape (n_clusters, k).
        information: sum over the observations of each cluster of column times column, shape (n_clusters, k, k).
    """
    total = information.sum(axis=0)
    values, vectors = np.linalg.eigh(total)
    kept = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    if not kept.any():
        return without(right.shape, flags.NO_COMPARISONS)
    coefficients = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ right.sum(axis=0))
    return Sums(coefficients, right - information @ coefficients, information)


def without(shape: tuple[int, int], problem: str) -> Sums:
    """Sums of a fit without numbers.

    Args:
        shape: number of clusters, and number of coefficients.
        problem: reason why there are no numbers.
    """
    return Sums(np.full(shape[1], np.nan), np.zeros(shape), np.zeros((*shape, shape[1])), problem)


def nothing(shape: tuple[int, int], problem: str) -> Fit:
    """A fit without numbers.

    Args:
        shape: number of clusters, and number of coefficients.
        problem: reason why there are no numbers.
    """
    numbers = np.full(shape[1], np.nan), np.full(shape, np.nan), np.zeros((shape[1], shape[1]))
    return Fit(*numbers, problem, separated=problem == flags.SEPARATED)


def influence(score: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, np.ndarray, Weights]:
    """Influence of each cluster on the estimate, projection onto the contrasts that the design determines, and weights.

    The influence is how far the estimate moves when the cluster is left out. The cluster's score is divided by the
    information of all other clusters, not of all clusters. This is the one-step jackknife. The covariance that follows
    from these influences is the sandwich estimator named CR3, which is also that of Mancl and DeRouen. With few
    clusters, the plain sandwich estimator is too small; CR3 is not. If a cluster determines a contrast about which the
    other clusters tell nothing, the influence of this cluster is NaN.

    Args:
        score: score of each cluster, shape (n_clusters, k).
        information: information of each cluster, shape (n_clusters, k, k).

    Returns:
        Influence, shape (n_clusters, k); projection, shape (k, k); and `Weights`.

    Source: Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples;
    Mancl and DeRouen (2001), A covariance estimator for GEE with improved small-sample properties.
    """
    values, vectors = np.linalg.eigh(information.sum(axis=0))
    kept = values > ROUNDING * max(values.max(initial=0.0), 1e-300)
    basis = vectors[:, kept]
    root = basis / np.sqrt(values[kept])
    share = root.T @ information @ root
    left = np.eye(int(kept.sum())) - share
    alone = np.linalg.eigvalsh(left)[:, :1].ravel() < ROUNDING if kept.any() else np.zeros(len(score), bool)
    left[alone] = np.nan
    inverse = np.linalg.inv(left)
    moved = (inverse @ (score @ root)[..., None])[..., 0]
    return moved @ root.T, basis @ basis.T, Weights(root, share, inverse)


def without_rounding(estimates: np.ndarray | float) -> np.ndarray:
    """Estimates, with 0 for those below `NEGLIGIBLE`. Where all clusters round alike, rounding would be significant."""
    return np.where(np.abs(estimates) < NEGLIGIBLE, 0.0, estimates)


def counted(influence: np.ndarray) -> int:
    """Number of clusters with a nonzero influence; other clusters do not show how clusters vary.

    Args:
        influence: influence of each cluster, shape (n_clusters, ...).
    """
    size = np.abs(influence.reshape(len(influence), -1))
    rounding = NEGLIGIBLE * np.nanmax(size, initial=0)
    return int((~(size <= rounding)).any(axis=1).sum())  # NaN counts


def interval(estimate: float, influence: np.ndarray, confidence: float, *, df: float | None = None) -> Row:
    """`estimate`, its standard error `se`, `df`, `ci_low`, `ci_high`, and `p` of no effect, by Student's t.

    Args:
        estimate: the estimate. It counts as 0 if it is below `NEGLIGIBLE`.
        influence: influence of each cluster on the estimate, shape (n_clusters,). A cluster with an influence of 0 does
            not count.
        confidence: nominal coverage, such as 0.95.
        df: degrees of freedom of the standard error. By default they are those of equal clusters: 1 less than the
            number of clusters that count.

    Returns:
        The six values. All but the estimate are NaN if fewer than two clusters count, if an influence is NaN, or if
        `df` is not above 0.
    """
    estimate = float(without_rounding(estimate))
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
    """p-value of the hypothesis that several estimates are 0: an F test with clusters as the sample.

    The statistic is Hotelling's T-squared. The test assumes that the covariance has a Wishart distribution with `df`
    degrees of freedom.

    Args:
        estimates: the estimates, shape (q,). Those below `NEGLIGIBLE` count as 0.
        influence: influence of each cluster on the estimates, shape (n_clusters, q). A cluster counts if any of its
            influences is not 0.
        df: degrees of freedom of the covariance. By default they are those of equal clusters: 1 less than the number
            of clusters that count.

    Returns:
        The p-value. NaN in four cases:

        - fewer than two clusters count;
        - an influence is NaN;
        - the number of clusters that count is not larger than the number of estimates that vary between clusters;
        - the degrees of freedom are fewer than the linearly independent estimates that vary between clusters.

    Source: the statistic HTZ of Pustejovsky and Tipton (2018), Small-sample methods for cluster-robust variance
    estimation and hypothesis testing in fixed effects models.
    """
    n = counted(influence)
    if n - 1 < max((influence != 0).any(axis=0).sum(), 1) or np.isnan(influence).any():
        return np.nan
    values, vectors = np.linalg.eigh(influence.T @ influence * (n - 1) / n)
    kept = values > ROUNDING * max(values.max(), 1e-300)
    q = int(kept.sum())
    rest = (n - 1.0 if df is None else df) - q + 1
    if q == 0 or not rest >= 1 - ROUNDING:  # degrees of freedom of equal clusters are whole, apart from rounding
        return np.nan
    squared = ((vectors[:, kept].T @ without_rounding(estimates)) ** 2 / values[kept]).sum()
    return float(distributions.f_tail(squared * rest / (q * (rest + q - 1)), q, rest))
