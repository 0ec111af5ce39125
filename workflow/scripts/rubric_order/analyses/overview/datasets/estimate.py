"""Data cards."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.gold import HUMAN
from rubric_order.base.keys import EVERY, HUMAN_SCORES, NO_SCORES
from rubric_order.base.rows import Row
from rubric_order.methods.uncertainty import resampling

SOURCES = {"human": "human_scores", "reference": "reference_labels"}

COLUMNS = {
    "items": ["dataset", "group_id", "candidate", "criterion", "response", *SOURCES.values()],
    "pairs": ["dataset", "criterion"],
}
KEYS = ["dataset", "source", "criterion"]
COUNTS = ["n_items", "n_groups", "n_candidates", "n_criteria", "n_pairs", "n_responses"]
LENGTHS = [f"{unit}_{end}" for unit in ("characters", "words") for end in ("mean", "min", "max")]
SCORED = ["n_raters", "n_rated", "n_scores", "score_mean", *(f"share_{score}" for score in HUMAN_SCORES), "share_other"]
AGREEMENT = [f"{name}{end}" for name in ("alpha", "rater_vs_rest") for end in ("", "_low", "_high")]


def estimate(
    items: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    resamples: int,
    confidence: float,
    seed: int,
    golds: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Data cards by criterion (``all``: pooled) and `source` of scores.

    `source` is ``human``, ``intended`` (levels that texts were written for), ``reference`` (labels of other judges) or
    ``none``. Lengths are over distinct responses; `n_raters` is the largest number of scores of an item.
    """
    rows = []
    for dataset, table in items.groupby("dataset"):
        compared = pairs.loc[pairs["dataset"] == dataset, "criterion"]
        blocks = [(EVERY, table, len(compared))]
        if table["criterion"].nunique() > 1:
            blocks += [(name, block, int((compared == name).sum())) for name, block in table.groupby("criterion")]
        sources = [source for source, column in SOURCES.items() if table[column].map(len).any()]
        for source in sources or [NO_SCORES]:
            for criterion, block, n_pairs in blocks:
                said = (golds or {}).get(dataset, HUMAN) if source == HUMAN else source
                row = {"dataset": dataset, "source": said, "criterion": criterion, "n_pairs": n_pairs}
                row |= _size(block)
                matrix = score_matrix(block[SOURCES[source]] if source in SOURCES else [[]] * len(block))
                rng = randomness.generator(seed, "data card", dataset, source, criterion)
                row |= _scores(matrix)
                row |= _agreement(matrix, block["group_id"].to_numpy(), resamples, confidence, rng)
                method = f"percentile bootstrap over groups, {resamples} resamples"
                rows.append(row | {"method": method, "confidence": confidence, "seed": seed})
    columns = [*KEYS, *COUNTS, *LENGTHS, *SCORED, *AGREEMENT, "method", "confidence", "seed"]
    return pd.DataFrame(rows, columns=columns)


def score_matrix(lists: pd.Series | list[Any]) -> np.ndarray:
    lists = [np.asarray(scores, dtype=float) for scores in lists]
    matrix = np.full((len(lists), max(map(len, lists), default=0)), np.nan)
    for row, scores in zip(matrix, lists, strict=True):
        row[: len(scores)] = scores
    return matrix


def krippendorff_alpha(scores: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Krippendorff's alpha with the ordinal difference, under each of several weightings of groups.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    values = np.unique(scores[~np.isnan(scores)])
    counts = (scores[:, :, None] == values).sum(axis=1).astype(float)
    n_scores = counts.sum(axis=1)
    share = counts / np.maximum(n_scores - 1, 1)[:, None] * (n_scores > 1)[:, None]
    by_group = np.zeros((weights.shape[-1], len(values), len(values)))
    for group in range(len(by_group)):
        mine = groups == group
        by_group[group] = share[mine].T @ counts[mine] - np.diag(share[mine].sum(axis=0))
    observed = np.tensordot(weights, by_group, axes=1)
    totals = observed.sum(axis=-1)
    # The ordinal difference of two scores is the difference of their mean ranks.
    ranks = totals.cumsum(axis=-1) - totals / 2
    difference = (ranks[..., :, None] - ranks[..., None, :]) ** 2
    disagreement = (observed * difference).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * difference).sum(axis=(-2, -1))
    varies = (totals > 1e-9).sum(axis=-1) > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, 1 - (totals.sum(axis=-1) - 1) * disagreement / expected, np.nan)


