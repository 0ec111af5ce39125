"""Whether one strategy agrees better with people than another: paired differences of correlations.

The mean of K reads agrees better with people than one read does, whatever is varied between them. Repeats of one prompt
at temperature 0 are one read. A strategy of several orderings so gains on `fixed` also where no order matters; the
difference is told apart into what single reads gain and what averaging adds to either strategy.
"""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import CLUSTERS, KEYS, STRATEGIES, VALUES, stream
from rubric_order.methods import averaging, blocks, distributions, item_scores, multiplicity, resampling, subsets, tidy

COLUMNS = {"scores": item_scores.COLUMNS}
# Strategies whose k-th read of every item is in one ordering: single reads of theirs are read in single orderings.
ONE_ORDERING_A_READ = ("balanced", "balanced_williams", "all", "repeated_rotations")
ONE_ORDERING = ("fixed", "single")  # strategies of the usual ordering alone
NEARLY_ALL = 0.95  # share of items whose repeats are the same, from which on repeats are nearly one read
SAME, ONE_READ = "repeats nearly identical", "one read"
ROUNDING = 1e-12  # of a correlation


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
        two-sided, see `resampling.two_sided_p`. NaN where a score is constant; one cluster has no interval and no p.

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
    p = resampling.two_sided_p(differences)
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
    return _by_jackknife(one - two, change, confidence)


