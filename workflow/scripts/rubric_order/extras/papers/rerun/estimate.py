"""Variation of estimates by new reads alone."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.base import randomness
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.extras.papers.methods import reruns
from rubric_order.methods import tidy
from rubric_order.methods.agreement import rankings
from rubric_order.methods.position import blocks, selections, shared_orderings
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.uncertainty import distributions
from rubric_order.strategies import COMPARED

COLUMNS = {"scores": [*blocks.COLUMNS, "position"]}
DRAWS = 200  # draws of reads for errors of rho and of reversals; these errors are then known to within 5%
AGREEMENT = ("pearson", "spearman")
REVERSALS = ("kendall_tau_b", "top1_flip", "top1_random")
RANKS = ("rank", "pearson_rank")  # quantities whose ranges come from draws
COUNTED = ("cramers_v", "top1_flip", "top1_random", "cost")  # quantities that are never below 0


def share_covariance(counts: np.ndarray) -> np.ndarray:
    reads = counts.sum(axis=1)
    used = reads > 1
    if not used.any():
        return np.full((counts.shape[1],) * 2, np.nan)
    counts, k = counts[used], reads[used]
    weight = k / (k - 1)
    covariance = np.diag(weight @ counts) - (counts * (weight / k)[:, None]).T @ counts
    return covariance * (reads.sum() / k.sum()) / reads.sum() ** 2


def v_error(counts: np.ndarray) -> tuple[float, float]:
    """Cramer's V of the pooled shares, and its standard error over new reads, by the delta method."""
    n = counts.shape[1]
    away = counts.sum(axis=0) / counts.sum() - 1 / n
    length = np.sqrt((away**2).sum())
    covariance = share_covariance(counts)
    along = away / length if length > 0 else np.full(n, np.nan)
    scale = np.sqrt(n / (n - 1))
    return float(scale * length), float(scale * np.sqrt(max(along @ covariance @ along, 0)))


