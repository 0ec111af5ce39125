"""Rank of the canonical ordering."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, shared_orderings
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": blocks.COLUMNS}
QUANTITIES = ("pearson_canonical", "pearson_mean", "advantage", "rank")


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Rank of the canonical ordering among all orderings by Pearson's r, for strategies in `shared_orderings.SHARED`.

    ``advantage`` is ``pearson_canonical`` less ``pearson_mean``; ``rank_share`` the share of resamples with each
    `rank`.

    Source: the earlier version of Xu et al., Section 5.2, Table 4; intervals and shares are ours.
    """
    options: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    parts: list[tuple[Row, Row]] = []
    for block in blocks.blocks(scores):
        if block.keys["strategy"] in shared_orderings.SHARED:
            for readout, values in block.readouts():
                parts += _ranked(block, readout, values, **options)
    columns = [*KEYS, "readout", "cluster", "quantity", "rank", "estimate", "ci_low", "ci_high"]
    columns += ["n_orderings", "n_items", "n_rated", "n_clusters", "method"]
    table = tidy.join_parts(parts, columns, {"rank": "Int16"})
    return table.assign(confidence=confidence, seed=seed)


def _ranked(
    block: blocks.Block, readout: Readout, values: np.ndarray, *, resamples: int, confidence: float, seed: int
) -> Iterator[tuple[Row, Row]]:
    complete = shared_orderings.complete_items(block, values)
    if len(complete.human) < 2:
        return
    place, d = shared_orderings.canonical_place(complete.orderings), len(complete.orderings)
    rated = int(block.items["human_score"].notna().sum())
    common = block.keys | {"readout": readout, "n_orderings": d, "n_items": len(complete.human), "n_rated": rated}
    moments = shared_orderings.column_moments(complete.values, complete.human)
    for cluster in CLUSTERS:
        unit = block.units(cluster, complete.rows)
        sums = resampling.resampled_sums(moments, unit, resamples=resamples, seed=seed, name="canonical rank")
        r = shared_orderings.column_correlations(sums)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(r, axis=1) / (~np.isnan(r)).sum(axis=1)
        canonical, rank = r[:, place], shared_orderings.rank_of(r, place)
        estimates = np.column_stack([canonical, mean, canonical - mean, rank])
        low, high = resampling.percentile_interval(estimates[1:], confidence)
        method = f"percentile bootstrap over {cluster}s, {resamples} resamples"
        of_cluster = common | {"cluster": cluster, "n_clusters": unit.max() + 1, "method": method}
        rows = {"quantity": np.array(QUANTITIES, dtype=object), "estimate": estimates[0]}
        yield of_cluster, rows | {"ci_low": low, "ci_high": high}
        shares = {"rank": np.arange(1, d + 1), "estimate": _rank_shares(rank[1:], d)}
        yield of_cluster, {"quantity": "rank_share"} | shares


def _rank_shares(ranks: np.ndarray, orderings: int) -> np.ndarray:
    ranks = ranks[~np.isnan(ranks)]
    if not len(ranks):
        return np.full(orderings, np.nan)
    both = np.concatenate([np.floor(ranks), np.ceil(ranks)]).astype(int)
    return np.bincount(both, minlength=orderings + 1)[1:] / len(both)
