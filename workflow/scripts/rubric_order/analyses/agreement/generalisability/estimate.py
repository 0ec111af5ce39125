"""Reliability of mean scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import subsets
from rubric_order.methods.position import blocks, repetition
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}
SPLITS = 252  # number of pairs of disjoint sets of orderings of one size that are drawn in place of all such pairs
_NO_VARIANCE = 1e-12  # a variance up to this is the rounding error of a constant


class Components(NamedTuple):
    """Variance components, in points squared; not truncated at 0.

    Attributes:
        item, shift: variance of what an item adds to its scores, and an ordering to all items.
        rest: interaction plus repetition.
        repetition: variance of one read by repetition; NaN if neither repeats nor option probabilities give it.
    """

    item: np.ndarray
    shift: np.ndarray
    rest: np.ndarray
    repetition: np.ndarray

    @property
    def interaction(self) -> np.ndarray:
        return self.rest - self.repetition


def unit_moments(values: np.ndarray, noise: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Moments that the components depend on, one row per unit of resampling; sums of rows give the components."""
    values = values - values.mean()
    mean = values.mean(axis=1)
    away = values - mean[:, None]
    rows = np.column_stack([np.ones(len(mean)), mean, mean**2, (away**2).sum(axis=1), noise, away])
    sums = resampling.sum_units(rows, unit)
    count, total = sums[:, 0], sums[:, 1]
    return np.column_stack(
        [np.ones(len(sums)), sums[:, :5], count**2, total**2, count * total, sums[:, 5:], sums[:, 5:] ** 2]
    )


def components(sums: np.ndarray, repeats: int) -> Components:
    """Components from sums of `unit_moments`, shape (..., 9 + 2D), by the method of moments.

    Source: two-way analysis of variance (Brennan, 2001, Generalizability Theory, Section 3.4). Ours: repetition from
    repeats within orderings; variances of means over units, so that the items of a unit may be alike.
    """
    d = (sums.shape[-1] - 9) // 2
    units, count, mean, square, within, noise, counts, means, products = (sums[..., place] for place in range(9))
    shift, shift_squares = sums[..., 9 : 9 + d], sums[..., 9 + d :]
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = mean / count
        of_overall = (means - 2 * overall * products + overall**2 * counts) * units / (units - 1) / count**2
        of_means = square / count - overall**2 + of_overall
        by_chance = (shift_squares - shift**2 / units[..., None]).sum(axis=-1) * units / (units - 1)
        residual = (within + (by_chance - (shift**2).sum(axis=-1)) / count) / count / (d - 1)
        between = ((shift**2).sum(axis=-1) - by_chance) / count**2 / (d - 1)
        repetition = noise / count
        rest = residual + repetition * (1 - 1 / repeats) if repeats > 1 else residual
        return Components(of_means - residual / d, between, rest, repetition)


