"""Comparison of strategies by their agreement with people: paired differences of correlations.

The mean of K reads agrees better with people than one read does, whatever is varied between them. Repeats of one prompt
at temperature 0 are one read. A strategy of several orderings so gains on `fixed` also where no order matters; the
difference is told apart into what single reads gain and what averaging adds to either strategy.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.intervals import Interval
from rubric_order.base.keys import CLUSTERS, KEYS, values_in
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, averaging, item_scores
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import multiplicity, resampling
from rubric_order.strategies import COMPARED, names

COLUMNS = {"scores": item_scores.COLUMNS}
# Strategies whose k-th read of every item is in one ordering: single reads of theirs are read in single orderings.
ONE_ORDERING_A_READ = names(lambda strategy: strategy.one_ordering_a_read)
ONE_ORDERING = names(lambda strategy: strategy.one_ordering)  # strategies of the usual ordering alone
NEARLY_ALL = 0.95  # share of items whose repeats are the same, from which on repeats are nearly one read
SAME, ONE_READ = "repeats nearly identical", "one read"
ROUNDING = 1e-12  # of a correlation
QUANTITIES = ("pearson", "spearman", "order", "averaging", "averaging_baseline")


def paired_rank_difference(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> Row:
    """Difference of Spearman's rho with a third score, the first of two scores less the second, over the same items.

    Args:
        first, second, human: scores of each item, shape (n_items,).
        clusters: number of each item's cluster, see `item_scores.clusters_of`; a cluster is left out whole.

    Returns:
        `estimate`, `ci_low`, `ci_high`, `p` and `df`, see `resampling.jackknife_t`. NaN where a score is constant; one
        cluster has no interval and no p.
    """
    one, other = (agreement.parts("spearman", scores, human, clusters) for scores in (first, second))
    return _by_jackknife(one - other, clusters, confidence)


def paired_differences(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> dict[str, dict[str, Any]]:
    """The difference of two mean scores' correlations with a third, and what it is made of.

    Args:
        first, second: scores of each item in each of its reads, shapes (n_items, K) and (n_items, L), NaN for a read
            without one; the reads of a column are in one ordering.
        human, clusters: see `paired_rank_difference`.

    Returns:
        By name, as of `paired_rank_difference`: ``pearson``, r of the first's mean score less r of the second's;
        ``order``, mean r of single reads of the first less that of the second; ``averaging``, r of the first's mean
        score less the mean r of its single reads; ``averaging_baseline``, the same of the second. The difference is
        order + averaging - averaging_baseline.
    """
    one, two = (averaging.agreement(values, human, clusters) for values in (first, second))
    parts = {
        "pearson": one.mean - two.mean,
        "order": one.single - two.single,
        "averaging": one.mean - one.single,
        "averaging_baseline": two.mean - two.single,
    }
    return {name: _by_jackknife(values, clusters, confidence) for name, values in parts.items()}


def _by_jackknife(values: np.ndarray, clusters: np.ndarray, confidence: float) -> Row:
    """A difference with its interval and p-value, from what it is without each part of the clusters."""
    sizes = resampling.part_sizes(clusters)
    if len(values) == len(sizes) + 1 and np.abs(values).max() < ROUNDING:  # the same reads, averaged
        several = len(sizes) > 1
        interval, p = (Interval(0.0, 0.0, 0.0), 1.0) if several else (Interval(0.0), np.nan)
    else:
        jackknife = resampling.jackknife_t(values, confidence, sizes=sizes)
        interval, p = jackknife.interval, float(jackknife.p)
    return interval.columns() | {"p": p, "df": resampling.degrees(sizes)}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Difference of the correlation with human scores between each two strategies of a study, item by item.

    Args:
        scores: see `blocks.blocks`.
        confidence: see the package.

    Returns:
        One row a study, judge, profile, dataset, scale, criterion (``all``: pooled), readout, `cluster`, `strategy`,
        `baseline` and `quantity`: ``pearson`` or ``spearman``, the difference of the strategy from the baseline over
        the `n_items` items that both have scored. Where the baseline is of `ONE_ORDERING` and the strategy of
        `ONE_ORDERING_A_READ`, also the parts of Pearson's difference, see `paired_differences`: ``order`` is the mean r
        of single orderings less that of the usual one. Intervals and `p` are those of a jackknife over clusters with
        Student's t of `df` degrees of freedom, see `resampling.degrees`; `p_holm` and `p_bh` are adjusted for the
        `n_tests` of its family.

        `same_repeats` is the share of items whose reads under the baseline all have the same score, where that is a
        strategy of `ONE_ORDERING` (up to 0.005 points). `flag` says `SAME` from `NEARLY_ALL` on, and `ONE_READ` where
        there is one read an item: the baseline's mean is then one read, and the difference is one of averaging too.
    """
    by = [key for key in KEYS if key != "strategy"]
    by_setting: dict[tuple[Any, ...], dict[str, tuple[pd.DataFrame, pd.DataFrame]]] = {}
    for block in blocks.blocks(scores):
        for readout, column in values_in(block.table.columns).items():
            means = item_scores.means(item_scores.totals(block, readout))
            if len(means):
                key = (*(block.keys[name] for name in by), readout)
                reads = pd.DataFrame(block.matrix(column), index=block.items["item_id"])
                by_setting.setdefault(key, {})[block.keys["strategy"]] = means, reads
    rows: list[Row] = []
    for key, of_strategy in by_setting.items():
        setting = dict(zip([*by, "readout"], key, strict=True))
        present = [strategy for strategy in COMPARED if strategy in of_strategy]
        for strategy, baseline in itertools.combinations(present, 2):
            (first, *_), (second, *_) = of_strategy[strategy], of_strategy[baseline]
            both = first.join(second["judge"].rename("baseline"), how="inner")
            for criterion, items in item_scores.by_criterion(both):
                name = setting | {"strategy": strategy, "baseline": baseline, "criterion": criterion}
                reads = [of_strategy[side][1].loc[items.index].to_numpy() for side in (strategy, baseline)]
                rows += _compared(name, items, *reads, confidence=confidence)
    columns = [*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["df", "effective_clusters", "same_repeats", "flag", "n_items", "n_clusters", "method"]
    words = ["baseline", "criterion", "readout", "cluster", "quantity", "flag", "method"]
    table = tidy.from_rows(rows, columns, words)
    return multiplicity.adjust(table.assign(confidence=confidence))


def _compared(
    name: Row, items: pd.DataFrame, reads: np.ndarray, repeated: np.ndarray, *, confidence: float
) -> Iterator[Row]:
    """Rows of one comparison, a row a kind of cluster and quantity.

    Args:
        items: see `item_scores.means`, with the scores under the baseline as `baseline`.
        reads, repeated: scores of these items in each read under the strategy and under the baseline.
    """
    if items.empty:
        return
    apart = name["strategy"] in ONE_ORDERING_A_READ and name["baseline"] in ONE_ORDERING
    common = name | {"n_items": len(items)} | _repeats(name["baseline"], repeated)
    judge, baseline, human = (items[column].to_numpy(dtype=float) for column in ("judge", "baseline", "human"))
    for cluster in CLUSTERS:
        clusters = item_scores.clusters_of(items, cluster)
        of_cluster = common | {"cluster": cluster, "n_clusters": int(clusters.max()) + 1}
        of_cluster["effective_clusters"] = resampling.effective(np.bincount(clusters))
        of_cluster["method"] = f"jackknife over {cluster}s, Student's t"
        differences = paired_differences(reads, repeated, human, clusters, confidence=confidence)
        differences["spearman"] = paired_rank_difference(judge, baseline, human, clusters, confidence=confidence)
        for quantity in QUANTITIES if apart else QUANTITIES[:2]:
            yield of_cluster | {"quantity": quantity} | differences[quantity]


def _repeats(baseline: str, repeated: np.ndarray) -> Row:
    """Share of items with the same reads under a baseline of one ordering, and its flag; nothing of another one."""
    if baseline not in ONE_ORDERING:
        return {"same_repeats": np.nan, "flag": ""}
    if repeated.shape[1] == 1:
        return {"same_repeats": np.nan, "flag": ONE_READ}
    same = averaging.nearly_same(repeated)
    return {"same_repeats": same, "flag": SAME if same >= NEARLY_ALL else ""}