def rater_vs_rest(scores: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's r of one rater with the mean of the others, averaged over raters."""
    correlations = []
    for rater in range(scores.shape[1]):
        others = np.delete(scores, rater, axis=1)
        n_others = (~np.isnan(others)).sum(axis=1)
        both = (n_others > 0) & ~np.isnan(scores[:, rater])
        x = scores[both, rater]
        y = np.nansum(others[both], axis=1) / n_others[both]
        if len(x) == 0:
            correlations.append(np.full(weights.shape[:-1], np.nan))
            continue
        x, y = x - x.mean(), y - y.mean()  # centred, so that sums of squares about 0 are as exact as about the mean
        terms = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y])
        sums = np.stack([np.bincount(groups[both], term, minlength=weights.shape[-1]) for term in terms], axis=-1)
        n, sx, sy, sxx, syy, sxy = np.moveaxis(weights @ sums, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            var_x, var_y, cov = sxx - sx * sx / n, syy - sy * sy / n, sxy - sx * sy / n
            # Scores lie a few steps apart, so the rounding of a constant is far below the least variance of scores.
            varies = (var_x > 1e-9 * n) & (var_y > 1e-9 * n)
            correlations.append(np.where(varies, np.clip(cov / np.sqrt(var_x * var_y), -1, 1), np.nan))
    return np.mean(correlations, axis=0) if len(correlations) > 1 else np.full(weights.shape[:-1], np.nan)


def _size(items: pd.DataFrame) -> Row:
    """Counts of a block of items, and lengths of its responses; a response under several criteria counts once."""
    responses = items.drop_duplicates(["group_id", "candidate", "response"])["response"]
    lengths = {"characters": responses.map(len), "words": responses.str.split().map(len)}
    row = {
        "n_items": len(items),
        "n_groups": items["group_id"].nunique(),
        "n_candidates": items["candidate"].nunique(),
        "n_criteria": items["criterion"].nunique(),
        "n_responses": len(responses),
    }
    for unit, length in lengths.items():
        row |= {f"{unit}_mean": length.mean(), f"{unit}_min": length.min(), f"{unit}_max": length.max()}
    return row


def _scores(matrix: np.ndarray) -> Row:
    present = ~np.isnan(matrix)
    scores = matrix[present]
    row = {"n_raters": matrix.shape[1], "n_rated": int(present.any(axis=1).sum()), "n_scores": len(scores)}
    if not len(scores):
        return row | dict.fromkeys(SCORED[3:], np.nan)
    shares = {f"share_{score}": float((scores == score).mean()) for score in HUMAN_SCORES}
    shares["share_other"] = float((~np.isin(scores, HUMAN_SCORES)).mean())
    return row | {"score_mean": scores.mean()} | shares


def _agreement(
    matrix: np.ndarray, group_ids: np.ndarray, resamples: int, confidence: float, rng: np.random.Generator
) -> Row:
    row = dict.fromkeys(AGREEMENT, np.nan)
    usable = (~np.isnan(matrix)).sum(axis=1) > 1
    if not usable.any():
        return row
    matrix = matrix[usable]
    unique_ids, groups = np.unique(group_ids[usable], return_inverse=True)
    drawn: np.ndarray = resampling.bootstrap_weights(len(unique_ids), resamples, rng=rng).astype(float)
    for name, statistic in (("alpha", krippendorff_alpha), ("rater_vs_rest", rater_vs_rest)):
        row[name] = float(statistic(matrix, groups, np.ones(len(unique_ids))))
        if len(unique_ids) > 1:
            ends = resampling.percentile_interval(statistic(matrix, groups, drawn), confidence)
            row |= {f"{name}_{end}": float(value) for end, value in zip(("low", "high"), ends, strict=True)}
    return row
