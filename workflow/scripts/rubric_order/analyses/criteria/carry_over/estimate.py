"""Effects of the preceding criterion."""

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
    """Scores of a panel, shape (n,), with the terms of the models.

    Attributes:
        block, cluster, criterion: index of text and criterion, of group, and of criterion, from 0.
        position: indicators, shape (n, P).
        predecessor, leader: indicators of the criterion before and of the first, less 1 / C.
        level: the text's mean score under the criterion before, less its mean over all that can come before.
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
        return Observations(*(column[self.criterion == criterion] for column in self))

    def terms(self, names: Iterable[str]) -> np.ndarray:
        return np.hstack([np.zeros((len(self.score), 0)), *(getattr(self, name) for name in names)])


def observations(panel: Panel) -> Observations:
    """All scores of a panel, except those after a criterion under which the text has no mean score."""
    levels = panels.text_means(panel.values)
    n_criteria = len(panel.criteria)
    others = ~np.eye(n_criteria, dtype=bool)
    has_level = ~np.isnan(levels)
    of_others = np.where(has_level, levels, 0) @ others
    centre = of_others / np.maximum(has_level.astype(int) @ others, 1)  # mean over possible predecessors, (U, C)
    text, number, criterion = np.nonzero(~np.isnan(panel.values) & (panel.positions > 0))
    before = panel.before[text, number, criterion]
    level = np.where(before > 0, levels[text, before - 1] - centre[text, criterion], 0.0)
    usable = ~np.isnan(level)
    text, number, criterion, before, level = (array[usable] for array in (text, number, criterion, before, level))
    position = panel.positions[text, number, criterion]
    leads = np.where((panel.positions == 1).any(axis=2), (panel.positions == 1).argmax(axis=2) + 1, 0)[text, number]
    led_by = np.where(position > 1, leads, 0)
    came_before, came_first = (
        (which[:, None] == np.arange(1, n_criteria + 1)) - (which[:, None] > 0) / n_criteria
        for which in (before, led_by)
    )
    return Observations(
        panel.values[text, number, criterion],
        _numbered(text * n_criteria + criterion),
        _numbered(panel.groups[text]),
        criterion,
        (position[:, None] == np.arange(1, panel.positions.max() + 1)).astype(float),
        came_before,
        came_first,
        level[:, None],
    )


def _numbered(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_inverse=True)[1]


def effects(panel: Panel, *, confidence: float) -> list[Row]:
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
    weights = np.zeros(size)
    weights[first : first + count] = -1 / count
    weights[first + place] += 1
    return weights


def _p_value(seen: Observations, quantity: str, terms: Sequence[str]) -> float:
    others = seen.terms(name for name in terms if name != quantity)
    blocks, clusters = _numbered(seen.block), _numbered(seen.cluster)
    if len(blocks) == 0:
        return np.nan
    return fixed_effects.no_effect(seen.score, getattr(seen, quantity), others, blocks, clusters)


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Effects of a criterion's position and of the criterion before it on the score, in points, for every design.

    `model` lists the terms fitted together, with an intercept for each text and criterion. Effects of positions,
    predecessors and leaders are less their mean; ``carry_over`` is per point of `Observations.level`; ``any_...`` has
    only a p-value.
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
    columns = [*KEYS, "readout", "model", "quantity", "criterion", "position", "estimate", "se", "ci_low", "ci_high"]
    columns += ["p"]
    columns += ["n_texts", "n_groups", "n_scores", "method", "confidence"]
    return multiplicity.adjust(tidy.make_table_with_gaps(rows, columns))
