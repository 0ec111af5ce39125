"""Agreement of a judge's scores with human scores."""

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
    """Mean scores as whole numbers; halves are rounded up."""
    return np.floor(scores + 0.5 + 1e-9)


def human_levels(human: np.ndarray, n: int, scale: Sequence[float] = HUMAN_SCALE) -> np.ndarray:
    """Human mean scores on the judge's scale of n levels, as whole numbers; all NaN if any score is outside `scale`.

    Args:
        human: mean human score of each item, shape (m,).
        n: number of score levels of the judge.
        scale: least and greatest possible human score.
    """
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
    """Agreement of each item's mean score with its human score.

    Args:
        scores: reads with their scores, one row per read, see `blocks.blocks`; items without a human score are left
            out.
        confidence: nominal coverage of the intervals, such as 0.95.
        human_scales: dictionary from dataset to its least and greatest human score, by default `HUMAN_SCALE`; used for
            kappa.
        items: the datasets' items with the scores of each rater (`human_scores`); None if these scores are unknown.
        golds: dictionary from dataset to the kind of its labels, for datasets whose labels are not from people, see
            module `gold`.
        clusters: kinds of clusters that are the sample, see `keys.CLUSTERS`.

    Returns:
        One row per combination of `KEYS`, criterion (``all``: pooled), `readout`, `cluster` and `quantity`:
        ``pearson``, ``spearman``, ``kendall`` (tau-b) or ``kappa`` (quadratic weights). For kappa, human mean scores
        are mapped linearly to the judge's number of levels, then all mean scores are rounded. `ci_low` and `ci_high`
        are from a jackknife over clusters on the scale of Fisher's z, with Student's t. Its degrees of freedom depend
        on the sizes of clusters.

        Items with several raters also have ``human_reliability`` and ``pearson_corrected``, see
        `attenuation.corrected`. If all items of a criterion have the same number of human scores, each item's first
        score counts as the first rater's, its second score as the second rater's, and so on. A rater's constant
        severity is then no noise.

        `flag` is ``raters not told apart`` in two cases: the number of human scores differs between items, or the mean
        first score, the mean second score and so on differ by no more than chance. Any severity of raters then counts
        as noise. This makes ``pearson_corrected`` too high if the same raters scored all items.

        `n_items` is the number of items with a mean score, and `n_reads` the number of their reads with a score.
        `n_failed` is the number of reads without a score, among the items with a human score. `bound_low` and
        `bound_high` are the least and greatest Pearson's r that are possible if each missing score may be any score,
        see `bounds.correlation_bounds`. `gold` is the kind of label, see module `gold`. Undefined numbers are NaN, for
        example a correlation if the judge or the people give one score only.

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
                own = labelled.take(chosen)
                name = block.keys | {"criterion": criterion, "readout": readout}
                name["gold"] = (golds or {}).get(name["dataset"], HUMAN)
                rows += _correlations(name, own, scale, confidence, clusters)
                if noise is not None:
                    rows += _corrected(name, own.scored, noise, confidence, clusters)
    columns = [*KEYS, "criterion", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high"]
    columns += ["bound_low", "bound_high", "n_items", "n_clusters", "n_reads", "n_failed"]
    return tidy.from_rows(rows, [*columns, "flag", "method", "gold"]).assign(confidence=confidence)


def _correlations(
    name: Row, items: ItemScores, scale: Sequence[float], confidence: float, kinds: Sequence[str]
) -> Iterator[Row]:
    """The rows of some items, one row per kind of cluster and correlation."""
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
    """Variance of each item's mean human score, from the differences between raters, for items with several raters.

    Returns:
        Dictionary from dataset to a table with one row per item. Column `noise` is the variance. Column `told` is True
        if raters are distinguished, see `attenuation.rater_noise`.
    """
    if items is None:
        return {}
    given = items[items["human_scores"].map(len) > 1]
    parts: dict[str, list[pd.DataFrame]] = {}
    for (dataset, _), own in given.groupby(["dataset", "criterion"]):
        scores = own["human_scores"]
        if scores.map(len).nunique() == 1:
            noise, told = attenuation.rater_noise(np.array([list(row) for row in scores], dtype=float))
        else:
            noise, told = scores.map(lambda each: np.var(each, ddof=1) / len(each)).to_numpy(), False
        parts.setdefault(dataset, []).append(pd.DataFrame({"noise": noise, "told": told}, index=own["item_id"]))
    return {dataset: pd.concat(tables) for dataset, tables in parts.items()}


class _Noise(NamedTuple):
    """Noise of the human scores of a block's items, shape (n_items,) each.

    Attributes:
        rated: True for an item with several raters.
        variance: variance of the item's mean human score by the noise of raters; arbitrary for an item without several
            raters.
        told: True if raters are told apart, so that their constant severity is no noise; arbitrary for an item without
            several raters.
    """

    rated: np.ndarray
    variance: np.ndarray
    told: np.ndarray


def _noise_of(block: blocks.Block, raters: pd.DataFrame | None) -> _Noise | None:
    """The noise of a block's items; None if no item of the dataset has several raters.

    Args:
        block: the reads.
        raters: table of the dataset, with one row per item with several raters, see `_rater_noise`; None if no item of
            the dataset has several raters.
    """
    if raters is None:
        return None
    place = raters.index.get_indexer(pd.Index(block.items["item_id"]))
    return _Noise(place >= 0, raters["noise"].to_numpy()[place], raters["told"].to_numpy()[place])


def _corrected(name: Row, means: ItemScores, noise: _Noise, confidence: float, kinds: Sequence[str]) -> Iterator[Row]:
    """The rows of the reliability of human scores, and of r corrected for the noise of human scores.

    Args:
        name: columns that all rows share.
        means: items with a mean score.
        noise: noise of the items of the block.
        confidence: nominal coverage of the intervals, such as 0.95.
        kinds: kinds of clusters that are the sample, see `keys.CLUSTERS`.
    """
    rated = means.take(noise.rated[means.row])
    for cluster in kinds if len(rated) > 1 else ():
        clusters = rated.clusters(cluster)
        estimates = attenuation.corrected(rated.mean, rated.human, noise.variance[rated.row], clusters, confidence)
        common = name | {"cluster": cluster, "n_items": len(rated), "n_clusters": int(clusters.max()) + 1}
        common["n_reads"] = int(rated.n_scored.sum())
        common["n_failed"] = int(rated.n_reads.sum()) - common["n_reads"]
        common["flag"] = "" if noise.told[rated.row].all() else RATERS_UNKNOWN
        common["method"] = f"analysis of variance of raters; jackknife over {cluster}s, Student's t"
        for quantity, interval in estimates.items():
            yield common | {"quantity": quantity} | interval.columns()


def _statistic(quantity: str, n: int, scale: Sequence[float]) -> correlations.Statistic:
    """Function that computes a statistic of mean scores, on n levels, and human scores, on their own scale."""
    if quantity != "kappa":
        return STATISTICS[quantity]
    kappa = STATISTICS[quantity]
    return lambda judge, human, weights: kappa(rounded(judge), human_levels(human, n, scale), weights)


def _bounds(items: ItemScores, n: int) -> tuple[float, float]:
    """Least and greatest r of mean scores, if each read without a score may have any score from 1 to n.

    Args:
        items: items with a human score, and their reads.
        n: number of score levels of the judge.
    """
    missing = items.n_reads - items.n_scored
    low, high = ((items.total + missing * score) / items.n_reads for score in (1, n))
    return bounds.correlation_bounds(low, high, items.human)
