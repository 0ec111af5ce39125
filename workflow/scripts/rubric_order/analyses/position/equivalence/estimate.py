"""Equivalence tests."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row, places_of, rows_with
from rubric_order.methods import tidy
from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import equivalence
from rubric_order.strategies import EVERY_POSITION

_SAME = [*KEYS, "readout", "cluster"]
_VALUES = ["estimate", "ci_low", "ci_high", "df", "n_clusters", "effective_clusters", "confidence"]
_BOUNDED = ["p_bounded", "margin"]
IN_POINTS = ("points", "usual_minus_balanced", "condition_points")
COLUMNS = {
    "score_effects": [*_SAME, "quantity", "flag", *_VALUES, *_BOUNDED],
    "position_preference": [*_SAME, "quantity", "flag", *_VALUES],
    "strategy_comparison": [*_SAME, "baseline", "criterion", "quantity", *_VALUES],
    "condition_comparison": [*_SAME, "other", "quantity", *_VALUES, *_BOUNDED],
}


def estimate(
    *,
    score_effects: pd.DataFrame,
    position_preference: pd.DataFrame,
    strategy_comparison: pd.DataFrame,
    condition_comparison: pd.DataFrame,
    level: float,
    points: float,
    log_odds: float,
    r: float,
) -> pd.DataFrame:
    """Two one-sided tests of effects that other statistics have estimated.

    `baseline` is the other strategy, `other` the other condition; empty in rows that compare none. ``points`` and
    ``log_odds`` are about all orderings or positions at once; ``interaction`` about the highest score at the last
    position and the lowest at the first.
    """
    margins = {"points": points, "usual_minus_balanced": points, "log_odds": log_odds, "interaction": log_odds, "r": r}
    margins |= {"condition_points": points, "condition_r": r}
    effects = _effects(score_effects, position_preference, strategy_comparison, condition_comparison)
    rows = [row for name, of_name in effects.items() for row in _tested(name, margins[name], of_name, level)]
    columns = [*KEYS, "baseline", "other", "readout", "cluster", "quantity", "margin", "estimate", "low", "high", "p"]
    table = tidy.make_table(rows, [*columns, "verdict", "flag", "n_effects", "n_clusters", "method"])
    return table.assign(level=level)


def _effects(
    score_effects: pd.DataFrame,
    position_preference: pd.DataFrame,
    strategy_comparison: pd.DataFrame,
    condition_comparison: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    both = {"strategy": EVERY_POSITION, "baseline": EVERY_POSITION}
    return {
        "points": rows_with(score_effects, quantity="ordering"),
        "usual_minus_balanced": rows_with(score_effects, quantity="usual_minus_balanced"),
        "log_odds": rows_with(position_preference, quantity="preference"),
        "interaction": rows_with(position_preference, quantity="interaction"),
        "r": rows_with(strategy_comparison, quantity="pearson", criterion=EVERY, **both),
        "condition_points": rows_with(condition_comparison, quantity="points"),
        "condition_r": rows_with(condition_comparison, quantity="r"),
    }


def _tested(name: str, margin: float, effects: pd.DataFrame, level: float) -> Iterator[Row]:
    if not len(effects):
        return
    estimates, low, high = (effects[column].to_numpy(dtype=float) for column in ("estimate", "ci_low", "ci_high"))
    df, confidence = effects["df"].to_numpy(dtype=float), float(effects["confidence"].iloc[0])
    error = equivalence.error_of_interval(low, high, df, confidence)
    low, high = equivalence.interval(estimates, error, df, level)
    p = equivalence.p_values(estimates, error, df, margin)
    small: np.ndarray = np.ones(len(effects), dtype=bool)
    if name in IN_POINTS:
        if (effects["margin"] != margin).any():
            raise ValueError(f"{name}: p_bounded is of margin {effects['margin'].iloc[0]:g}, not of {margin:g}")
        bounded = effects["p_bounded"].to_numpy(dtype=float)
        p, small = np.maximum(p, bounded), bounded <= level
    small &= effects["effective_clusters"].to_numpy(dtype=float) >= uniformity.FEW_CLUSTERS
    compared = [*_SAME, "baseline", "other"]
    values = [effects[column].tolist() if column in effects else [""] * len(effects) for column in compared]
    named = {key: rows for key, rows in places_of(*values).items() if not pd.isna(list(key)).any()}
    for key, rows in sorted(named.items()):
        weakest = rows[int(np.where(np.isnan(p[rows]), np.inf, p[rows]).argmax())]
        row = dict(zip(compared, key, strict=True)) | {"quantity": name, "margin": margin, "p": p[weakest]}
        row |= {"estimate": estimates[weakest], "low": low[weakest], "high": high[weakest]}
        row |= {"n_clusters": effects["n_clusters"].iloc[weakest]}
        row["flag"] = effects["flag"].iloc[weakest] if "flag" in effects else ""
        row["verdict"] = equivalence.verdict(low[rows], high[rows], margin)
        if row["verdict"] == equivalence.SHOWN and not small[rows].all():
            row["verdict"] = equivalence.UNDECIDED
        yield row | {"n_effects": len(rows), "method": f"two one-sided tests at {level:.3g} over {row['cluster']}s"}
