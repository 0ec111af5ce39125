"""Reads of a pilot, and contributions of its items to the estimates of a study with some design."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rubric_order.base import randomness
from rubric_order.base.readouts import Readout
from rubric_order.extras.one_read.methods.advice.designs import Design
from rubric_order.extras.one_read.methods.advice.variances import Shape
from rubric_order.methods.position import blocks, preference, selections
from rubric_order.methods.position.blocks import Block
from rubric_order.methods.uncertainty import enough, resampling

DRAWS = 16  # draws of each item's own orderings; variances are averaged over them
FEWEST_ITEMS = 6
FEWEST_GROUPS = enough.DIFFERENCES.least
_NO_VARIANCE = 1e-12


class Unknown(Exception):  # noqa: N818 - a finding, not a fault
    """Reason why a pilot cannot answer a question."""


@dataclass(frozen=True)
class Pilot:
    """Reads of one judge and dataset, of items that are all read in the same orderings.

    `values` (m, D, R) and `unit` (m,) are of complete items, which have a score in each ordering and repeat; `human` is
    their mean human score, or NaN; `n_items` counts the others too.
    """

    block: Block
    readout: Readout
    values: np.ndarray = field(repr=False)
    unit: np.ndarray = field(repr=False)
    human: np.ndarray = field(repr=False)
    n_items: int
    seed: int

    @classmethod
    def of(cls, block: Block, readout: Readout, column: str, *, seed: int) -> "Pilot":
        """Lay out the reads of a block, with scores from `column`; `Unknown` if they predict nothing for others."""
        if len(block.orderings[0]) < 2:
            raise Unknown("all items are read in one ordering, so nothing tells what other orderings would do")
        cells = cells_of(block, block.table[column].to_numpy(dtype=float, na_value=np.nan))
        complete = ~np.isnan(cells).any(axis=(1, 2)) if cells.shape[2] else np.zeros(len(cells), dtype=bool)
        if complete.sum() < FEWEST_ITEMS:
            raise Unknown(
                f"{complete.sum()} items have a score in each of the {cells.shape[1]} orderings; at least"
                f" {FEWEST_ITEMS} are needed that are all read in the same orderings, as by strategy balanced"
            )
        unit = block.units("group", complete)
        check_groups(unit, " of items")
        human = np.full(len(cells), np.nan)
        if "human_score" in block.items:
            human = block.items["human_score"].to_numpy(dtype=float, na_value=np.nan)
        return cls(block, readout, cells[complete], unit, human[complete], len(cells), seed)

    @property
    def shape(self) -> Shape:
        """Sizes of the groups."""
        return Shape.of(np.bincount(self.unit))

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.unit.max()) + 1

    @property
    def repeats(self) -> int:
        """Number of reads of each item in each ordering."""
        return int(self.values.shape[2])

    def means(self, design: Design) -> np.ndarray:
        """Mean score of each item by a design, in each draw of the orderings, shape (draws, m).

        Orderings of an item's own are drawn without replacement, one read each, so that reads of a draw are as
        independent as a study's. Another design has one draw.
        """
        once = self.values[..., 0]
        if design.columns:
            return self.values[:, list(design.columns), : design.repeats].mean(axis=(1, 2))[None]
        rng = randomness.generator(self.seed, "advice", *map(str, self.block.key), design.strategy, design.reads)
        places = rng.permuted(np.broadcast_to(np.arange(once.shape[1]), (DRAWS, *once.shape)), axis=2)
        return np.take_along_axis(once[None], places[..., : design.reads], axis=2).mean(axis=2)

    def cells(self, design: Design) -> np.ndarray:
        """Scores by ordering and repeat for a design with `columns`, shape (m, orderings, repeats)."""
        return self.values[:, list(design.columns), : design.repeats]

    def part(self, design: Design) -> Block:
        """Reads of all items for a design with `columns`, as a block."""
        if len(design.columns) == len(self.block.orderings[0]) and design.repeats == self.repeats:
            return self.block
        chosen = np.isin(self.block.orderings[1], design.columns) & (self.order < design.repeats)
        (part,) = blocks.blocks(self.block.table[chosen])
        return part

    @cached_property
    def order(self) -> np.ndarray:
        """Number of earlier reads of the same item and ordering, for each read, shape (n_reads,)."""
        return _order(self.block)


def check_groups(unit: np.ndarray, items: str) -> np.ndarray:
    """Sizes of the groups; `Unknown`, whose message `items` begins, below `FEWEST_GROUPS` effective ones."""
    sizes = np.bincount(unit)
    effective = resampling.effective(sizes)
    if few := enough.DIFFERENCES.refusal(len(sizes), effective, items):
        raise Unknown(few)
    return sizes


def _order(block: Block) -> np.ndarray:
    orderings, number = block.orderings
    cell = block.item * len(orderings) + number
    by_cell = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[by_cell], prepend=-1))
    lengths = np.diff([*starts, len(cell)])
    order: np.ndarray = np.empty(len(cell), dtype=np.int64)
    order[by_cell] = np.arange(len(cell)) - np.repeat(starts, lengths)
    return order


def cells_of(block: Block, score: np.ndarray) -> np.ndarray:
    """Scores by item, ordering and repeat, NaN without one; the number of repeats is the median of the cells'."""
    orderings, number = block.orderings
    shape = len(block.items), len(orderings)
    cell = block.item * len(orderings) + number
    repeats = int(np.median(np.bincount(cell, minlength=shape[0] * shape[1])))
    order = _order(block)
    used = order < repeats
    cells = np.full((*shape, repeats), np.nan)
    cells[block.item[used], number[used], order[used]] = score[used]
    return cells


