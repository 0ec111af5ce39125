"""What a condition does to scores and to their agreement with people: two conditions on the items that both have."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import BASELINE, CLUSTERS, KEYS
from rubric_order.methods import averaging, blocks, distributions, item_scores, multiplicity, resampling, tidy

COLUMNS = {"scores": item_scores.COLUMNS}
ROUNDING = 1e-12  # of a difference


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Differences between two conditions of a study, all else being equal, item by item.

    Args:
        scores: see `blocks.blocks`; the conditions of a setting lie in one table.
        confidence: see the package.

    Returns:
        One row a group of `KEYS`, `other` (the condition that `condition` is compared with: the baseline wherever it is
        one of the two), `readout`, `cluster` and `quantity`: ``points``, mean score under `condition` less that under
        `other`, over the items with a score under both; ``r``, Pearson's r of items' mean scores with human ones,
        likewise, over those that also have a human score. With the values `of_one` and `of_other`, and an interval and
        `p` by Student's t from what each cluster adds to the difference; `p_holm` and `p_bh` are adjusted for the
        `n_tests` of its family. Where nothing differs in any cluster there is neither interval nor p.

        An item's score is the mean over its reads, however many: r also grows where a condition has more of them.

    Source: ours; for r the infinitesimal jackknife, Efron (1982), Chapter 6.
    """
    by = [key for key in KEYS if key != "condition"]
    rows = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        if len(table) == 0 or table["condition"].nunique() < 2:
            continue
        settings: dict[tuple, dict[str, pd.DataFrame]] = {}
        for block in blocks.blocks(table):
            for readout, values in block.readouts():
                key = (*(block.keys[name] for name in by), readout)
                settings.setdefault(key, {})[block.keys["condition"]] = _means(block, values)
        for key, conditions in settings.items():
            about = dict(zip([*by, "readout"], key, strict=True))
            for one, other in itertools.combinations(sorted(conditions, key=_last_baseline), 2):
                rows += _compared(
                    about | {"condition": one, "other": other}, conditions[one], conditions[other], confidence
                )
    columns = [*KEYS, "other", "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["of_one", "of_other", "n_items", "n_clusters", "method"]
    table = tidy.from_rows(rows, columns, ["other", "readout", "cluster", "quantity", "method"])
    return multiplicity.adjust(table.assign(confidence=confidence))


def _last_baseline(condition: str) -> tuple[bool, str]:
    return condition == BASELINE, condition


def _means(block: blocks.Block, values: np.ndarray) -> pd.DataFrame:
    """Mean score of each item that has one, with its `group_id` and `human` score, by `item_id`."""
    known = ~np.isnan(values)
    scored = known.any(axis=1)
    means = np.where(known, values, 0)[scored].sum(axis=1) / known[scored].sum(axis=1)
    items = block.items[scored].set_index("item_id")
    return pd.DataFrame({"group_id": items["group_id"], "human": items["human_score"], "mean": means})


def _compared(about: dict, one: pd.DataFrame, other: pd.DataFrame, confidence: float) -> Iterator[dict]:
    """The rows of two conditions' items."""
    both = one.join(other["mean"].rename("other"), how="inner").sort_index()
    rated = both[both["human"].notna()]
    found = {"points": (both, _points(both))} if len(both) else {}
    if len(rated) > 2 and (agreement := _agreement(rated)) is not None:
        found["r"] = rated, agreement
    for quantity, (items, (of_one, of_other, influence)) in found.items():
        for cluster in CLUSTERS:
            unit = item_scores.clusters_of(items, cluster)
            moved = resampling.sum_units(influence[:, None], unit)[:, 0]
            row = about | {"cluster": cluster, "quantity": quantity, "of_one": of_one, "of_other": of_other}
            row |= {"n_items": len(items), "n_clusters": len(moved), "method": f"paired; Student's t over {cluster}s"}
            yield row | _with_interval(of_one - of_other, moved, confidence)


def _points(items: pd.DataFrame) -> tuple[float, float, np.ndarray]:
    """Mean score under both conditions, and what each item adds to the difference."""
    change = (items["mean"] - items["other"]).to_numpy()
    return items["mean"].mean(), items["other"].mean(), (change - change.mean()) / len(change)


def _agreement(items: pd.DataFrame) -> tuple[float, float, np.ndarray] | None:
    """Pearson's r with human scores under both conditions, and what each item adds to the difference.

    None where scores do not vary.
    """
    human = items["human"].to_numpy(dtype=float)
    one, other = (averaging.agreement(items[[name]].to_numpy(), human) for name in ("mean", "other"))
    if np.isnan(one.mean) or np.isnan(other.mean):
        return None
    return one.mean, other.mean, one.of_mean - other.of_mean


def _with_interval(difference: float, influence: np.ndarray, confidence: float) -> dict:
    error = resampling.jackknife_error(influence)
    if not error > ROUNDING:
        return {"estimate": difference if abs(difference) > ROUNDING else 0.0}
    low, high = resampling.jackknife_interval(difference, influence, confidence)
    p = 2 * distributions.t_tail(abs(difference) / error, len(influence) - 1)
    return {"estimate": difference, "ci_low": float(low), "ci_high": float(high), "p": float(p)}
