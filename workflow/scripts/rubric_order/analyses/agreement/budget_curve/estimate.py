"""Agreement by the number of reads."""

import logging
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import subsets
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": blocks.COLUMNS}
RANGE = (0.025, 0.975)  # quantiles over the subsets of one size, as in Figure 9 of Xu et al. (2026)
MOST_READS = 120  # reads per item: all orderings of five options. With more, products of all pairs would take gigabytes

log = logging.getLogger(__name__)


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    subsets_per_size: int = 252,
) -> pd.DataFrame:
    """Correlation of the mean of k of an item's K reads with human scores, averaged over subsets of k reads.

    ``gain_share`` is ``gain`` over the gain of all K reads.

    Source: Xu et al. (2026), Section 5.3, Figure 9; the intervals are ours.
    """
    of_block = partial(_block_rows, subsets_per_size=subsets_per_size, confidence=confidence, seed=seed)
    parts = [part for block in blocks.blocks(scores) for part in of_block(block)]
    columns = [*KEYS, "readout", "cluster", "statistic", "quantity", "k", "estimate", "range_low", "range_high"]
    columns += ["ci_low", "ci_high", "n_subsets", "n_undefined", "n_items", "n_rated", "n_clusters", "method"]
    table = tidy.join_parts(parts, columns, {"statistic": "str", "k": "int64"})
    return table.assign(confidence=confidence, seed=seed)


def _block_rows(
    block: blocks.Block, subsets_per_size: int, *, confidence: float, seed: int
) -> Iterator[tuple[Row, Row]]:
    if (reads := int(block.column.max()) + 1) > MOST_READS:
        name = " ".join(map(str, block.key))
        log.warning("%s: %d reads per item; the curve is for at most %d", name, reads, MOST_READS)
        return
    rated = block.items["human_score"].notna().to_numpy()
    for readout, values in block.readouts():
        complete = rated & ~np.isnan(values).any(axis=1)
        if values.shape[1] < 2 or complete.sum() < 2:
            continue
        values, human = values[complete], block.items["human_score"].to_numpy(dtype=float)[complete]
        chosen = subsets.drawn(values.shape[1], subsets_per_size, seed)
        moments = subsets.moments(values, human)
        pearson = subsets.pearson_of_subsets(moments.sum(axis=0), chosen)
        spearman = subsets.spearman_of_subsets(values, human, chosen)
        for cluster in CLUSTERS:
            unit = block.units(cluster, complete)
            common = block.keys | {"readout": readout, "n_items": len(human), "n_rated": int(rated.sum())}
            common |= {"cluster": cluster, "n_clusters": int(unit.max()) + 1}
            method = f"jackknife over {cluster}s, Student's t"
            curves = subsets.curve(resampling.left_out_sums(moments, unit), chosen)
            ends = _ends(curves, resampling.part_sizes(unit), confidence)
            yield from _rows(common | {"statistic": "pearson", "method": method}, pearson, chosen.sizes, ends)
            ends = _ends(_left_out(spearman, unit, chosen.sizes), np.bincount(unit), confidence)
            method += ", first order"
            yield from _rows(common | {"statistic": "spearman", "method": method}, spearman.rho, chosen.sizes, ends)


def _ends(curves: np.ndarray, sizes: np.ndarray, confidence: float) -> list[tuple[np.ndarray, np.ndarray]]:
    r = resampling.jackknife_t(curves, confidence, sizes=sizes, scale=np.arctanh, back=np.tanh)
    gained = curves - curves[:, :1]
    gain = resampling.jackknife_t(gained, confidence, sizes=sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = resampling.jackknife_t(gained / gained[:, -1:], confidence, sizes=sizes)
    return [(interval.low, interval.high) for interval in (r, gain, share)]


def _left_out(curve: subsets.RankCurve, unit: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    influence = resampling.sum_units(curve.influence, unit) / len(unit)
    mean = subsets.mean_over_subsets(curve.rho, sizes)
    left_out = resampling.left_out_of_mean(mean, influence, np.bincount(unit))
    return np.clip(left_out, -1 + 1e-9, 1 - 1e-9) if np.abs(mean).max(initial=0) < 1 else left_out


def _rows(
    about: Row, found: np.ndarray, sizes: np.ndarray, ends: list[tuple[np.ndarray, np.ndarray]]
) -> Iterator[tuple[Row, Row]]:
    budgets = np.arange(1, sizes[-1] + 1)
    mean = subsets.mean_over_subsets(found, sizes)
    defined = [of_size[~np.isnan(of_size)] for of_size in (found[sizes == k] for k in budgets)]
    ranges = np.array([np.quantile(of_size, RANGE) if len(of_size) else (np.nan, np.nan) for of_size in defined])
    n_subsets = np.bincount(sizes)[1:]
    counts = {"k": budgets, "n_subsets": n_subsets, "n_undefined": n_subsets - list(map(len, defined))}
    gain = mean - mean[0]
    quantities = [("r", mean, ends[0]), ("gain", gain, ends[1])]
    if ends[1][0][-1] > 0:  # else it is not shown that there is a gain to share
        quantities.append(("gain_share", gain / gain[-1], ends[2]))
    for quantity, estimate, (low, high) in quantities:
        drawn = {"range_low": ranges[:, 0], "range_high": ranges[:, 1]} if quantity == "r" else {}
        yield about | {"quantity": quantity}, counts | {"estimate": estimate, "ci_low": low, "ci_high": high} | drawn
