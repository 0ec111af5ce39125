"""Variation of one item's scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, repetition
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}

# Four things: a function from sums over clusters to estimates, a mask of usable items, the items' summands, and the
# source of the variance of repetition.
Split = tuple[Callable[[np.ndarray], dict[str, np.ndarray]], np.ndarray, np.ndarray, str]


def item_moments(values: np.ndarray) -> np.ndarray:
    """Number of each item's scores, their variance (n - 1), and its root."""
    count = (~np.isnan(values)).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=1) / count
        squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
        variance = np.where(count > 1, squares / (count - 1), np.nan)
    return np.column_stack([count, variance, np.sqrt(variance)])


def parts(reads: np.ndarray, noise: np.ndarray) -> np.ndarray:
    deviation = np.nan_to_num(reads - np.nanmean(reads, axis=1, keepdims=True))
    return np.column_stack([np.ones(len(reads)), item_moments(reads)[:, 1], noise, deviation])


def unit_parts(table: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Moments of each cluster, from its items'; the split is computed from sums of these rows."""
    sums = resampling.sum_units(table, unit)
    count, deviation = sums[:, :1], sums[:, 3:]
    squares = (deviation**2).sum(axis=1, keepdims=True)
    return np.column_stack([np.ones(len(sums)), sums, count**2, squares, count * deviation])


def split(sums: np.ndarray, *, repeats: int = 1, crossed: bool = True, known: bool = True) -> dict[str, np.ndarray]:
    """Components of the variance of a read whose ordering is drawn at random, by the method of moments.

    Source: two-way analysis of variance with fixed orderings and random items (Searle, Casella and McCulloch, 1992,
    Chapter 4). Chance in the orderings' means is over clusters, whose items may share effects.
    """
    d = (sums.shape[-1] - 6) // 2
    units, count = sums[..., 0], sums[..., 1]
    divisor = (d - 1) / d if crossed else 1  # turns the variance of a sample into the variance of all D orderings
    components = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        total, noise = sums[..., 2] / count, sums[..., 3] / count
        if crossed:
            means = sums[..., 4 : 4 + d] / count[..., None]
            counts, squares, products = sums[..., 4 + d], sums[..., 5 + d], sums[..., 6 + d :]
            away = squares - 2 * (means * products).sum(axis=-1) + (means**2).sum(axis=-1) * counts
            by_chance = np.where(units > 1, units / (units - 1), np.nan) * away / count**2 / (d - 1)
            between = (means**2).sum(axis=-1) / (d - 1) - by_chance
            components["shift"] = divisor * between
            if not known:
                return components | {"rest": total - between}
        if known:
            ordering = divisor * (total - noise / repeats)
            share = np.where(ordering + noise > 0, ordering / (ordering + noise), np.nan)
            components |= {"repetition": noise, "ordering": ordering, "ordering_share": share}
            if crossed:
                components["interaction"] = ordering - components["shift"]
    return components


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
) -> pd.DataFrame:
    """Standard deviation (n - 1) and variance of an item's scores, means over items, and the variance's `split`.

    Source: the earlier version of Xu et al., Table 3; the split is ours.
    """
    parts: list[tuple[Row, Row]] = []
    for block in blocks.blocks(scores):
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        for readout, values in block.readouts():
            parts += _readout_rows(block, readout, values, temperature, confidence=confidence)
    columns = [*KEYS, "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "repetition_from"]
    table = tidy.join_parts(parts, [*columns, "n_items", "n_clusters", "method"], by=(*tidy.BY, "cluster"))
    return table.assign(confidence=confidence)


def _readout_rows(
    block: blocks.Block,
    readout: Readout,
    values: np.ndarray,
    temperature: float | None,
    *,
    confidence: float,
) -> Iterator[tuple[Row, Row]]:
    spread = item_moments(values)[:, 1:]
    statistics: list[Split] = [(_spread, ~np.isnan(spread[:, 0]), np.column_stack([np.ones(len(spread)), spread]), "")]
    if len(block.orderings[0]) > 1:
        statistics.append(_split_of_block(block, readout, values, temperature))
    for statistic, usable, per_item, source in statistics:
        for cluster in CLUSTERS if usable.any() else ():
            unit = block.units(cluster, usable)
            per_unit = unit_parts(per_item[usable], unit)
            estimates = statistic(resampling.left_out_sums(per_unit, np.arange(len(per_unit))))
            if not estimates:
                continue
            values_of = np.stack(list(estimates.values()), axis=1)
            ends = resampling.jackknife_t(values_of, confidence, sizes=resampling.part_sizes(unit))
            rows = {"quantity": np.array(list(estimates), dtype=object), "ci_low": ends.low, "ci_high": ends.high}
            rows["estimate"] = values_of[0]
            method = f"method of moments; jackknife over {cluster}s, Student's t"
            common = block.keys | {"readout": readout, "n_items": int(usable.sum()), "cluster": cluster}
            yield common | {"n_clusters": len(per_unit), "method": method, "repetition_from": source}, rows


def _spread(sums: np.ndarray) -> dict[str, np.ndarray]:
    with np.errstate(invalid="ignore"):  # one cluster that is left out
        return {"mean_sd": sums[:, 3] / sums[:, 1], "variance": sums[:, 2] / sums[:, 1]}


def _split_of_block(block: blocks.Block, readout: Readout, values: np.ndarray, temperature: float | None) -> Split:
    repeats = repetition.repeats_of(block)
    crossed = repeats is not None
    reads = block.ordering_means(values) if crossed else values
    scored = ~np.isnan(reads)
    usable = scored.all(axis=1) if crossed else scored.sum(axis=1) > 1
    noise, source = np.full(len(usable), np.nan), ""
    of_repetition = repetition.variances(block, readout, values, temperature)
    if of_repetition is not None:
        usable &= ~np.isnan(of_repetition[0]).all(axis=1)
        noise[usable], source = np.nanmean(of_repetition[0][usable], axis=1), of_repetition[1]

    def statistic(sums: np.ndarray) -> dict[str, np.ndarray]:
        return split(sums, repeats=repeats or 1, crossed=crossed, known=of_repetition is not None)

    table = np.full((len(usable), 3 + reads.shape[1]), np.nan)
    if usable.any():
        table[usable] = parts(reads[usable], noise[usable])
    return statistic, usable, table, source
