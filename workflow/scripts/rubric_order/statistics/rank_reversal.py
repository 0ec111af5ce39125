"""Rank reversal: whether another order of the options ranks competing candidates differently, see `rankings`."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS
from rubric_order.methods import blocks, multiplicity, resampling, shares, tidy
from rubric_order.methods.rankings import compare_rankings, mean_scores, prompts, same_items

COLUMNS = {"scores": blocks.COLUMNS}
QUANTITIES = ("kendall_tau_b", "top1_flip", "top1_tie", "reversed_pairs", "tied_pairs")
# A reversal is less agreement, but more flips.
_REVERSAL = {"kendall_tau_b": -1}
_ONE_SIDED = np.array([name in ("kendall_tau_b", "top1_flip", "reversed_pairs") for name in QUANTITIES])
_LEAST = {"kendall_tau_b": -1.0}  # of what can be; else 0


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
        size: `largest_half` at most.
        count: pairs.
        ordering: which ordering each read has, shape (k,), where it is the same for all items. If there are several and
            all are repeated (`repeated`), the reads of each are first dealt to the two sides in equal numbers, so that
            the one subset says nothing of which orderings are in the other.
        barred: reads that may not be in each subset, shape (2, count, k); no read is barred from both. They are
            kept out where at most half of the reads, or of those of a repeated ordering, are barred from a side.

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
        dealt: see `shared_ordering`, of both.
        same: which reads of the two share an answer, shape (k, k_other), bool.
        size, count: see `halves`.

    Returns:
        The `halves` of each.
    """
    # First the strategy that leaves less choice: one with repeated orderings, or else the one with fewer reads.
    first, second = sorted((0, 1), key=lambda place: (not repeated(dealt[place]), same.shape[place]))
    found = {first: halves(same.shape[first], size, count, ordering=dealt[first], rng=rng)}
    barred = found[first] @ (same if first == 0 else same.T) > 0 if same.any() else None
    found[second] = halves(same.shape[second], size, count, ordering=dealt[second], barred=barred, rng=rng)
    return [found[0], found[1]]


