"""Strengths of candidates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags, randomness
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import comparison_reads, series
from rubric_order.methods.comparisons import strengths as method
from rubric_order.methods.uncertainty import cluster_robust

COLUMNS = {
    "scores": [
        *KEYS,
        *("unit_id", "group_id", "benchmark", "task", "candidate", "candidates", "baseline"),
        *("ordering", "repeat", "tie", "score", "position", "pattern", "ranking"),
    ]
}
# Models, each with the index of the order whose reads it is fitted to; None for all orders.
MODELS = {"with places": None, "without places": None, "first order": 0, "last order": -1}
NOT_TOLD = "not identified"
DIGITS = 8  # of strengths: differences below are those of the solver, and do not order candidates


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    resamples: int,
    seed: int,
    forms: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Strengths (log-odds over the baseline, or over the mean) and ranks of candidates that comparisons connect.

    Models: see `strengths.fit`; ``first order`` and ``last order`` have the reads of one order alone. ``tie`` is the
    log-weight of a tie relative to a win of equals; ``reversals`` the share of pairs of candidates ordered otherwise
    than by ``with places``.
    """
    rows: list[Row] = []
    keys = [*KEYS, "benchmark"]
    for common, block in blocks_by(keys, scores):
        reads = comparison_reads.prepared(block, forms.get(common["benchmark"]))
        reads = reads[reads["winner"] != series.NONE]
        if len(reads):
            rng = randomness.generator(seed, "strengths", *map(str, common.values()))
            rows += (common | row for row in _block_rows(reads, common["n"], confidence, resamples, rng))
    columns = [*keys, "model", "candidate", "quantity", "position", "estimate", "ci_low", "ci_high"]
    columns += ["n_reads", "n_clusters", "flag"]
    return tidy.make_table_with_gaps(rows, columns).assign(confidence=confidence)


def _block_rows(
    reads: pd.DataFrame, p: int, confidence: float, resamples: int, rng: np.random.Generator
) -> Iterator[Row]:
    choices, candidates = _choices(reads, p)
    orders = np.unique(reads["order"])
    baseline = reads["baseline"].iloc[0]
    origin = candidates.index(baseline) if baseline in candidates else None
    fitted: dict[str, tuple[np.ndarray, str]] = {}
    for model, order in MODELS.items():
        if order is not None and len(orders) < 2:
            continue
        some = choices if order is None else choices.rows((reads["order"] == orders[order]).to_numpy())
        strengths = method.fit(some, len(candidates), places=model == "with places")
        at = None if origin is not None and not strengths.connected[origin] else origin
        weights = _contrasts(strengths, len(candidates), at)
        identified = strengths.connected & np.array([strengths.fit.tells(row) for row in weights])
        values = np.full(len(candidates), np.nan)
        values[identified] = (weights @ strengths.fit.coefficients)[identified].round(DIGITS)
        common = {"model": model, "n_reads": strengths.reads}
        yield from (
            common | row for row in _candidate_rows(strengths, weights, candidates, values, confidence, resamples, rng)
        )
        if model == "with places":
            yield from (common | row for row in _place_rows(strengths, len(candidates), p, choices, confidence))
            if p == 2 and choices.tie.all():
                yield {"n_reads": len(choices.shown)} | _rao_kupper(choices, len(candidates), confidence)
        why = strengths.fit.problem or (NOT_TOLD if not identified[strengths.connected].all() else "")
        other, problem = fitted.get("first order" if model == "last order" else "with places", (None, ""))
        if other is not None:
            both = ~np.isnan(values) & ~np.isnan(other)
            turned, pairs = method.reversed_pairs(values[both], other[both])
            share = turned / pairs if pairs else np.nan
            flag = "" if pairs else why or problem
            yield common | {"candidate": EVERY, "quantity": "reversals", "estimate": share, "flag": flag}
        fitted[model] = values, why


def _rao_kupper(choices: method.Choices, count: int, confidence: float) -> Row:
    fit = method.rao_kupper(choices, count)
    interval = Interval.of(fit.interval(np.eye(count + 2)[count], confidence))
    clusters = 0 if fit.problem else cluster_robust.counted(fit.influence)
    flag = fit.problem or ("" if fit.tells(np.eye(count + 2)[count]) else NOT_TOLD)
    common = {"model": "Rao-Kupper", "candidate": EVERY, "quantity": "first_last", "flag": flag}
    return common | {"n_clusters": clusters} | interval.columns()


