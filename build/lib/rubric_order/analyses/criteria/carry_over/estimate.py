"""Carry-over: whether the criterion that comes right before another, or the one that leads, moves its score.

Rotations put a criterion after the same two neighbours in all positions but the first, where it has none: a carry-over
shows as an effect of the first position. A Williams design puts each criterion after each other one. In rotations the
position of a criterion also says, up to two, which criterion leads the answer. Here effects of position and of what
comes before are fitted together, with a level for each text and criterion.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import panels
from rubric_order.methods.position.panels import Panel
from rubric_order.methods.uncertainty import fixed_effects, multiplicity

COLUMNS = {"scores": panels.COLUMNS}
TERMS = (("position",), ("position", "level"), ("position", "predecessor"), ("position", "leader"))
MODELS = {" + ".join(terms): terms for terms in TERMS}


class Observations(NamedTuple):
    """The scores of a panel, one an entry, with the terms of the models.

    Attributes:
        score: shape (n,).
        block: number of the text and criterion. cluster: of the group. criterion: from 0.
        position: 1 in the column of the score's position, shape (n, P).
        predecessor: 1 in the column of the criterion right before, less 1 / C in all columns; 0 for the first, so that
            the first position is compared with the others as they are after an average criterion. Shape (n, C).
        leader: the same of the criterion that stands first in the answer; 0 for that criterion itself. Shape (n, C).
        level: by how much the text's mean score under the criterion right before is above that under an average one of
            those that can stand there; 0 for the first. Shape (n, 1).
    """

    score: np.ndarray
    block: np.ndarray
    cluster: np.ndarray
    criterion: np.ndarray
    position: np.ndarray
    predecessor: np.ndarray
    leader: np.ndarray
    level: np.ndarray

    def of(self, criterion: int) -> "Observations":
        """The scores under one criterion."""
        return Observations(*(column[self.criterion == criterion] for column in self))

    def terms(self, names: Iterable[str]) -> np.ndarray:
        """The columns of some terms."""
        return np.hstack([np.zeros((len(self.score), 0)), *(getattr(self, name) for name in names)])


def observations(panel: Panel) -> Observations:
    """Every score of a panel whose predecessor, if it has one, has a level.

    The level is a mean over all reads of the text. What one read has in common in all its scores therefore makes no
    carry-over; the score of the predecessor in the same read would.
    """
    levels = panels.text_means(panel.values)
    n_criteria = len(panel.criteria)
    others = ~np.eye(n_criteria, dtype=bool)
    has_level = ~np.isnan(levels)
    of_others = np.where(has_level, levels, 0) @ others
    centre = of_others / np.maximum(has_level.astype(int) @ others, 1)  # of those that can come before, shape (U, C)
    text, read, criterion = np.nonzero(~np.isnan(panel.values) & (panel.positions > 0))
    before = panel.before[text, read, criterion]
    level = np.where(before > 0, levels[text, before - 1] - centre[text, criterion], 0.0)
    usable = ~np.isnan(level)
    text, read, criterion, before, level = (array[usable] for array in (text, read, criterion, before, level))
    position = panel.positions[text, read, criterion]
    leads = np.where((panel.positions == 1).any(axis=2), (panel.positions == 1).argmax(axis=2) + 1, 0)[text, read]
    led_by = np.where(position > 1, leads, 0)
    came_before, came_first = (
        (which[:, None] == np.arange(1, n_criteria + 1)) - (which[:, None] > 0) / n_criteria
        for which in (before, led_by)
    )
    return Observations(
        panel.values[text, read, criterion],
        _numbered(text * n_criteria + criterion),
        _numbered(panel.groups[text]),
        criterion,
        (position[:, None] == np.arange(1, panel.positions.max() + 1)).astype(float),
        came_before,
        came_first,
        level[:, None],
    )


def _numbered(codes: np.ndarray) -> np.ndarray:
    """Codes without gaps."""
    return np.unique(codes, return_inverse=True)[1]


def effects(panel: Panel, *, confidence: float) -> list[Row]:
    """Effects of position and predecessor, alone and together; see `estimate`."""
    seen = observations(panel)
    if len(seen.score) == 0:
        return []
    rows: list[Row] = []
    n_positions = seen.position.shape[1]
    for model, terms in MODELS.items():
        fitted = fixed_effects.fit(seen.score, seen.terms(terms), seen.block, seen.cluster)
        size = len(fitted.coefficients)
        for place in range(n_positions):
            interval = fitted.interval(_against_mean(size, 0, n_positions, place), confidence)
            rows.append({"model": model, "quantity": "position", "position": place + 1} | interval)
        if "level" in terms:
            interval = fitted.interval(np.eye(size)[-1], confidence)
            rows.append({"model": model, "quantity": "carry_over"} | interval)
        if (quantity := terms[-1]) in ("predecessor", "leader"):
            for place, name in enumerate(panel.criteria):
                interval = fitted.interval(_against_mean(size, n_positions, len(panel.criteria), place), confidence)
                rows.append({"model": model, "quantity": quantity, "criterion": name} | interval)
    for model, terms in MODELS.items():
        for quantity in terms:
            if quantity != "level":
                rows.append({"model": model, "quantity": f"any_{quantity}", "p": _p_value(seen, quantity, terms)})
    for place, name in enumerate(panel.criteria):
        for model, terms in list(MODELS.items())[:2]:
            p = _p_value(seen.of(place), "position", terms)
            rows.append({"model": model, "quantity": "any_position", "criterion": name, "p": p})
    return rows


def _against_mean(size: int, first: int, count: int, place: int) -> np.ndarray:
    """The contrast of one coefficient of a run of them with their mean."""
    weights = np.zeros(size)
    weights[first : first + count] = -1 / count
    weights[first + place] += 1
    return weights


def _p_value(seen: Observations, quantity: str, terms: Sequence[str]) -> float:
    """p-value of no effect of one kind of terms of a model, given the others."""
    given = seen.terms(name for name in terms if name != quantity)
    blocks, clusters = _numbered(seen.block), _numbered(seen.cluster)
    if len(blocks) == 0:
        return np.nan
    return fixed_effects.no_effect(seen.score, getattr(seen, quantity), given, blocks, clusters)


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Effects of the position of a criterion and of the criterion right before it on the score, for every design.

    Args:
        scores: see `panels.blocks`; strategies in which criteria keep their positions are left out.

    Returns:
        One row an estimate of a `model`: what is fitted together, beside a level for each text and criterion. In points
        of the scale: `quantity` ``position``, the effect of a position against the mean of all; ``predecessor``, that
        of coming right after a criterion against the mean of all, ``leader``, that of an answer which the criterion
        leads, on its other scores; ``carry_over``, points a point by which the text scores higher under the criterion
        right before than under an average one. ``any_position``, ``any_predecessor`` and ``any_leader`` have only a
        p-value, of no such effect; with a `criterion`, for its scores alone. Intervals are Student's, from the sandwich
        CR3 over groups, see `cluster_robust`; all p-values take groups as the sample, and are
        adjusted as `multiplicity` says. NaN where the design does not tell an effect from others.
        In the first position nothing comes before: what a judge does there because of that is an effect of the
        position.
    """
    rows = []
    for name, readout, panel, _ in panels.blocks(scores):
        sizes = {
            "n_texts": len(panel.texts),
            "n_groups": panel.n_groups,
            "n_scores": int((~np.isnan(panel.values)).sum()),
            "method": "fixed effects of text and criterion, clusters: groups",
            "confidence": confidence,
        }
        rows += [name | {"readout": readout} | row | sizes for row in effects(panel, confidence=confidence)]
    columns = [
        *KEYS,
        "readout",
        "model",
        "quantity",
        "criterion",
        "position",
        "estimate",
        "se",
        "ci_low",
        "ci_high",
        "p",
    ]
    columns += ["n_texts", "n_groups", "n_scores", "method", "confidence"]
    words = ["readout", "model", "quantity", "criterion", "method"]
    return multiplicity.adjust(tidy.from_rows_with_gaps(rows, columns, words))
