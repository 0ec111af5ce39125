"""Reversal of rankings, see `rankings`."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import rankings
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import multiplicity, resampling, shares

COLUMNS = {"scores": blocks.COLUMNS}
QUANTITIES = ("kendall_tau_b", "top1_flip", "top1_tie", "reversed_pairs", "tied_pairs")
PARTS = ("within_strategy", "within_other", "between_halves")  # an excess is computed from these
TAU, FLIP, _, REVERSED, TIED = range(len(QUANTITIES))
_ONE_SIDED = np.array([name in ("kendall_tau_b", "top1_flip", "reversed_pairs") for name in QUANTITIES])
_LEAST = {"kendall_tau_b": -1.0}  # lowest possible value; 0 for the other quantities


def halves(
    k: int,
    size: int,
    count: int,
    *,
    ordering: np.ndarray | None = None,
    barred: np.ndarray | None = None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Random pairs of disjoint subsets of k reads, each of `size` reads."""
    key = rng.random((count, k))
    if barred is None and not repeated(ordering):
        rank = key.argsort(axis=1).argsort(axis=1)
        return np.stack([rank < size, (rank >= size) & (rank < 2 * size)]).astype(float)
    if barred is not None:  # moves barred reads to the side that may have them
        key = key + 2.0 * barred[0] - 2.0 * barred[1]
    part = np.unique(ordering, return_inverse=True)[1] if repeated(ordering) else np.zeros(k, dtype=int)
    reads = np.bincount(part)
    place = (key + 10 * part).argsort(axis=1).argsort(axis=1) - (np.cumsum(reads) - reads)[part]
    sides = np.stack([place < (reads // 2)[part], place >= (reads - reads // 2)[part]])
    of_side = np.where(sides, rng.random((2, count, k)), np.inf).argsort(axis=2).argsort(axis=2)
    return (of_side < size).astype(float)


def halves_of_two(
    dealt: list[np.ndarray | None], same: np.ndarray, size: int, count: int, *, rng: np.random.Generator
) -> list[np.ndarray]:
    """Halves of two strategies: neither first halves nor second halves share an answer."""
    # First the strategy that leaves less choice: a strategy with repeated orderings, or else the one with fewer reads.
    first, second = sorted((0, 1), key=lambda place: (not repeated(dealt[place]), same.shape[place]))
    drawn = {first: halves(same.shape[first], size, count, ordering=dealt[first], rng=rng)}
    barred = drawn[first] @ (same if first == 0 else same.T) > 0 if same.any() else None
    drawn[second] = halves(same.shape[second], size, count, ordering=dealt[second], barred=barred, rng=rng)
    return [drawn[0], drawn[1]]


def same_answers(ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    repeat, other_repeat = (
        np.tril(numbers[..., :, None] == numbers[..., None, :], -1).sum(axis=-1) for numbers in (ordering, other)
    )
    return (ordering[..., :, None] == other[..., None, :]) & (repeat[..., :, None] == other_repeat[..., None, :])


def aligned(values: np.ndarray, ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Reads reordered so that a read that shares an answer with the other strategy's stands in that read's column."""
    same = np.zeros((*ordering.shape, ordering.shape[1]), dtype=bool)
    same[..., : len(other)] = same_answers(ordering, other[None, : ordering.shape[1]])
    source, taken, matched = same.argmax(axis=1), same.any(axis=1), same.any(axis=2)
    source[~taken] = np.broadcast_to(np.arange(ordering.shape[1]), matched.shape)[~matched]  # other reads stay in order
    return np.take_along_axis(values, source, axis=1)


def largest_half(k: int, ordering: np.ndarray | None) -> int:
    return int((np.unique(ordering, return_counts=True)[1] // 2).sum()) if repeated(ordering) else k // 2


def repeated(ordering: np.ndarray | None) -> bool:
    if ordering is None:
        return False
    counts = np.unique(ordering, return_counts=True)[1]
    return bool(len(counts) > 1 and counts.min() > 1)


def orderings_of(block: blocks.Block) -> np.ndarray:
    """Ordering of each read as a number whose digits are the options, shape (m, K); -1 without a read."""
    orderings, number = block.orderings
    codes = np.full((len(block.items), int(block.column.max()) + 1), -1)
    codes[block.item, block.column] = (orderings @ max(10, block.n) ** np.arange(block.n - 1, -1, -1))[number]
    return codes


def shared_ordering(orderings: np.ndarray) -> np.ndarray | None:
    of_read = orderings.max(axis=0)
    return of_read if ((orderings == of_read) | (orderings < 0)).all() else None


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, seed: int, halvings: int = 50
) -> pd.DataFrame:
    """Change of the ranking of candidates from one strategy to another, beside the change within a strategy.

    Quantities of `rankings.Rankings`, means over the `n_defined` prompts that define them. `comparison`: ``between``
    all reads, ``between_halves`` with `k` reads each, ``within_strategy`` and ``within_other`` between halves of one,
    ``excess`` over what `agreement_by_noise` expects.

    Source: Xu et al. (2026), Sections 4.4 and 5.6, Table 7; halves and intervals are ours.
    """
    parts = []
    shared = [key for key in KEYS if key != "strategy"]
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        settings: dict[tuple[Any, ...], list[blocks.Block]] = {}
        for block in blocks.blocks(table):
            settings.setdefault(tuple(block.keys[key] for key in shared), []).append(block)
        for setting, strategies in settings.items():
            for one, two in itertools.combinations(strategies, 2):
                base_columns = dict(zip(shared, setting, strict=True))
                base_columns |= {"strategy": one.keys["strategy"], "other": two.keys["strategy"]}
                comparisons = _compare_blocks(one, two, confidence=confidence, seed=seed, halvings=halvings)
                parts += [(base_columns | extra, rows) for extra, rows in comparisons]
    columns = [*shared[:-1], "strategy", "other", "n", "readout", "comparison", "quantity", "estimate", "ci_low"]
    columns += ["ci_high", "p", "p_noise", "k", "k_other", "independent", "n_defined", "n_prompts", "n_groups"]
    types = {"k": "int64", "k_other": "int64", "independent": "bool"}
    table = tidy.join_parts(parts, columns, types, [*shared[:-1], "strategy", "other", "n", "readout"])
    method = f"jackknife over groups, Student's t; {halvings} halvings; expected agreement by Greiner's relation; "
    method += "p one-sided, of ties two-sided"
    return multiplicity.adjust(table.assign(method=method, confidence=confidence, seed=seed))


def _compare_blocks(
    one: blocks.Block, two: blocks.Block, *, confidence: float, seed: int, halvings: int
) -> Iterator[tuple[Row, Row]]:
    other_values = dict(two.readouts())
    read_in = [orderings_of(block) for block in (one, two)]
    dealt = [shared_ordering(orderings) for orderings in read_in]
    # Halves are independent for reads of one ordering, of drawn orderings, and of several repeated orderings.
    independent = [ordering is None or not np.ptp(ordering) or repeated(ordering) for ordering in dealt]
    for readout, values in one.readouts():
        if readout not in other_values:
            continue
        items, left, right = rankings.same_items(one, two, values, other_values[readout])
        _, *read_as = rankings.same_items(one, two, *read_in)
        same = np.eye(left.shape[1], right.shape[1], dtype=bool)
        if dealt[0] is not None and dealt[1] is not None:
            same = same_answers(dealt[0], dealt[1])
        elif dealt[1] is not None:
            left = aligned(left, read_as[0], dealt[1])
        elif dealt[0] is not None:
            right = aligned(right, read_as[1], dealt[0])
        groups, places = rankings.prompts(items)
        if groups.empty:
            continue
        rng = randomness.generator(seed, "halvings", left.shape[1], right.shape[1])
        compared, size = _compare(left, right, places, dealt, same, halvings, rng)
        unit = pd.factorize(groups["group_id"], sort=True)[0]
        common = {"readout": readout, "n_prompts": len(groups)}
        competing = (places >= 0).sum(axis=1)
        for comparison, rows in _rows(compared, competing, unit, confidence=confidence):
            of_both = {"between": True, "between_halves": True, "excess": all(independent)}
            of_one = {"within_strategy": independent[0], "within_other": independent[1]}
            sizes = (left.shape[1], right.shape[1]) if comparison == "between" else (size, size)
            named = {"comparison": comparison, "independent": (of_both | of_one)[comparison]}
            yield common | named | dict(zip(("k", "k_other"), sizes, strict=True)), rows
        named = {"comparison": "between", "independent": True, "k": left.shape[1], "k_other": right.shape[1]}
        yield common | named, _ties_at_random(compared["between"], unit, confidence=confidence)


def _rows(
    compared: dict[str, np.ndarray], competing: np.ndarray, unit: np.ndarray, *, confidence: float
) -> Iterator[tuple[str, Row]]:
    least = np.array([_LEAST.get(name, 0.0) for name in QUANTITIES])
    unknown = np.full(len(QUANTITIES), np.nan)
    for comparison, table in compared.items():
        left_out, n_groups = zip(*(_left_out(values[:, None], unit) for values in table.T), strict=True)
        intervals = [resampling.jackknife_t(values[:, 0], confidence) for values in left_out]
        _, low, high, *_ = np.array(intervals).T
        rows = {"quantity": np.array(QUANTITIES, dtype=object), "n_groups": np.array(n_groups)}
        rows |= {"estimate": np.array([values[0, 0] for values in left_out]), "n_defined": _defined(table)}
        rows |= {"ci_low": np.maximum(low, least), "ci_high": np.minimum(high, 1.0), "p": unknown, "p_noise": unknown}
        yield comparison, rows
    if "between_halves" in compared:
        yield "excess", _excess([compared[name] for name in PARTS], competing, unit, confidence=confidence)


def _excess(parts: list[np.ndarray], competing: np.ndarray, unit: np.ndarray, *, confidence: float) -> Row:
    estimates, ends, p, p_noise, n_groups = [], [], [], [], []
    defined = np.isfinite(np.stack(parts)).all(axis=0)  # a prompt without one of the three has no excess
    for place in range(len(QUANTITIES)):
        columns = [part[:, [place, TIED]] if place == REVERSED else part[:, [place]] for part in parts]
        table = np.column_stack([*columns, 1 / competing])
        means, count = _left_out(np.where(defined[:, [place]], table, np.nan), unit)
        with np.errstate(invalid="ignore", divide="ignore"):
            excess, noises = _beyond_noise(place, means)
        interval = resampling.jackknife_t(excess, confidence)
        upper = interval.p / 2 if excess[0] > 0 else 1 - interval.p / 2
        estimates.append(excess[0])
        ends.append((interval.low, interval.high))
        p.append(upper if _ONE_SIDED[place] else interval.p)
        p_noise.append(resampling.jackknife_t(noises, confidence).p)
        n_groups.append(count)
    p[TAU] = np.maximum(p[TAU], p[REVERSED])
    low, high = np.array(ends).T
    rows = {"quantity": np.array(QUANTITIES, dtype=object), "estimate": np.array(estimates)}
    rows |= {"ci_low": low, "ci_high": high, "p": np.array(p), "p_noise": np.array(p_noise)}
    return rows | {"n_defined": defined.sum(axis=0), "n_groups": np.array(n_groups)}


def _beyond_noise(place: int, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Excess of one quantity over what the noise of two strategies explains, and difference between the two noises."""
    *parts, by_chance = np.moveaxis(means, -1, 0)
    if place == TAU:
        one, other, between = parts
        return rankings.agreement_by_noise(one, other) - between, one - other
    if place == FLIP:
        one, other, between = (1 - part / (1 - by_chance) for part in parts)
        return (1 - by_chance) * (rankings.agreement_by_noise(one, other) - between), one - other
    if place == REVERSED:
        untied = [1 - tied for tied in parts[1::2]]
        one, other, between = (1 - 2 * part / share for part, share in zip(parts[::2], untied, strict=True))
        return untied[-1] * (rankings.agreement_by_noise(one, other) - between) / 2, one - other
    one, other, between = parts
    return between - (one + other) / 2, one - other


def _defined(table: np.ndarray) -> np.ndarray:
    return (~np.isnan(table)).sum(axis=0)


def _ties_at_random(between: np.ndarray, unit: np.ndarray, *, confidence: float) -> Row:
    flip = between[:, [QUANTITIES.index("top1_flip"), QUANTITIES.index("top1_tie")]].sum(axis=1)
    ratio = shares.mean(flip, unit, confidence, bounds=(0.0, 1.0))
    row = {"quantity": "top1_random", "n_defined": ratio.n, "n_groups": ratio.n_clusters} | ratio.interval.columns()
    return {name: np.array([value]) for name, value in row.items()}


def _left_out(values: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, int]:
    has_value = ~np.isnan(values).any(axis=1)
    if not has_value.any():
        return np.full((1, values.shape[1]), np.nan), 0
    group = np.unique(unit[has_value], return_inverse=True)[1]
    sums = resampling.left_out_sums(np.column_stack([values[has_value], np.ones(len(group))]), group)
    with np.errstate(invalid="ignore"):  # without the only group, no prompt is left
        return sums[:, :-1] / sums[:, -1:], int(group.max()) + 1


def _compare(
    left: np.ndarray,
    right: np.ndarray,
    places: np.ndarray,
    dealt: list[np.ndarray | None],
    same: np.ndarray,
    halvings: int,
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], int]:

    def ranked(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        means = np.concatenate([rankings.mean_scores(values, chosen), np.full((len(chosen), 1), np.nan)], axis=1)
        return means[:, places]  # -1, the padding, is the column of NaN

    def compare(scores: np.ndarray, other: np.ndarray) -> np.ndarray:
        table = np.stack(rankings.compare_rankings(scores, other), axis=-1)
        defined = ~np.isnan(table)
        with np.errstate(invalid="ignore"):
            return np.where(defined, table, 0).sum(axis=0) / defined.sum(axis=0)  # over halvings

    whole = [ranked(values, np.ones((1, values.shape[1]))) for values in (left, right)]
    compared = {"between": compare(*whole)}
    size = min(largest_half(values.shape[1], order) for values, order in zip((left, right), dealt, strict=True))
    if size == 0:
        return compared, 0
    drawn = halves_of_two(dealt, same, size, halvings, rng=rng)
    one, other_one = (ranked(left, chosen) for chosen in drawn[0])
    two, other_two = (ranked(right, chosen) for chosen in drawn[1])
    compared["between_halves"] = (compare(one, two) + compare(other_one, other_two)) / 2
    compared["within_strategy"] = compare(one, other_one)
    compared["within_other"] = compare(two, other_two)
    return compared, size