def _choices(reads: pd.DataFrame, p: int) -> tuple[method.Choices, list[str]]:
    listed = np.array([list(map(str, row)) for row in reads["candidates"]], dtype=object).reshape(-1, p)
    candidates, number = np.unique(listed.astype(str), return_inverse=True)
    orders = np.array([list(row) for row in reads["ordering"]], dtype=int).reshape(-1, p) - 1
    by_place = np.take_along_axis(number.reshape(-1, p), orders, axis=1)
    place = reads["place"].to_numpy()
    chosen = np.where(place == series.TIE, p, place - 1)[:, None]
    if reads["ranking"].notna().all():
        ranked = np.array([list(row) for row in reads["ranking"]], dtype=int).reshape(-1, p) - 1
        chosen = np.take_along_axis(np.argsort(orders, axis=1), ranked, axis=1)
    cluster = pd.factorize(reads["group_id"])[0]
    return method.Choices(by_place, chosen, reads["tie"].to_numpy(dtype=bool), cluster), candidates.tolist()


def _contrasts(found: method.Strengths, count: int, origin: int | None) -> np.ndarray:
    k = len(found.fit.coefficients)
    weights = np.eye(count, k)
    if origin is not None:
        return weights - weights[origin]
    mean = np.zeros(k)
    mean[:count] = found.connected / max(found.connected.sum(), 1)
    return weights - mean


def _candidate_rows(
    found: method.Strengths,
    weights: np.ndarray,
    names: list[str],
    values: np.ndarray,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> Iterator[Row]:
    identified = ~np.isnan(values)
    # Ranks among only some of the candidates would differ. So either all candidates are ranked, or none.
    inside = np.flatnonzero(identified if identified[found.connected].all() else np.zeros(len(identified), dtype=bool))
    ranks = dict(zip(inside, method.ranks(values[inside]), strict=True))
    ends = {}
    count = 0 if found.fit.problem else cluster_robust.counted(found.fit.influence)
    if len(inside) and count > 1:
        covariance = weights[inside] @ found.fit.covariance @ weights[inside].T
        if np.isfinite(covariance).all():
            variances, axes = np.linalg.eigh(covariance)
            root = axes * np.sqrt(np.maximum(variances, 0)) @ axes.T  # does not depend on the choice of axes
            drawn = (values[inside] + rng.standard_normal((resamples, len(inside))) @ root).round(DIGITS)
            tail = (1 - confidence) / 2
            low, high = np.quantile(method.ranks(drawn), [tail, 1 - tail], axis=0, method="nearest")
            ends = dict(zip(inside, zip(low, high, strict=True), strict=True))
    few = flags.FEW_CLUSTERS if count < FEW_CLUSTERS else ""
    for number, name in enumerate(names):
        problem = found.fit.problem or ("" if found.connected[number] else method.NOT_CONNECTED)
        untold = NOT_TOLD if not problem and not identified[number] else ""
        common = {"candidate": name, "n_clusters": count, "flag": ", ".join(filter(None, (problem or untold, few)))}
        strength = Interval.of(found.fit.interval(weights[number], confidence)) if identified[number] else UNKNOWN
        yield common | {"quantity": "strength"} | strength.columns()
        unranked = NOT_TOLD if not problem and number not in ranks else ""
        common["flag"] = ", ".join(filter(None, (problem or unranked, few)))
        rank = Interval(ranks.get(number, np.nan), *ends.get(number, ()))
        yield common | {"quantity": "rank"} | rank.columns()


def _place_rows(
    found: method.Strengths, count: int, p: int, choices: method.Choices, confidence: float
) -> Iterator[Row]:
    k = len(found.fit.coefficients)
    clusters = 0 if found.fit.problem else cluster_robust.counted(found.fit.influence)
    common = {"candidate": EVERY, "n_clusters": clusters, "flag": found.fit.problem}
    contrasts: dict[tuple[str, int | None], np.ndarray] = {}
    for place in range(p):
        weights = np.zeros(k)
        weights[count : count + p] = -1 / p
        weights[count + place] += 1
        contrasts["place_preference", place + 1] = weights
    contrasts["first_last", None] = contrasts["place_preference", 1] - contrasts["place_preference", p]
    if choices.tie.all():
        weights = np.zeros(k)
        weights[-1] = 1
        weights[count : count + p] = -1 / p
        contrasts["tie", None] = weights
    for (quantity, position), weights in contrasts.items():
        interval = Interval.of(found.fit.interval(weights, confidence))
        identified = found.fit.problem or found.fit.tells(weights)
        # If ties are offered but never called, no read of the fit has a tie.
        never = quantity == "tie" and np.abs(found.fit.space[-1]).max() < cluster_robust.ROUNDING
        flag = {} if identified else {"flag": flags.SEPARATED if never else NOT_TOLD}
        yield common | {"quantity": quantity, "position": position} | interval.columns() | flag
