"""Halo of scores in one answer."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

from rubric_order.base.keys import DEFAULT_PROFILE, KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import panels
from rubric_order.methods.uncertainty import distributions, multiplicity, resampling

BASES = ("mean", "read")
NOT_IDENTIFIED = "not identified"  # a difference in which noise and halo cannot be separated
SHRUNK = 0.95  # factor of correlations before Fisher's transformation in a difference, which is finite at 1 then
FURTHEST = 60.0  # standard errors; the p-value of a difference that is farther from 0 is 0
# For a strategy of criteria in one prompt: the strategy of criteria judged alone that it is compared with, if the names
# differ.
ALONE = {"balanced_williams": "balanced"}
COLUMNS = {
    "scores": [*panels.COLUMNS, "item_id", "ordering", "levels"],
    "alone": [*KEYS, "item_id", "read_index", "ordering", *VALUES.values()],
}


def mean_correlation(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return _mean(pair_correlations(values, weights))


def _mean(values: np.ndarray) -> np.ndarray:
    has_value = ~np.isnan(values)
    count = has_value.sum(axis=-1)
    return np.where(has_value, values, 0).sum(axis=-1) / np.where(count > 0, count, np.nan)


def pair_correlations(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's r of each pair of criteria, shape (resamples, ..., C * (C - 1) / 2); NaN for a constant criterion."""
    has_score = (~np.isnan(values)).astype(float)
    with np.errstate(invalid="ignore"):  # centred, to lose no digits; a criterion without scores has no mean
        total = has_score.sum(axis=-2, keepdims=True)
        centre = np.nansum(values, axis=-2, keepdims=True) / np.where(total > 0, total, 1)
    x = np.where(has_score > 0, values - centre, 0.0)

    def sums(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, one[..., :, None] * other[..., None, :], axes=(1, -3))

    n, sum_x, sum_xx, sum_xy = sums(has_score, has_score), sums(x, has_score), sums(x * x, has_score), sums(x, x)
    spread = n * sum_xx - sum_x**2
    spread_other = np.swapaxes(spread, -1, -2)
    largest = np.maximum((x * x).max(initial=0), 1e-300)
    varies = (np.minimum(spread, spread_other) > 1e-11 * n**2 * largest) & (n > 1)
    first, second = np.triu_indices(values.shape[-1], 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (n * sum_xy - sum_x * np.swapaxes(sum_x, -1, -2)) / np.sqrt(spread * spread_other)
    r, varies = r[..., first, second], varies[..., first, second]
    return np.where(varies, np.clip(r, -1, 1), np.nan)


def alone_values(
    reads: pd.DataFrame, panel: panels.Panel, item_ids: np.ndarray, readout: Readout
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and prompts of a study of one criterion at a time, like a panel's, shapes (U, R, C)."""
    text, criterion = np.nonzero(pd.notna(item_ids))
    item = pd.Index(item_ids[text, criterion]).get_indexer(reads["item_id"])
    matched, item = reads[item >= 0], item[item >= 0]
    values = np.full((len(panel.texts), int(reads["read_index"].max()) + 1, len(panel.criteria)), np.nan)
    prompts: np.ndarray = np.zeros(values.shape, dtype=int)
    place = text[item], matched["read_index"].to_numpy(), criterion[item]
    values[place] = matched[VALUES[readout]].astype(float).to_numpy()
    prompts[place] = prompt_numbers(item, matched["read_index"], matched["ordering"])
    return values, prompts


def _prompts(reads: pd.DataFrame, panel: panels.Panel) -> np.ndarray:
    text = pd.Index(panel.texts).get_indexer(reads["unit_id"])
    criterion = pd.Index(panel.criteria).get_indexer(reads["criterion"])
    cell = text * len(panel.criteria) + criterion
    prompts: np.ndarray = np.zeros(panel.values.shape, dtype=int)
    numbers = prompt_numbers(cell, reads["read_index"], reads["ordering"], reads["levels"])
    prompts[text, reads["read_index"].to_numpy(), criterion] = numbers
    return prompts


def prompt_numbers(unit: np.ndarray, read_index: pd.Series, *orderings: pd.Series) -> np.ndarray:
    """Number of each read's prompt (its orderings) within the unit, from 0."""
    prompt = pd.factorize(pd.Series(list(zip(*(column.map(tuple) for column in orderings), strict=True))))[0]
    rows = pd.DataFrame({"unit": unit, "read_index": read_index.to_numpy(), "prompt": prompt})
    rows = rows.sort_values("read_index", kind="stable")
    is_first = ~rows.duplicated(["unit", "prompt"])
    number = rows[is_first].groupby("unit").cumcount().reindex(rows.index)
    number = number.groupby([rows["unit"], rows["prompt"]]).transform("first")
    return number.sort_index().to_numpy(dtype=int)


def prompt_means(values: np.ndarray, prompts: np.ndarray) -> np.ndarray:
    shape = values.shape[0], int(prompts.max(initial=0)) + 1, values.shape[2]
    text, number, criterion = np.nonzero(~np.isnan(values))
    place = text, prompts[text, number, criterion], criterion
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, place, values[text, number, criterion])
    np.add.at(count, place, 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    alone: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
) -> pd.DataFrame:
    """Mean correlation between criteria: judged in one prompt (``inside``), alone, and by people.

    `basis` ``mean`` correlates means over a text's reads, ``read`` single reads. ``inside_minus_alone`` is corrected
    for the noise of reads, over common scores and the pairs of criteria that vary on both sides; repeats of a prompt
    are one read. With one prompt a text, or two levels (sharpness), it has no `p`; nor has ``inside_minus_human``
    (unknown noise of raters). Flag: ``not identified``.
    """
    alone_of: dict[tuple[Any, ...], pd.DataFrame] = {}
    for table in [alone] if isinstance(alone, pd.DataFrame) else alone:
        for (_, *key), reads in table.groupby(KEYS):
            alone_of.setdefault(tuple(key), reads)
    rows = []
    for name, readout, panel, reads in panels.blocks(scores, crossed=False):
        other = _same_alone(name, alone_of)
        separate, sides = None, None
        if other is not None and other[VALUES[readout]].notna().any():
            separate, prompts = alone_values(other, panel, _item_ids(reads, panel), readout)
            sides = prompt_means(panel.values, _prompts(reads, panel)), prompt_means(separate, prompts)
        common = name | {"readout": readout, "method": "jackknife over groups, Student's t"}
        common |= {"n_texts": len(panel.texts), "n_criteria": len(panel.criteria)}
        for basis in BASES:
            common["n_reads"] = 1 if basis == "read" else _equal_reads(panel, sides)
            for quantity, jackknife, unit in _correlations(panel, separate, sides, basis, confidence):
                tested = "_minus_" in quantity
                if tested and name["n"] == 2:
                    jackknife = resampling.jackknife_t(np.array([jackknife.interval.estimate]), confidence)
                row: Row = {"basis": basis, "quantity": quantity, "n_groups": len(np.unique(unit))}
                row["p"] = float(jackknife.p) if tested else np.nan
                row["flag"] = NOT_IDENTIFIED if tested and row["n_groups"] > 1 and np.isnan(row["p"]) else ""
                rows.append(common | row | jackknife.interval.columns())
    columns = [*KEYS, "readout", "basis", "quantity", "estimate", "ci_low", "ci_high", "p", "n_texts", "n_groups"]
    columns += ["n_criteria", "n_reads", "flag", "method"]
    table = tidy.make_table_with_gaps(rows, columns)
    table = multiplicity.adjust(table)
    return table.assign(confidence=confidence)


def _equal_reads(panel: panels.Panel, sides: Sequence[np.ndarray] | None) -> int:
    return panel.values.shape[1] if sides is None else min(side.shape[1] for side in sides)


def _evenly(values: np.ndarray, count: int) -> np.ndarray:
    return values[:, np.arange(count) * values.shape[1] // count]


def _same_alone(name: Row, alone_of: dict[tuple[Any, ...], pd.DataFrame]) -> pd.DataFrame | None:
    strategy = ALONE.get(name["strategy"], name["strategy"])
    keys = [
        (name["judge"], profile, name["condition"], name["dataset"], strategy, name["n"])
        for profile in (name["profile"], DEFAULT_PROFILE)
    ]
    return next((alone_of[key] for key in keys if key in alone_of), None)


def _item_ids(reads: pd.DataFrame, panel: panels.Panel) -> np.ndarray:
    reads = reads[reads["item_id"].notna()].iloc[::-1]  # reversed: the id written last, of the first read, stays
    ids: np.ndarray = np.full((len(panel.texts), len(panel.criteria)), None, dtype=object)
    text = pd.Index(panel.texts).get_indexer(reads["unit_id"])
    ids[text, pd.Index(panel.criteria).get_indexer(reads["criterion"])] = reads["item_id"]
    return ids


def _correlations(
    panel: panels.Panel,
    separate: np.ndarray | None,
    sides: Sequence[np.ndarray] | None,
    basis: str,
    confidence: float,
) -> Iterator[tuple[str, resampling.Jackknife, np.ndarray]]:
    inside, apart, compared = panel.values, separate, sides or ()
    if basis == "mean" and sides is None:
        inside = panels.text_means(inside)
    elif basis == "mean" and sides is not None:
        count = _equal_reads(panel, sides)
        sides = [_evenly(side, count) for side in sides]
        inside, apart = compared = [panels.text_means(side) for side in sides]
    for name, values in (("inside", inside), ("human", panel.human), ("alone", apart)):
        if values is None:
            continue
        (r,), _, unit = _left_out(panel.groups, [values])
        sizes = resampling.part_sizes(unit)
        yield name, resampling.jackknife_t(r, confidence, sizes=sizes, scale=np.arctanh, back=np.tanh), unit
        if name == "human":
            (one, other), _, unit = _left_out(panel.groups, [inside, values])
            yield "inside_minus_human", resampling.jackknife_t((one - other)[:1], confidence), unit
        if name == "alone":
            correlations, common, unit = _left_out(panel.groups, compared, sides)
            yield "inside_minus_alone", _difference(correlations, common, unit, confidence), unit


def _difference(
    sides: Sequence[np.ndarray], common: float, unit: np.ndarray, confidence: float
) -> resampling.Jackknife:
    """Difference of two correlations with the noise of both sides, divided by `common`, the mean factor of that noise.

    The ends of the two intervals, unequal by Fisher's transformation, are combined; `p` is where an end is 0.

    Source: Zou (2007), Toward using confidence intervals to compare correlations, with errors by the jackknife.
    """
    sizes = resampling.part_sizes(unit)
    scales = [np.arctanh(SHRUNK * side) for side in sides]
    inside, alone = (float(scale[0]) for scale in scales)
    one, other, both = (
        float(resampling.jackknife_t(scale, confidence, sizes=sizes).error)
        for scale in (*scales, scales[0] - scales[1])
    )
    shared = (one**2 + other**2 - both**2) / max(2 * one * other, resampling.LEAST_ERROR**2)

    def reach(errors: float) -> float:
        away = (
            math.tanh(inside) - math.tanh(inside - errors * one),
            math.tanh(alone + errors * other) - math.tanh(alone),
        )
        return math.sqrt(max(away[0] ** 2 + away[1] ** 2 - 2 * shared * away[0] * away[1], 0.0))

    difference, df, p = math.tanh(inside) - math.tanh(alone), math.nan, math.nan
    if len(sizes) > 1:
        df = resampling.degrees(sizes)
    if len(sizes) > 2 and both > resampling.LEAST_ERROR and common > 0:
        sign = math.copysign(1.0, difference)
        far = reach(sign * FURTHEST) > abs(difference)
        least = optimize.brentq(lambda errors: reach(sign * errors) - abs(difference), 0, FURTHEST) if far else FURTHEST
        p = 2 * float(distributions.t_tail(least, df))
    quantile = float(distributions.t_quantile((1 + confidence) / 2, df))
    factor = SHRUNK * common if common > 0 else math.nan
    low, high = difference - reach(quantile), difference + reach(-quantile)
    numbers = np.array([difference / factor, low / factor, high / factor, both, p])
    return resampling.Jackknife(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])


def reliability(reads: np.ndarray, weights: np.ndarray, *, single: bool) -> np.ndarray:
    """Share of the variance between texts that is no noise of reads, shape (U, R, C) -> (resamples, C).

    0 where texts vary by no more than noise, NaN where no text has two reads.
    """
    count = (~np.isnan(reads)).sum(axis=1)
    mean = panels.text_means(reads)
    squares = np.nansum((reads - mean[:, None]) ** 2, axis=1)
    has, mean = (count > 0).astype(float), np.nan_to_num(mean - np.nanmean(mean, axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        texts = weights @ has
        noise = (weights @ squares) / (weights @ np.maximum(count - 1, 0))
        between = (weights @ mean**2 - (weights @ mean) ** 2 / texts) / (texts - 1)
        real = np.maximum(between - noise * (weights @ (has / np.maximum(count, 1))) / texts, 0)
        return np.asarray(real / (real + noise if single else between))


def _left_out(
    groups: np.ndarray, sides: Sequence[np.ndarray], reads: Sequence[np.ndarray] | None = None
) -> tuple[list[np.ndarray], float, np.ndarray]:
    """Mean correlations for all groups and without each part; mean factor of both sides' noise; group of each text.

    Sides have shape (U, C), or (U, R, C) for single reads; with `reads`, each is lowered by the other's noise.
    """
    values = [side if side.ndim == 3 else side[:, None] for side in sides]  # a mean counts as a single read
    both = np.logical_and.reduce([(~np.isnan(side)).any(axis=1) for side in values])
    usable = both.sum(axis=1) > 1
    if not usable.any():
        return [np.full(1, np.nan) for _ in sides], math.nan, np.zeros(0, dtype=int)
    unit = np.unique(groups[usable], return_inverse=True)[1]
    weights = resampling.left_out_weights(unit)

    def used(values: np.ndarray) -> np.ndarray:
        return np.where(both[:, None], values, np.nan)[usable]

    pairs = [pair_correlations(np.moveaxis(used(side), 1, 0), weights) for side in values]  # (1 + n_parts, R, pairs)
    common = np.logical_and.reduce([(~np.isnan(r)).any(axis=1) for r in pairs])
    first, second = np.triu_indices(sides[0].shape[-1], 1)
    factors = [np.ones(common.shape) for _ in sides]
    if reads is not None:
        shares = [reliability(used(side), weights, single=sides[0].ndim == 3) for side in reads]
        factors = [np.sqrt(share[:, first] * share[:, second]) for share in shares[::-1]]
    means = [
        _mean(_mean(np.where(common[:, None], r * by[:, None], np.nan))) for r, by in zip(pairs, factors, strict=True)
    ]
    return means, float(_mean(np.where(common, np.prod(factors, axis=0), np.nan))[0]), unit
