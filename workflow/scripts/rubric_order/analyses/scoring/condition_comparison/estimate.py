"""Effect of a condition."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import levels
from rubric_order.base.conditions import pairs
from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import averaging, item_scores
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import equivalence, multiplicity, resampling

COLUMNS = {"scores": item_scores.COLUMNS}
ROUNDING = 1e-12  # differences up to this size count as 0
POINTS = 0.1  # margin: smaller differences are not worth mention


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, points: float = POINTS
) -> pd.DataFrame:
    """Mean score and Pearson's r with human scores under `condition` less those under `other`, item by item.

    If one of the two is the baseline, it is `other`.
    """
    by = [key for key in KEYS if key != "condition"]
    rows: list[Row] = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        if len(table) == 0 or table["condition"].nunique() < 2:
            continue
        settings: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}
        by_level = levels.lowest_of(table) - 1  # in blocks, the lowest score is 1
        for block in blocks.blocks(table):
            for readout, values in block.readouts():
                key = (*(block.keys[name] for name in by), readout)
                settings.setdefault(key, {})[block.keys["condition"]] = _means(block, values + by_level)
        for key, conditions in settings.items():
            setting = dict(zip([*by, "readout"], key, strict=True))
            for one, other in pairs(conditions):
                rows += _compared(
                    setting | {"condition": one, "other": other}, conditions[one], conditions[other], confidence, points
                )
    columns = [*KEYS, "other", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["df", "p_bounded", "of_one", "of_other", "n_items", "n_clusters", "effective_clusters", "method"]
    table = tidy.make_table(rows, columns)
    return multiplicity.adjust(table.assign(confidence=confidence, margin=points))


def _means(block: blocks.Block, values: np.ndarray) -> pd.DataFrame:
    is_scored = ~np.isnan(values)
    scored = is_scored.any(axis=1)
    means = np.where(is_scored, values, 0)[scored].sum(axis=1) / is_scored[scored].sum(axis=1)
    items = block.items[scored].set_index("item_id")
    return pd.DataFrame({"group_id": items["group_id"], "human": items["human_score"], "mean": means})


def _compared(about: Row, one: pd.DataFrame, other: pd.DataFrame, confidence: float, points: float) -> Iterator[Row]:
    both = one.join(other["mean"].rename("other"), how="inner").sort_index()
    rated = both[both["human"].notna()]
    for quantity, items in (("points", both), ("r", rated)):
        if len(items) == 0 or (quantity == "r" and len(items) < 3):
            continue
        for cluster in CLUSTERS:
            unit = item_scores.clusters_of(items, cluster)
            method = f"paired; jackknife over {cluster}s, Student's t"
            row = about | {"cluster": cluster, "quantity": quantity, "n_items": len(items), "method": method}
            row |= {"n_clusters": int(unit.max()) + 1, "effective_clusters": resampling.effective(np.bincount(unit))}
            if quantity == "points":
                largest = about["n"] - 1.0
                yield row | _points(items, unit, confidence=confidence, margin=points, largest=largest)
            elif agreement := _agreement(items, unit, confidence=confidence):
                yield row | agreement


def _points(items: pd.DataFrame, unit: np.ndarray, *, confidence: float, margin: float, largest: float) -> Row:
    change = (items["mean"] - items["other"]).to_numpy()
    sizes, total = np.bincount(unit).astype(float), np.bincount(unit, change)
    mean = change.mean()
    values = resampling.left_out_of_mean(mean[None], ((total - sizes * mean) / len(change))[:, None], sizes)[:, 0]
    row = _interval_row(values, sizes, confidence)
    row["p_bounded"] = float(equivalence.p_bounded((total / sizes)[:, None], sizes, margin=margin, largest=largest)[0])
    return row | {"of_one": items["mean"].mean(), "of_other": items["other"].mean()}


def _agreement(items: pd.DataFrame, unit: np.ndarray, *, confidence: float) -> dict[str, Any] | None:
    human = items["human"].to_numpy(dtype=float)
    one, other = (averaging.agreement(items[[name]].to_numpy(), human, unit).mean for name in ("mean", "other"))
    if np.isnan(one[0]) or np.isnan(other[0]):
        return None
    row = _interval_row(one - other, resampling.part_sizes(unit), confidence)
    return row | {"of_one": float(one[0]), "of_other": float(other[0])}


def _interval_row(values: np.ndarray, sizes: np.ndarray, confidence: float) -> Row:
    jackknife = resampling.jackknife_t(values, confidence, sizes=sizes)
    if not jackknife.error > ROUNDING:
        return {"estimate": float(values[0]) if abs(values[0]) > ROUNDING else 0.0}
    return jackknife.interval.columns() | {"p": float(jackknife.p), "df": resampling.degrees(sizes)}
