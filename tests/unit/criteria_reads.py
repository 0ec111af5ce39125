"""Reads that score several criteria, as `scores_criteria.score_criteria` returns them, made from arrays."""

import numpy as np
import pandas as pd

from rubric_order.base import permutations
from rubric_order.prompts import orderings

NAMES = ("wit", "plot", "style", "depth", "pace", "voice", "mood", "form", "aim")
KEYS = {"study": "s", "judge": "j", "profile": "default", "dataset": "d", "strategy": "balanced", "n": 5}


def table(values, shown, *, human=None, groups=None, soft=None, levels=None, **keys):
    """Scores of texts by reads by criteria.

    Args:
        values: shape (U, R, C), NaN where the answer gives none.
        shown: orderings of the criteria, shape (R, C) or (U, R, C).
        human: human score of each text and criterion; 3 by default.
        groups: name of each text's group; a text is its own by default.
        soft: expected scores, like `values`; unknown by default.
        levels: orderings of the levels, shape (U, R, n); none by default.
    """
    values = np.asarray(values, dtype=float)
    n_criteria = values.shape[2]
    shown = np.broadcast_to(shown, values.shape)
    place, before = permutations.positions_of(shown), permutations.predecessors(shown)
    text, read, criterion = (axis.ravel() for axis in np.indices(values.shape))
    names = np.array([*NAMES[:n_criteria], None], dtype=object)
    score = values.ravel()
    reads = pd.DataFrame(
        KEYS
        | keys
        | {
            "unit_id": [f"t{number:04d}" for number in text],
            "group_id": [f"g{number:04d}" if groups is None else groups[number] for number in text],
            "item_id": [f"t{number:04d}-{names[name]}" for number, name in zip(text, criterion, strict=True)],
            "criterion": names[criterion],
            "human_score": np.full(values.shape, 3.0).ravel()
            if human is None
            else np.asarray(human)[text, criterion].astype(float),
            "read_index": read,
            "criterion_position": place.ravel(),
            "predecessor": names[before.ravel() - 1],
            "score": pd.array([pd.NA if np.isnan(x) else int(x) for x in score], dtype="Int8"),
            "failure": [("no_score" if np.isnan(x) else None) for x in score],
            "expected_score": np.nan if soft is None else np.asarray(soft, dtype=float).ravel(),
            "level_ordering": None,
            "position": pd.array([pd.NA] * len(score), dtype="Int8"),
        }
    )
    if levels is not None:
        rows = np.asarray(levels)[text, read].tolist()
        reads["level_ordering"] = rows
        reads["position"] = pd.array(
            [pd.NA if np.isnan(x) else row.index(int(x)) + 1 for x, row in zip(score, rows, strict=True)], dtype="Int8"
        )
    return reads


def draw(
    n_texts,
    n_criteria,
    *,
    rng,
    strategy="balanced",
    position=0.0,
    carry=0.0,
    levels=0.0,
    spread=0.7,
    noise=0.5,
    failing=0.0,
    rounded=True,
):
    """Values and orderings of a judge with planted effects.

    Args:
        position: what each position adds, one number or one a position.
        carry: share of the score before, less 3, that is added.
        levels: mean score under each criterion, less 3: one number or one a criterion.
        spread: standard deviation of a text's opinion, half of it common to all criteria.
        noise: standard deviation of a read. failing: share of missing scores.
    """
    shown = orderings.choose(strategy, n_criteria, rng=rng)
    opinion = (
        3
        + np.broadcast_to(levels, n_criteria)
        + spread * np.sqrt(0.5) * (rng.normal(size=(n_texts, 1)) + rng.normal(size=(n_texts, n_criteria)))
    )
    shift = np.broadcast_to(position, n_criteria)
    values = np.full((n_texts, *shown.shape), np.nan)
    for read, row in enumerate(shown):
        carried = 0.0
        for place, criterion in enumerate(row):
            score = opinion[:, criterion - 1] + shift[place] + carried + noise * rng.normal(size=n_texts)
            score = np.clip(np.round(score), 1, 5) if rounded else score
            values[:, read, criterion - 1] = score
            carried = carry * (score - 3)
    values[rng.random(values.shape) < failing] = np.nan
    return values, shown
