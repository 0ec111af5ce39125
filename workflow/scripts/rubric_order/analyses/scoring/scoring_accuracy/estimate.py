"""Agreement with golden scores by variant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, EVERY
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, golden, variants
from rubric_order.methods.agreement.variants import NEUTRAL, SHARED, Variants
from rubric_order.methods.uncertainty import bounds, multiplicity, random_effects

COLUMNS = {"scores": variants.COLUMNS, "items": golden.COLUMNS}
FLUCTUATION = "fluctuation_"  # prefix of the name of a correlation


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    bases: Mapping[str, Sequence[str]],
    confidence: float,
    items: pd.DataFrame,
    human_scales: Mapping[str, Sequence[float]],
    golden_scores: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Agreement of items' mean scores with each source of `golden` scores, by variant, on items scored in it.

    Source: Li et al. (2025), Equations 1 and 2, Table 3, Figure 5, for correlations and fluctuation.
    """
    golden_by_item = golden.item_golds(items, human_scales, golden_scores)
    rows: list[Row] = []
    for setting in variants.variants(scores, bases):
        sources = golden.sources(setting.items, golden_by_item, setting.keys["n"])
        for name, source in sources.items():
            rows += _rows(setting, name, source, confidence)
    _add_correlations(rows)
    rows += _fluctuations(rows)
    columns = [*SHARED, "varied", "order", "kind", "readout", "cluster", "golden", "quantity", "estimate", "ci_low"]
    columns += ["ci_high", "difference", "difference_se", "difference_low", "difference_high", "p", "bound_low"]
    columns += ["bound_high", "floor", "above_by_chance", "error_correlation"]
    columns += ["n_items", "n_clusters", "n_failed", "n_differences", "n_neutral", "method"]
    whole = dict.fromkeys(("n_items", "n_clusters", "n_failed", "n_differences", "n_neutral"), 0)
    table = tidy.make_table([whole | row for row in rows], columns)
    table = table.assign(confidence=confidence)
    return multiplicity.adjust(table, "p")


def _rows(found: Variants, name: str, given: np.ndarray, confidence: float) -> Iterator[Row]:
    means, rated = found.means, ~np.isnan(given)
    for cluster in CLUSTERS:
        unit = found.units(cluster)
        for place in range(len(found.names)):
            common = found.about(place) | {"cluster": cluster, "golden": name}
            common |= {"n_failed": int((found.reads - found.scored)[rated, place].sum())}
            common["method"] = f"each {cluster} left out, Student's t; Fisher's z for correlations"
            used = rated & ~np.isnan(means[:, place])
            both = used & ~np.isnan(means[:, 0])
            common |= {"n_items": int(used.sum()), "n_clusters": len(np.unique(unit[used]))}
            ends = _bounds(found, place, rated, given) if common["n_failed"] else (np.nan, np.nan)
            whole = variant = agreement.Compared(means[used, place], given[used], unit[used])
            if both.sum() < used.sum():
                variant = agreement.Compared(means[both, place], given[both], unit[both])
            base = agreement.Compared(means[both, 0], given[both], unit[both]) if place else whole
            for quantity in agreement.STATISTICS:
                row = common | {"quantity": quantity}
                row |= whole.single(quantity, confidence).columns()
                if place:
                    row |= variant.minus(base, quantity, confidence)
                    row["clusters"] = np.unique(found.items.loc[both, f"{cluster}_id"])
                if quantity == "pearson":
                    failed = np.isnan(ends[0])
                    row |= {
                        "bound_low": row["estimate"] if failed else ends[0],
                        "bound_high": row["estimate"] if failed else ends[1],
                    }
                yield row


def _bounds(found: Variants, place: int, rated: np.ndarray, given: np.ndarray) -> tuple[float, float]:
    reads, total = found.reads[rated, place], found.total[rated, place]
    missing = reads - found.scored[rated, place]
    low, high = ((total + missing * score) / reads for score in (1, found.keys["n"]))
    return bounds.correlation_bounds(low, high, given[rated])


def _add_correlations(rows: list[Row]) -> None:
    """Add the mean correlation of the judges' errors to the differences of one variant on one dataset."""
    same = [*(key for key in SHARED if key != "judge"), "varied", "order", "readout", "cluster", "golden", "quantity"]
    settings: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["dataset"] != EVERY and len(row.get("influence", ())) == len(row.get("clusters", ())) > 1:
            settings.setdefault(tuple(row[key] for key in same), []).append(row)
    for judges in settings.values():
        correlations = random_effects.error_correlations([(row["clusters"], row["influence"]) for row in judges])
        for row in judges:
            row["error_correlation"] = correlations[0, -1] if len(judges) > 1 else np.nan


def _fluctuations(rows: list[Row]) -> list[Row]:
    differences = pd.DataFrame([row for row in rows if row["dataset"] != EVERY and row["quantity"] in agreement.FISHER])
    if differences.empty or "difference" not in differences:
        return []
    differences = differences[differences["difference"].notna()].assign(size=differences["difference"].abs())
    same = [*(key for key in SHARED if key != "dataset"), "readout", "cluster", "golden", "quantity"]
    fluctuations = []
    for key, block in differences.groupby(same, sort=True):
        neutral = block.loc[block["kind"] == NEUTRAL, "size"]
        floor = {"floor": neutral.max(), "n_neutral": len(neutral)}
        for kind, of_kind in block.groupby("kind", sort=True):
            common = dict(zip(same, key, strict=True)) | {"dataset": EVERY, "kind": kind, "varied": "", "order": ""}
            common["quantity"] = FLUCTUATION + common["quantity"]
            size = {"estimate": of_kind["size"].max(), "n_differences": len(of_kind)}
            if len(neutral) and kind != NEUTRAL:
                size["above_by_chance"] = len(of_kind) / (len(of_kind) + len(neutral))
            fluctuations.append(common | floor | size | {"method": "largest size of a difference; no interval"})
    return fluctuations