def mean_influence(pilot: Pilot, design: Design) -> np.ndarray:
    """Contributions of items to the mean score, in each draw of a design, shape (m, draws)."""
    scores = pilot.means(design).T
    return scores - scores.mean(axis=0)


def r_influence(pilot: Pilot, design: Design) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contributions of the k items with human scores to Fisher's z of r, shape (k, draws); which they are, shape (m,);
    r of each draw. Raises `Unknown`.

    Source: influence function of a correlation, Devlin, Gnanadesikan and Kettenring (1975).
    """
    rated = ~np.isnan(pilot.human)
    if rated.sum() < FEWEST_ITEMS:
        raise Unknown(f"{rated.sum()} items have a human score; expected {FEWEST_ITEMS} or more")
    scores, human = pilot.means(design)[:, rated].T, pilot.human[rated]
    x, y = scores - scores.mean(axis=0), (human - human.mean())[:, None]
    spreads = np.sqrt(np.square(x).mean(axis=0)), np.sqrt(np.square(y).mean(axis=0))
    if not (spreads[0] > _NO_VARIANCE).all() or not (spreads[1] > _NO_VARIANCE).all():
        raise Unknown("the scores, or the human ones, are all the same, so that no correlation is defined")
    x, y = x / spreads[0], y / spreads[1]
    r = (x * y).mean(axis=0)
    if not (np.abs(r) < 1 - _NO_VARIANCE).all():
        raise Unknown("scores and human scores are the same but for their unit, so that r has no error")
    return (x * y - r * (np.square(x) + np.square(y)) / 2) / (1 - np.square(r)), rated, r


class Fitted(NamedTuple):
    """Position preference with items as the sample; `by_group` if its errors are of groups, see
    `cluster_robust.Fit.interval`.
    """

    items: preference.Preference
    by_group: bool


def fitted(part: Block, readout: Readout) -> Fitted:
    """Position preference in the reads of a block; raises `Unknown` if they do not determine it or its errors."""
    if readout not in set(selections.readouts(part)):
        raise Unknown("the selected positions are not known")
    if not preference.identifies(part):
        raise Unknown("no item is read in several orderings, so nothing tells what positions are worth")
    sums = preference.sums(preference.compared(part, readout))
    items = sums.regroup(None)
    if items.positions.problem:
        raise Unknown(f"what positions are worth cannot be told: {items.positions.problem}")
    if not np.isfinite(items.positions.influence).all():
        raise Unknown("a single item decides what positions are worth, so that no error is known")
    groups = sums.regroup(part.units("group")).positions
    row = groups.interval(np.eye(part.n)[0] - 1 / part.n, 0.95)
    return Fitted(items, bool(np.isfinite(row["df"])))


def position_influence(fit: preference.Preference, n: int) -> np.ndarray:
    """Contributions of items to the log-odds of each position, shape (m, n)."""
    moved = fit.positions.influence
    return len(moved) * moved @ (np.eye(n) - 1 / n)


def least_of_positions(fit: preference.Preference, n: int) -> np.ndarray:
    """Least variance of each position's log-odds in a study of one item, shape (n,); 0 if none is known."""
    least, centred = fit.positions.least, np.eye(n) - 1 / n
    if least is None:
        return np.zeros(n)
    return len(fit.positions.influence) * np.diag(centred @ least @ centred)
