"""Error of a score by few orderings: the best ones, random ones, and pairs of an ordering and its reverse."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import ordering_subsets as subsets
from rubric_order.methods.calibration import learning
from rubric_order.methods.calibration.halves import halves
from rubric_order.methods.position import blocks
from rubric_order.methods.position.by_ordering import ByOrdering, by_ordering
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}
BEST, BEST_PAIRS, RANDOM, PAIRS = "best", "best_pairs", "random", "pairs"
FEWEST_GROUPS = 3  # one group is scored in the orderings that the others choose, and the choice needs two groups

log = logging.getLogger(__name__)


class Arm(NamedTuple):
    """One way to choose orderings.

    Attributes:
        sizes: numbers of orderings, rising, shape (q,).
        squares: sum of the squared errors of each group, shape (n_groups, q).
        least: the sums of squared errors if no difference between reads is due to chance.
        draws, least_draws: these two sums over all items, in each resample of groups, shape (resamples, q).
        choice: number of the set of orderings in which each fold is scored, then of the set that all groups together
            choose, shape (n_folds + 1, q); None if nothing is chosen by data.
    """

    sizes: np.ndarray
    squares: np.ndarray
    least: np.ndarray
    draws: np.ndarray
    least_draws: np.ndarray
    choice: np.ndarray | None = None


class Errors(NamedTuple):
    """Root mean squares of a design.

    Attributes:
        parts: root mean squares of all groups, then without each part of the groups, shape (1 + n_parts, q).
        draws: root mean squares in each resample of groups, shape (resamples, q).
        chosen: True if orderings are chosen by data, anew in each resample.
    """

    parts: np.ndarray
    draws: np.ndarray
    chosen: bool


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    target_error: float = 0.25,
    folds: int = 5,
    subsets_per_size: int = 1000,
    temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
) -> pd.DataFrame:
    """Root mean square distance of the mean of one read in each of k orderings from the item's mean over all orderings.

    A strategy is used if its items share orderings that show each score equally often at each position. Items without a
    score in some ordering are left out.

    Args:
        scores: see `blocks.blocks`.
        resamples, confidence, seed: see the package; the seed is also that of folds and of sets that are drawn.
        target_error: error in points that is to be reached.
        folds: number of parts of the groups. Each part is scored in the orderings that are best in the other parts.
        subsets_per_size: largest number of sets of orderings of one size. If a size has more, this many are drawn.
        temperatures: see `within_item_deviation.estimate`.

    Returns:
        One row per group of `KEYS`, `readout`, `design`, number of reads `k` (up to twice the number of levels) and
        `quantity`; intervals are over groups (`cluster`).

        `design` says which orderings are read: ``best``, the set with the least error in the other folds;
        ``best_pairs``, the best of the sets that contain the reverse of each ordering; ``random``, any k orderings, and
        ``pairs``, any k / 2 orderings with their reverses, both in expectation over the choice; ``usual``, the ordering
        1 to n, and for two reads also its reverse; ``balanced``, a half of the orderings with each score once at each
        position, mean of both halves.

        `quantity` is one of the following. ``rmse`` is the error against the mean that all orderings would have if each
        were read infinitely often. If chance cannot be distinguished from the effects of an ordering on an item
        (`known_from` is empty), ``rmse`` counts all of it as chance, and is the largest possible error. ``rmse_least``
        then is the error against the mean of the given reads, which counts nothing as chance. ``over_random`` and
        ``over_best`` are ``rmse`` less the ``rmse`` of as many random, or best, orderings. ``ratio`` is ``rmse``
        divided by the ``rmse`` of random orderings. ``needed`` is the least k from which on ``rmse`` is at most
        `target_error`. Its interval uses the lower ends of ``rmse`` (of ``rmse_least``, if there is one) and the upper
        ends of ``rmse``. It is NaN if the largest k does not suffice.

        `orderings` are the orderings that all groups together choose. `n_same` of `n_folds` folds are scored in the
        same set of orderings, `n_pairs` in a set that is made of pairs. `n_sets` sets were compared. They are all sets
        of this size if `complete` is 1.

        Intervals use Student's t, for an error on the scale of its logarithm, and are paired if two designs are
        compared. If nothing is chosen, they are from a jackknife over groups. With other groups, other orderings would
        be chosen. So if ``best`` or ``best_pairs`` is involved, the standard error is from a bootstrap over groups in
        which each fold chooses anew. These intervals are rather too wide.

    Source: ours.
    """
    parts: list[tuple[Row, Row]] = []
    for block in blocks.blocks(scores):
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        name = "/".join(map(str, block.key))
        for readout, values in block.readouts():
            reads = by_ordering(block, readout, values, temperature)
            if reads is None or reads.group.max() + 1 < FEWEST_GROUPS:
                if readout == Readout.HARD and len(block.orderings[0]) > 1 and block.design.shared:
                    log.warning("%s: no subsets of orderings: too few complete groups, or not balanced", name)
                continue
            fold = learning.folds(int(reads.group.max()) + 1, folds, seed=seed, name=name)
            sets = subsets.choices(reads.reverse, min(len(reads.orderings), 2 * block.n), subsets_per_size, seed=seed)
            common = block.keys | {"readout": readout, "cluster": "group", "known_from": reads.known_from}
            common |= {"n_items": len(reads.means), "n_incomplete": int((~reads.rows).sum())}
            common |= {"n_clusters": len(fold), "n_folds": int(fold.max()) + 1, "target": target_error}
            weights = resampling.weights(len(fold), resamples, seed, "ordering subsets")
            for shared, columns in _rows(reads, sets, fold, weights, confidence, target_error):
                parts.append((common | shared, columns))
    header = [*KEYS, "readout", "cluster", "design", "k", "quantity", "estimate", "ci_low", "ci_high", "orderings"]
    header += ["n_same", "n_pairs", "n_folds", "n_sets", "complete", "known_from", "target", "n_items", "n_incomplete"]
    table = tidy.from_parts(parts, [*header, "n_clusters", "method"])
    table = table.sort_values([*KEYS, "readout"], kind="stable", ignore_index=True)
    return table.assign(confidence=confidence, seed=seed)


def arms(reads: ByOrdering, sets: subsets.Choices, fold: np.ndarray, weights: np.ndarray) -> dict[str, Arm]:
    """Errors of each design, by its name.

    Args:
        fold: fold of each group, shape (n_groups,).
        weights: how often each group is in each resample, shape (resamples, n_groups).
    """

    def without_choice(sizes: np.ndarray, tables: Sequence[np.ndarray]) -> Arm:
        return Arm(sizes, tables[0], tables[1], weights @ tables[0], weights @ tables[1])

    group, count = reads.group, np.bincount(reads.group)
    both = [subsets.noise(reads), subsets.no_noise(reads)]
    sums = [subsets.group_squares(reads.means, chance, sets.masks, group) for chance in both]
    of_design = {}
    for name, usable in ((BEST, np.ones(len(sets.masks), dtype=bool)), (BEST_PAIRS, sets.of_pairs)):
        sizes = np.unique(sets.sizes[usable])
        numbers = [np.flatnonzero(usable & (sets.sizes == size)) for size in sizes]
        choice = [subsets.chosen(sums[0], count, fold, of_size) for of_size in numbers]
        if not len(sizes):
            continue
        held = [np.column_stack([subsets.held_out(of, fold, sized) for sized in choice]) for of in sums]
        drawn = [subsets.held_out_draws(sums, count, fold, of_size, weights) for of_size in numbers]
        of_draws = [np.column_stack([of_size[place] for of_size in drawn]) for place in (0, 1)]
        of_design[name] = Arm(sizes, held[0], held[1], of_draws[0], of_draws[1], np.column_stack(choice))
    sizes = np.unique(sets.sizes)
    at_random = [subsets.random_squares(reads.means, chance, sizes) for chance in both]
    of_design[RANDOM] = without_choice(sizes, [resampling.sum_units(part, group) for part in at_random])
    sizes = sizes[sizes % 2 == 0]
    in_pairs = [subsets.pair_squares(reads.means, chance, reads.reverse, sizes) for chance in both]
    tables = [resampling.sum_units(part, group) for part in in_pairs if part is not None]
    if tables:
        of_design[PAIRS] = without_choice(sizes, tables)
    for name, masks in _named(reads):
        of_masks = [subsets.group_squares(reads.means, chance, masks, group) for chance in both]
        if name == "balanced":
            of_masks, masks = [part.mean(axis=1, keepdims=True) for part in of_masks], masks[:1]
        of_design[name] = without_choice(masks.sum(axis=1), of_masks)
    return of_design


def _named(reads: ByOrdering) -> Iterator[tuple[str, np.ndarray]]:
    """Sets of orderings that are chosen without data, as masks."""
    eye, usual, reverse = np.eye(len(reads.orderings), dtype=bool), reads.usual, reads.reverse
    if usual is not None:
        both = [eye[usual] | eye[reverse[usual]]] if reverse[usual] >= 0 else []
        yield "usual", np.array([eye[usual], *both])
    parts = halves(reads.orderings)
    if parts is not None and len(parts.second) == 2 * reads.orderings.shape[1]:
        yield "balanced", np.stack([~parts.second, parts.second])


def _rows(
    reads: ByOrdering,
    sets: subsets.Choices,
    fold: np.ndarray,
    weights: np.ndarray,
    confidence: float,
    target: float,
) -> Iterator[tuple[Row, Row]]:
    """The rows of one block and readout, see `tidy.from_parts`."""
    count = np.bincount(reads.group)
    of_design = arms(reads, sets, fold, weights)
    errors = {
        name: Errors(_root_means(arm.squares, count), _roots(arm.draws, weights @ count), arm.choice is not None)
        for name, arm in of_design.items()
    }
    for name, arm in of_design.items():
        rmse = errors[name]
        places: np.ndarray = arm.sizes - 1
        shared: Row = {"design": name}
        described: Row = {"k": arm.sizes.astype(float)} | _about(name, arm, reads, sets)
        own = _interval(rmse, count, confidence, of_logarithm=True)
        yield shared | {"quantity": "rmse"}, described | own
        least = own
        if not reads.known_from:
            of_least = _root_means(arm.least, count), _roots(arm.least_draws, weights @ count)
            least = _interval(Errors(*of_least, rmse.chosen), count, confidence, of_logarithm=True)
            yield shared | {"quantity": "rmse_least"}, described | least
        for quantity, other in (("over_random", RANDOM), ("over_best", BEST)):
            if name != other:
                with_other = errors[other]
                difference = Errors(
                    rmse.parts - with_other.parts[:, places],
                    rmse.draws - with_other.draws[:, places],
                    rmse.chosen or with_other.chosen,
                )
                yield shared | {"quantity": quantity}, described | _interval(difference, count, confidence)
        if name != RANDOM:
            with np.errstate(invalid="ignore", divide="ignore"):
                tables = [own / other[:, places] for own, other in zip(rmse[:2], errors[RANDOM][:2], strict=True)]
            is_measured = ~np.isnan(tables[0][0])
            if is_measured.any():
                ratio = Errors(tables[0][:, is_measured], tables[1][:, is_measured], rmse.chosen)
                of_known = {key: value[is_measured] for key, value in described.items()}
                yield shared | {"quantity": "ratio"}, of_known | _interval(ratio, count, confidence, of_logarithm=True)
        if name in (BEST, BEST_PAIRS, RANDOM, PAIRS):
            low = np.where(np.isnan(least["ci_low"]), least["estimate"], least["ci_low"])
            least_k = subsets.needed(arm.sizes, own["estimate"], low, own["ci_high"], target)
            ends = dict(zip(("estimate", "ci_low", "ci_high"), least_k, strict=True))
            columns: Row = {key: np.array([value]) for key, value in ends.items()}
            yield shared | {"quantity": "needed"}, columns | {"method": "ends of the intervals of rmse"}


def _root_means(squares: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Root mean squares over items, shape (1 + n_parts, q).

    The first row is over all groups. Each further row leaves out one part of the groups, see
    `resampling.left_out_sums`.

    Args:
        squares: sum of squares of each group, shape (n_groups, q).
        count: number of items of each group.
    """
    sums = resampling.left_out_sums(np.column_stack([squares, count]), np.arange(len(count)))
    return _roots(sums[:, :-1], sums[:, -1])


