"""Where the canonical ordering stands among all orderings by agreement with human scores, one read an item."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.methods import blocks, resampling

# Strategies in which every item is read in the same orderings.
SHARED = ("balanced", "all")
_CONSTANT = 1e-12  # variance of what does not vary: rounding alone


class Complete(NamedTuple):
    """The items of a block with a score under every ordering and a human score.

    Attributes:
        orderings: shape (D, n).
        values: mean score of each item under each ordering, shape (m, D).
        human: shape (m,).
        rows: which items of the block these are, shape (n_items,), bool.
    """

    orderings: np.ndarray
    values: np.ndarray
    human: np.ndarray
    rows: np.ndarray


def canonical_place(orderings: np.ndarray) -> int:
    """Which of the orderings, shape (D, n), has the scores in rising order."""
    return int(np.flatnonzero((np.diff(orderings, axis=1) > 0).all(axis=1))[0])


def complete_items(block: blocks.Block, values: np.ndarray) -> Complete:
    """The items that every ordering can be compared on.

    Args:
        block: of a strategy in ``SHARED``.
        values: its scores by one readout, see `blocks.Block.matrix`.
    """
    by_ordering = block.by_ordering(values)
    human = block.items["human_score"].to_numpy(dtype=float)
    rows = ~np.isnan(by_ordering).any(axis=1) & ~np.isnan(human)
    return Complete(block.orderings[0], by_ordering[rows], human[rows], rows)


def column_moments(values: np.ndarray, human: np.ndarray) -> np.ndarray:
    """What the correlation of each column with human scores depends on, item by item.

    Args:
        values: shape (m, D), without gaps.
        human: shape (m,).

    Returns:
        Shape (m, 3 + 3D): 1, y, y^2, and of each column s, s^2, s y; taken from the means, against rounding.
    """
    y, s = human - human.mean(), values - values.mean()
    return np.column_stack([np.ones(len(y)), y, y * y, s, s * s, s * y[:, None]])


def column_correlations(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of each column with human scores.

    Args:
        sums: of `column_moments` over items, however weighted, shape (..., 3 + 3D).

    Returns:
        Shape (..., D); NaN where a column or the human scores do not vary.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / sums[..., :1]
        y, yy = means[..., 1:2], means[..., 2:3]
        s, ss, sy = np.split(means[..., 3:], 3, axis=-1)
        spread, human = ss - s * s, yy - y * y
        r = (sy - s * y) / np.sqrt(spread * human)
    return np.where((spread > _CONSTANT) & (human > _CONSTANT), np.clip(r, -1, 1), np.nan)


def rank_of(r: np.ndarray, place: int) -> np.ndarray:
    """Rank of one of several correlations, 1 for the highest; the mean rank where several are equal.

    Args:
        r: shape (..., D); undefined ones are left out.
        place: which one.

    Returns:
        Shape (...); NaN where it is undefined.
    """
    own = r[..., place, None]
    higher, equal = r > own + 1e-12, np.abs(r - own) <= 1e-12
    rank = higher.sum(axis=-1) + (equal.sum(axis=-1) + 1) / 2
    return np.where(np.isnan(own[..., 0]), np.nan, rank)


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Rank of the canonical ordering among all that were read, by Pearson's r of one read an item with human scores.

    Args:
        scores: reads, see `blocks.blocks`; columns ``blocks.COLUMNS``.
        resamples, confidence, seed: of the percentile bootstrap.

    Returns:
        One row a group of ``KEYS`` whose strategy is in ``SHARED``, readout, `cluster` (what the bootstrap draws) and
        `quantity`: ``pearson_canonical``; ``pearson_mean`` over the orderings; ``advantage``, the former less the
        latter; ``rank``, 1 for the highest r; and for each possible `rank` ``rank_share``, the share of the resamples
        in which the canonical ordering has it (of a rank between two, half each). All `n_orderings` are compared on the
        same `n_items`, those of `n_rated` with a human score that have a score under each.

    Source: the earlier version of Xu et al., Section 5.2, Table 4; the intervals and the distribution are ours.
    """
    parts = []
    for block in blocks.blocks(scores):
        if block.keys["strategy"] not in SHARED:
            continue
        for readout, values in block.readouts():
            found = complete_items(block, values)
            if len(found.human) < 2:
                continue
            place, d = canonical_place(found.orderings), len(found.orderings)
            about = block.keys | {"readout": readout, "n_orderings": d, "n_items": len(found.human)}
            about["n_rated"] = int(block.items["human_score"].notna().sum())
            table = column_moments(found.values, found.human)
            for cluster in CLUSTERS:
                unit = block.units(cluster, found.rows)
                drawing = {"resamples": resamples, "seed": seed, "name": "canonical rank"}
                r = column_correlations(blocks.resampled_sums(table, unit, **drawing))
                with np.errstate(invalid="ignore"):
                    mean = np.nansum(r, axis=1) / (~np.isnan(r)).sum(axis=1)
                own, rank = r[:, place], rank_of(r, place)
                estimates = np.column_stack([own, mean, own - mean, rank])
                low, high = resampling.percentile_interval(estimates[1:], confidence)
                quantity = np.array(["pearson_canonical", "pearson_mean", "advantage", "rank"], dtype=object)
                method = f"percentile bootstrap over {cluster}s, {resamples} resamples"
                of_cluster = about | {"cluster": cluster, "n_clusters": unit.max() + 1, "method": method}
                parts.append(
                    (of_cluster, {"quantity": quantity, "estimate": estimates[0], "ci_low": low, "ci_high": high})
                )
                shares = {"rank": np.arange(1, d + 1), "estimate": _rank_shares(rank[1:], d)}
                parts.append((of_cluster, {"quantity": "rank_share"} | shares))
    columns = [*KEYS, "readout", "cluster", "quantity", "rank", "estimate", "ci_low", "ci_high"]
    columns += ["n_orderings", "n_items", "n_rated", "n_clusters", "method"]
    table = blocks.tidy(parts, columns).sort_values([*KEYS, "readout"], kind="stable", ignore_index=True)
    return table.astype({"rank": "Int16"}).assign(confidence=confidence, seed=seed)


def _rank_shares(ranks: np.ndarray, orderings: int) -> np.ndarray:
    """Share of each rank, shape (orderings,); a rank between two counts half for either. NaN where none is defined."""
    ranks = ranks[~np.isnan(ranks)]
    if not len(ranks):
        return np.full(orderings, np.nan)
    both = np.concatenate([np.floor(ranks), np.ceil(ranks)]).astype(int)
    return np.bincount(both, minlength=orderings + 1)[1:] / len(both)
