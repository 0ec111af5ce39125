"""Selections of scores by position."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import levels
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Positions at which each score is selected, for strategies that show every score in every position.

    ``share``: of the score's selections (NaN without one). ``rate``: of the reads that show the score there.

    Source: the earlier version of Xu et al., Section 5.3, Table 5.
    """
    totals: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    lowest: dict[tuple[Any, ...], set[int]] = {}
    for block in blocks.blocks(scores):
        for readout in selections.readouts(block) if block.crossed else ():
            table = selections.score_selections(block, readout).transpose(1, 0, 2, 3).reshape(len(block.items), -1)
            for cluster in CLUSTERS:
                unit = block.units(cluster)
                name = f"score position {block.keys['dataset']}"
                sums = resampling.resampled_sums(table, unit, resamples=resamples, seed=seed, name=name)
                counts = np.array([len(block.items), unit.max() + 1])
                for dataset in (block.keys["dataset"], EVERY):
                    key = (*(block.keys | {"dataset": dataset}).values(), readout, cluster)
                    before = totals.get(key, (0, 0))
                    totals[key] = before[0] + sums, before[1] + counts
                    lowest.setdefault(key, set()).add(block.lowest)
    key_columns = [*KEYS, "readout", "cluster"]
    parts: list[tuple[Row, Row]] = []
    for key, (sums, counts) in sorted(totals.items()):
        common = dict(zip(key_columns, key, strict=True)) | {"n_items": counts[0], "n_clusters": counts[1]}
        common["method"] = f"percentile bootstrap over {common['cluster']}s, {resamples} resamples"
        cells = sums.reshape(-1, 2, common["n"], common["n"])
        parts += _cells(common, cells, levels.common(lowest[key]), confidence)
    columns = [*key_columns, "quantity", "score", "position", "estimate", "ci_low", "ci_high", "n_selected", "n_reads"]
    types = {"score": "int64", "position": "int64", "n_selected": "float64"}
    table = tidy.join_parts(parts, [*columns, "n_items", "n_clusters", "method"], types, by=())
    return table.assign(confidence=confidence, seed=seed)


def _cells(shared: Row, sums: np.ndarray, lowest: int, confidence: float) -> Iterator[tuple[Row, Row]]:
    n = shared["n"]
    score, position = (axis.ravel() + first for axis, first in zip(np.indices((n, n)), (lowest, 1), strict=True))
    shared = shared | {"n_reads": int(sums[0, 1].sum() / n)}
    with np.errstate(invalid="ignore"):
        tables = {"share": selections.position_shares(sums[:, 0]), "rate": sums[:, 0] / sums[:, 1]}
    for quantity, values in tables.items():
        low, high = resampling.percentile_interval(values[1:], confidence)
        cells = {"score": score, "position": position, "estimate": values[0].ravel()}
        cells |= {"ci_low": low.ravel(), "ci_high": high.ravel(), "n_selected": np.repeat(sums[0, 0].sum(axis=-1), n)}
        yield shared | {"quantity": quantity}, cells