def paired_parts(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> Iterator[tuple[str, dict]]:
    """What a difference of two mean scores' correlations is made of.

    Args:
        first, second: scores of each item in each of its reads, shapes (n_items, K) and (n_items, L), NaN for a read
            without one; the reads of a column are in one ordering.
        human, clusters: see `paired_difference`.

    Yields:
        Name, and `estimate`, `ci_low`, `ci_high` and `p` as of `paired_rank_difference`: ``order``, mean r of single
        reads of the first less that of the second; ``averaging``, r of the first's mean score less the mean r of its
        single reads; ``averaging_baseline``, the same of the second. The difference is order + averaging -
        averaging_baseline.
    """
    one, two = (averaging.agreement(values, human) for values in (first, second))
    parts = {
        "order": (one.single - two.single, one.of_single - two.of_single),
        "averaging": (one.mean - one.single, one.of_mean - one.of_single),
        "averaging_baseline": (two.mean - two.single, two.of_mean - two.of_single),
    }
    for name, (value, influence) in parts.items():
        yield name, _by_jackknife(value, resampling.sum_units(influence[:, None], clusters)[:, 0], confidence)


def _by_jackknife(difference: float, change: np.ndarray, confidence: float) -> dict:
    """A difference with its interval and p-value from what each cluster adds to it, shape (n_clusters,)."""
    if abs(difference) < ROUNDING and np.abs(change).max() < ROUNDING:  # the same reads, averaged
        difference, change = 0.0, np.zeros_like(change)
    error = resampling.jackknife_error(change)
    low, high = resampling.jackknife_interval(difference, change, confidence)
    with np.errstate(invalid="ignore", divide="ignore"):  # equal scores differ by 0 without an error
        away = np.where(difference == 0, 0 * error, np.abs(difference) / error)
    p = 2 * distributions.t_tail(away, max(len(change) - 1, 1))
    return {"estimate": difference, "ci_low": float(low), "ci_high": float(high), "p": float(p)}


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
        `n_items` items that both have scored, or ``spearman``, with `paired_rank_difference`. Where the baseline is of
        `ONE_ORDERING` and the strategy of `ONE_ORDERING_A_READ`, also the parts of Pearson's difference, see
        `paired_parts`: ``order`` is the mean r of single orderings less that of the usual one. `p` respects clusters;
        `p_holm` and `p_bh` are adjusted for the `n_tests` of its family.

        `same_repeats` is the share of items whose reads under the baseline all have the same score, where that is a
        strategy of `ONE_ORDERING` (up to 0.005 points). `flag` says `SAME` from `NEARLY_ALL` on, and `ONE_READ` where
        there is one read an item: the baseline's mean is then one read, and the difference is one of averaging too.
    """
    by = [key for key in KEYS if key != "strategy"]
    found: dict[tuple, dict[str, tuple[pd.DataFrame, pd.DataFrame]]] = {}
    for block in blocks.blocks(scores):
        for readout in VALUES:
            means = item_scores.means(item_scores.totals(block, readout))
            if len(means):
                key = (*(block.keys[name] for name in by), readout)
                reads = pd.DataFrame(block.matrix(VALUES[readout]), index=block.items["item_id"])
                found.setdefault(key, {})[block.keys["strategy"]] = means, reads
    rows = []
    for key, of_strategy in found.items():
        about = dict(zip([*by, "readout"], key, strict=True))
        present = [strategy for strategy in STRATEGIES if strategy in of_strategy]
        for strategy, baseline in itertools.combinations(present, 2):
            (first, *_), (second, *_) = of_strategy[strategy], of_strategy[baseline]
            both = first.join(second["judge"].rename("baseline"), how="inner")
            for criterion, items in item_scores.by_criterion(both):
                name = about | {"strategy": strategy, "baseline": baseline, "criterion": criterion}
                reads = [of_strategy[each][1].loc[items.index].to_numpy() for each in (strategy, baseline)]
                rows += _compared(name, items, *reads, resamples=resamples, confidence=confidence, seed=seed)
    columns = [*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["same_repeats", "flag", "n_items", "n_clusters", "method"]
    words = ["baseline", "criterion", "readout", "cluster", "quantity", "flag", "method"]
    table = tidy.from_rows(rows, columns, words)
    return multiplicity.adjust(table.assign(confidence=confidence, seed=seed))


def _compared(
    name: dict,
    items: pd.DataFrame,
    reads: np.ndarray,
    repeated: np.ndarray,
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> Iterator[dict]:
    """Rows of one comparison, a row a kind of cluster and quantity.

    Args:
        items: see `item_scores.means`, with the scores under the baseline as `baseline`.
        reads, repeated: scores of these items in each read under the strategy and under the baseline.
    """
    if items.empty:
        return
    apart = name["strategy"] in ONE_ORDERING_A_READ and name["baseline"] in ONE_ORDERING
    common = name | {"n_items": len(items)} | _repeats(name["baseline"], repeated)
    scores = [items[column].to_numpy(dtype=float) for column in ("judge", "baseline", "human")]
    for cluster in CLUSTERS:
        clusters = item_scores.clusters_of(items, cluster)
        about = common | {"cluster": cluster, "n_clusters": int(clusters.max()) + 1}
        difference = paired_difference(
            *scores,
            clusters,
            resamples=resamples,
            confidence=confidence,
            rng=randomness.generator(seed, "strategy comparison", *stream(name.values()), cluster),
        )
        method = f"paired percentile bootstrap over {cluster}s, {resamples} resamples"
        yield about | {"quantity": "pearson", "method": method} | difference
        jackknife = about | {"method": f"infinitesimal jackknife over {cluster}s"}
        yield jackknife | {"quantity": "spearman"} | paired_rank_difference(*scores, clusters, confidence=confidence)
        if apart:
            for part, found in paired_parts(reads, repeated, scores[2], clusters, confidence=confidence):
                yield jackknife | {"quantity": part} | found


def _repeats(baseline: str, repeated: np.ndarray) -> dict:
    """How alike the reads of a baseline of one ordering are; nothing of another one."""
    if baseline not in ONE_ORDERING:
        return {"same_repeats": np.nan, "flag": ""}
    if repeated.shape[1] == 1:
        return {"same_repeats": np.nan, "flag": ONE_READ}
    same = averaging.nearly_same(repeated)
    return {"same_repeats": same, "flag": SAME if same >= NEARLY_ALL else ""}