def coefficients(of: Components, orderings: np.ndarray, repeats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Generalisability and dependability of the mean over some orderings, each read several times.

    Source: Cronbach, Gleser, Nanda and Rajaratnam (1972), The Dependability of Behavioral Measurements; Brennan (2001).
    """
    item, shift, rest = (np.maximum(part, 0)[..., None] for part in (of.item, of.shift, of.rest))
    by_repetition = np.where(repeats > 1, of.repetition[..., None], 0)
    error = (rest - np.minimum(by_repetition, rest) * (1 - 1 / repeats)) / orderings
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(item + error > _NO_VARIANCE, item / (item + error), np.nan)
        total = item + error + shift / orderings
        return relative, np.where(total > _NO_VARIANCE, item / total, np.nan)


def observed(values: np.ndarray, size: int, *, seed: int) -> float:
    """Mean split-half correlation, over items, of means over disjoint sets of orderings."""
    covariance = np.cov(values, rowvar=False)
    masks = subsets.disjoint(values.shape[1], size, SPLITS, seed)
    first, second = masks[:, 0], masks[:, 1]
    shared = np.einsum("si,ij,sj->s", first, covariance, second)
    spreads = [np.einsum("si,ij,sj->s", mask, covariance, mask) for mask in (first, second)]
    varies = (spreads[0] > _NO_VARIANCE) & (spreads[1] > _NO_VARIANCE)
    return float((shared[varies] / np.sqrt(spreads[0] * spreads[1])[varies]).mean()) if varies.any() else np.nan


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    repeats: Sequence[int] = (1, 2, 5, 10),
    temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
) -> pd.DataFrame:
    """Variance components, and the coefficients of a mean over `orderings` orderings with `repeats` reads each."""
    parts: list[tuple[Row, Row]] = []
    for block in blocks.blocks(scores):
        often = repetition.repeats_of(block) if block.crossed and len(block.orderings[0]) > 1 else None
        if often is None:
            continue
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        for readout, values in block.readouts():
            parts += _readout_rows(block, readout, values, often, temperature, repeats, confidence, seed)
    columns = [*KEYS, "readout", "cluster", "quantity", "orderings", "repeats", "estimate", "ci_low", "ci_high"]
    types = dict.fromkeys(("orderings", "repeats"), "Int64")
    table = tidy.join_parts(
        parts, [*columns, "repetition_from", "n_items", "n_clusters", "method"], types, (*tidy.BY, "cluster")
    )
    return table.assign(confidence=confidence, seed=seed)


def _readout_rows(
    block: blocks.Block,
    readout: Readout,
    values: np.ndarray,
    often: int,
    temperature: float | None,
    repeats: Sequence[int],
    confidence: float,
    seed: int,
) -> Iterator[tuple[Row, Row]]:
    cells = block.ordering_means(values)
    variances = repetition.variances(block, readout, values, temperature)
    usable = ~np.isnan(cells).any(axis=1)
    noise = np.full(len(cells), np.nan)
    if variances is not None:
        usable &= ~np.isnan(variances[0]).any(axis=1)
        noise[usable] = variances[0][usable].mean(axis=1)
    if usable.sum() < 2 or (often > 1 and variances is None):
        return
    cells, d = cells[usable], cells.shape[1]
    grid = np.array([(k, r) for r in (repeats if variances else (1,)) for k in range(1, d + 1)])
    common = block.keys | {
        "readout": readout,
        "n_items": len(cells),
        "repetition_from": variances[1] if variances else "",
    }
    for cluster in CLUSTERS:
        unit = block.units(cluster, usable)
        moments = unit_moments(cells, noise[usable], unit)
        total, sizes_of = moments.sum(axis=0), np.bincount(unit)
        both = components(np.vstack([total, total - moments]), often)  # of all units, then without each unit
        same = common | {"cluster": cluster, "n_clusters": len(moments)}
        yield from _variances(same, both, confidence, sizes_of)
        for name, estimates in zip(("generalisability", "dependability"), coefficients(both, *grid.T), strict=True):
            rows = {"quantity": name, "orderings": grid[:, 0], "repeats": grid[:, 1]}
            with np.errstate(divide="ignore", invalid="ignore"):
                on_scale = np.arctanh(np.minimum(estimates, 1 - 1e-12))
                ends = np.tanh(resampling.left_out_interval(on_scale, confidence, sizes=sizes_of, heavy=True))
            yield same | {"method": _method(cluster) + ", Fisher's z"}, rows | _columns(estimates[0], ends)
        sizes = np.arange(1, d // 2 + 1)
        if often == 1 and len(sizes):
            rows = {"quantity": "observed", "orderings": sizes, "repeats": 1}
            rows["estimate"] = np.array([observed(cells, int(size), seed=seed) for size in sizes])
            yield same | {"method": f"{SPLITS} pairs of disjoint sets of orderings"}, rows


def _variances(about: Row, of: Components, confidence: float, sizes: np.ndarray) -> Iterator[tuple[Row, Row]]:
    parts = {"item": of.item, "shift": of.shift, "rest": of.rest}
    if about["repetition_from"]:
        parts |= {"interaction": of.interaction, "repetition": of.repetition}
    values = np.column_stack(list(parts.values()))
    ends = variance_interval(values, confidence, sizes)
    rows = {"quantity": np.array(list(parts), dtype=object)} | _columns(values[0], ends)
    yield about | {"method": _method(about["cluster"])}, rows


def variance_interval(values: np.ndarray, confidence: float, sizes: np.ndarray) -> np.ndarray:
    positive = (values > 0).all(axis=0)
    on_scale = np.where(positive, np.log(np.where(positive, values, 1)), values)
    ends = resampling.left_out_interval(on_scale, confidence, sizes=sizes, heavy=True)
    return np.where(positive, np.exp(np.where(positive, ends, 0)), ends)


def _method(cluster: str) -> str:
    return (
        f"method of moments; jackknife over {cluster}s, log scale of variances, Student's t by influence of {cluster}s"
    )


def _columns(values: np.ndarray, ends: np.ndarray) -> Row:
    return {"estimate": values, "ci_low": ends[0], "ci_high": ends[1]}
