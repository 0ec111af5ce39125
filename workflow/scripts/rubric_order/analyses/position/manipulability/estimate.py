"""Reach of a chosen order."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import rankings
from rubric_order.methods.position import blocks, reach, repetition
from rubric_order.methods.position.by_ordering import ByOrdering, complete_orderings
from rubric_order.methods.uncertainty import resampling, shares

COLUMNS = {"scores": [*blocks.COLUMNS, "position_probabilities"]}
OWN, SHARED = "own", "shared"
SEEN, CHANCE, BEYOND, REACHED = "seen", "chance", "beyond", "reached"
FEWEST_GROUPS = 2  # one group is scored in the orderings that the other groups choose
SAME = 9  # decimals; scores that are equal after rounding to them tie


class Measured(NamedTuple):
    """Values of one quantity that the choice of an order can move, of k items, candidates or prompts.

    Attributes:
        choice: ``own`` if an order is chosen for one item, ``shared`` if for all.
        seen, chance: value in the reads and by chance, shape (k,); NaN does not count.
        unit: index of the group, shape (k,).
        most: largest possible value.
        reached: shape (k,); None if no reads are left to score the chosen orderings.
        draws: mean of `reached` in each resample of groups, if other groups choose the orderings; else None.
        beyond: True if the value less `chance` is given.
    """

    quantity: str
    choice: str
    seen: np.ndarray
    chance: np.ndarray
    unit: np.ndarray
    most: float
    reached: np.ndarray | None = None
    draws: np.ndarray | None = None
    beyond: bool = True


class _Chance(NamedTuple):
    exchanges: int
    seed: int
    fold: np.ndarray
    weights: np.ndarray


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    exchanges: int = 200,
    folds: int = 5,
    temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
) -> pd.DataFrame:
    """Ranges of scores and ranks, and changes of the best candidate, by the choice of an ordering.

    `part`: ``seen`` in the reads, by ``chance`` (reads exchange their orderings within items), ``beyond`` chance,
    ``reached`` in reads that had no part in the choice. ``points`` and ``places`` are highest less lowest, as means.
    """
    rows: list[Row] = []
    for block in blocks.blocks(scores):
        temperature = (temperatures or {}).get(block.keys["judge"], {}).get(block.keys["profile"])
        for readout, values in block.readouts():
            reads = complete_orderings(block, readout, values, temperature)
            if reads is None or reads.group.max() + 1 < FEWEST_GROUPS:
                continue
            common = block.keys | {"readout": readout, "cluster": "group", "known_from": reads.known_from}
            common["n_incomplete"] = int((~reads.rows).sum())
            fold = resampling.folds(int(reads.group.max()) + 1, folds, seed=seed, name="/".join(map(str, block.key)))
            weights = resampling.weights(len(fold), resamples, seed, "manipulability")
            chance = _Chance(exchanges, seed, fold, weights)
            for measured in _measured(block, reads, readout, values, temperature, chance):
                labelled = common | {"quantity": measured.quantity, "choice": measured.choice}
                exact = reads.known_from == repetition.PROBABILITIES
                rows += [labelled | row for row in _parts(measured, exact, confidence)]
    columns = [*KEYS, "readout", "cluster", "choice", "quantity", "part", "estimate", "ci_low", "ci_high"]
    columns += ["known_from", "n_items", "n_incomplete", "n_clusters", "method"]
    return tidy.make_table(rows, columns).assign(confidence=confidence, seed=seed)


def _measured(
    block: blocks.Block,
    reads: ByOrdering,
    readout: Readout,
    values: np.ndarray,
    temperature: float | None,
    of: _Chance,
) -> Iterator[Measured]:
    exact = reads.known_from == repetition.PROBABILITIES
    means = reads.means
    if exact and readout == Readout.HARD and temperature is not None:
        means = _expected(block, temperature)[reads.rows]
    single = means[:, :, None]
    if reads.known_from == repetition.REPEATS:
        single = _repeats(block, values)[reads.rows]
    items = block.items[reads.rows].reset_index(drop=True)
    unit_of: np.ndarray = np.zeros(0, dtype=int)
    places: np.ndarray = np.zeros((0, 1), dtype=int)
    if {"candidate", "criterion"} <= set(items):
        prompts, places = rankings.prompts(items)
        number = dict(zip(items["group_id"], reads.group, strict=True))
        unit_of = np.array([number[group] for group in prompts["group_id"]], dtype=int)
    usual = reads.usual or 0
    seen = reach.moved(means.round(SAME), places, usual)
    name = "/".join(map(str, block.key))
    chance = reach.Moved(*(np.zeros(np.shape(part)) for part in seen))
    if not exact:
        rng = randomness.generator(of.seed, "exchanged orderings", name, str(readout))
        chance = reach.chance_reach(single, places, usual, count=of.exchanges, rng=rng)
    of_points, of_places, of_shared = (seen.points, seen.places, seen.places_shared) if exact else (None, None, None)
    if reads.known_from == repetition.REPEATS:
        one, other = (single[:, :, start::2].mean(axis=2).round(SAME) for start in (0, 1))
        of_points = reach.reached((one, other), (one, other))
        by_prompt = [reach.candidate_scores(half, places) for half in (one, other)]
        alone = [-reach.ranks(half, usual) for half in by_prompt]
        of_places = reach.reached((by_prompt[0], by_prompt[1]), (alone[0], alone[1]))
        together = [-reach.ranks_shared(half) for half in by_prompt]
        of_shared = reach.reached((together[0], together[1]), (together[0], together[1]))
    most, several = float(block.n - 1), exact or single.shape[2] > 1
    yield Measured("points", OWN, seen.points, chance.points, reads.group, most, of_points, beyond=several)
    by_all = reach.reached_by_all(means, reads.group, of.fold)
    draws = reach.reached_by_all_draws(means, reads.group, of.fold, of.weights)
    yield Measured("points", SHARED, seen.points_shared, chance.points_shared, reads.group, most, by_all, draws)
    if not len(places):
        return
    unit: np.ndarray = np.repeat(unit_of, places.shape[1])
    most = float(places.shape[1] - 1)
    for choice, ranks, by_chance, in_others in (
        (OWN, seen.places, chance.places, of_places),
        (SHARED, seen.places_shared, chance.places_shared, of_shared),
    ):
        flat = None if in_others is None else in_others.ravel()
        yield Measured("places", choice, ranks.ravel(), by_chance.ravel(), unit, most, flat)
    for choice, best, by_chance in ((OWN, seen.best, chance.best), (SHARED, seen.best_shared, chance.best_shared)):
        yield Measured("best_changed", choice, best * 1.0, by_chance, unit_of, 1.0, best * 1.0 if exact else None)


def _parts(measured: Measured, exact: bool, confidence: float) -> Iterator[Row]:
    seen, chance, unit, most = measured.seen, measured.chance, measured.unit, measured.most
    jackknife = "jackknife over groups, Student's t"
    if seen.ndim:
        of_seen, how = shares.mean(seen, unit, confidence, bounds=(0, most)), jackknife
        if measured.quantity == "best_changed":
            of_seen, how = shares.share(seen, unit, confidence), "Clopper and Pearson, jackknife over groups"
        of_beyond = of_seen if exact else shares.mean(seen - chance, unit, confidence, bounds=(-most, most))
        nothing = of_seen._replace(low=np.nan, high=np.nan)
        by_chance = nothing._replace(estimate=float(np.nanmean(chance)))
    else:
        how = ""
        nothing = shares.Ratio(float(seen), np.nan, np.nan, len(unit), int(unit.max()) + 1)
        of_seen, by_chance = nothing, nothing._replace(estimate=float(chance))
        of_beyond = nothing._replace(estimate=float(seen - chance))
    yield _row(SEEN, of_seen, how)
    yield _row(CHANCE, by_chance, "")
    if measured.beyond:
        yield _row(BEYOND, of_beyond, how if exact or not seen.ndim else jackknife)
    if measured.reached is None:
        return
    of_reached = shares.mean(measured.reached, unit, confidence, bounds=(-most, most))
    if measured.draws is not None:
        sizes = np.bincount(unit)
        estimated = np.array([of_reached.estimate])
        low, high = resampling.bootstrap_t(estimated, measured.draws[:, None], confidence, sizes=sizes)
        of_reached = of_reached._replace(low=max(float(low[0]), -most), high=min(float(high[0]), most))
        jackknife = "bootstrap over groups that chooses anew, Student's t"
    yield _row(REACHED, of_seen if exact and seen.ndim else of_reached, how if exact and seen.ndim else jackknife)


def _row(part: str, ratio: shares.Ratio, method: str) -> Row:
    ends = Interval(ratio.estimate, ratio.low, ratio.high)
    return {"part": part, "n_items": ratio.n, "n_clusters": ratio.n_clusters, "method": method} | ends.columns()


def _expected(block: blocks.Block, temperature: float) -> np.ndarray:
    """Expected score of each item in each ordering, shape (n_items, D); NaN without probabilities."""
    has_probabilities = block.table["position_probabilities"].notna().to_numpy()
    drawn = repetition.temper(
        blocks.matrix_of(block.table["position_probabilities"].to_numpy()[has_probabilities]), temperature
    )
    values = np.full((len(block.items), int(block.column.max()) + 1), np.nan)
    values[block.item[has_probabilities], block.column[has_probabilities]] = (
        drawn * block.shown[has_probabilities]
    ).sum(axis=1)
    return block.ordering_means(values)


def _repeats(block: blocks.Block, values: np.ndarray) -> np.ndarray:
    orderings, number = block.orderings
    cell = block.item * len(orderings) + number
    order = np.argsort(cell, kind="stable")
    return values[block.item, block.column][order].reshape(len(block.items), len(orderings), -1)
