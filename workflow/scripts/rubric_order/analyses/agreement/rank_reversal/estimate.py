"""Rank reversal: change of the ranking of competing candidates with the order of the options, see `rankings`."""

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
    """Random pairs of disjoint subsets of k reads, each of `size` reads.

    Args:
        k: number of reads.
        size: number of reads in each subset, at most `largest_half`.
        count: number of pairs.
        ordering: ordering of each read, shape (k,); None if items differ in the ordering of a read. If there are
            several orderings and each is repeated (`repeated`), two sides first get equally many reads of each
            ordering, and each subset is drawn from its side. An odd read of an ordering is on no side. So the orderings
            of one subset say nothing about the orderings of the other.
        barred: True for reads that may not be in the first or the second subset, shape (2, count, k); no read is barred
            from both. All barred reads are kept out if at most half of the reads (of each ordering, if orderings are
            repeated) are barred from each subset.
        rng: generator of the draws.

    Returns:
        Shape (2, count, k), 1 where a read is in the subset.
    """
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
    """Halves of two strategies. Their first halves share no answer, and neither do their second halves.

    A prompt that two strategies share is asked once. Two halves with its answer in common would be more alike than two
    halves of one strategy, which share no answer.

    Args:
        dealt: for each of the two strategies, the ordering of each of its reads, shape (k,). None if items differ in
            the ordering of a read (`shared_ordering`).
        same: True where a read of the first strategy and a read of the second share an answer, shape (k, k_other).
        size: number of reads in a half.
        count: number of pairs of halves.
        rng: generator of the draws.

    Returns:
        The `halves` of each strategy.
    """
    # First the strategy that leaves less choice: a strategy with repeated orderings, or else the one with fewer reads.
    first, second = sorted((0, 1), key=lambda place: (not repeated(dealt[place]), same.shape[place]))
    drawn = {first: halves(same.shape[first], size, count, ordering=dealt[first], rng=rng)}
    barred = drawn[first] @ (same if first == 0 else same.T) > 0 if same.any() else None
    drawn[second] = halves(same.shape[second], size, count, ordering=dealt[second], barred=barred, rng=rng)
    return [drawn[0], drawn[1]]


