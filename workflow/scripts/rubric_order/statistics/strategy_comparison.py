"""Whether one strategy agrees better with people than another: paired differences of correlations."""

import itertools
from collections.abc import Iterable

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS, STRATEGIES, VALUES, stream
from rubric_order.methods import blocks, distributions, item_scores, multiplicity, resampling, subsets, tidy

COLUMNS = {"scores": item_scores.COLUMNS}
# p-values are adjusted within one of these: all judges, profiles, datasets and scales, of pooled or of single criteria.
FAMILY = ["study", "strategy", "baseline", "readout", "cluster", "quantity", "pooled"]
LEAST_IN_TAIL = 10  # resamples; the share of fewer is not known well


def paired_difference(
    first: np.ndarray,
    second: np.ndarray,
    human: np.ndarray,
    clusters: np.ndarray,
    *,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict:
    """How much better the first of two scores correlates with a third, over the same items.

    Args:
        first, second, human: scores of each item, shape (n_items,).
        clusters: number of each item's cluster, see `item_scores.clusters_of`; a cluster is drawn whole.

    Returns:
        `estimate`, r of the first less r of the second; its percentile interval (`ci_low`, `ci_high`); and `p`,
        two-sided: twice the smaller share of resamples in which the difference is not positive, or not negative. Where
        that is less than `LEAST_IN_TAIL` resamples, p is that of a normal distribution with the mean and variance of
        the resamples, so that many tests can be adjusted for without resamples by the million. NaN where a score is
        constant; one cluster has no interval and no p.

    Source: Xu et al. (2026), Section 4.4 and Table 3.
    """
    first, second, human = (values - values.mean() for values in (first, second, human))  # keeps digits
    products = [first, second, human, first**2, second**2, human**2, first * human, second * human]
    moments = resampling.sum_units(np.column_stack([np.ones(len(human)), *products]), clusters)
    resampled = resampling.bootstrap_sums(moments, resamples, rng=rng)
    found, *differences = _difference(np.vstack([moments.sum(axis=0), resampled]))
    # Resamples of one cluster are all the same, which says nothing.
    differences = np.array(differences) if len(moments) > 1 else np.full(resamples, np.nan)
    low, high = resampling.percentile_interval(differences, confidence)
    p = _p_value(differences[~np.isnan(differences)]) if np.isfinite(low) else np.nan
    return {"estimate": float(found), "ci_low": float(low), "ci_high": float(high), "p": p}


def paired_rank_difference(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> dict:
    """How much better the first of two scores correlates with a third by Spearman's rho, over the same items.

    A resample would change all ranks, so the interval is an infinitesimal jackknife over clusters; `p` is that of its
    Student's t.

    Args:
        first, second, human, clusters: see `paired_difference`.

    Returns:
        `estimate`, `ci_low`, `ci_high` and `p`, as `paired_difference` does.
    """
    (one, influence), (two, other) = (subsets.spearman_influence(scores, human) for scores in (first, second))
    change = resampling.sum_units((influence - other)[:, None], clusters)[:, 0] / len(human)
    difference, error = one - two, resampling.jackknife_error(change)
    low, high = resampling.jackknife_interval(difference, change, confidence)
    with np.errstate(invalid="ignore", divide="ignore"):  # equal scores differ by 0 without an error
        away = np.where(difference == 0, 0 * error, np.abs(difference) / error)
    p = 2 * distributions.t_tail(away, max(len(change) - 1, 1))
    return {"estimate": difference, "ci_low": float(low), "ci_high": float(high), "p": float(p)}


def _p_value(differences: np.ndarray) -> float:
    smaller = min((differences <= 0).sum(), (differences >= 0).sum())
    if smaller >= LEAST_IN_TAIL or np.ptp(differences) == 0:
        return float(min(2 * (smaller + 1) / (len(differences) + 1), 1))
    return float(2 * distributions.normal_tail(abs(differences.mean()) / differences.std()))


def _difference(moments: np.ndarray) -> np.ndarray:
    """Difference of two correlations from summed moments, shape (..., 9) -> (...)."""
    total, first, second, human, first_2, second_2, human_2, first_human, second_human = moments.T
    spread_human = total * human_2 - human**2

    def correlation(sum_x, sum_xx, sum_xy):
        spread = total * sum_xx - sum_x**2
        varies = (spread > 1e-11 * total**2) & (spread_human > 1e-11 * total**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(varies, (total * sum_xy - sum_x * human) / np.sqrt(spread * spread_human), np.nan)

    return correlation(first, first_2, first_human) - correlation(second, second_2, second_human)


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Difference of the correlation with human scores between each two strategies of a study, item by item.

    Args:
        scores: see `blocks.blocks`.
        resamples, confidence, seed: see the package; both strategies are resampled together.

    Returns:
        One row a study, judge, profile, dataset, scale, criterion (``all``: pooled), readout, `cluster`, `strategy`,
        `baseline` and `quantity`: ``pearson``, with `paired_difference` of the strategy from the baseline over the
        `n_items` items that both have scored, or ``spearman``, with `paired_rank_difference`. `p` respects clusters;
        `p_holm` and `p_bh` are adjusted for the `n_tests` of its family.
    """
    by = [key for key in KEYS if key != "strategy"]
    found: dict[tuple, dict[str, pd.DataFrame]] = {}
    for block in blocks.blocks(scores):
        for readout in VALUES:
            means = item_scores.means(item_scores.totals(block, readout))
            if len(means):
                key = (*(block.keys[name] for name in by), readout)
                found.setdefault(key, {})[block.keys["strategy"]] = means
    rows = []
    for key, means in found.items():
        about = dict(zip([*by, "readout"], key, strict=True))
        present = [strategy for strategy in STRATEGIES if strategy in means]
        for strategy, baseline in itertools.combinations(present, 2):
            both = means[strategy].join(means[baseline]["judge"].rename("baseline"), how="inner")
            for criterion, items in item_scores.by_criterion(both):
                name = about | {"strategy": strategy, "baseline": baseline, "criterion": criterion}
                rows += _compared(name, items, resamples=resamples, confidence=confidence, seed=seed)
    columns = [*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    words = ["baseline", "criterion", "readout", "cluster", "quantity", "method"]
    table = tidy.from_rows(rows, [*columns, "n_items", "n_clusters", "method"], words)
    table = table.assign(confidence=confidence, seed=seed, pooled=table["criterion"] == EVERY)
    return multiplicity.adjust(table, "p", FAMILY).drop(columns="pooled")


def _compared(name: dict, items: pd.DataFrame, *, resamples: int, confidence: float, seed: int) -> list[dict]:
    """Rows of one comparison, a row a kind of cluster and correlation."""
    rows = []
    for cluster in CLUSTERS if len(items) else ():
        clusters = item_scores.clusters_of(items, cluster)
        scores = [items[column].to_numpy(dtype=float) for column in ("judge", "baseline", "human")]
        difference = paired_difference(
            *scores,
            clusters,
            resamples=resamples,
            confidence=confidence,
            rng=randomness.generator(seed, "strategy comparison", *stream(name.values()), cluster),
        )
        sizes = {"n_items": len(items), "n_clusters": int(clusters.max()) + 1}
        method = f"paired percentile bootstrap over {cluster}s, {resamples} resamples"
        about = name | {"cluster": cluster} | sizes
        rows.append(about | {"quantity": "pearson", "method": method} | difference)
        difference = paired_rank_difference(*scores, clusters, confidence=confidence)
        method = f"infinitesimal jackknife over {cluster}s"
        rows.append(about | {"quantity": "spearman", "method": method} | difference)
    return rows
