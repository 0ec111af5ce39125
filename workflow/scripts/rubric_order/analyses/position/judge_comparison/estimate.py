"""Differences in position bias, and trends."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, DEFAULT_PROFILE, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, preference, selections, shared_orderings
from rubric_order.methods.uncertainty import cluster_robust, distributions, multiplicity
from rubric_order.methods.uncertainty.resampling import sum_units

COLUMNS = {
    "scores": [
        *KEYS,
        *("item_id", "group_id", "read_index", "ordering", "score", "expected_score"),
        *selections.READOUTS.values(),
    ]
}
# Two sides that are compared differ in exactly one of these columns.
COMPARED = ("judge", "profile", "n", "dataset")
SHARED_KEYS = ("study", "condition", "strategy")
FEWEST = 3  # a trend needs this many different values
TEMPERATURE = "temperature"
SELECTION = "cramers_v_squared"
ROUNDING = 1e-12
PAIRED = "the clusters of both sides as the sample, Student's t"


class Selection(NamedTuple):
    """V squared of position selection without what chance adds, and the arrays that give its error.

    Attributes:
        estimate, raw: unbiased estimate with clusters as the sample, and V squared of the pooled shares.
        influence: what each cluster adds to the estimate, shape (n_clusters,).
        deviation: scaled selections less those that the pooled shares predict, shape (n_clusters, n).
        weight: share of all reads, shape (n_clusters,).
    """

    estimate: float
    raw: float
    influence: np.ndarray
    deviation: np.ndarray
    weight: np.ndarray


class Measured(NamedTuple):
    """Estimates of one block and readout by quantity, and what each cluster adds, shape (n_clusters,)."""

    estimates: dict[str, float]
    influence: dict[str, np.ndarray]
    selection: Selection | None
    dataset: str
    ids: np.ndarray


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    sampling_temperatures: Mapping[str, Mapping[str, float | None]],
    sweeps: Mapping[str, Mapping[str, float]],
) -> pd.DataFrame:
    """Differences between two judges, profiles, scales or datasets, all else being equal, and trends.

    `compared` is one of `COMPARED` (`one` less `other`), or ``trend``: least-squares slope over the sweep `one`. Shifts
    in points need strategies that read all items in the same orderings.
    """
    rows = []
    for base_columns, measured in _units(scores, CLUSTERS):
        units = dict(sorted(measured.items()))
        rows += [base_columns | row for row in _differences(units, confidence)]
        for judge, temperatures in _temperatures(sampling_temperatures).items():
            trend = base_columns | {"one": f"{TEMPERATURE} of {judge}", "sweep": TEMPERATURE, "swept_judge": judge}
            rows += [trend | row for row in _trends(units, temperatures, confidence)]
        for name, values in sweeps.items():
            rows += [base_columns | {"one": name} | row for row in _trends(units, values, confidence)]
    columns = [*KEYS, "readout", "cluster", "compared", "one", "other", "quantity", "estimate", "se", "ci_low"]
    columns += ["ci_high"]
    columns += ["p", "of_one", "of_other", "n_clusters", "sweep", "swept_judge", "method"]
    table = tidy.make_table_with_gaps(rows, columns).assign(confidence=confidence)
    return multiplicity.adjust(table)


def differences(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, clusters: Sequence[str] = CLUSTERS
) -> list[Row]:
    return [
        base_columns | row
        for base_columns, units in _units(scores, clusters)
        for row in _differences(units, confidence)
    ]


def _units(
    scores: pd.DataFrame | Iterable[pd.DataFrame], clusters: Sequence[str]
) -> Iterator[tuple[Row, dict[tuple[Any, ...], Measured]]]:
    units_by_key: dict[tuple[Any, ...], dict[tuple[Any, ...], Measured]] = {}
    for block in blocks.blocks(scores):
        for readout in selections.readouts(block) if block.crossed and preference.identifies(block) else ():
            unit = tuple(block.keys[name] for name in COMPARED)
            for cluster, measured in _measured(block, readout, clusters).items():
                key = (*(block.keys[name] for name in SHARED_KEYS), readout, cluster)
                units_by_key.setdefault(key, {})[unit] = measured
    for key, units in sorted(units_by_key.items()):
        yield dict(zip((*SHARED_KEYS, "readout", "cluster"), key, strict=True)), units


def _measured(block: blocks.Block, readout: Readout, clusters: Sequence[str]) -> dict[str, Measured]:
    positions = preference.positions(preference.compared(block, readout))
    selected, values = selections.evened(block, readout), None
    if block.keys["strategy"] in shared_orderings.SHARED:
        values = block.ordering_means(block.matrix(VALUES[readout]))
    measured = {}
    for cluster in clusters:
        unit, ids = block.units(cluster), np.unique(block.items[f"{cluster}_id"].to_numpy(dtype=str))
        fit = positions.regroup(unit).fit()
        quantities = {name: fit.contrast(weights) for name, weights in preference.contrasts(block.n).items()}
        chosen = _selection(sum_units(selected, unit))
        quantities[SELECTION] = chosen.estimate, chosen.influence
        if values is not None:
            quantities |= _points(values, block.orderings[0], unit)
        quantities = {
            name: pair for name, pair in quantities.items() if np.isfinite(pair[0]) and np.isfinite(pair[1]).all()
        }
        estimates = {name: pair[0] for name, pair in quantities.items()}
        influence = {name: pair[1] for name, pair in quantities.items()}
        measured[cluster] = Measured(
            estimates, influence, chosen if SELECTION in estimates else None, block.keys["dataset"], ids
        )
    return measured


def _selection(counts: np.ndarray) -> Selection:
    """V squared of positions, from products of two clusters' deviations from uniform selection."""
    n, size = counts.shape[1], counts.sum(axis=1)
    away, total = counts - size[:, None] / n, size.sum()
    summed, squares = away.sum(axis=0), (away**2).sum(axis=1)
    scale = n / (n - 1)
    pairs, without = total**2 - (size**2).sum(), (total - size) ** 2 - ((size**2).sum() - size**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = scale * (summed @ summed - squares.sum()) / pairs
        left_out = scale * (((summed - away) ** 2).sum(axis=1) - (squares.sum() - squares)) / without
        deviation = (away - size[:, None] * summed / total) * np.sqrt(scale / pairs)
    raw = scale * summed @ summed / total**2
    return Selection(float(estimate), float(raw), estimate - left_out, deviation, size / total)


def _points(values: np.ndarray, shown: np.ndarray, unit: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """Shifts of the mean score over items with a score under every ordering, and what each cluster adds."""
    used = ~np.isnan(values).any(axis=1)
    rising, falling = ((np.sign(side) * np.diff(shown, axis=1) > 0).all(axis=1) for side in (1, -1))
    if not used.any() or not rising.any() or not falling.any():
        return {}
    usual, other = values[:, rising.argmax()], values[:, falling.argmax()]
    shifts = {}
    sizes = np.bincount(unit, used)
    for name, shift in (
        ("usual_minus_balanced", usual - values.mean(axis=1)),
        ("ascending_minus_descending", usual - other),
    ):
        mean = shift[used].mean()
        moved = np.bincount(unit, np.where(used, shift - mean, 0))
        with np.errstate(invalid="ignore", divide="ignore"):  # one cluster
            shifts[name] = float(mean), moved / (used.sum() - sizes)
    return shifts


def _differences(units: dict[tuple[Any, ...], Measured], confidence: float) -> Iterator[Row]:
    for (one, first), (other, second) in itertools.combinations(units.items(), 2):
        differ = [place for place in range(len(COMPARED)) if one[place] != other[place]]
        if len(differ) == 1:
            (place,) = differ
            common = {name: value for name, value in zip(COMPARED, one, strict=True) if name != COMPARED[place]}
            common |= {"compared": COMPARED[place], "one": str(one[place]), "other": str(other[place])}
            for row in _combined([(1.0, first), (-1.0, second)], confidence):
                sides = {"of_one": first.estimates[row["quantity"]], "of_other": second.estimates[row["quantity"]]}
                yield common | row | sides | {"method": f"difference; {PAIRED}"}


def _temperatures(known: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    sweeps = {}
    for judge, profiles in known.items():
        values = {f"{judge}/{profile}": value for profile, value in profiles.items() if value is not None}
        if len(set(values.values())) >= FEWEST:
            sweeps[judge] = values
    return sweeps


def _trends(units: dict[tuple[Any, ...], Measured], values: Mapping[str, float], confidence: float) -> Iterator[Row]:
    alone = {f"{judge}/{DEFAULT_PROFILE}": value for judge, value in values.items() if "/" not in judge}
    at = {unit: (alone | dict(values)).get(f"{unit[0]}/{unit[1]}") for unit in units}
    at = {unit: value for unit, value in at.items() if value is not None}
    for n, dataset in sorted({unit[2:] for unit in at}):
        chosen = {unit: value for unit, value in at.items() if unit[2:] == (n, dataset)}
        if len(set(chosen.values())) >= FEWEST:
            x = np.array(list(chosen.values()), dtype=float)
            weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
            common = {"n": n, "dataset": dataset, "compared": "trend", "other": ""}
            method = f"least-squares slope over {len(x)} estimates; {PAIRED}"
            for row in _combined([*zip(weights.tolist(), (units[unit] for unit in chosen), strict=True)], confidence):
                yield common | row | {"method": method}


def _combined(parts: list[tuple[float, Measured]], confidence: float) -> Iterator[Row]:
    """A weighted sum of estimates, for each quantity that all parts have."""
    first = parts[0][1]
    number = _numbered([of for _, of in parts])
    for name in first.estimates:
        if all(name in of.estimates for _, of in parts):
            total = sum(weight * of.estimates[name] for weight, of in parts)
            moved = np.bincount(number, np.concatenate([weight * of.influence[name] for weight, of in parts]))
            row = {"quantity": name, "n_clusters": cluster_robust.counted(moved)}
            if name == SELECTION:
                selections = [(weight, of.selection) for weight, of in parts if of.selection is not None]
                yield row | _selection_interval(selections, number, total, confidence)
            else:
                yield row | cluster_robust.interval(total, moved, confidence)


def _numbered(parts: list[Measured]) -> np.ndarray:
    datasets = [of.dataset for of in parts]
    dataset = np.array([datasets.index(name) for name in datasets]).repeat([len(of.ids) for of in parts])
    ids, code = np.unique(np.concatenate([of.ids for of in parts]), return_inverse=True)
    return pd.factorize(dataset * len(ids) + code)[0]


def _selection_interval(
    parts: list[tuple[float, Selection]], number: np.ndarray, total: float, confidence: float
) -> dict[str, float]:
    chance = np.array([max(of.raw - of.estimate, ROUNDING) for _, of in parts])
    common = max(float(sum(of.estimate / by for (_, of), by in zip(parts, chance, strict=True)) / sum(1 / chance)), 0.0)
    of_clusters = np.bincount(number, np.concatenate([abs(weight) * of.weight**2 for weight, of in parts]))
    n_clusters = np.count_nonzero(of_clusters)
    if n_clusters < 2 or not any(of.influence.any() for _, of in parts):
        return {"estimate": total} | dict.fromkeys(("se", "ci_low", "ci_high", "p"), np.nan)
    products = _products(parts, number)

    def error(values: list[float]) -> float:
        scales = [np.sqrt(value / max(of.raw, ROUNDING)) for value, (_, of) in zip(values, parts, strict=True)]
        scaled = [scale * weight * of.influence for scale, (weight, of) in zip(scales, parts, strict=True)]
        moved = np.bincount(number, np.concatenate(scaled))
        return float(np.sqrt((moved**2).sum() * (n_clusters - 1) / n_clusters + products))

    df = max(min(of_clusters.sum() ** 2 / (of_clusters**2).sum(), n_clusters) - 1, 1.0)
    se, of_equal = error([max(of.estimate, common) for _, of in parts]), error([common] * len(parts))
    if not of_equal > ROUNDING:
        return {"estimate": total} | dict.fromkeys(("se", "ci_low", "ci_high", "p"), np.nan)
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    p = float(2 * distributions.t_tail(abs(total) / of_equal, df))
    return {"estimate": total, "se": se, "ci_low": total - reach, "ci_high": total + reach, "p": p}


def _products(parts: list[tuple[float, Selection]], number: np.ndarray) -> float:
    """Variance of a weighted sum of V squared if V is 0."""
    starts = np.cumsum([0, *(len(of.deviation) for _, of in parts)])
    rows, squares = [], np.zeros(number.max() + 1)
    for (weight, of), start, end in zip(parts, starts[:-1], starts[1:], strict=True):
        table = np.zeros((len(squares), of.deviation.shape[1]))
        table[number[start:end]] = of.deviation
        rows.append((weight, table))
        squares += weight * (table**2).sum(axis=1)
    terms = [w * v * float(((x.T @ y) ** 2).sum()) for w, x in rows for v, y in rows]
    variance = 2 * (sum(terms) - float((squares**2).sum()))
    return variance if variance > ROUNDING * sum(map(abs, terms)) else 0.0
