"""Position preference over judges and datasets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, preference, selections
from rubric_order.methods.uncertainty import random_effects

COLUMNS = {
    "scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", *selections.READOUTS.values()],
    "position_preference": [*KEYS, "readout", "cluster", "quantity", "position", "estimate", "se"],
}
SETTING = ["study", "profile", "condition", "strategy", "n", "readout", "cluster", "quantity", "position"]
FACTORS = ("judge", "dataset")
NO_CLUSTERS: tuple[np.ndarray, np.ndarray] = (np.empty(0, dtype=str), np.empty(0))
METHOD = "random effects by REML, Hartung and Knapp's interval; sampling errors of judges on one dataset correlated"


class Influence(NamedTuple):
    """Influence of each cluster of one block: by quantity and position (0: none), shape (n_clusters,)."""

    ids: np.ndarray
    of: dict[tuple[str, int], np.ndarray]


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], position_preference: pd.DataFrame, *, confidence: float
) -> pd.DataFrame:
    """Random-effects summary (`random_effects.summary`) of position preference and its contrasts.

    ``sd_...``: between judges, between datasets, and the rest. ``heterogeneity``: Cochran's Q. ``error_correlation``:
    mean correlation of two judges' sampling errors on one dataset. ``judge``, ``dataset``, ``both``: shrunken
    estimates.
    """
    with_errors = position_preference[(position_preference["dataset"] != EVERY) & (position_preference["se"] > 0)]
    influence = _influence(scores)
    rows = []
    for key, block in with_errors.groupby(SETTING, dropna=False, sort=True):
        codes = {name: pd.factorize(block[name], sort=True) for name in FACTORS}
        dataset, _ = codes["dataset"]
        correlations = _correlations(dict(zip(SETTING, key, strict=True)), block, dataset, influence)
        summary = random_effects.summary(
            block["estimate"].to_numpy(dtype=float),
            block["se"].to_numpy(dtype=float),
            {name: code for name, (code, _) in codes.items()},
            confidence,
            correlations=correlations,
        )
        if summary is not None:
            base_columns = dict(zip(SETTING, key, strict=True)) | {"n_estimates": len(block), "method": METHOD}
            base_columns |= {f"n_{name}s": len(levels) for name, (_, levels) in codes.items()}
            levels = {name: list(levels) for name, (_, levels) in codes.items()}
            rows += [base_columns | row for row in _terms(summary, block, levels)]
            if np.isfinite(mean := _mean_correlation(dataset, correlations)):
                everywhere = {"judge": EVERY, "dataset": EVERY}
                rows.append(base_columns | everywhere | {"term": "error_correlation", "estimate": mean})
    columns = [*KEYS, "readout", "cluster", "quantity", "position", "term", "estimate", "ci_low", "ci_high", "p", "df"]
    columns += ["n_judges", "n_datasets", "n_estimates", "method"]
    table = tidy.make_table_with_gaps(rows, columns, {"df": "float64"})
    return table.assign(confidence=confidence)


def _influence(scores: pd.DataFrame | Iterable[pd.DataFrame]) -> dict[tuple[Any, ...], Influence]:
    influence = {}
    for block in blocks.blocks(scores):
        for readout in selections.readouts(block) if preference.identifies(block) else ():
            sums = preference.sums(preference.compared(block, readout))
            for cluster in CLUSTERS:
                fits = sums.regroup(block.units(cluster))
                if fits.positions.problem:
                    continue
                weights = {("preference", place + 1): row for place, row in enumerate(np.eye(block.n) - 1 / block.n)}
                weights |= {(name, 0): row for name, row in preference.contrasts(block.n).items()}
                of = {quantity: fits.positions.influence @ row for quantity, row in weights.items()}
                if not fits.interaction.problem:
                    of["interaction", 0] = fits.interaction.influence[:, -1]
                ids = np.unique(block.items[f"{cluster}_id"].to_numpy(dtype=str))
                influence[(*block.key, readout, cluster)] = Influence(ids, of)
    return influence


def _correlations(
    setting: dict[str, Any], block: pd.DataFrame, dataset: np.ndarray, influence: Mapping[tuple[Any, ...], Influence]
) -> np.ndarray:
    position = setting["position"]
    quantity = (setting["quantity"], 0 if pd.isna(position) else int(position))
    columns = []
    for judge, dataset_id in zip(block["judge"], block["dataset"], strict=True):
        keys = setting | {"judge": judge, "dataset": dataset_id}
        of_judge = influence.get((*(keys[name] for name in KEYS), setting["readout"], setting["cluster"]))
        columns.append((of_judge.ids, of_judge.of[quantity]) if of_judge and quantity in of_judge.of else NO_CLUSTERS)
    matrix = np.eye(len(block))
    for code in range(dataset.max() + 1):
        rows = np.flatnonzero(dataset == code)
        matrix[np.ix_(rows, rows)] = random_effects.error_correlations([columns[row] for row in rows])
    return matrix


def _mean_correlation(dataset: np.ndarray, correlations: np.ndarray) -> float:
    pairs = np.triu(dataset[:, None] == dataset, 1)
    return float(correlations[pairs].mean()) if pairs.any() else np.nan


def _terms(found: random_effects.Summary, block: pd.DataFrame, levels: dict[str, list[str]]) -> Iterator[Row]:
    everywhere = {"judge": EVERY, "dataset": EVERY}
    mean = {"estimate": found.mean, "ci_low": found.low, "ci_high": found.high, "p": found.p, "df": found.df}
    yield everywhere | {"term": "mean"} | mean
    for name, value in found.sd.items():
        yield everywhere | {"term": f"sd_{name}", "estimate": value}
    yield everywhere | {"term": "heterogeneity", "estimate": found.q, "p": found.q_p, "df": len(block) - 1}
    for name, values in found.shrunken.items():
        for level, value in zip(levels[name], values, strict=True):
            yield everywhere | {name: level, "term": name, "estimate": float(value)}
    for judge, dataset, value in zip(block["judge"], block["dataset"], np.asarray(found.predictions), strict=True):
        yield {"judge": judge, "dataset": dataset, "term": "both", "estimate": float(value)}
