"""Differences of strategies' agreement with people."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.intervals import Interval
from rubric_order.base.keys import CLUSTERS, KEYS, values_in
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, averaging, item_scores
from rubric_order.methods.agreement.item_scores import ItemScores
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import multiplicity, resampling
from rubric_order.strategies import COMPARED, names

COLUMNS = {"scores": item_scores.COLUMNS}
# Strategies in which all items have the same ordering in their k-th read, so the k-th reads show a single ordering.
ONE_ORDERING_A_READ = names(lambda strategy: strategy.one_ordering_a_read)
ONE_ORDERING = names(lambda strategy: strategy.one_ordering)  # strategies of the usual ordering alone
NEARLY_ALL = 0.95  # if at least this share of items has identical repeats, repeats are nearly one read
SAME, ONE_READ = "repeats nearly identical", "one read"
ROUNDING = 1e-12  # rounding error of a correlation
QUANTITIES = ("pearson", "spearman", "order", "averaging", "averaging_baseline")


def paired_rank_difference(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> Row:
    one, other = (agreement.Compared(scores, human, clusters).parts("spearman") for scores in (first, second))
    return _jackknife_row(one - other, clusters, confidence)


def paired_differences(
    first: np.ndarray, second: np.ndarray, human: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> dict[str, dict[str, Any]]:
    one, two = (averaging.agreement(values, human, clusters) for values in (first, second))
    parts = {
        "pearson": one.mean - two.mean,
        "order": one.single - two.single,
        "averaging": one.mean - one.single,
        "averaging_baseline": two.mean - two.single,
    }
    return {name: _jackknife_row(values, clusters, confidence) for name, values in parts.items()}


def _jackknife_row(values: np.ndarray, clusters: np.ndarray, confidence: float) -> Row:
    sizes = resampling.part_sizes(clusters)
    if len(values) == len(sizes) + 1 and np.abs(values).max() < ROUNDING:  # the same reads, averaged
        several = len(sizes) > 1
        interval, p = (Interval(0.0, 0.0, 0.0), 1.0) if several else (Interval(0.0), np.nan)
    else:
        jackknife = resampling.jackknife_t(values, confidence, sizes=sizes)
        interval, p = jackknife.interval, float(jackknife.p)
    return interval.columns() | {"p": p, "df": resampling.degrees(sizes)}


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Correlation with human scores under `strategy` less that under `baseline`, on the items that both have scored.

    Jackknife over clusters; Student's t with `resampling.degrees`. Criterion ``all`` is pooled.
    """
    by = [key for key in KEYS if key != "strategy"]
    by_setting: dict[tuple[Any, ...], dict[str, _Read]] = {}
    for block in blocks.blocks(scores):
        for readout, column in values_in(block.table.columns).items():
            items = item_scores.item_scores(block, readout).scored
            if len(items):
                key = (*(block.keys[name] for name in by), readout)
                sample = _Read(items, pd.Index(block.items["item_id"].iloc[items.row]), block.matrix(column)[items.row])
                by_setting.setdefault(key, {})[block.keys["strategy"]] = sample
    rows: list[Row] = []
    for key, of_strategy in by_setting.items():
        setting = dict(zip([*by, "readout"], key, strict=True))
        present = [strategy for strategy in COMPARED if strategy in of_strategy]
        for strategy, baseline in itertools.combinations(present, 2):
            first, second = of_strategy[strategy], of_strategy[baseline]
            place = second.ids.get_indexer(first.ids)
            first, second = first.take(place >= 0), second.take(place[place >= 0])
            for criterion, chosen in item_scores.criterion_masks(first.items.criterion):
                name = setting | {"strategy": strategy, "baseline": baseline, "criterion": criterion}
                rows += _compared(name, first.take(chosen), second.take(chosen), confidence=confidence)
    columns = [*KEYS, "baseline", "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["df", "effective_clusters", "same_repeats", "flag", "n_items", "n_clusters", "method"]
    table = tidy.make_table(rows, columns)
    return multiplicity.adjust(table.assign(confidence=confidence))


class _Read(NamedTuple):
    """Items read under one strategy; `reads` has shape (n_items, K), NaN without a score."""

    items: ItemScores
    ids: pd.Index
    reads: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Read":
        return _Read(self.items.take(chosen), self.ids[chosen], self.reads[chosen])


def _compared(name: Row, first: _Read, second: _Read, *, confidence: float) -> Iterator[Row]:
    items, reads, repeated = first.items, first.reads, second.reads
    if not len(items):
        return
    apart = name["strategy"] in ONE_ORDERING_A_READ and name["baseline"] in ONE_ORDERING
    common = name | {"n_items": len(items)} | _repeats(name["baseline"], repeated)
    judge, baseline, human = items.mean, second.items.mean, items.human
    for cluster in CLUSTERS:
        clusters = items.clusters(cluster)
        of_cluster = common | {"cluster": cluster, "n_clusters": int(clusters.max()) + 1}
        of_cluster["effective_clusters"] = resampling.effective(np.bincount(clusters))
        of_cluster["method"] = f"jackknife over {cluster}s, Student's t"
        differences = paired_differences(reads, repeated, human, clusters, confidence=confidence)
        differences["spearman"] = paired_rank_difference(judge, baseline, human, clusters, confidence=confidence)
        for quantity in QUANTITIES if apart else QUANTITIES[:2]:
            yield of_cluster | {"quantity": quantity} | differences[quantity]


def _repeats(baseline: str, repeated: np.ndarray) -> Row:
    if baseline not in ONE_ORDERING:
        return {"same_repeats": np.nan, "flag": ""}
    if repeated.shape[1] == 1:
        return {"same_repeats": np.nan, "flag": ONE_READ}
    same = averaging.nearly_same(repeated)
    return {"same_repeats": same, "flag": SAME if same >= NEARLY_ALL else ""}
