"""Bias Cost of orderings."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.base import levels, randomness
from rubric_order.base.keys import CLUSTERS, EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections, shared_orderings
from rubric_order.methods.position.shared_orderings import bias_cost
from rubric_order.methods.uncertainty import distributions, resampling

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}


def cheapest(costs: np.ndarray) -> np.ndarray:
    """Weight of each ordering, shape (..., D): the cheapest share a weight of 1 equally."""
    least = costs <= costs.min(axis=-1, keepdims=True) + 1e-9  # equal costs can differ by rounding
    with np.errstate(invalid="ignore"):
        return least / least.sum(axis=-1, keepdims=True)


class Source(NamedTuple):
    """Selections of one dataset, and moments of its complete items, with one row per cluster.

    Attributes:
        table: flattened selections of each score at each position, then q sums of `shared_orderings.column_moments`,
            shape (n_clusters, n * n + q).
        group: index of each cluster's group, shape (n_clusters,).
        rated: True if there are human scores.
    """

    table: np.ndarray
    group: np.ndarray
    rated: bool
    n_items: int


class Sums(NamedTuple):
    """Sums over clusters of a source: in the data (first row), then in each resample.

    Attributes:
        selected: selections of each score at each position, shape (1 + resamples, n, n).
        pearson: r with human scores under each ordering, shape (1 + resamples, D), or None.
    """

    selected: np.ndarray
    pearson: np.ndarray | None


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int, splits: int = 10
) -> pd.DataFrame:
    """Bias Cost of every ordering that was read, and gain from choosing the cheapest ordering.

    For strategies in `shared_orderings.SHARED`. Dataset ``all`` pools selections and averages correlations.
    ``chosen_share``: share of resamples in which the ordering is cheapest. ``heldout_...``: in the half of the groups
    that did not choose; ``saved`` and ``gained`` are over the canonical ordering, ``over_mean`` over the mean of all.

    Source: the earlier version of Xu et al., Section 5.3, Table 6, for cost, correlation and rank; the rest is ours.
    """
    sources_by_key: dict[tuple[Any, ...], dict[str, Source]] = {}
    orderings: dict[tuple[Any, ...], np.ndarray] = {}
    lowest: dict[tuple[Any, ...], dict[str, int]] = {}
    for block in blocks.blocks(scores):
        if block.keys["strategy"] not in shared_orderings.SHARED:
            continue
        selecting = {*selections.readouts(block)}
        for readout, values in block.readouts():
            for cluster in CLUSTERS if readout in selecting else ():
                key = (*(block.keys | {"dataset": EVERY}).values(), readout, cluster)
                sources_by_key.setdefault(key, {})[block.keys["dataset"]] = _source(block, readout, values, cluster)
                orderings[key] = block.orderings[0]
                lowest.setdefault(key, {})[block.keys["dataset"]] = block.lowest
    options: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed, "splits": splits}
    parts = [
        part
        for key, sources in sorted(sources_by_key.items())
        for part in _source_rows(key, sources, orderings[key], lowest[key], **options)
    ]
    key_columns = [*KEYS, "readout", "cluster"]
    columns = [*key_columns, "quantity", "ordering", "estimate", "ci_low", "ci_high", "noise"]
    table = tidy.join_parts(parts, [*columns, "n_items", "n_clusters", "method"], by=key_columns)
    return table.assign(confidence=confidence, seed=seed)


def _source_rows(
    key: tuple[Any, ...],
    sources: dict[str, Source],
    orderings: np.ndarray,
    lowest: dict[str, int],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    splits: int,
) -> Iterator[tuple[Row, Row]]:
    everything = dict(zip([*KEYS, "readout", "cluster"], key, strict=True))
    everything["method"] = f"percentile bootstrap over {key[-1]}s, {resamples} resamples; {splits} splits"
    weights = {name: _weights(source, name, resamples, seed) for name, source in sources.items()}
    totals = {name: weights[name] @ source.table for name, source in sources.items()}
    firsts = {name: _split(source, name, splits, seed) for name, source in sources.items()}
    held_out = _cross_fit(sources, weights, totals, orderings, firsts)
    whole = {name: _read_sums(totals[name], source.rated, everything["n"]) for name, source in sources.items()}
    for dataset in [*sources, EVERY]:
        used = [dataset] if dataset != EVERY else list(sources)
        common = everything | {"dataset": dataset, "n_items": sum(sources[name].n_items for name in used)}
        common["n_clusters"] = sum(len(sources[name].table) for name in used)
        by = levels.common([lowest[name] for name in used]) - 1  # in `orderings`, levels are counted from 1
        written = np.array([" ".join(map(str, ordering + by)) for ordering in orderings], dtype=object)
        rows = [*_ordering_rows([whole[name] for name in used], orderings, written, confidence)]
        rows += _interval_rows(held_out[dataset], confidence)
        yield from ((common | {"quantity": quantity}, row) for quantity, row in rows)
        table = np.concatenate([sources[name].table[:, : everything["n"] ** 2] for name in used])
        costs = _held_out_costs(table, np.concatenate([firsts[name] for name in used], axis=1), orderings)
        how = f"noise of absolute values subtracted; Student's t over {key[-1]}s; {splits} splits"
        width = distributions.t_quantile((1 + confidence) / 2, max(len(table) - 1, 1))
        for quantity, (value, error) in costs.items():
            row = {"estimate": np.array([value]), "ci_low": value - width * error, "ci_high": value + width * error}
            yield common | {"quantity": quantity, "method": how}, row


def _source(block: blocks.Block, readout: Readout, values: np.ndarray, cluster: str) -> Source:
    unit = block.units(cluster)
    complete = shared_orderings.complete_items(block, values)
    moments = np.zeros((len(block.items), 3 + 3 * len(complete.orderings)))
    rated = len(complete.human) > 1
    if rated:
        moments[complete.rows] = shared_orderings.column_moments(complete.values, complete.human)
    table = np.column_stack([selections.score_selections(block, readout)[0].reshape(len(block.items), -1), moments])
    table = resampling.sum_units(table, unit)
    group: np.ndarray = np.zeros(len(table), dtype=int)
    group[unit] = block.units("group")
    return Source(table, group, rated, len(block.items))


def _weights(source: Source, dataset: str, resamples: int, seed: int) -> np.ndarray:
    n_units = len(source.table)
    drawn = np.full((resamples, 1), np.nan)  # a single cluster cannot be resampled
    if n_units > 1:
        drawn = resampling.weights(n_units, resamples, seed, f"bias cost {dataset}")
    return np.concatenate([np.ones((1, n_units)), drawn])


def _read_sums(sums: np.ndarray, rated: bool, n: int) -> Sums:
    pearson = shared_orderings.column_correlations(sums[:, n * n :]) if rated else None
    return Sums(sums[:, : n * n].reshape(-1, n, n), pearson)


def _pooled(sums: list[Sums]) -> Sums:
    correlations = [part.pearson for part in sums if part.pearson is not None]
    selected = np.sum([part.selected for part in sums], axis=0)
    return Sums(selected, np.mean(correlations, axis=0) if correlations else None)


def folded_excess(z: np.ndarray) -> np.ndarray:
    """Expected |Z| of a normal variable with mean z and variance 1, less |z|.

    Source: the folded normal distribution, Leone, Nelson and Nottingham (1961).
    """
    z = np.abs(z)
    return np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) - 2 * z * special.ndtr(-z)


def noise_free_distance(shares: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    away = shares - 1 / shares.shape[-1]
    z = np.divide(np.abs(away), error, out=np.full(away.shape, np.inf), where=error > 0)
    excess = np.where(error > 0, error * folded_excess(np.where(np.isinf(z), 0, z)), 0)
    return np.abs(away) - excess, np.sign(away) * (1 + 2 * special.ndtr(-z))


def _shares_and_influence(table: np.ndarray, chosen: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    selections = table.reshape(-1, n, n) * chosen[:, None, None]
    total = selections.sum(axis=0)
    times = total.sum(axis=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(times > 0, total / times, 1 / n)
        influence = np.where(times > 0, (selections - shares * selections.sum(axis=2, keepdims=True)) / times, 0)
    return shares, influence


def _costs(table: np.ndarray, units: np.ndarray, orderings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n, places = orderings.shape[1], np.arange(orderings.shape[1])
    shares, influence = _shares_and_influence(table, units, n)
    number = int(units.sum())
    error = np.sqrt(np.square(influence).sum(axis=0) * (number / (number - 1) if number > 1 else np.nan))
    distance, slope = noise_free_distance(shares, error)
    return distance[orderings - 1, places].sum(axis=-1), (influence * slope)[:, orderings - 1, places].sum(axis=-1)


def _held_out_costs(table: np.ndarray, firsts: np.ndarray, orderings: np.ndarray) -> dict[str, tuple[float, float]]:
    canonical = np.eye(len(orderings))[shared_orderings.canonical_place(orderings)]
    whole, _ = _costs(table, np.ones(len(table), dtype=bool), orderings)
    values: dict[str, list[Any]] = {}
    for first in firsts:
        for train in (first, ~first):
            costs, influence = _costs(table, ~train, orderings)
            shares, _ = _shares_and_influence(table, train, orderings.shape[1])
            chosen = cheapest(bias_cost(shares, orderings))
            weights = {"chosen": chosen, "canonical": canonical, "mean": np.full(len(orderings), 1 / len(orderings))}
            for name, weight in (weights | {"saved": canonical - chosen}).items():
                row = np.concatenate([[weight @ costs, weight @ whole], influence @ weight])
                values.setdefault(f"heldout_cost_{name}", []).append(row)
    estimates = {}
    for name, rows in values.items():
        stacked = np.array(rows)
        squares = np.square(stacked[:, 2:].mean(axis=0)).sum() * len(table) / max(len(table) - 1, 1)
        estimates[name] = float(stacked[:, 0].mean()), float(np.sqrt(squares + stacked[:, 1].var()))
    return estimates


def _split(source: Source, name: str, splits: int, seed: int) -> np.ndarray:
    first_halves = []
    for split in range(splits):
        rng = randomness.generator(seed, "bias cost split", name, split)
        groups = rng.permutation(int(source.group.max()) + 1)
        first_halves.append(np.isin(source.group, groups[: len(groups) // 2]))
    return np.array(first_halves)


def _cross_fit(
    sources: dict[str, Source],
    weights: dict[str, np.ndarray],
    totals: dict[str, np.ndarray],
    orderings: np.ndarray,
    firsts: dict[str, np.ndarray],
) -> dict[str, dict[str, np.ndarray]]:
    """Agreement with people, in one half of the groups, of the ordering that is cheapest in the other half."""
    n, canonical = orderings.shape[1], shared_orderings.canonical_place(orderings)
    estimates: dict[str, dict[str, list[Any]]] = {name: {} for name in [*sources, EVERY]}
    for split in range(len(next(iter(firsts.values())))):
        halves: list[dict[str, Sums]] = [{}, {}]
        for name, source in sources.items():
            first = firsts[name][split]
            sums = weights[name][:, first] @ source.table[first]
            halves[0][name] = _read_sums(sums, source.rated, n)
            halves[1][name] = _read_sums(totals[name] - sums, source.rated, n)
        for name in estimates:
            used = list(sources) if name == EVERY else [name]
            pooled = [_pooled([half[dataset] for dataset in used]) for half in halves]
            for train, test in ((0, 1), (1, 0)):
                costs = bias_cost(selections.position_shares(pooled[train].selected), orderings)
                of_test = _held_out(cheapest(costs), pooled[test].pearson, canonical)
                for quantity, values in of_test.items():
                    estimates[name].setdefault(quantity, []).append(values)
    return {name: {key: np.mean(values, axis=0) for key, values in of.items()} for name, of in estimates.items()}


def _held_out(chosen: np.ndarray, pearson: np.ndarray | None, canonical: int) -> dict[str, np.ndarray]:
    if pearson is None:
        return {}
    correlations = _choice_values("heldout_pearson", chosen, pearson, canonical)
    best_r = correlations["heldout_pearson_chosen"]
    correlations["heldout_pearson_gained"] = best_r - correlations["heldout_pearson_canonical"]
    correlations["heldout_pearson_over_mean"] = best_r - correlations["heldout_pearson_mean"]
    return correlations


def _choice_values(name: str, chosen: np.ndarray, values: np.ndarray, canonical: int) -> dict[str, np.ndarray]:
    of_chosen = np.where(chosen == 0, 0, chosen * values).sum(axis=1)
    return {f"{name}_chosen": of_chosen, f"{name}_canonical": values[:, canonical], f"{name}_mean": values.mean(axis=1)}


def _ordering_rows(
    sums: list[Sums], orderings: np.ndarray, written: np.ndarray, confidence: float
) -> Iterator[tuple[str, Row]]:
    whole = _pooled(sums)
    shares = selections.position_shares(whole.selected)
    costs = bias_cost(shares, orderings)
    ordering_column = {"ordering": written}
    # Mean absolute value of an error that is normal about 0. Scores that a resample never selects are masked.
    present = np.ma.masked_invalid(shares[1:])  # type: ignore[no-untyped-call]  # of numpy
    error = np.sqrt(2 / np.pi) * present.std(axis=0).filled(0)
    noise = error[orderings - 1, np.arange(orderings.shape[1])].sum(axis=1)
    for quantity, row in _interval_rows({"cost": costs}, confidence):
        yield quantity, ordering_column | row | {"noise": noise}
    yield "chosen_share", ordering_column | {"estimate": cheapest(costs[1:]).mean(axis=0)}
    if whole.pearson is not None:
        ranks = np.stack([shared_orderings.rank_of(whole.pearson, place) for place in range(len(orderings))], axis=1)
        for quantity, row in _interval_rows({"pearson": whole.pearson, "pearson_rank": ranks}, confidence):
            yield quantity, ordering_column | row


def _interval_rows(values: dict[str, np.ndarray], confidence: float) -> Iterator[tuple[str, Row]]:
    for quantity, table in values.items():
        table = table.reshape(len(table), -1)
        low, high = resampling.percentile_interval(table[1:], confidence)
        yield quantity, {"estimate": table[0], "ci_low": low, "ci_high": high}
