"""How judges, profiles, scales and datasets differ in position bias, and how it changes over a sweep.

Judges, profiles and scales read the same items: what a group of items adds to one estimate is set against what it adds
to another, so that their difference is known better than either.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, DEFAULT_PROFILE, KEYS, VALUES
from rubric_order.methods import (
    blocks,
    cluster_robust,
    multiplicity,
    preference,
    selections,
    shared_orderings,
    tidy,
    uniformity,
)
from rubric_order.methods.resampling import sum_units

COLUMNS = {
    "scores": [
        *KEYS,
        *("item_id", "group_id", "read_index", "ordering", "score", "expected_score"),
        *selections.READOUTS.values(),
    ]
}
# Judges, or profiles of one judge, and so on: what differs between two that are compared, all else being equal.
COMPARED = ("judge", "profile", "n", "dataset")
SHARED_KEYS = ("study", "condition", "strategy")
FEWEST = 3  # values of a trend
TEMPERATURE = "temperature"
PAIRED = "the clusters of both sides as the sample, Student's t"


class Measured(NamedTuple):
    """What is estimated of one block by one readout, and what each cluster adds to it.

    Attributes:
        estimates: by quantity.
        influence: what each cluster adds, by quantity, each of shape (n_clusters,).
        dataset, ids: of the clusters.
    """

    estimates: dict[str, float]
    influence: dict[str, np.ndarray]
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

    Args:
        scores: see `blocks.blocks`; strategies in which every score meets every position are used.
        confidence: see the package.
        sampling_temperatures: as in `position_preference`: trends over them need nothing else.
        sweeps: by name of a sweep the value of each ``judge`` (as it stands) or ``judge/profile`` in it, such as the
            logarithm of its size.

    Returns:
        One row an estimate of a study, condition, strategy, `readout`, `cluster` and `quantity`. `compared` says what
        differs: one of `COMPARED`, `one` less `other`; or ``trend`` over the sweep `one`, the least-squares slope of
        the estimates by its value. What they have in common is in the columns of `KEYS`, others are empty. Quantities:

        - ``first_last``, ``ends_middle``: contrasts of position preference, in log-odds, see `preference`;
        - ``cramers_v`` of position selection: not only preference moves it, see there; where a judge has no bias
          it is above 0 by chance, and its interval means little;
        - ``usual_minus_balanced``, ``ascending_minus_descending``: points, where items are read in the same orderings.

        With `estimate`, `se`, interval, `p`, which `p_holm` and `p_bh` adjust for the `n_tests` of the family, and
        the estimates `of_one` and `of_other`. Clusters are the sample (`n_clusters`): those of two datasets are
        different ones, all others the same; one that only one side has counts on that side.
    """
    found: dict[tuple, dict[tuple, Measured]] = {}
    for block in blocks.blocks(scores):
        for readout in selections.readouts(block) if block.crossed and preference.identifies(block) else ():
            unit = tuple(block.keys[name] for name in COMPARED)
            for cluster, measured in _measured(block, readout).items():
                key = (*(block.keys[name] for name in SHARED_KEYS), readout, cluster)
                found.setdefault(key, {})[unit] = measured
    rows = []
    for key, units in sorted(found.items()):
        about = dict(zip((*SHARED_KEYS, "readout", "cluster"), key, strict=True))
        rows += [about | row for row in _differences(units, confidence)]
        for name, values in (_temperatures(sampling_temperatures) | dict(sweeps)).items():
            rows += [about | row for row in _trends(units, name, values, confidence)]
    columns = [
        *KEYS,
        "readout",
        "cluster",
        "compared",
        "one",
        "other",
        "quantity",
        "estimate",
        "se",
        "ci_low",
        "ci_high",
    ]
    columns += ["p", "of_one", "of_other", "n_clusters", "method"]
    words = ["readout", "cluster", "compared", "one", "other", "quantity", "method"]
    table = tidy.from_rows_with_gaps(rows, columns, words).assign(confidence=confidence)
    return multiplicity.adjust(table)


def _measured(block: blocks.Block, readout: str) -> dict[str, Measured]:
    """All quantities of a block by each kind of cluster; what cannot be estimated is left out."""
    positions = preference.positions(preference.compared(block, readout))
    selected, values = selections.evened(block, readout), None
    if block.keys["strategy"] in shared_orderings.SHARED:
        values = block.by_ordering(block.matrix(VALUES[readout]))
    measured = {}
    for cluster in CLUSTERS:
        unit, ids = block.units(cluster), np.unique(block.items[f"{cluster}_id"].to_numpy(dtype=str))
        fit = positions.by_cluster(unit).fit()
        found = {name: fit.contrast(weights) for name, weights in preference.contrasts(block.n).items()}
        found["cramers_v"] = _selection(sum_units(selected, unit))
        if values is not None:
            found |= _points(values, block.orderings[0], unit)
        found = {name: pair for name, pair in found.items() if np.isfinite(pair[0]) and np.isfinite(pair[1]).all()}
        estimates, influence = ({name: pair[place] for name, pair in found.items()} for place in (0, 1))
        measured[cluster] = Measured(estimates, influence, block.keys["dataset"], ids)
    return measured


