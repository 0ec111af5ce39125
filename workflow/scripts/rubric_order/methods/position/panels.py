"""Reads of probe `criterion_order` as arrays: texts by reads by criteria."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods.uncertainty.resampling import sum_units
from rubric_order.strategies import EVERY_POSITION

COLUMNS = [*KEYS, "unit_id", "group_id", "criterion", "human_score", "read_index", "criterion_position", "predecessor"]
COLUMNS += list(VALUES.values())


class Panel(NamedTuple):
    """The reads of one group of `KEYS`: U texts, R reads at most, C criteria.

    `values`, `positions` (from 1) and `before` (criterion right before, from 1) have shape (U, R, C), 0 or NaN where a
    text lacks them; `human` (U, C).
    """

    criteria: tuple[str, ...]
    texts: np.ndarray
    groups: np.ndarray
    group_ids: np.ndarray
    values: np.ndarray
    positions: np.ndarray
    before: np.ndarray
    human: np.ndarray

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1


def panel(reads: pd.DataFrame, readout: Readout) -> Panel:
    """Lay out reads of one panel, from a table with one row per read and criterion."""
    criterion, criteria = pd.factorize(reads["criterion"])
    text, ids = pd.factorize(reads["unit_id"], sort=True)
    row = reads["read_index"].to_numpy()
    shape = (len(ids), int(row.max()) + 1, len(criteria))
    place = (text, row, criterion)
    values = np.full(shape, np.nan)
    values[place] = reads[VALUES[readout]].astype(float).to_numpy()
    positions: np.ndarray = np.zeros(shape, dtype=int)
    positions[place] = reads["criterion_position"].to_numpy()
    before: np.ndarray = np.zeros(shape, dtype=int)
    before[place] = criteria.get_indexer(reads["predecessor"]) + 1
    human = np.full((len(ids), len(criteria)), np.nan)
    human[text, criterion] = reads["human_score"].to_numpy()
    group_of: np.ndarray = np.empty(len(ids), dtype=object)
    group_of[text] = reads["group_id"].to_numpy()
    groups = pd.factorize(group_of, sort=True)[0]
    return Panel(tuple(criteria), np.asarray(ids), groups, group_of, values, positions, before, human)


def blocks(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, crossed: bool = True
) -> Iterator[tuple[Row, Readout, Panel, pd.DataFrame]]:
    """Keys, readout, panel and table of each group of reads with the same `KEYS`. Tables are in memory one at a time.

    `crossed` leaves out strategies in which some criterion does not stand in every position.
    """
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        for key, reads in table.groupby(KEYS):
            name = dict(zip(KEYS, key, strict=True))
            if crossed and name["strategy"] not in EVERY_POSITION:
                continue
            for readout, column in VALUES.items():
                if reads[column].notna().any():
                    yield name, readout, panel(reads, readout), reads


def text_means(values: np.ndarray) -> np.ndarray:
    """Mean over scored reads, (U, R, C) -> (U, C), divided once, so that equal means of different reads tie."""
    count = (~np.isnan(values)).sum(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, np.nansum(values, axis=-2) / np.where(count > 0, count, np.nan), np.nan)


class Cells(NamedTuple):
    """Summed scores and their number, by text, criterion and position, shape (..., U, C, P)."""

    total: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count

    @property
    def means(self) -> np.ndarray:
        """Mean score, NaN where there is no score."""
        return np.where(self.count > 0, self.total / np.where(self.count > 0, self.count, 1), np.nan)


def cells(values: np.ndarray, positions: np.ndarray) -> Cells:
    """Scores (..., U, R, C) summed by position."""
    at = (positions[..., None] == np.arange(1, positions.max() + 1)).astype(float)
    scored = ~np.isnan(values)
    total = np.einsum("...urc,urcp->...ucp", np.where(scored, values, 0.0), at)
    return Cells(total, np.einsum("...urc,urcp->...ucp", scored.astype(float), at))


class Equations(NamedTuple):
    """Normal equations of the effects of positions without the texts' intercepts, (..., C, P, P); summed over texts,
    they give the fit to all.
    """

    left: np.ndarray
    right: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count


def equations(of: Cells) -> Equations:
    """The equations of each text, shapes (..., U, C, ...)."""
    total, count = of
    size = count.sum(axis=-1)  # (..., U, C)
    share = count / np.where(size > 0, size, 1)[..., None]
    left = -share[..., :, None] * count[..., None, :]
    diagonal = np.arange(count.shape[-1])
    left[..., diagonal, diagonal] += count
    return Equations(left, total - share * total.sum(axis=-1, keepdims=True), count)


def solved(summed: Equations) -> np.ndarray:
    """Shift of each position, (..., C, P), summing to 0; NaN without scores or comparisons with the others."""
    eigenvalues, vectors = np.linalg.eigh(summed.left)
    positive = eigenvalues > 1e-9 * np.maximum(summed.count.max(axis=-1), 1)[..., None]
    scaled = np.einsum("...pk,...p->...k", vectors, summed.right) * positive / np.where(positive, eigenvalues, 1)
    shift = np.einsum("...pk,...k->...p", vectors, scaled)
    # The shifts of positions that texts connect are known up to a common constant.
    present = summed.count > 0
    determined = present & ((positive.sum(axis=-1) == present.sum(axis=-1) - 1) & positive.any(axis=-1))[..., None]
    return np.where(determined, shift, np.nan)


def position_effects(of: Cells, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean score of each criterion over texts, (..., C), and its shift by each position, (..., C, P), by least squares
    with an intercept for each text.

    So a shift does not depend on whether good or bad texts have failed answers.
    """
    total, count = of
    if weights is None:
        weights = np.ones(count.shape[-3])
    of_texts = equations(of)
    shift = solved(
        Equations(
            np.einsum("...u,...ucpq->...cpq", weights, of_texts.left),
            np.einsum("...u,...ucp->...cp", weights, of_texts.right),
            np.einsum("...u,...ucp->...cp", weights, count),
        )
    )
    size = count.sum(axis=-1)
    used = np.einsum("...u,...uc->...c", weights, (size > 0).astype(float))
    moved = np.einsum("...ucp,...cp->...uc", count, np.nan_to_num(shift))
    text_level = (total.sum(axis=-1) - moved) / np.where(size > 0, size, 1)
    level = np.einsum("...u,...uc->...c", weights, text_level) / np.where(used > 0, used, np.nan)
    return level, shift


def flipped_shifts(of: Cells, groups: np.ndarray, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Shifts after each group's effects get a random sign, (resamples, C, P), which keeps dependence within.

    Exact if an effect on a group is as likely as its opposite, not needed with many groups; 2^(G - 1) sizes of shifts.
    Source: Canay, Romano and Shaikh (2017), Randomization tests under an approximate symmetry assumption.
    """
    of_texts = equations(of)
    left, count = of_texts.left.sum(axis=0), of_texts.count.sum(axis=0)
    right = sum_units(of_texts.right.reshape(len(groups), -1), groups)
    signs = rng.choice([-1.0, 1.0], size=(resamples, len(right)))
    right = (signs @ right).reshape(resamples, *count.shape)
    return solved(Equations(left[None], right, count[None]))