def same_answers(ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    """True where reads of two strategies share an answer: they have the same ordering and the same repeat index.

    Args:
        ordering: ordering of each read of the first strategy, as a number, shape (..., k).
        other: ordering of each read of the second strategy, as a number, shape (..., k_other).

    Returns:
        Shape (..., k, k_other), bool.
    """
    repeat, other_repeat = (
        np.tril(numbers[..., :, None] == numbers[..., None, :], -1).sum(axis=-1) for numbers in (ordering, other)
    )
    return (ordering[..., :, None] == other[..., None, :]) & (repeat[..., :, None] == other_repeat[..., None, :])


def aligned(values: np.ndarray, ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Reorder reads of items: a read that shares an answer with another strategy's read moves to that read's column.

    Args:
        values: score of each read, items by reads, shape (m, k).
        ordering: ordering of each read, shape (m, k). Orderings were drawn.
        other: ordering of each read of the other strategy, shape (k_other,). Only its first k reads are searched for
            shared answers. So halves can have the answer of a later read in common.

    Returns:
        The reordered values, shape (m, k).
    """
    same = np.zeros((*ordering.shape, ordering.shape[1]), dtype=bool)
    same[..., : len(other)] = same_answers(ordering, other[None, : ordering.shape[1]])
    source, taken, matched = same.argmax(axis=1), same.any(axis=1), same.any(axis=2)
    source[~taken] = np.broadcast_to(np.arange(ordering.shape[1]), matched.shape)[~matched]  # other reads stay in order
    return np.take_along_axis(values, source, axis=1)


def largest_half(k: int, ordering: np.ndarray | None) -> int:
    """Largest number of reads, out of k, that each of two subsets can have, see `halves`.

    Args:
        k: number of reads.
        ordering: ordering of each read, shape (k,); None if items differ in the ordering of a read.
    """
    return int((np.unique(ordering, return_counts=True)[1] // 2).sum()) if repeated(ordering) else k // 2


def repeated(ordering: np.ndarray | None) -> bool:
    """True if there are several orderings, each read more than once; see `halves`.

    Args:
        ordering: ordering of each read, shape (k,); None if items differ in the ordering of a read.
    """
    if ordering is None:
        return False
    counts = np.unique(ordering, return_counts=True)[1]
    return bool(len(counts) > 1 and counts.min() > 1)


def orderings_of(block: blocks.Block) -> np.ndarray:
    """Ordering of each read, as a number whose digits are the options, shape (m, K); -1 where there is no read."""
    shown, number = block.orderings
    codes = np.full((len(block.items), int(block.column.max()) + 1), -1)
    codes[block.item, block.column] = (shown @ max(10, block.n) ** np.arange(block.n - 1, -1, -1))[number]
    return codes


def shared_ordering(orderings: np.ndarray) -> np.ndarray | None:
    """Ordering of each read, shape (K,); None if items differ in the ordering of a read. See `orderings_of`.

    Args:
        orderings: ordering of each read of each item, as a number, shape (m, K); -1 where there is no read.
    """
    of_read = orderings.max(axis=0)
    return of_read if ((orderings == of_read) | (orderings < 0)).all() else None


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, seed: int, halvings: int = 50
) -> pd.DataFrame:
    """Change of the ranking of candidates from one strategy to another, beside the change within a strategy.

    Two rankings from few reads differ even if the order of the options has no effect. So the reads of each strategy are
    divided into two random halves. Halves are compared within a strategy and between two strategies, always with the
    same number of reads. If halves of two strategies disagree more than the noise of both explains, the strategies are
    the cause.

    Args:
        scores: reads with their scores, one row per read, see `blocks.blocks`. All strategies of a study, judge,
            profile, condition, dataset and scale are in one table.
        confidence: nominal coverage of the intervals, such as 0.95. Groups are the sample, because competing candidates
            cannot be separated, and prompts of one group (an article's criteria) depend on each other.
        seed: seed of the halvings.
        halvings: number of random halvings that are averaged over.

    Returns:
        One row per judge, dataset, scale, readout, pair of strategies (`strategy`, `other`), `comparison` and
        `quantity`. Quantities are those of `rankings.Rankings`; ``top1_random`` is given only for comparison
        ``between``. A quantity is averaged over the `n_defined` prompts for which it is defined, in `n_groups` groups.
        `n_prompts` prompts have at least two candidates.

        `comparison` is one of:

        - ``between``: all reads of the two strategies (`k`, `k_other`), as in Xu et al. (2026).
        - ``between_halves``: a half of each strategy, with `k` reads each.
        - ``within_strategy``, ``within_other``: two halves of one strategy, with `k` reads each.
        - ``excess``: the reversal between halves of the two strategies, minus the reversal that `agreement_by_noise`
          expects from the reversal within each strategy. Only prompts for which all three are defined are used. For
          ties, it is ``between_halves`` minus the mean of ``within_strategy`` and ``within_other``.

        `p` is the p-value of the hypothesis that there is no excess. For its adjustment, see `multiplicity`. For tau,
        flips and reversed pairs the test is one-sided, against more reversals, because another order is expected to add
        reversals. For ties it is two-sided. All intervals are two-sided. Tau is also lower if one strategy ties
        candidates that the other distinguishes. So the p of tau is raised to the p of reversed pairs if the latter is
        larger. `p_noise` of an excess is the two-sided p-value of the hypothesis that both strategies are equally
        noisy. Intervals and p-values are from a jackknife over groups.

        The excess is 0 on average if the reads of both strategies have the same distribution. It is about 0 or less if
        one strategy only gives the same ranking with less noise. Every difference that is not noise around one ranking
        adds to the excess, for example if another order brings candidates nearer to each other, or moves them apart, in
        some prompts only. If one strategy ties much more than the other, the excess of flips and of reversed pairs is
        below 0, and the tests miss reversals.

        `independent` says whether two halves of a strategy are independent. This holds in three cases: all reads are in
        one ordering; orderings were drawn at random; every ordering was read more than once. It does not hold for
        `balanced` with one read per ordering. Its halves have no ordering in common, so they differ more than
        independent halves. The noise is then too large, and the excess too small.

        Two strategies share the answer to a prompt that both ask, such as a prompt in the canonical ordering. A common
        answer would also make the excess too small. So halves that are compared have no common answer, with two
        exceptions. First, repeats that are only one answer, as at temperature 0, count as several answers. Second, if
        one strategy with k reads draws its orderings, only the first k reads of the other strategy are searched
        (`aligned`). For example, if ``random`` has three reads, they can share an answer with the fourth or a later
        read of ``balanced`` or ``all``.

    Source: Xu et al. (2026), Sections 4.4 and 5.6, Table 7; the halves, and all intervals, are ours.
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
    table = tidy.from_parts(parts, columns, types, [*shared[:-1], "strategy", "other", "n", "readout"])
    method = f"jackknife over groups, Student's t; {halvings} halvings; expected agreement by Greiner's relation; "
    method += "p one-sided, of ties two-sided"
    return multiplicity.adjust(table.assign(method=method, confidence=confidence, seed=seed))


def _compare_blocks(
    one: blocks.Block, two: blocks.Block, *, confidence: float, seed: int, halvings: int
) -> Iterator[tuple[Row, Row]]:
    """Rows of each comparison of two strategies, for each readout that both have, as parts for `tidy.from_parts`."""
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
    """Means over prompts of each comparison, and their excess, with intervals over groups.

    Args:
        compared: dictionary from comparison to its quantities for each prompt, shape (n_prompts, quantities).
        competing: number of candidates of each prompt, shape (n_prompts,).
        unit: index of each prompt's group, from 0, shape (n_prompts,).
        confidence: nominal coverage of the intervals, such as 0.95.
    """
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
    """The columns of comparison ``excess``.

    Args:
        parts: quantities of each comparison of `PARTS` for each prompt, shape (n_prompts, quantities).
        competing: number of candidates of each prompt, shape (n_prompts,).
        unit: index of each prompt's group, from 0, shape (n_prompts,).
        confidence: nominal coverage of the intervals, such as 0.95.
    """
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
    """Excess of one quantity over what the noise of two strategies explains, and difference between the two noises.

    Args:
        place: index of the quantity in `QUANTITIES`.
        means: means over prompts, shape (..., columns): of each comparison of `PARTS`, then of 1 / number of
            candidates. For reversed pairs, the column of each comparison is followed by its tied pairs.
    """
    *parts, by_chance = np.moveaxis(means, -1, 0)
    if place == TAU:
        one, other, between = parts
        return rankings.agreement_by_noise(one, other) - between, one - other
    if place == FLIP:
        one, other, between = (1 - part / (1 - by_chance) for part in parts)
        return (1 - by_chance) * (rankings.agreement_by_noise(one, other) - between), one - other
    if place == REVERSED:
        untied = [1 - tied for tied in parts[1::2]]
        one, other, between = (1 - 2 * part / told for part, told in zip(parts[::2], untied, strict=True))
        return untied[-1] * (rankings.agreement_by_noise(one, other) - between) / 2, one - other
    one, other, between = parts
    return between - (one + other) / 2, one - other


def _defined(table: np.ndarray) -> np.ndarray:
    return (~np.isnan(table)).sum(axis=0)


def _ties_at_random(between: np.ndarray, unit: np.ndarray, *, confidence: float) -> Row:
    """The columns of quantity ``top1_random``: flips if ties are broken at random, see `rankings.Rankings`.

    Args:
        between: quantities of each prompt for all reads of both strategies, shape (n_prompts, quantities).
        unit: index of each prompt's group, from 0, shape (n_prompts,).
        confidence: nominal coverage of the interval, such as 0.95.
    """
    flip = between[:, [QUANTITIES.index("top1_flip"), QUANTITIES.index("top1_tie")]].sum(axis=1)
    ratio = shares.mean(flip, unit, confidence, bounds=(0.0, 1.0))
    row = {"quantity": "top1_random", "n_defined": ratio.n, "n_groups": ratio.n_clusters} | ratio.interval.columns()
    return {name: np.array([value]) for name, value in row.items()}


def _left_out(values: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, int]:
    """Means over the prompts that have values, and the number of their groups.

    Args:
        values: values of each prompt, NaN for a prompt without a value, shape (n_prompts, q).
        unit: index of each prompt's group, from 0, shape (n_prompts,).

    Returns:
        Means over all prompts, then without each part of the groups, shape (1 + n_parts, q); and the number of groups.
    """
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
    """Quantities of each comparison of two strategies, shape (n_prompts, quantities), and the number of reads per half.

    Args:
        left: scores under the first strategy, items by reads, shape (m, k).
        right: scores under the second strategy, items by reads, shape (m, k_other).
        places: rows of the items of each prompt, padded with -1, shape (n_prompts, n_candidates).
        dealt: for each of the two strategies, the ordering of each of its reads, shape (k,). None if items differ in
            the ordering of a read.
        same: True where a read of the first strategy and a read of the second share an answer, shape (k, k_other).
        halvings: number of random halvings that are averaged over.
        rng: generator of the halvings.
    """

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
