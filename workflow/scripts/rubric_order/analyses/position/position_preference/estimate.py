"""Position preference in log-odds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, preference, selections, uniformity
from rubric_order.methods.uncertainty import cluster_robust, multiplicity

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", *selections.READOUTS.values()]}
SATURATED = 0.05  # if a smaller share of pairs of reads differ, scores hardly show an effect of the position
ERRORS = {Readout.HARD: cluster_robust.LARGER, Readout.SOFT: cluster_robust.SANDWICH}
MODELS = {
    Readout.HARD: "conditional logit of pairs of reads, Firth's penalty",
    Readout.SOFT: "least squares of log-probabilities within items",
}


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    sampling_temperatures: Mapping[str, Mapping[str, float | None]],
    clusters: Sequence[str] = CLUSTERS,
) -> pd.DataFrame:
    """Position preference of each dataset and of all together, for both readouts, if there are several orderings.

    ``interaction``: log-odds that the highest score gains at the last position, and the lowest at the first, beyond the
    common preference. Flags: ``saturated`` (less than `SATURATED` of the pairs of reads differ), ``separated`` (only
    Firth's penalty keeps an estimate finite).

    Source: ours; the model is McFadden's, see `conditional_logit`.
    """
    rows: list[Row] = []
    parts: dict[tuple[Any, ...], list[Any]] = {}
    for block in blocks.blocks(scores):
        for readout in selections.readouts(block) if preference.identifies(block) else ():
            compared = preference.compared(block, readout)
            units = {cluster: block.units(cluster) for cluster in clusters}
            base_columns = block.keys | {"readout": readout}
            block_rows = [*_rows(base_columns, compared, units, confidence)]
            rows += block_rows
            parts.setdefault((*(base_columns | {"dataset": EVERY}).items(),), []).append((compared, units, block_rows))
    for key, datasets in parts.items():
        if len(datasets) == 1:  # the rows of a single dataset are also the rows of dataset ``all``
            rows += [row | dict(key) for row in datasets[0][2]]
            continue
        compared = preference.together([compared for compared, _, _ in datasets])
        rows += _rows(
            dict(key),
            compared,
            {name: _joined([u[name] for _, u, _ in datasets]) for name in clusters},
            confidence,
        )
    for row in rows:
        row["temperature"] = sampling_temperatures.get(row["judge"], {}).get(row["profile"])
        row["unit"] = _unit(row["readout"], row["temperature"])
    columns = [*KEYS, "readout", "cluster", "quantity", "position"]
    columns += ["estimate", "se", "df", "ci_low", "ci_high", "p", "p_cluster", "effective_clusters"]
    columns += ["flag", "unit", "temperature", "differing", "n_pairs", "n_items", "n_clusters", "n_reads", "method"]
    table = tidy.make_table(rows, columns, types={"position": "Int8"})
    return multiplicity.adjust(table.assign(confidence=confidence), "p_cluster")


def _joined(units: list[np.ndarray]) -> np.ndarray:
    first = np.cumsum([0, *(int(unit.max(initial=-1)) + 1 for unit in units)])
    return np.concatenate([unit + start for unit, start in zip(units, first, strict=False)])


def _unit(readout: Readout, temperature: float | None) -> str:
    if readout == Readout.SOFT:
        return "log-odds of the model's probabilities"
    if temperature is None:
        return "log-odds of an answer, temperature unknown"
    if temperature == 0:
        return "temperature 0: relative to what else differs between the prompts of an item"
    return f"log-odds of an answer at temperature {temperature:g}"


def _rows(about: Row, of: preference.Hard | preference.Soft, units: dict[str, Any], confidence: float) -> Iterator[Row]:
    sizes = {"n_items": of.items, "n_reads": of.reads, "n_pairs": of.discordant}
    differing = of.discordant / of.pairs if of.pairs else np.nan
    of_items = preference.sums(of)
    for cluster, unit in units.items():
        fits = of_items.regroup(unit)
        count = 0 if fits.positions.problem else cluster_robust.counted(fits.positions.influence)
        raised = fits.positions.flags
        effective = _effective(fits.positions, about["n"])
        few = not fits.positions.problem and not effective >= uniformity.FEW_CLUSTERS
        raised += [flags.FEW_CLUSTERS] if few else []
        raised += [flags.SATURATED] if about["readout"] == Readout.HARD and not differing >= SATURATED else []
        same = (
            about | sizes | {"cluster": cluster, "differing": differing, "n_clusters": count, "flag": ", ".join(raised)}
        )
        same["effective_clusters"] = effective
        method = f"{MODELS[about['readout']]}; {ERRORS[about['readout']].format(cluster)}"
        yield from (same | {"method": method} | row for row in _estimates(fits, about["n"], confidence))


def _effective(fit: cluster_robust.Fit, n: int) -> float:
    if fit.problem:
        return np.nan
    _, sizes, rows = np.linalg.svd(fit.space @ (np.eye(n) - 1 / n))
    return round(fit.df(rows[sizes > 1e-6]) + 1, 9)


def _estimates(found: preference.Preference, n: int, confidence: float) -> Iterator[Row]:
    centred = np.eye(n) - 1 / n
    for place, weights in enumerate(centred):
        yield (
            {"quantity": "preference", "position": place + 1}
            | found.positions.interval(weights, confidence)
            | {"p": np.nan}
        )
    for name, weights in preference.contrasts(n).items():
        row = {"quantity": name} | found.positions.interval(weights, confidence)
        yield row | ({"p": found.p_positions} if n == 2 and found.positions.separated else {})
    yield {"quantity": "interaction"} | found.interaction.interval(np.eye(n + 1)[-1], confidence)
    yield {"quantity": "no_preference", "p_cluster": found.p_positions}
    yield {"quantity": "no_interaction", "p": found.p_interaction}