def _selection(counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Cramer's V of positions, and what each cluster (rows) adds to it, to first order."""
    total, n = counts.sum(axis=0), counts.shape[1]
    v, shares = uniformity.cramers_v(total), total / total.sum()
    slope = n * (shares - 1 / n) / ((n - 1) * v) if v > 0 else np.full(n, np.nan)
    size = counts.sum(axis=1)
    return float(v), (counts - shares * size[:, None]) @ slope / (total.sum() - size)


def _points(values: np.ndarray, shown: np.ndarray, unit: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """Shifts of the mean score of the items that have one under every ordering, and what each cluster adds to them.

    Args:
        values: mean score of each item under each ordering. shown: the orderings. unit: cluster of each item.
    """
    used = ~np.isnan(values).any(axis=1)
    rising, falling = ((np.sign(side) * np.diff(shown, axis=1) > 0).all(axis=1) for side in (1, -1))
    if not used.any() or not rising.any() or not falling.any():
        return {}
    usual, other = values[:, rising.argmax()], values[:, falling.argmax()]
    found = {}
    sizes = np.bincount(unit, used)
    for name, shift in (
        ("usual_minus_balanced", usual - values.mean(axis=1)),
        ("ascending_minus_descending", usual - other),
    ):
        mean = shift[used].mean()
        moved = np.bincount(unit, np.where(used, shift - mean, 0))
        found[name] = float(mean), moved / (used.sum() - sizes)
    return found


def _differences(units: dict[tuple, Measured], confidence: float) -> Iterator[dict]:
    """One unit less another, for each two that differ in one of `COMPARED`."""
    for (one, first), (other, second) in itertools.combinations(units.items(), 2):
        differ = [place for place in range(len(COMPARED)) if one[place] != other[place]]
        if len(differ) == 1:
            (place,) = differ
            about = {name: value for name, value in zip(COMPARED, one, strict=True) if name != COMPARED[place]}
            about |= {"compared": COMPARED[place], "one": str(one[place]), "other": str(other[place])}
            for row in _combined([(1.0, first), (-1.0, second)], confidence):
                sides = {"of_one": first.estimates[row["quantity"]], "of_other": second.estimates[row["quantity"]]}
                yield about | row | sides | {"method": f"difference; {PAIRED}"}


def _temperatures(known: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    """A sweep over the temperatures of each judge that has several."""
    found = {}
    for judge, profiles in known.items():
        values = {f"{judge}/{profile}": value for profile, value in profiles.items() if value is not None}
        if len(set(values.values())) >= FEWEST:
            found[f"{TEMPERATURE} of {judge}"] = values
    return found


def _trends(units: dict[tuple, Measured], name: str, values: Mapping[str, float], confidence: float) -> Iterator[dict]:
    """Slopes over one sweep, for each dataset and scale."""
    alone = {f"{judge}/{DEFAULT_PROFILE}": value for judge, value in values.items() if "/" not in judge}
    at = {unit: (alone | dict(values)).get(f"{unit[0]}/{unit[1]}") for unit in units}
    at = {unit: value for unit, value in at.items() if value is not None}
    for n, dataset in sorted({unit[2:] for unit in at}):
        chosen = {unit: value for unit, value in at.items() if unit[2:] == (n, dataset)}
        if len(set(chosen.values())) >= FEWEST:
            x = np.array(list(chosen.values()), dtype=float)
            weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
            about = {"n": n, "dataset": dataset, "compared": "trend", "one": name, "other": ""}
            method = f"least-squares slope over {len(x)} estimates; {PAIRED}"
            for row in _combined([*zip(weights.tolist(), map(units.get, chosen), strict=True)], confidence):
                yield about | row | {"method": method}


def _combined(parts: list[tuple[float, Measured]], confidence: float) -> Iterator[dict]:
    """A weighted sum of estimates, for each quantity that all have."""
    first = parts[0][1]
    aligned = all(of.dataset == first.dataset and np.array_equal(of.ids, first.ids) for _, of in parts)
    # Else each cluster of any part is numbered, the same one of one dataset in the same way.
    names = [pd.MultiIndex.from_product([[of.dataset], of.ids]) for _, of in parts] if not aligned else []
    number = names[0].append(names[1:]).factorize()[0] if names else None
    for name in first.estimates:
        if all(name in of.estimates for _, of in parts):
            total = sum(weight * of.estimates[name] for weight, of in parts)
            each = [weight * of.influence[name] for weight, of in parts]
            moved = sum(each) if number is None else np.bincount(number, np.concatenate(each))
            n_clusters = cluster_robust.counted(moved)
            yield {"quantity": name, "n_clusters": n_clusters} | cluster_robust.interval(total, moved, confidence)
