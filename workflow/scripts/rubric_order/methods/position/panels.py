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
    """The reads of one study, judge, profile, condition, dataset, strategy and scale.

    Texts need not have the same number of reads, nor the same criteria. U is the number of texts, R the largest number
    of reads, and C the number of criteria.

    Attributes:
        criteria: ids of the criteria, in canonical order.
        texts: ids of the texts, sorted.
        groups: index of each text's group, from 0, shape (U,).
        group_ids: id of each text's group, shape (U,).
        values: score of each text in each read under each criterion, shape (U, R, C); NaN where there is no score.
        positions: position of the criterion in the prompt, from 1, shape (U, R, C); 0 if the prompt does not ask for
            it.
        before: index of the criterion right before this criterion in the prompt, from 1, shape (U, R, C); 0 if there is
            none.
        human: mean human score of each text under each criterion, shape (U, C); NaN without human scores.
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
    """Lay out reads, from a table with one row per read and criterion.

    Args:
        reads: one row per read and criterion of one study, judge, profile, condition, dataset, strategy and scale.
        readout: ``hard`` for the written score, or ``soft`` for the score expected from the options' probabilities.
    """
    criterion, criteria = pd.factorize(reads["criterion"])
    text, ids = pd.factorize(reads["unit_id"], sort=True)
    read = reads["read_index"].to_numpy()
    shape = (len(ids), int(read.max()) + 1, len(criteria))
    place = (text, read, criterion)
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
    """Yield a panel for each group of reads with the same `KEYS`, by each readout that the group has.

    Args:
        scores: a table with one row per read and criterion, with its score; or several such tables, for example one per
            file. Only one table is in memory at a time. Each group of reads must lie in one table.
        crossed: True to leave out strategies in which some criterion does not stand in every position.

    Yields:
        The keys of the group, the readout, the reads as a panel, and the reads as a table.
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
    """Mean score of each text under each criterion over its scored reads, shape (U, R, C) -> (U, C).

    The sum is divided only once, so equal means of different reads are equal to the last bit, and tie.
    """
    count = (~np.isnan(values)).sum(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, np.nansum(values, axis=-2) / np.where(count > 0, count, np.nan), np.nan)


class Cells(NamedTuple):
    """Scores by text, criterion and position.

    Attributes:
        total: summed scores, shape (..., U, C, P), for P positions.
        count: number of scores, shape (..., U, C, P).
    """

    total: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count

    @property
    def means(self) -> np.ndarray:
        """Mean score, NaN where there is no score."""
        return np.where(self.count > 0, self.total / np.where(self.count > 0, self.count, 1), np.nan)


def cells(values: np.ndarray, positions: np.ndarray) -> Cells:
    """Scores summed by position.

    Args:
        values: score of each text in each read under each criterion, shape (..., U, R, C); NaN where there is no score.
        positions: position of the criterion in the prompt, from 1, shape (U, R, C); 0 if the prompt does not ask for
            it.
    """
    at = (positions[..., None] == np.arange(1, positions.max() + 1)).astype(float)
    scored = ~np.isnan(values)
    total = np.einsum("...urc,urcp->...ucp", np.where(scored, values, 0.0), at)
    return Cells(total, np.einsum("...urc,urcp->...ucp", scored.astype(float), at))


class Equations(NamedTuple):
    """Normal equations of the effects of positions, without the texts' intercepts.

    The sum of the equations of several texts gives the fit to all of these texts.

    Attributes:
        left: matrix of the equations of each criterion, shape (..., C, P, P).
        right: right side of the equations of each criterion, shape (..., C, P).
        count: number of scores at each position, shape (..., C, P).
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
    """Shift of each position, shape (..., C, P). The shifts sum to 0 over the positions that have scores.

    NaN for a position that has no scores or cannot be compared with the other positions.
    """
    eigenvalues, vectors = np.linalg.eigh(summed.left)
    kept = eigenvalues > 1e-9 * np.maximum(summed.count.max(axis=-1), 1)[..., None]
    scaled = np.einsum("...pk,...p->...k", vectors, summed.right) * kept / np.where(kept, eigenvalues, 1)
    shift = np.einsum("...pk,...k->...p", vectors, scaled)
    # The shifts of positions that texts connect are known up to a common constant.
    present = summed.count > 0
    determined = present & ((kept.sum(axis=-1) == present.sum(axis=-1) - 1) & kept.any(axis=-1))[..., None]
    return np.where(determined, shift, np.nan)


def position_effects(of: Cells, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean score of each criterion, and its shift by each position, fitted with an intercept for each text.

    If each text has equally many scores in every position, a position's shift is the mean score in this position minus
    the mean over all positions. Otherwise the shift is the least-squares fit of text and position. So the shift of a
    position does not depend on whether good or bad texts have failed answers in other positions.

    Args:
        of: cells, one row per text.
        weights: number of times that each text counts, shape (..., U); once by default.

    Returns:
        Mean scores, shape (..., C), and shifts, shape (..., C, P), see `solved`. The mean score is over texts, at an
        average position.
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
    own = (total.sum(axis=-1) - moved) / np.where(size > 0, size, 1)
    level = np.einsum("...u,...uc->...c", weights, own) / np.where(used > 0, used, np.nan)
    return level, shift


def flipped_shifts(of: Cells, groups: np.ndarray, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Shifts after the order's effects in each group get a random sign.

    All texts, criteria and positions of a group change their sign together. This keeps the dependence between them,
    including effects that the order has on one group alone. Suppose that the order has no effect on average over
    groups, and that its effect on a single group is as likely as the opposite effect. Then every choice of signs is as
    likely as the signs that were observed. With many groups the second condition need not hold. With G groups there are
    2^(G - 1) different sizes of shifts.

    Args:
        of: cells, one row per text.
        groups: index of each text's group, from 0, shape (U,).
        resamples: number of draws of signs.
        rng: generator of the signs.

    Returns:
        Shape (resamples, C, P), see `solved`.

    Source: the sign-flipping test of a mean, for clusters as by Canay, Romano and Shaikh (2017), Randomization tests
    under an approximate symmetry assumption.
    """
    of_texts = equations(of)
    left, count = of_texts.left.sum(axis=0), of_texts.count.sum(axis=0)
    right = sum_units(of_texts.right.reshape(len(groups), -1), groups)
    signs = rng.choice([-1.0, 1.0], size=(resamples, len(right)))
    right = (signs @ right).reshape(resamples, *count.shape)
    return solved(Equations(left[None], right, count[None]))
