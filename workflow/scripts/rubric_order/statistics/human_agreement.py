"""Agreement of a judge's scores with human scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from rubric_order.base import keys, randomness
from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.methods import blocks, resampling
from rubric_order.methods.blocks import VALUES, Block
from rubric_order.statistics import parse_failures

POOLED = "all"
COLUMNS = [*KEYS, "item_id", "group_id", "criterion", "human_score", "read_index", *VALUES.values()]
HUMAN_SCALE = (1, 5)  # where a dataset says nothing else
MAX_LEFT_OUT = 200  # parts of a jackknife
BLOCK = 1024  # columns of a table of pairs that are in memory at once
MANY = 128  # values that are counted one by one
FEW = 64  # rows of one that fit into a processor's cache


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r over the last axis, shape (..., n) -> (...); NaN where either is constant or n < 2."""
    # Constants are found before centring: a mean is rounded, and what is left of a constant need not be zero.
    varies = (np.ptp(x, axis=-1) > 1e-12) & (np.ptp(y, axis=-1) > 1e-12)
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, np.clip((x * y).sum(axis=-1) / spread, -1, 1), np.nan)


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Spearman's rho over the last axis, with mean ranks for ties."""
    return pearson(stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1))


# The same and two more with weights: how often each pair of scores is there. A resample is a row of weights, so that
# all resamples are one table, and what is the same in all of them is computed once.