def same_answers(ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which reads of two strategies share an answer: those of the same ordering and with the same repeat index.

    Args:
        ordering, other: ordering of each read as a number, shapes (..., k) and (..., k_other).

    Returns:
        Shape (..., k, k_other), bool.
    """
    repeat, other_repeat = (
        np.tril(each[..., :, None] == each[..., None, :], -1).sum(axis=-1) for each in (ordering, other)
    )
    return (ordering[..., :, None] == other[..., None, :]) & (repeat[..., :, None] == other_repeat[..., None, :])


def aligned(values: np.ndarray, ordering: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Move each read of a drawn ordering that shares an answer with another strategy to the column of the other read.

    Args:
        values, ordering: score and ordering of each read, items by reads, shape (m, k).
        other: ordering of each read of the other strategy, shape (k_other,); of its reads after the k-th no answer is
            looked for, so that halves can have one of them in common.

    Returns:
        Shape (m, k): the reads of each item in another order.
    """
    same = np.zeros((*ordering.shape, ordering.shape[1]), dtype=bool)
    same[..., : len(other)] = same_answers(ordering, other[None, : ordering.shape[1]])
    source, taken, found = same.argmax(axis=1), same.any(axis=1), same.any(axis=2)
    source[~taken] = np.broadcast_to(np.arange(ordering.shape[1]), found.shape)[~found]  # the others stay in order
    return np.take_along_axis(values, source, axis=1)


def largest_half(k: int, ordering: np.ndarray | None) -> int:
    """How many of k reads can be in each of two subsets, see `halves`."""
    return int((np.unique(ordering, return_counts=True)[1] // 2).sum()) if repeated(ordering) else k // 2


def repeated(ordering: np.ndarray | None) -> bool:
    """Whether several orderings are there, each of them more than once; see `halves`."""
    if ordering is None:
        return False
    counts = np.unique(ordering, return_counts=True)[1]
    return bool(len(counts) > 1 and counts.min() > 1)


def orderings_of(block: blocks.Block) -> np.ndarray:
    """Ordering of each read as a number whose digits are the options, shape (m, K); -1 where there is no read."""
    shown, number = block.orderings
    found = np.full((len(block.items), int(block.column.max()) + 1), -1)
    found[block.item, block.column] = (shown @ 10 ** np.arange(block.n - 1, -1, -1))[number]
    return found


def shared_ordering(orderings: np.ndarray) -> np.ndarray | None:
    """Ordering of each read, shape (K,), where it is the same for all items that have the read; see `orderings_of`."""
    of_read = orderings.max(axis=0)
    return of_read if ((orderings == of_read) | (orderings < 0)).all() else None


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, seed: int, halvings: int = 50
) -> pd.DataFrame:
    """How much the ranking of candidates changes from one strategy to another, beside how much it changes by itself.

    Two rankings from few reads differ also where the order of the options means nothing. So each strategy's reads are
    halved at random and the halves compared, within a strategy and between two, always with the same number of reads.
    What the halves of two strategies disagree more than those of one is due to the strategies.

    Args:
        scores: see `blocks.blocks`; the strategies of a setting lie in one table.
        confidence: see the package. Groups are the sample: competing candidates cannot be told apart, and prompts of
            one group (an article's criteria) depend on each other.
        seed: of the halvings. halvings: random halvings that are averaged over.

    Returns:
        One row a judge, dataset, scale, readout, pair of strategies (`strategy`, `other`), `comparison` and `quantity`
        of `rankings.Rankings` (``top1_random`` of comparison ``between`` alone), averaged over those of `n_prompts`
        prompts with at least two candidates for which it is
        defined (`n_defined`, in `n_groups` groups). `comparison` is ``between``, all reads of the two strategies (`k`,
        `k_other`), as in the paper; ``between_halves``, ``within_strategy`` and ``within_other``, halves of `k` reads;
        or ``excess``: the reversal between halves of the two strategies less the mean of those within each, prompt by
        prompt. `p` is that of no excess, adjusted as `multiplicity` says; of tau, flips and reversed pairs against more
        reversals, one-sided, since another order is expected to add them; of ties two-sided, as all intervals are.
        Intervals and p are those of a jackknife over groups.

        The expectation of the excess is 0 where the strategies' reads have the same distribution. Where halves are
        independent and tau is always defined, that of tau is 0 or more. That of flips and of reversed pairs can be less
        than 0 where rankings of one strategy tie more than those of the other: the test then misses reversals.

        `independent` says whether the halves of a strategy are: those of reads of one ordering or of drawn ones, and
        those of orderings that are all repeated. Halves of `balanced` with one read an ordering are not: they have no
        ordering in common, so that they differ more than two independent ones. The noise is then too large, and the
        excess too small.

        Two strategies share the answer to a prompt that both ask, such as one in the canonical ordering. Halves that
        are compared have no such answer in common, which would make the excess too small as well, with two exceptions.
        Repeats that are one answer by themselves, as at temperature 0, count as several. And of a strategy that draws
        its orderings, only the other's first reads are looked for, as many as it has (`aligned`): three of ``random``
        can share an answer with a later one of ``balanced`` or ``all``.

    Source: Xu et al. (2026), Sections 4.4 and 5.6, Table 7; the halves, and all intervals, are ours.
    """
    parts = []
    shared = [key for key in KEYS if key != "strategy"]
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        settings: dict[tuple, list[blocks.Block]] = {}
        for block in blocks.blocks(table):
            settings.setdefault(tuple(block.keys[key] for key in shared), []).append(block)
        for setting, strategies in settings.items():
            for one, two in itertools.combinations(strategies, 2):
                about = dict(zip(shared, setting, strict=True))
                about |= {"strategy": one.keys["strategy"], "other": two.keys["strategy"]}
                found = _compare_blocks(one, two, confidence=confidence, seed=seed, halvings=halvings)
                parts += [(about | extra, rows) for extra, rows in found]
    columns = [*shared[:-1], "strategy", "other", "n", "readout", "comparison", "quantity", "estimate", "ci_low"]
    columns += ["ci_high", "p", "k", "k_other", "independent", "n_defined", "n_prompts", "n_groups"]
    table = tidy.from_parts(parts, columns)
    table = table.sort_values([*shared[:-1], "strategy", "other", "n", "readout"], kind="stable", ignore_index=True)
    method = f"jackknife over groups, Student's t; {halvings} halvings; p one-sided, of ties two-sided"
    return multiplicity.adjust(table.assign(method=method, confidence=confidence, seed=seed))


def _compare_blocks(
    one: blocks.Block, two: blocks.Block, *, confidence: float, seed: int, halvings: int
) -> Iterator[tuple[dict, dict]]:
    """Every comparison of two strategies' reads, by each readout that both have; see `tidy.from_parts`."""
    known = dict(two.readouts())
    read_in = [orderings_of(block) for block in (one, two)]
    dealt = [shared_ordering(each) for each in read_in]
    # Reads of one ordering, of drawn ones, and repeats of each of several: their halves are independent.
    independent = [ordering is None or not np.ptp(ordering) or repeated(ordering) for ordering in dealt]
    for readout, values in one.readouts():
        if readout not in known:
            continue
        items, left, right = same_items(one, two, values, known[readout])
        _, *read_as = same_items(one, two, *read_in)
        same = np.eye(left.shape[1], right.shape[1], dtype=bool)
        if dealt[0] is not None and dealt[1] is not None:
            same = same_answers(dealt[0], dealt[1])
        elif dealt[1] is not None:
            left = aligned(left, read_as[0], dealt[1])
        elif dealt[0] is not None:
            right = aligned(right, read_as[1], dealt[0])
        groups, places = prompts(items)
        if groups.empty:
            continue
        rng = randomness.generator(seed, "halvings", left.shape[1], right.shape[1])
        compared, size = _compare(left, right, places, dealt, same, halvings, rng)
        unit = pd.factorize(groups["group_id"], sort=True)[0]
        about = {"readout": readout, "n_prompts": len(groups)}
        for comparison, rows in _rows(compared, unit, confidence=confidence):
            of_both = {"between": True, "between_halves": True, "excess": all(independent)}
            of_one = {"within_strategy": independent[0], "within_other": independent[1]}
            sizes = (left.shape[1], right.shape[1]) if comparison == "between" else (size, size)
            named = {"comparison": comparison, "independent": (of_both | of_one)[comparison]}
            yield about | named | dict(zip(("k", "k_other"), sizes, strict=True)), rows
        named = {"comparison": "between", "independent": True, "k": left.shape[1], "k_other": right.shape[1]}
        yield about | named, _ties_at_random(compared["between"], unit, confidence=confidence)


def _rows(compared: dict[str, np.ndarray], unit: np.ndarray, *, confidence: float) -> Iterator[tuple[str, dict]]:
    """Means over prompts of each comparison, with intervals over groups.

    Args:
        compared: see `_compare`.
        unit: number of each prompt's group, shape (n_prompts,).
    """
    least = np.array([_LEAST.get(name, 0.0) for name in QUANTITIES])
    if "between_halves" in compared:  # prompt by prompt: a prompt without one of the three has no excess
        within = (compared["within_strategy"] + compared["within_other"]) / 2
        more = (compared["between_halves"] - within) * [_REVERSAL.get(name, 1) for name in QUANTITIES]
        compared = compared | {"excess": more}
    for comparison, table in compared.items():
        left_out, n_groups = zip(*(_left_out(values, unit) for values in table.T), strict=True)
        found = [resampling.jackknife_t(values, confidence) for values in left_out]
        low, high, _, both_sides = np.array(found).T
        estimates = np.array([values[0] for values in left_out])
        least_here = -np.inf if comparison == "excess" else least
        ends = {"ci_low": np.maximum(low, least_here)}
        ends["ci_high"] = high if comparison == "excess" else np.minimum(high, 1.0)
        rows = {"quantity": np.array(QUANTITIES, dtype=object), "estimate": estimates} | ends
        upper = np.where(estimates > 0, both_sides / 2, 1 - both_sides / 2)
        p = np.where(_ONE_SIDED, upper, both_sides) if comparison == "excess" else np.full(len(QUANTITIES), np.nan)
        yield comparison, rows | {"n_defined": (~np.isnan(table)).sum(axis=0), "n_groups": np.array(n_groups), "p": p}


def _ties_at_random(between: np.ndarray, unit: np.ndarray, *, confidence: float) -> dict:
    """The columns of quantity ``top1_random``: flips where ties are broken at random, see `rankings.Rankings`."""
    flip = between[:, [QUANTITIES.index("top1_flip"), QUANTITIES.index("top1_tie")]].sum(axis=1)
    found = shares.mean(flip, unit, confidence, bounds=(0.0, 1.0))
    row = {"quantity": "top1_random", "estimate": found.estimate, "ci_low": found.low, "ci_high": found.high}
    return {
        name: np.array([value]) for name, value in (row | {"n_defined": found.n, "n_groups": found.n_clusters}).items()
    }


def _left_out(values: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, int]:
    """Mean over the prompts that have a value, as it is and without each part of their groups; and how many groups.

    Args:
        values, unit: of each prompt, NaN without a value, and the number of its group, shape (n_prompts,).
    """
    known = ~np.isnan(values)
    if not known.any():
        return np.full(1, np.nan), 0
    group = np.unique(unit[known], return_inverse=True)[1]
    sums = resampling.left_out_sums(np.column_stack([values[known], np.ones(len(group))]), group)
    with np.errstate(invalid="ignore"):  # nothing is left without the only group
        return sums[:, 0] / sums[:, 1], int(group.max()) + 1


def _compare(
    left: np.ndarray,
    right: np.ndarray,
    places: np.ndarray,
    dealt: list[np.ndarray | None],
    same: np.ndarray,
    halvings: int,
    rng: np.random.Generator,
) -> tuple[dict[str, np.ndarray], int]:
    """Each comparison of two strategies' rankings of each prompt, shape (n_prompts, quantities); reads of a half.

    Args:
        dealt, same: see `halves_of_two`.
    """

    def ranked(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        means = np.concatenate([mean_scores(values, chosen), np.full((len(chosen), 1), np.nan)], axis=1)
        return means[:, places]  # -1, the padding, is the column of NaN

    def compare(scores: np.ndarray, other: np.ndarray) -> np.ndarray:
        table = np.stack(compare_rankings(scores, other), axis=-1)
        known = ~np.isnan(table)
        with np.errstate(invalid="ignore"):
            return np.where(known, table, 0).sum(axis=0) / known.sum(axis=0)  # over halvings

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
