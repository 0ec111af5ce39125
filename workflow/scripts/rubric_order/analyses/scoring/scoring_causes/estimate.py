"""Causes that move scores."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import flags, permutations
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.agreement import contrasts
from rubric_order.methods.agreement.variants import SHARED
from rubric_order.methods.position import prompt_effects, uniformity
from rubric_order.methods.position.selections import READOUTS
from rubric_order.methods.uncertainty import cluster_robust, multiplicity

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", *VALUES.values(), READOUTS[Readout.SOFT]]}
NOT_IDENTIFIED = "not identified"
MODELS = {
    Readout.HARD: "conditional logit of pairs of reads, Firth's penalty",
    Readout.SOFT: "least squares of log-probabilities within items",
}
NUMBER, BOTH, TEXT = "slope_of_number", "slope_of_number_and_text", "slope_of_text"


class Laid(NamedTuple):
    """The reads of all conditions, items by reads.

    Attributes:
        places: position of each score, from 0, shape (items, reads, n).
        values: scores by readout, shape (items, reads); NaN without a score.
        probabilities: of each score, shape (items, reads, n); NaN where unknown.
    """

    items: pd.DataFrame
    reads: list[tuple[Any, ...]]
    places: np.ndarray
    values: dict[Readout, np.ndarray]
    probabilities: np.ndarray


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    conditions: Mapping[str, Mapping[str, Mapping[str, Any]]],
    confidence: float,
) -> pd.DataFrame:
    """Effects of position, ID, presence, number and text on log-odds, and slopes in points.

    `about` is the position, the IDs (``A - E``: less the ID of this level in reverse) or the score. ``number`` and
    ``text`` are per level nearer. ``slope_of_text`` is ``slope_of_number_and_text`` (texts written for their numbers)
    less ``slope_of_number`` (one text).
    """
    rows: list[Row] = []
    pooled: dict[tuple[Any, ...], list[Laid]] = {}
    for keys, block in blocks_by(SHARED, scores):
        block = _select_known_references(block, conditions, keys["n"])
        if block["condition"].nunique() > 1:
            laid = _laid(block, keys["dataset"], keys["n"])
            rows += _rows(keys, laid, conditions, confidence)
            pooled.setdefault((*(keys | {"dataset": EVERY}).values(),), []).append(laid)
    for key, parts in pooled.items():
        if len(parts) > 1 and all(part.reads == parts[0].reads for part in parts):
            rows += _rows(dict(zip(SHARED, key, strict=True)), _joined(parts), conditions, confidence)
    columns = [*SHARED, "readout", "cluster", "cause", "about", "estimate", "se", "ci_low", "ci_high", "p", "flag"]
    table = tidy.make_table(rows, [*columns, "unit", "n_items", "n_clusters", "method"])
    adjusted = multiplicity.adjust(table.rename(columns={"cause": "quantity"}), "p")
    return adjusted.rename(columns={"quantity": "cause"}).assign(confidence=confidence)


def _select_known_references(block: pd.DataFrame, conditions: Mapping[str, Any], n: int) -> pd.DataFrame:
    text = block["condition"].map(
        {name: by_scale[str(n)]["text"] for name, by_scale in conditions.items() if str(n) in by_scale}
    )
    return block[text.notna()] if text.notna().any() else block


def _laid(block: pd.DataFrame, dataset: str, n: int) -> Laid:
    place, reads = pd.factorize(pd.MultiIndex.from_frame(block[["condition", "strategy", "read_index"]]), sort=True)
    item, ids = pd.factorize(block["item_id"], sort=True)
    cells, shape = (item, place), (len(ids), len(reads))
    orderings = np.stack(block["ordering"].to_numpy())
    places = np.broadcast_to(np.arange(n), (*shape, n)).copy()
    places[cells] = permutations.positions_of(orderings) - 1
    values = {}
    for readout, column in VALUES.items():
        values[readout] = np.full(shape, np.nan)
        values[readout][cells] = block[column].to_numpy(dtype=float, na_value=np.nan)
    probabilities = np.full((*shape, n), np.nan)
    with_probabilities = np.flatnonzero(block[READOUTS[Readout.SOFT]].notna())
    if len(with_probabilities):
        of_scores = np.empty((len(with_probabilities), n))
        np.put_along_axis(
            of_scores,
            orderings[with_probabilities] - 1,
            np.stack(block[READOUTS[Readout.SOFT]].to_numpy()[with_probabilities]),
            axis=1,
        )
        probabilities[item[with_probabilities], place[with_probabilities]] = of_scores
    first: np.ndarray = np.zeros(len(ids), dtype=int)
    first[item] = np.arange(len(item))
    items = block[["item_id", "group_id"]].iloc[first].assign(dataset=dataset).reset_index(drop=True)
    return Laid(items, list(reads), places, values, probabilities)


def _joined(parts: list[Laid]) -> Laid:
    values = {name: np.concatenate([part.values[name] for part in parts]) for name in VALUES}
    places, probabilities = (np.concatenate([getattr(p, name) for p in parts]) for name in ("places", "probabilities"))
    items = pd.concat([part.items for part in parts], ignore_index=True)
    return Laid(items, parts[0].reads, places, values, probabilities)


def _rows(keys: Row, laid: Laid, conditions: Mapping[str, Any], confidence: float) -> Iterator[Row]:
    n = keys["n"]
    said = [conditions[condition][str(n)] for condition, *_ in laid.reads]
    ids = np.array([wording["ids"] for wording in said], dtype=object)
    text, number = (np.array([wording[name] or 0 for wording in said], dtype=int) for name in ("text", "shown"))
    number = np.where(text > 0, number, 0)
    terms = prompt_effects.terms(laid.places, ids, number, text)
    styles: dict[frozenset[Any], tuple[Any, ...]] = {
        frozenset(map(str, range(1, n + 1))): tuple(map(str, range(1, n + 1)))
    }
    for row in ids.tolist():
        styles.setdefault(frozenset(row), tuple(row))
    asked = prompt_effects.contrasts(
        terms.names, [style for style in styles.values() if set(style) <= set(ids.ravel().tolist())]
    )
    units = {
        cluster: laid.items.groupby(["dataset", f"{cluster}_id"], sort=True).ngroup().to_numpy() for cluster in CLUSTERS
    }
    for readout, values in laid.values.items():
        if np.isnan(values).all():
            continue
        if readout == Readout.HARD:
            sums = prompt_effects.score_sums(terms, np.where(np.isnan(values), 0, values).astype(int) - 1)
        else:
            sums = prompt_effects.probability_sums(terms, laid.probabilities)
        for cluster, unit in units.items():
            several = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
            common = keys | {"readout": readout, "cluster": cluster, "n_items": several}
            error = cluster_robust.LARGER if readout == Readout.HARD else cluster_robust.SANDWICH
            model = {"unit": "log-odds", "method": f"{MODELS[readout]}; {error.format(cluster)}"}
            yield from (common | model | row for row in _effects(sums.regroup(unit).fit(), asked, confidence))
            points = {"unit": "points", "method": f"least squares within items; each {cluster} left out"}
            yield from (common | points | row for row in _slopes(values, text, number, unit, n, confidence))


def _effects(fit: cluster_robust.Fit, asked: Mapping[tuple[str, str], np.ndarray], confidence: float) -> Iterator[Row]:
    count = 0 if fit.problem else cluster_robust.counted(fit.influence)
    for (cause, subject), weights in asked.items():
        raised = fit.flags if fit.problem or fit.tells(weights) else [NOT_IDENTIFIED]
        raised = [*raised, flags.FEW_CLUSTERS] if fit.tells(weights) and count < uniformity.FEW_CLUSTERS else raised
        row = {"cause": cause, "about": subject, "flag": ", ".join(raised), "n_clusters": count}
        yield row | fit.interval(weights, confidence)


def _slopes(
    values: np.ndarray, text: np.ndarray, shown: np.ndarray, unit: np.ndarray, n: int, confidence: float
) -> Iterator[Row]:
    same, fitting = (text == n) & (shown > 0), (text == shown) & (shown > 0)
    slopes = {NUMBER: _item_slopes(values, shown, same), BOTH: _item_slopes(values, shown, fitting)}
    slopes[TEXT] = slopes[BOTH] - slopes[NUMBER]
    common = ~np.isnan(slopes[TEXT])
    if common.any():
        slopes = {cause: np.where(common, of_items, np.nan) for cause, of_items in slopes.items()}
    for cause, of_items in slopes.items():
        has_slope = ~np.isnan(of_items)
        interval = contrasts.mean(of_items[has_slope], unit[has_slope], confidence)
        few = flags.FEW_CLUSTERS if interval["n_clusters"] < uniformity.FEW_CLUSTERS else ""
        labels = {"cause": cause, "about": "", "n_items": int(has_slope.sum())}
        yield labels | {"flag": few if has_slope.any() else NOT_IDENTIFIED} | interval


def _item_slopes(values: np.ndarray, shown: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    number = shown[chosen] - shown[chosen].mean() if chosen.any() else np.zeros(0)
    if not number.any():
        return np.full(len(values), np.nan)
    return values[:, chosen] @ number / (number @ number)
