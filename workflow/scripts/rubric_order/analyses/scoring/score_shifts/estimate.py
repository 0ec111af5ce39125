"""Shifts of scores by variants."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import contrasts, variants
from rubric_order.methods.agreement.variants import NEUTRAL, SHARED, Variants
from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import equivalence, multiplicity

COLUMNS = {"scores": variants.COLUMNS}
QUANTITIES = ("mean_shift", "mean_change", "share_changed", "total_variation")


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    bases: Mapping[str, Sequence[str]],
    confidence: float,
    level: float,
    points: float,
) -> pd.DataFrame:
    """Differences of each variant (`varied`, `order`) from the study's base, see `variants.variants`.

    Items are those read in all variants, with a score in variant and base. All but ``mean_shift`` compare first reads.
    """
    rows: list[Row] = []
    for setting in variants.variants(scores, bases):
        for cluster in CLUSTERS:
            of_cluster = list(_rows(setting, cluster, confidence, level, points))
            rows += _add_floors(of_cluster, setting)
    columns = [*SHARED, "varied", "order", "kind", "readout", "cluster", "quantity", "estimate", "se", "ci_low"]
    columns += ["ci_high", "p", "low", "high", "verdict", "floor_neutral", "floor_repeats", "n_neutral", "n_items"]
    columns += ["n_clusters", "n_failed", "method"]
    table = tidy.make_table(rows, columns)
    table = table.assign(confidence=confidence, margin=points, level=level)
    return multiplicity.adjust(table, "p")


def _rows(found: Variants, cluster: str, confidence: float, level: float, points: float) -> Iterator[Row]:
    unit, means = found.units(cluster), found.means
    for place in range(1, len(found.names)):
        common = found.about(place) | {"cluster": cluster}
        both = ~np.isnan(means[:, [0, place]]).any(axis=1)
        failed = int((found.reads - found.scored)[:, [0, place]].sum())
        common |= {"n_items": int(both.sum()), "n_failed": failed}
        shift = (means[:, place] - means[:, 0])[both]
        mean = contrasts.mean(shift, unit[both], confidence)
        yield common | {"quantity": "mean_shift"} | mean | _equivalence(mean, level, points) | _method(cluster)
        first = found.first[:, [0, place]]
        both = ~np.isnan(first).any(axis=1)
        (base, variant), units = first[both].T, unit[both]
        common |= {"n_items": len(base)} | _method(cluster)
        hard = common["readout"] == Readout.HARD
        for row in contrasts.changes(variant, base, units, confidence):
            if hard or row["quantity"] != "share_changed":
                yield common | row
        if hard:
            about_all = {"n_clusters": len(np.unique(units))}
            yield common | about_all | contrasts.total_variation(base, variant, common["n"])


def _method(cluster: str) -> Row:
    return {"method": f"each {cluster} left out, Student's t"}


def _equivalence(mean: Mapping[str, Any], level: float, points: float) -> Row:
    value, error, df = (np.array([mean[name]]) for name in ("estimate", "se", "df"))
    low, high = equivalence.interval(value, error, df, level)
    verdict = equivalence.verdict(low, high, points)
    if verdict == equivalence.SHOWN and mean["n_clusters"] < uniformity.FEW_CLUSTERS:
        verdict = equivalence.UNDECIDED
    return {"low": float(low[0]), "high": float(high[0]), "verdict": verdict}


def _add_floors(rows: list[Row], found: Variants) -> Iterator[Row]:
    pairs, differing, apart = found.repeats.sum(axis=0)
    repeated = {"mean_change": apart / pairs, "share_changed": differing / pairs} if pairs else {}
    for row in rows:
        neutral = [
            abs(other["estimate"])
            for other in rows
            if other["kind"] == NEUTRAL and other["quantity"] == row["quantity"] and other is not row
        ]
        floors = {"floor_neutral": max(neutral, default=np.nan), "n_neutral": len(neutral)}
        yield row | floors | {"floor_repeats": repeated.get(row["quantity"], np.nan)}
