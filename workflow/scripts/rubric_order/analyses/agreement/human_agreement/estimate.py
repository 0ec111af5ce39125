"""Agreement with human scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.gold import HUMAN
from rubric_order.base.keys import CLUSTERS, KEYS, values_in
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import attenuation, correlations, item_scores
from rubric_order.methods.agreement.item_scores import ItemScores
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import bounds

COLUMNS = {"scores": item_scores.COLUMNS, "items": ["dataset", "item_id", "criterion", "human_scores"]}
RATERS_UNKNOWN = "raters not told apart"
HUMAN_SCALE = (1, 5)  # default for datasets
STATISTICS: dict[str, correlations.Statistic] = {
    "pearson": correlations.weighted_pearson,
    "spearman": correlations.weighted_spearman,
    "kendall": correlations.weighted_kendall,
    "kappa": correlations.weighted_kappa,
}


def rounded(scores: np.ndarray) -> np.ndarray:
    return np.floor(scores + 0.5 + 1e-9)


def human_levels(human: np.ndarray, n: int, scale: Sequence[float] = HUMAN_SCALE) -> np.ndarray:
    """Human mean scores as levels 1 to n; all NaN if any score is outside `scale`."""
    least, greatest = scale
    if human.min() < least or human.max() > greatest:
        return np.full(len(human), np.nan)
    return rounded(1 + (human - least) * (n - 1) / (greatest - least))


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    human_scales: Mapping[str, Sequence[float]] | None = None,
    items: pd.DataFrame | None = None,
    golds: Mapping[str, str] | None = None,
    clusters: Sequence[str] = CLUSTERS,
) -> pd.DataFrame:
    """Agreement of each item's mean score with its human score: r, rho, Kendall's tau-b, quadratic kappa.

    Criterion ``all`` is pooled. Kappa maps human means linearly to the judge's levels and rounds. Intervals: jackknife
    over clusters on Fisher's scale, Student's t.

    Source: Xu et al. (2026), Section 4.4, for the correlations.
    """
    rows: list[Row] = []
    raters = _rater_noise(items)
    for block in blocks.blocks(scores):
        scale = (human_scales or {}).get(block.keys["dataset"], HUMAN_SCALE)
        noise = _noise_of(block, raters.get(block.keys["dataset"]))
        for readout in values_in(block.table.columns):
            labelled = item_scores.item_scores(block, readout)
            for criterion, chosen in item_scores.criterion_masks(labelled.criterion):
                subset = labelled.take(chosen)
                name = block.keys | {"criterion": criterion, "readout": readout}
                name["gold"] = (golds or {}).get(name["dataset"], HUMAN)
                rows += _correlations(name, subset, scale, confidence, clusters)
                if noise is not None:
                    rows += _corrected(name, subset.scored, noise, confidence, clusters)
    columns = [*KEYS, "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high"]
    columns += ["bound_low", "bound_high", "n_items", "n_clusters", "n_reads", "n_failed"]
    return tidy.make_table(rows, [*columns, "flag", "method", "gold"]).assign(confidence=confidence)


def _correlations(
    name: Row, items: ItemScores, scale: Sequence[float], confidence: float, kinds: Sequence[str]
) -> Iterator[Row]:
    means = items.scored
    failed = int((items.n_reads - items.n_scored).sum())
    sizes = {"n_items": len(means), "n_reads": int(items.n_scored.sum()), "n_failed": failed}
    if not len(means):
        return
    extremes = _bounds(items, name["n"]) if failed else None
    for cluster in kinds:
        pairs = correlations.Pairs(means.mean, means.human, means.clusters(cluster))
        common = name | sizes | {"cluster": cluster, "n_clusters": pairs.n_clusters, "flag": ""}
        common["method"] = f"jackknife over {cluster}s, Fisher's z and Student's t"
        for quantity in STATISTICS:
            statistic = _statistic(quantity, name["n"], scale)
            row = {"quantity": quantity} | pairs.interval(statistic, confidence).columns()
            if quantity == "pearson":
                row |= dict(zip(("bound_low", "bound_high"), extremes or [row["estimate"]] * 2, strict=True))
            yield common | row


def _rater_noise(items: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Variance of each item's mean human score, from the differences between raters, for items with several raters."""
    if items is None:
        return {}
    rated = items[items["human_scores"].map(len) > 1]
    parts: dict[str, list[pd.DataFrame]] = {}
    for (dataset, _), block in rated.groupby(["dataset", "criterion"]):
        scores = block["human_scores"]
        if scores.map(len).nunique() == 1:
            noise, identified = attenuation.rater_noise(np.array([list(row) for row in scores], dtype=float))
        else:
            noise, identified = scores.map(lambda each: np.var(each, ddof=1) / len(each)).to_numpy(), False
        parts.setdefault(dataset, []).append(
            pd.DataFrame({"noise": noise, "identified": identified}, index=block["item_id"])
        )
    return {dataset: pd.concat(tables) for dataset, tables in parts.items()}


class _Noise(NamedTuple):
    """Noise of the human scores, shape (n_items,) each; arbitrary where an item is not `rated` by several.

    Attributes:
        variance: variance of the mean human score by the noise of raters.
        identified: True if raters are told apart, so that their constant severity is no noise.
    """

    rated: np.ndarray
    variance: np.ndarray
    identified: np.ndarray


def _noise_of(block: blocks.Block, raters: pd.DataFrame | None) -> _Noise | None:
    if raters is None:
        return None
    place = raters.index.get_indexer(pd.Index(block.items["item_id"]))
    return _Noise(place >= 0, raters["noise"].to_numpy()[place], raters["identified"].to_numpy()[place])


def _corrected(name: Row, means: ItemScores, noise: _Noise, confidence: float, kinds: Sequence[str]) -> Iterator[Row]:
    rated = means.take(noise.rated[means.row])
    for cluster in kinds if len(rated) > 1 else ():
        clusters = rated.clusters(cluster)
        estimates = attenuation.corrected(rated.mean, rated.human, noise.variance[rated.row], clusters, confidence)
        common = name | {"cluster": cluster, "n_items": len(rated), "n_clusters": int(clusters.max()) + 1}
        common["n_reads"] = int(rated.n_scored.sum())
        common["n_failed"] = int(rated.n_reads.sum()) - common["n_reads"]
        common["flag"] = "" if noise.identified[rated.row].all() else RATERS_UNKNOWN
        common["method"] = f"analysis of variance of raters; jackknife over {cluster}s, Student's t"
        for quantity, interval in estimates.items():
            yield common | {"quantity": quantity} | interval.columns()


def _statistic(quantity: str, n: int, scale: Sequence[float]) -> correlations.Statistic:
    if quantity != "kappa":
        return STATISTICS[quantity]
    kappa = STATISTICS[quantity]
    return lambda judge, human, weights: kappa(rounded(judge), human_levels(human, n, scale), weights)


def _bounds(items: ItemScores, n: int) -> tuple[float, float]:
    missing = items.n_reads - items.n_scored
    low, high = ((items.total + missing * score) / items.n_reads for score in (1, n))
    return bounds.correlation_bounds(low, high, items.human)
