"""Differences of conditions, read by read."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base.conditions import pairs
from rubric_order.base.keys import CLUSTERS, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.uncertainty import cluster_robust, multiplicity, resampling

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", "score", "expected_score"]}
ROUNDING = 1e-9  # points; smaller differences count as 0
MOST_NUMBERS = 50  # largest number of reads per item; with more reads, only mean and size are estimated
SHARED = [key for key in KEYS if key != "condition"]


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Reads under `varied` less those under `other`; a read's `number` is its rank among the item's under `varied`.

    ``mean`` weights numbers equally; ``trend`` is per number, by least squares over the means of numbers;
    ``any_number`` is Hotelling's T-squared over clusters.
    """
    rows: list[Row] = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        for key, setting in table.groupby(SHARED, sort=True):
            conditions = {str(name): _numbered(reads) for name, reads in setting.groupby("condition", sort=True)}
            for one, other in pairs(conditions):
                common = dict(zip(SHARED, key, strict=True)) | {"varied": one, "other": other}
                rows += _compared(common, conditions[one], conditions[other], confidence)
    columns = [*SHARED, "varied", "other", "readout", "cluster", "quantity", "number", "estimate", "ci_low"]
    columns += ["ci_high", "p", "df"]
    columns += ["n_pairs", "n_differ", "n_items", "n_clusters", "effective_clusters", "method"]
    estimates = tidy.make_table(rows, columns)
    return multiplicity.adjust(estimates.assign(confidence=confidence))


def _numbered(reads: pd.DataFrame) -> pd.DataFrame:
    of_item = reads.sort_values(["item_id", "read_index"], kind="stable")
    order = pd.Series(of_item["ordering"].map(tuple), name="order")
    by_item = of_item.assign(order=order, number=of_item.groupby("item_id").cumcount() + 1)
    return by_item.assign(repeat=by_item.groupby(["item_id", "order"]).cumcount())


def _compared(common: Row, one: pd.DataFrame, other: pd.DataFrame, confidence: float) -> Iterator[Row]:
    same = ["item_id", "order", "repeat"]
    pairs = one.merge(other[[*same, *VALUES.values()]], on=same, suffixes=("", "_of_other"))
    for readout, column in VALUES.items():
        difference = (pairs[column].astype(float) - pairs[f"{column}_of_other"].astype(float)).to_numpy()
        scored = ~np.isnan(difference)
        if scored.any():
            difference = np.where(np.abs(difference) > ROUNDING, difference, 0.0)
            yield from _readout_rows(common, readout, pairs[scored], difference[scored], confidence)


def _readout_rows(
    common: Row, readout: Readout, pairs: pd.DataFrame, difference: np.ndarray, confidence: float
) -> Iterator[Row]:
    common = common | {"readout": readout, "n_pairs": len(pairs), "n_differ": int((difference != 0).sum())}
    number = pairs["number"].to_numpy()
    everything: np.ndarray = np.zeros(len(pairs), dtype=int)
    numbers = np.unique(number) if number.max() <= MOST_NUMBERS else np.zeros(1, dtype=int)
    place = np.asarray(np.searchsorted(numbers, number)) if len(numbers) > 1 else everything
    for cluster in CLUSTERS:
        unit = pd.factorize(pairs[f"{cluster}_id"], sort=True)[0]
        sizes = np.bincount(unit).astype(float)
        df, method = resampling.degrees(sizes), f"same item and ordering; jackknife over {cluster}s, Student's t"
        row = common | {"cluster": cluster, "n_items": pairs["item_id"].nunique(), "n_clusters": len(sizes)}
        row |= {"effective_clusters": resampling.effective(sizes), "method": method}
        (size,), size_moved = _means(np.abs(difference), everything, unit, 1)
        yield row | {"quantity": "size"} | _interval_row(size, size_moved[:, 0], df, confidence) | {"p": np.nan}
        means, moved = _means(difference, place, unit, len(numbers))
        for quantity, weights in _contrasts(numbers).items():
            yield row | {"quantity": quantity} | _interval_row(means @ weights, moved @ weights, df, confidence)
        if len(numbers) > 1:
            for mean, by_cluster, value in zip(means, moved.T, numbers.tolist(), strict=True):
                of_number = _interval_row(mean, by_cluster, df, confidence)
                yield row | {"quantity": "number", "number": value} | of_number
            p = cluster_robust.all_zero(means, moved, df=df)
            any_number = {"quantity": "any_number", "estimate": float(np.sqrt((means**2).mean())), "p": p}
            yield row | any_number | {"method": f"same item and ordering; Hotelling's T-squared over {cluster}s"}


def _contrasts(numbers: np.ndarray) -> dict[str, np.ndarray]:
    weights = {"mean": np.full(len(numbers), 1 / len(numbers))}
    if len(numbers) > 1:
        centred = numbers - numbers.mean()
        weights["trend"] = centred / (centred**2).sum()
    return weights


def _means(values: np.ndarray, number: np.ndarray, unit: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean at each number, shape (n,), and its change by each further cluster, shape (n_clusters, n)."""
    clusters = int(unit.max()) + 1
    cell = unit * n + number
    count = np.bincount(cell, minlength=clusters * n).reshape(clusters, n)
    total = np.bincount(cell, values, clusters * n).reshape(clusters, n)
    mean = total.sum(axis=0) / count.sum(axis=0)
    left = count.sum(axis=0) - count
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(left > 0, (total.sum(axis=0) - total) / left, np.nan)
    return mean, mean - without


def _interval_row(value: float, moved: np.ndarray, df: float, confidence: float) -> Row:
    if np.isnan(moved).any() or not np.abs(moved).max() > ROUNDING:
        return {"estimate": float(value)}
    interval = cluster_robust.interval(float(value), moved, confidence, df=df)
    return {name: interval[name] for name in ("estimate", "ci_low", "ci_high", "p", "df")}
