"""Error of scores from few orderings."""

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
from rubric_order.methods.agreement.halves import halves
from rubric_order.methods.position import blocks
from rubric_order.methods.position.by_ordering import ByOrdering, complete_orderings
from rubric_order.methods.uncertainty import resampling

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}
BEST, BEST_PAIRS, RANDOM, PAIRS = "best", "best_pairs", "random", "pairs"
FEWEST_GROUPS = 3  # each group is scored in orderings that the other groups choose, and a choice needs two groups

log = logging.getLogger(__name__)


class Arm(NamedTuple):
    """Errors of one way to choose orderings, for q rising `sizes`.

    Attributes:
        squares: squared errors summed over each group's items, shape (n_groups, q).
        least: the same if no difference between reads counts as chance.
        draws, least_draws: both, summed over the groups of each resample, shape (resamples, q).
        choice: set of orderings in which each fold is scored, then the choice of all groups, shape (n_folds + 1, q).
    """

    sizes: np.ndarray
    squares: np.ndarray
    least: np.ndarray
    draws: np.ndarray
    least_draws: np.ndarray
    choice: np.ndarray | None = None


class Errors(NamedTuple):
    """Root mean square errors of a design, or differences or ratios of such errors.

    Attributes:
        parts: over all groups, then without each part of the groups, shape (1 + n_parts, q).
        draws: in each resample of groups, shape (resamples, q).
        chosen: True if data choose the orderings, anew in each resample.
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
    """Error of the mean of k reads in k orderings, up to twice the number of levels, against the mean over all.

    ``random`` and ``pairs`` are in expectation over the choice; ``balanced`` averages squared errors over both halves.
    ``rmse_least`` counts nothing as chance. ``over_...`` and ``ratio`` compare with as many random or best orderings;
    ``needed`` is the least k from which on ``rmse`` is at most `target_error` (NaN: none).
    """
    parts: list[tuple[Row, Row]] = []
    for block in blocks.blocks(scores):
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        name = "/".join(map(str, block.key))
        for readout, values in block.readouts():
            reads = complete_orderings(block, readout, values, temperature)
            if reads is None or reads.group.max() + 1 < FEWEST_GROUPS:
                if readout == Readout.HARD and len(block.orderings[0]) > 1 and block.design.shared:
                    log.warning("%s: no subsets of orderings: too few complete groups, or not balanced", name)
                continue
            fold = resampling.folds(int(reads.group.max()) + 1, folds, seed=seed, name=name)
            sets = subsets.choices(reads.reverse, min(len(reads.orderings), 2 * block.n), subsets_per_size, seed=seed)
            common = block.keys | {"readout": readout, "cluster": "group", "known_from": reads.known_from}
            common |= {"n_items": len(reads.means), "n_incomplete": int((~reads.rows).sum())}
            common |= {"n_clusters": len(fold), "n_folds": int(fold.max()) + 1, "target": target_error}
            weights = resampling.weights(len(fold), resamples, seed, "ordering subsets")
            for shared, columns in _rows(reads, sets, fold, weights, confidence, target_error):
                parts.append((common | shared, columns))
    header = [*KEYS, "readout", "cluster", "design", "k", "quantity", "estimate", "ci_low", "ci_high", "orderings"]
    header += ["n_same", "n_pairs", "n_folds", "n_sets", "complete", "known_from", "target", "n_items", "n_incomplete"]
    types = {"orderings": "str"} | dict.fromkeys(("n_same", "n_pairs", "n_sets"), "float64")
    table = tidy.join_parts(parts, [*header, "n_clusters", "method"], types)
    return table.assign(confidence=confidence, seed=seed)


def arms(reads: ByOrdering, sets: subsets.Choices, fold: np.ndarray, weights: np.ndarray) -> dict[str, Arm]:
    def fixed_arm(sizes: np.ndarray, tables: Sequence[np.ndarray]) -> Arm:
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
    of_design[RANDOM] = fixed_arm(sizes, [resampling.sum_units(part, group) for part in at_random])
    sizes = sizes[sizes % 2 == 0]
    in_pairs = [subsets.pair_squares(reads.means, chance, reads.reverse, sizes) for chance in both]
    tables = [resampling.sum_units(part, group) for part in in_pairs if part is not None]
    if tables:
        of_design[PAIRS] = fixed_arm(sizes, tables)
    for name, masks in _named(reads):
        of_masks = [subsets.group_squares(reads.means, chance, masks, group) for chance in both]
        if name == "balanced":
            of_masks, masks = [part.mean(axis=1, keepdims=True) for part in of_masks], masks[:1]
        of_design[name] = fixed_arm(masks.sum(axis=1), of_masks)
    return of_design


def _named(reads: ByOrdering) -> Iterator[tuple[str, np.ndarray]]:
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
        rmse_row = _interval(rmse, count, confidence, of_logarithm=True)
        yield shared | {"quantity": "rmse"}, described | rmse_row
        least = rmse_row
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
                tables = [error / other[:, places] for error, other in zip(rmse[:2], errors[RANDOM][:2], strict=True)]
            is_measured = ~np.isnan(tables[0][0])
            if is_measured.any():
                ratio = Errors(tables[0][:, is_measured], tables[1][:, is_measured], rmse.chosen)
                of_known = {key: value[is_measured] for key, value in described.items()}
                yield shared | {"quantity": "ratio"}, of_known | _interval(ratio, count, confidence, of_logarithm=True)
        if name in (BEST, BEST_PAIRS, RANDOM, PAIRS):
            low = np.where(np.isnan(least["ci_low"]), least["estimate"], least["ci_low"])
            least_k = subsets.needed(arm.sizes, rmse_row["estimate"], low, rmse_row["ci_high"], target)
            ends = dict(zip(("estimate", "ci_low", "ci_high"), least_k, strict=True))
            columns: Row = {key: np.array([value]) for key, value in ends.items()}
            yield shared | {"quantity": "needed"}, columns | {"method": "ends of the intervals of rmse"}


def _root_means(squares: np.ndarray, count: np.ndarray) -> np.ndarray:
    sums = resampling.left_out_sums(np.column_stack([squares, count]), np.arange(len(count)))
    return _roots(sums[:, :-1], sums[:, -1])


def _roots(sums: np.ndarray, items: np.ndarray) -> np.ndarray:
    means = sums / items[:, None]
    return np.sqrt(np.where(means > subsets.ROUNDING, means, 0))


def _interval(errors: Errors, count: np.ndarray, confidence: float, *, of_logarithm: bool = False) -> Row:
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
    of_each = np.array([" ".join(map(str, row)) for row in orderings.tolist()], dtype=object)
    return np.array(["; ".join(of_each[mask]) for mask in masks], dtype=object)