def weighted_pearson(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's r of pairs (x, y) that are there `weights` times, shapes (n,), (n,), (..., n) -> (...).

    NaN where either is constant.
    """
    x, y = x - x.mean(), y - y.mean()  # keeps digits
    total = weights.sum(axis=-1)
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = (weights @ np.column_stack([x, y, x * x, y * y, x * y])).T
    spread_x, spread_y = total * sum_xx - sum_x**2, total * sum_yy - sum_y**2
    # What rounding leaves of a constant is far less than the smallest step of a score.
    varies = (spread_x > 1e-11 * total**2 * (x * x).mean()) & (spread_y > 1e-11 * total**2 * (y * y).mean())
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (total * sum_xy - sum_x * sum_y) / np.sqrt(spread_x * spread_y)
        return np.where(varies, np.clip(r, -1, 1), np.nan).T


def weighted_spearman(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Spearman's rho of weighted pairs, see `weighted_pearson`; a value's rank is the mean rank of all its copies."""
    rows, x, y = weights.reshape(-1, len(x)), _Values(x), _Values(y)
    parts = [_spearman(x, y, rows[start : start + FEW]) for start in range(0, len(rows), FEW)]
    return np.concatenate(parts).reshape(weights.shape[:-1])


def _spearman(x: "_Values", y: "_Values", weights: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=1, keepdims=True)
    covariance, spreads = weights, []
    for values in (x, y):
        copies = values.copies(weights)
        # Of w copies after c smaller ones, the mean rank is c + (w + 1) / 2; all ranks have the mean (N + 1) / 2.
        rank = np.cumsum(copies, axis=1) - copies / 2 - total / 2
        spreads.append(np.einsum("ij,ij,ij->i", copies, rank, rank))
        covariance = covariance * rank[:, values.code]
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = covariance.sum(axis=1) / np.sqrt(spreads[0] * spreads[1])
        return np.where((spreads[0] > 1e-9) & (spreads[1] > 1e-9), np.clip(rho, -1, 1), np.nan)


def weighted_kendall(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of weighted pairs, see `weighted_pearson`."""
    x, y = _Values(x), _Values(y)
    total = weights.sum(axis=-1)
    single = weights.astype(np.float32)  # exact for whole numbers up to 2^24, and twice as fast
    excess = np.zeros(total.shape)  # concordant less discordant pairs, each counted twice
    for start in range(0, len(x.code), BLOCK):
        part = slice(start, start + BLOCK)
        order = x.order(part) * y.order(part)
        excess += np.einsum("...i,...i->...", single @ order, single[..., part], dtype=float)
    untied = [total**2 - values.squares(weights) for values in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = excess / np.sqrt(untied[0] * untied[1])
        return np.where((untied[0] > 1e-9) & (untied[1] > 1e-9), np.clip(tau, -1, 1), np.nan)


class _Values:
    """The values of one score among weighted pairs, numbered from the least.

    Attributes:
        code: number of each pair's value, shape (n,).
    """

    def __init__(self, values: np.ndarray) -> None:
        distinct, code = np.unique(values, return_inverse=True)
        self.code = code.astype(np.int32)
        self._n = len(distinct)
        self._order = np.argsort(self.code, kind="stable")
        self._first = np.searchsorted(self.code[self._order], np.arange(self._n))

    def copies(self, weights: np.ndarray) -> np.ndarray:
        """How often each value is there, shape (..., n) -> (..., n_values)."""
        if self._n <= MANY:
            return weights @ (self.code[:, None] == np.arange(self._n)).astype(weights.dtype)
        ordered = weights[..., self._order]
        return ordered if self._n == len(self.code) else np.add.reduceat(ordered, self._first, axis=-1)

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Sum over values of how often each is there, squared, shape (..., n) -> (...)."""
        copies = weights if self._n == len(self.code) else self.copies(weights)
        return np.einsum("...i,...i->...", copies, copies)

    def order(self, part: slice) -> np.ndarray:
        """1 where a pair's value (rows) is above that of one of some others (columns), -1 where below, else 0."""
        return np.sign(self.code[:, None] - self.code[part], dtype=np.float32, casting="unsafe")


def weighted_kappa(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Quadratic-weighted kappa of weighted pairs of whole numbers, see `weighted_pearson`.

    One less the mean squared difference over what it would be if pairs were formed at random. NaN where both are the
    same constant.

    Source: Cohen (1968), Weighted kappa; written with moments, as by Fleiss and Cohen (1973).
    """
    x, y = x.astype(float), y.astype(float)
    moments = (weights @ np.column_stack([x, y, x * x + y * y, x * y])).T
    total = weights.sum(axis=-1).T
    with np.errstate(invalid="ignore", divide="ignore"):
        by_chance = moments[2] - 2 * moments[0] * moments[1] / total
        return np.where(by_chance > 1e-9, 1 - (moments[2] - 2 * moments[3]) / by_chance, np.nan).T


def rounded(scores: np.ndarray) -> np.ndarray:
    """Mean scores as whole numbers; halves are rounded up."""
    return np.floor(scores + 0.5 + 1e-9)


def human_levels(human: np.ndarray, n: int, scale: Sequence[float] = HUMAN_SCALE) -> np.ndarray:
    """Human mean scores on the judge's scale of n levels, as whole numbers; NaN if one is not on its own scale.

    Args:
        scale: least and greatest human score that can be given.
    """
    least, greatest = scale
    if human.min() < least or human.max() > greatest:
        return np.full(len(human), np.nan)
    return rounded(1 + (human - least) * (n - 1) / (greatest - least))


Statistic = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
STATISTICS: dict[str, Statistic] = {
    "pearson": weighted_pearson,
    "spearman": weighted_spearman,
    "kendall": weighted_kendall,
    "kappa": weighted_kappa,
}


class Pairs:
    """Pairs of scores, equal ones once, in clusters that can be resampled.

    Args:
        x, y: the two scores of each item, shape (n_items,).
        clusters: number of each item's cluster, see `clusters_of`.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, clusters: np.ndarray) -> None:
        pairs, self._pair = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
        self.x, self.y = pairs.T
        self.n_clusters = int(clusters.max()) + 1
        self._clusters = clusters
        self.once = self._counts(np.zeros_like(clusters))[0]

    def _counts(self, rows: np.ndarray) -> np.ndarray:
        """How often each pair is in each row of a table, shape (n_rows, n_pairs), from the row of each item."""
        n_pairs, n_rows = len(self.x), rows.max() + 1
        return np.bincount(rows * n_pairs + self._pair, minlength=n_rows * n_pairs).reshape(n_rows, -1).astype(float)

    def resampled(self, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
        """How often each pair is in each resample of clusters, shape (resamples, n_pairs)."""
        drawn = resampling.bootstrap_indices(self.n_clusters, resamples, rng=rng)
        if self.n_clusters == len(self._pair):  # an item is a cluster
            pair_of = np.empty(self.n_clusters, dtype=int)
            pair_of[self._clusters] = self._pair
            return resampling.counted(pair_of[drawn], len(self.x)).astype(float)
        return resampling.counted(drawn, self.n_clusters).astype(float) @ self._counts(self._clusters)

    def left_out(self) -> np.ndarray:
        """How often each pair is there without one cluster, shape (n_clusters, n_pairs).

        Of more than `MAX_LEFT_OUT` clusters as many parts are left out, each of clusters at equal distances.
        """
        return self.once - self._counts(self._clusters % MAX_LEFT_OUT)

    def intervals(
        self, statistic: Statistic, weights: np.ndarray, confidence: float
    ) -> tuple[float, tuple[float, float], tuple[float, float]]:
        """A statistic of all pairs, with its percentile and its BCa interval; one cluster has none.

        Args:
            statistic: of x, y and weights.
            weights: of each resample, see `resampled`.
        """
        estimate, *values = statistic(self.x, self.y, np.vstack([self.once, weights]))
        if self.n_clusters < 2:
            return float(estimate), (np.nan, np.nan), (np.nan, np.nan)
        percentile = resampling.percentile_interval(values, confidence)
        jackknife = statistic(self.x, self.y, self.left_out())
        bca = resampling.bca_interval(np.array(values), estimate, jackknife, confidence)
        return float(estimate), tuple(map(float, percentile)), bca


def item_scores(block: Block, readout: str) -> pd.DataFrame:
    """The reads of each item taken together, items without a human score left out.

    Returns:
        One row an item, with its id as index, in the order of ids: `group_id`, `criterion`, `human` (its human score),
        `n_reads`, how many of them have a score (`n_scored`), and their `sum`. A mean is the sum divided once: equal
        means of different reads are then equal to the last bit, and tie.
    """
    values = block.matrix(VALUES[readout])
    table = block.items.rename(columns={"human_score": "human"}).set_index("item_id")
    table["n_reads"] = np.bincount(block.item, minlength=len(table))
    table["n_scored"] = (~np.isnan(values)).sum(axis=1)
    table["sum"] = np.nansum(values, axis=1)
    return table.loc[table["human"].notna(), ["group_id", "criterion", "human", "n_reads", "n_scored", "sum"]]


def item_means(items: pd.DataFrame) -> pd.DataFrame:
    """The items that have a score, with their mean score as `judge`.

    Args:
        items: see `item_scores`.
    """
    usable = items[items["n_scored"] > 0]
    return usable.assign(judge=usable["sum"] / usable["n_scored"])


def clusters_of(items: pd.DataFrame, cluster: str) -> np.ndarray:
    """Number of each item's cluster, from 0 in the order of ids, shape (n_items,).

    Args:
        items: one row an item, with its id as index and its `group_id`.
        cluster: one of `keys.CLUSTERS`.
    """
    return pd.factorize(items.index if cluster == "item" else items["group_id"], sort=True)[0]


def by_criterion(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """All items, and where there are several criteria the items of each."""
    yield POOLED, items
    if items["criterion"].nunique() > 1:
        yield from items.groupby("criterion")


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    human_scales: Mapping[str, Sequence[float]] | None = None,
) -> pd.DataFrame:
    """Agreement of each item's mean score with its human score.

    Args:
        scores: reads as `scores.score_reads` returns them, see `blocks.blocks`; columns `COLUMNS`. Items without a
            human score are left out.
        resamples, confidence, seed: of the bootstrap, which draws clusters with replacement.
        human_scales: least and greatest human score of each dataset, by default `HUMAN_SCALE`; for kappa.

    Returns:
        One row a group of `KEYS`, criterion (``all``: pooled), readout, `cluster` (what is drawn: single items, or
        groups of them) and `quantity`: ``pearson``, ``spearman``, ``kendall`` (tau-b) or ``kappa`` (quadratic weights;
        mean scores are rounded, after human ones are mapped linearly to the judge's number of levels). `ci_low` and
        `ci_high` are percentiles of the bootstrap, `bca_low` and `bca_high` its bias-corrected and accelerated interval
        (Efron, 1987), with the jackknife over clusters.

        `n_items` items have a mean score, from `n_reads` reads; `n_failed` reads of items with a human score have none
        and are left out of the means. `bound_low` and `bound_high` are the least and greatest Pearson's r that their
        scores could make, see `parse_failures.correlation_bounds`. What is not defined is NaN, such as a correlation
        where judge or humans give one score only.

    Source: Xu et al. (2026), Section 4.4, for the correlations.
    """
    rows = []
    for block in blocks.blocks(scores):
        scale = (human_scales or {}).get(block.keys["dataset"], HUMAN_SCALE)
        for readout in VALUES:
            for criterion, items in by_criterion(item_scores(block, readout)):
                means = item_means(items)
                if means.empty:
                    continue
                name = block.keys | {"criterion": criterion, "readout": readout}
                failed = int((items["n_reads"] - items["n_scored"]).sum())
                sizes = {"n_items": len(means), "n_reads": int(items["n_scored"].sum()), "n_failed": failed}
                bounds = _bounds(items, block.n) if failed else None
                for cluster in CLUSTERS:
                    clusters = clusters_of(means, cluster)
                    pairs = Pairs(means["judge"].to_numpy(), means["human"].to_numpy(), clusters)
                    rng = randomness.generator(seed, "human agreement", *name.values(), cluster)
                    weights = pairs.resampled(resamples, rng=rng)
                    for quantity in STATISTICS:
                        statistic = _statistic(quantity, block.n, scale)
                        found, percentile, bca = pairs.intervals(statistic, weights, confidence)
                        row = {"cluster": cluster, "quantity": quantity, "estimate": found}
                        row |= dict(zip(("ci_low", "ci_high"), percentile, strict=True))
                        row |= dict(zip(("bca_low", "bca_high"), bca, strict=True))
                        if quantity == "pearson":
                            row |= dict(zip(("bound_low", "bound_high"), bounds or (found, found), strict=True))
                        method = f"percentile and BCa bootstrap over {cluster}s, {resamples} resamples"
                        rows.append(name | row | sizes | {"n_clusters": pairs.n_clusters, "method": method})
    columns = [*KEYS, "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high"]
    columns += ["bca_low", "bca_high", "bound_low", "bound_high", "n_items", "n_clusters", "n_reads", "n_failed"]
    words = ["criterion", "readout", "cluster", "quantity", "method"]
    return keys.typed(rows, [*columns, "method"], words).assign(confidence=confidence, seed=seed)


def _statistic(quantity: str, n: int, scale: Sequence[float]) -> Statistic:
    """A statistic of mean scores on a scale of n levels, and human scores on another."""
    if quantity != "kappa":
        return STATISTICS[quantity]
    return lambda judge, human, weights: weighted_kappa(rounded(judge), human_levels(human, n, scale), weights)


def _bounds(items: pd.DataFrame, n: int) -> tuple[float, float]:
    """The least and greatest r of mean scores, where reads without a score could have had any of 1 to n."""
    missing = items["n_reads"] - items["n_scored"]
    low, high = ((items["sum"] + missing * score) / items["n_reads"] for score in (1, n))
    return parse_failures.correlation_bounds(low.to_numpy(), high.to_numpy(), items["human"].to_numpy())