def pearson_error(values: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """r with human scores, and its standard error over new reads."""
    k = (~np.isnan(values)).sum(axis=1)
    values, human, k = values[k > 0], human[k > 0], k[k > 0]
    mean = np.nansum(values, axis=1) / np.maximum(k, 1)
    if len(mean) < 2 or np.ptp(mean) <= 1e-12 or np.ptp(human) <= 1e-12:
        return np.nan, np.nan
    squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
    repeated = k > 1
    variance = np.full(len(mean), squares[repeated].sum() / (k[repeated] - 1).sum() if repeated.any() else np.nan)
    variance[repeated] = squares[repeated] / (k[repeated] - 1)
    zx, zy = ((scores - scores.mean()) / scores.std() for scores in (mean, human))
    r = (zx * zy).mean()
    slope = (zy - r * zx) / (len(mean) * mean.std())
    return float(r), float(np.sqrt((slope**2 * variance / k).sum()))


def sd_error(values: np.ndarray) -> tuple[float, float]:
    """Mean standard deviation of an item's scores, and its standard error over new reads."""
    is_scored = ~np.isnan(values)
    k = is_scored.sum(axis=1)
    filled, is_scored, k = np.where(is_scored, values, 0)[k > 1], is_scored[k > 1], k[k > 1]
    if not len(k):
        return np.nan, np.nan
    filled = np.where(is_scored, filled - (filled.sum(axis=1) / k)[:, None], 0)
    squares = (filled**2).sum(axis=1)
    mean_sd = np.sqrt(squares / (k - 1)).mean()
    several = k > 2
    if not several.any():
        return float(mean_sd), np.nan
    filled, is_scored, k, squares = filled[several], is_scored[several], k[several][:, None], squares[several][:, None]
    # Without read j, whose distance from the mean of k reads is d, the sum of squares is smaller by k / (k - 1) d^2.
    left_out = np.sqrt(np.maximum(squares - k / (k - 1) * filled**2, 0) / (k - 2))
    centre = np.where(is_scored, left_out, 0).sum(axis=1, keepdims=True) / k
    variance = (k[:, 0] - 1) / k[:, 0] * np.where(is_scored, (left_out - centre) ** 2, 0).sum(axis=1)
    return float(mean_sd), float(np.sqrt(variance.mean() / len(several)))


def redrawn(values: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
    present = ~np.isnan(values)
    k = present.sum(axis=1)
    sorted_in = np.take_along_axis(values, np.argsort(~present, axis=1, kind="stable"), axis=1)  # given scores first
    filled, drawn_from = np.nan_to_num(sorted_in), np.arange(values.shape[1]) < k[:, None]
    item = np.arange(len(values))[:, None]
    means = np.empty((DRAWS, len(values)))
    for draw in means:
        chosen = (rng.random(values.shape) * k[:, None]).astype(int)
        draw[:] = np.where(drawn_from, filled[item, chosen], 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(k > 0, means / k, np.nan)


def _factor(values: np.ndarray) -> float:
    reads = (~np.isnan(values)).sum(axis=1)
    k = reads[reads > 1].mean() if (reads > 1).any() else np.nan
    return float(k / (k - 1))


def spearman_error(values: np.ndarray, human: np.ndarray, *, rng: np.random.Generator) -> tuple[float, float]:
    """Rho with human scores, and its standard error over new reads."""
    scored = ~np.isnan(values).all(axis=1)
    values, human = values[scored], human[scored]
    if len(values) < 2:
        return np.nan, np.nan
    means = np.vstack([np.nanmean(values, axis=1), redrawn(values, rng=rng)])
    x, y = (distributions.ranks(scores, axis=1) for scores in (means, human[None]))
    x, y = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return float(rho[0]), float(rho[1:].std() * np.sqrt(_factor(values)))


def reversal_errors(
    left: np.ndarray, right: np.ndarray, places: np.ndarray, *, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Agreement of two strategies' rankings of candidates, and its standard error over new reads."""
    sides, drawn = (left, right), []
    for values in sides:
        means = np.vstack([rankings.mean_scores(values, np.ones((1, values.shape[1]))), redrawn(values, rng=rng)])
        drawn.append(np.column_stack([means, np.full(len(means), np.nan)])[:, places])  # place -1, the padding, is NaN
    factors = np.array([_factor(values) for values in sides])
    both = _mean_reversals(*drawn)
    alone = [both, both]
    if factors[0] != factors[1] and not np.isnan(factors).any():
        alone = [_mean_reversals(drawn[0], drawn[1][:1]), _mean_reversals(drawn[0][:1], drawn[1])]
    estimates = {}
    for name, means in both.items():
        parts = np.array([reversals[name][1:].var() for reversals in alone])
        factor = factors @ parts / parts.sum() if parts.sum() > 0 else factors.mean()
        estimates[name] = float(means[0]), float(means[1:].std() * np.sqrt(factor))
    return estimates


def _mean_reversals(left: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
    compared = rankings.compare_rankings(left, right)
    means = {}
    for name in REVERSALS:
        of_prompts = getattr(compared, name)
        defined = ~np.isnan(of_prompts)
        with np.errstate(invalid="ignore"):
            means[name] = np.where(defined, of_prompts, 0).sum(axis=1) / defined.sum(axis=1)
    return means


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, seed: int) -> pd.DataFrame:
    """Range (`low` to `high`) of the estimates of another run of the same judge on the same items.

    `error` is the standard error over reads. With a `baseline` strategy, correlations are differences and rankings are
    compared (`reversal_errors`). Errors of ``pearson_rank``, ``cost`` and ``rank``: see `reruns`.
    """
    rows = []
    shared: dict[tuple[Any, ...], list[_Shared]] = {}
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        agreement: dict[tuple[Any, ...], list[Row]] = {}
        settings: dict[tuple[Any, ...], list[Block]] = {}
        for block in blocks.blocks(table):
            of_block = [block.keys | row for row in _block_rows(block, seed)]
            rows += of_block
            for readout, estimates in _ordering_sets(block):
                rows += [block.keys | {"readout": readout} | row for row in _canonical(estimates, confidence, seed)]
                everywhere = *(block.keys | {"dataset": EVERY}).values(), readout
                shared.setdefault(everywhere, []).append(estimates)
            settings.setdefault(tuple(block.keys[key] for key in KEYS if key != "strategy"), []).append(block)
            for row in of_block:
                if row["quantity"] in AGREEMENT:
                    setting = *(row[key] for key in KEYS if key != "strategy"), row["readout"], row["quantity"]
                    agreement.setdefault(setting, []).append(row)
        rows += [row for strategies in agreement.values() for row in _differences(strategies)]
        for strategies in settings.values():
            rows += [row for pair in itertools.combinations(strategies, 2) for row in _reversals(*pair, seed)]
    for key, datasets in shared.items():
        datasets.sort(key=lambda one: one.dataset)
        base_columns = dict(zip([*KEYS, "readout"], key, strict=True))
        for dataset, some in [*((one.dataset, [one]) for one in datasets), (EVERY, datasets)]:
            rows += [base_columns | {"dataset": dataset} | row for row in _costs(some, confidence, seed)]
    columns = [*KEYS, "baseline", "readout", "quantity", "position", "ordering", "estimate", "error", "n_items"]
    columns += ["n_reads", "low", "high"]
    rows = [{"baseline": "", "ordering": ""} | row for row in rows]
    estimates = tidy.make_table_with_gaps(rows, columns)
    width = special.ndtri((1 + confidence) / 2) * np.sqrt(2) * estimates["error"]
    ranked = estimates["quantity"].isin(RANKS)
    low = (estimates["estimate"] - width).where(~estimates["quantity"].isin(COUNTED), lambda ends: ends.clip(lower=0))
    low, high = estimates["low"].where(ranked, low), estimates["high"].where(ranked, estimates["estimate"] + width)
    return estimates.drop(columns=["low", "high"]).assign(low=low, high=high, confidence=confidence)


class _Shared(NamedTuple):
    """Selections and correlations of one dataset and readout, if all of its items have the same orderings.

    Attributes:
        orderings, r: shapes (D, n) and (D,); r with human scores, or None.
        selected: selections of each score (rows) at each position, shape (n, n).
        covariance: covariance of the flattened `selected` over new reads, shape (n * n, n * n).
    """

    dataset: str
    orderings: np.ndarray
    r: reruns.Correlations | None
    selected: np.ndarray | None
    covariance: np.ndarray | None
    items: int
    reads: int


def _ordering_sets(block: Block) -> Iterator[tuple[str, _Shared]]:
    if block.keys["strategy"] not in shared_orderings.SHARED:
        return
    for readout, values in block.readouts():
        selected = covariance = None
        if readout == Readout.HARD:
            counts = selections.score_selections(block, Readout.HARD)[0]
            cells = counts.reshape(len(counts), -1)
            selected, covariance = counts.sum(axis=0), share_covariance(cells) * cells.sum() ** 2
        size = len(block.items), int((~np.isnan(values)).sum())
        r = reruns.correlations(block, values)
        yield readout, _Shared(block.keys["dataset"], block.orderings[0], r, selected, covariance, *size)


def _canonical(of: _Shared, confidence: float, seed: int) -> Iterator[Row]:
    if of.r is None:
        return
    r, error, place = of.r.r, of.r.error, shared_orderings.canonical_place(of.orderings)
    common, has_r = {"n_items": of.r.items, "n_reads": of.r.reads}, ~np.isnan(r)
    yield common | {"quantity": "pearson_canonical", "estimate": r[place], "error": error[place]}
    if has_r[place]:
        share = has_r / has_r.sum()
        for name, weights in (("pearson_mean", share), ("advantage", np.eye(len(r))[place] - share)):
            value, spread = (weights[has_r] @ r[has_r], np.sqrt(((weights * error)[has_r] ** 2).sum()))
            yield common | {"quantity": name, "estimate": value, "error": spread}
    ranks = reruns.ranks(r, error, confidence=confidence, rng=_generator(seed, of.dataset))
    yield common | {"quantity": "rank"} | {name: values[place] for name, values in ranks.items()}


def _costs(datasets: list[_Shared], confidence: float, seed: int) -> Iterator[Row]:
    first = datasets[0]
    orderings = [" ".join(map(str, ordering)) for ordering in first.orderings]
    if first.selected is not None:
        common = {"quantity": "cost", "n_items": sum(dataset.items for dataset in datasets)}
        common |= {"n_reads": sum(dataset.reads for dataset in datasets)}
        table = np.sum([dataset.selected for dataset in datasets], axis=0)
        with np.errstate(invalid="ignore"):
            costs = shared_orderings.bias_cost(table / table.sum(axis=1, keepdims=True), first.orderings)
        errors = reruns.cost_errors(
            table, np.sum([dataset.covariance for dataset in datasets], axis=0), first.orderings
        )
        for row in zip(orderings, costs, errors, strict=True):
            yield common | dict(zip(("ordering", "estimate", "error"), row, strict=True))
    rated = [dataset.r for dataset in datasets if dataset.r is not None]
    if rated:
        common = {
            "n_items": sum(correlations.items for correlations in rated),
            "n_reads": sum(correlations.reads for correlations in rated),
        }
        r, error = (
            np.mean([correlations.r for correlations in rated], axis=0),
            np.array([correlations.error for correlations in rated]),
        )
        rng = _generator(seed, "".join(dataset.dataset for dataset in datasets))
        ranks = reruns.ranks(r, np.sqrt((error**2).sum(axis=0)) / len(rated), confidence=confidence, rng=rng)
        for place, name in enumerate(orderings):
            yield (
                common | {"quantity": "pearson_rank", "ordering": name} | {key: of[place] for key, of in ranks.items()}
            )


def _generator(seed: int, name: str) -> np.random.Generator:
    return randomness.generator(seed, "rerun", "orderings", name)


def _differences(strategies: list[Row]) -> Iterator[Row]:
    strategies = sorted(strategies, key=lambda row: COMPARED.index(row["strategy"]))
    for one, two in itertools.combinations(strategies, 2):
        error = np.hypot(one["error"], two["error"])
        yield one | {"baseline": two["strategy"], "estimate": one["estimate"] - two["estimate"], "error": error}


def _reversals(one: Block, two: Block, seed: int) -> Iterator[Row]:
    other_values = dict(two.readouts())
    for readout, values in one.readouts():
        if readout in other_values:
            items, left, right = rankings.same_items(one, two, values, other_values[readout])
            groups, places = rankings.prompts(items)
            if len(groups):
                common = one.keys | {"baseline": two.keys["strategy"], "readout": readout, "n_items": len(groups)}
                common["n_reads"] = int((~np.isnan(left)).sum() + (~np.isnan(right)).sum())
                rng = randomness.generator(seed, "rerun", "reversals", left.shape, right.shape)
                for name, value_and_error in reversal_errors(left, right, places, rng=rng).items():
                    yield common | {"quantity": name} | _named(value_and_error)


def _block_rows(block: Block, seed: int) -> Iterator[Row]:
    counts = selections.counts(block, Readout.HARD)
    if counts.sum() > 0:
        common = {"readout": Readout.HARD, "n_items": len(block.items), "n_reads": counts.sum()}
        covariance = share_covariance(counts)
        for place, share in enumerate(counts.sum(axis=0) / counts.sum()):
            error = np.sqrt(max(covariance[place, place], 0))
            yield common | {"quantity": "share", "position": place + 1, "estimate": share, "error": error}
        yield common | {"quantity": "cramers_v"} | _named(v_error(counts))
    human = block.items["human_score"].to_numpy(dtype=float)
    for readout, values in block.readouts():
        common = {"readout": readout, "n_items": len(block.items), "n_reads": int((~np.isnan(values)).sum())}
        rated = ~np.isnan(human)
        if rated.any():
            rng = randomness.generator(seed, "rerun", values.shape)
            yield common | {"quantity": "pearson"} | _named(pearson_error(values[rated], human[rated]))
            yield common | {"quantity": "spearman"} | _named(spearman_error(values[rated], human[rated], rng=rng))
        yield common | {"quantity": "mean_sd"} | _named(sd_error(values))


def _named(found: tuple[float, float]) -> Row:
    return dict(zip(("estimate", "error"), found, strict=True))