def _roots(sums: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Roots of the means of sums, 0 if a mean is below 0 by chance. Shapes of the arguments: (r, q) and (r,)."""
    means = sums / items[:, None]
    return np.sqrt(np.where(means > subsets.ROUNDING, means, 0))


def _interval(errors: Errors, count: np.ndarray, confidence: float, *, of_logarithm: bool = False) -> Row:
    """Columns of estimates with their intervals.

    Args:
        count: number of items of each group.
        of_logarithm: True for estimates that cannot be negative; an estimate of 0 then has no interval.
    """
    sizes = resampling.part_sizes(np.repeat(np.arange(len(count)), count))
    scales: dict[str, Any] = {"scale": np.log, "back": np.exp} if of_logarithm else {}
    if not errors.chosen:
        jackknife = resampling.jackknife_t(errors.parts, confidence, sizes=sizes, **scales)
        ends, method = (jackknife.low, jackknife.high), "jackknife over groups, Student's t"
        return {"estimate": jackknife.estimate, "ci_low": ends[0], "ci_high": ends[1], "method": method}
    interval = resampling.bootstrap_t(errors.parts[0], errors.draws, confidence, sizes=count, **scales)
    method = "bootstrap over groups that chooses anew, Student's t"
    return {"estimate": errors.parts[0], "ci_low": interval[0], "ci_high": interval[1], "method": method}


def _about(name: str, arm: Arm, reads: ByOrdering, sets: subsets.Choices) -> Row:
    """The orderings of each size, and the number of folds that agree about them; each of shape (q,)."""
    texts: np.ndarray = np.full(len(arm.sizes), "", dtype=object)
    nothing = np.full(len(arm.sizes), np.nan)
    columns: Row = {"orderings": texts, "n_same": nothing, "n_pairs": nothing}
    if arm.choice is not None:
        of_folds, of_all = arm.choice[:-1], arm.choice[-1]
        columns["orderings"] = _written(reads.orderings, sets.masks[of_all])
        columns["n_same"] = (of_folds == of_all).sum(axis=0).astype(float)
        columns["n_pairs"] = sets.of_pairs[of_folds].sum(axis=0).astype(float)
        usable = sets.of_pairs if name == BEST_PAIRS else np.ones(len(sets.masks), dtype=bool)
        columns["n_sets"] = np.array([(usable & (sets.sizes == size)).sum() for size in arm.sizes], dtype=float)
        columns["complete"] = sets.complete[arm.sizes - 1].astype(float)
    elif name == "usual":
        columns["orderings"] = _written(reads.orderings, next(_named(reads))[1])
    return columns


def _written(orderings: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Sets of orderings as text, such as ``1 2 3; 3 2 1``."""
    of_each = np.array([" ".join(map(str, row)) for row in orderings.tolist()], dtype=object)
    return np.array(["; ".join(of_each[mask]) for mask in masks], dtype=object)
