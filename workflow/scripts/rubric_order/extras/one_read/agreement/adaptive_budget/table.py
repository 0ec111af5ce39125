"""Reads until the intervals of items' means are narrow enough, and the share of right claims about these means."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, cell, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, wide

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "rule", "goal", "target"]
QUANTITIES = (
    *("reads", "spared", "coverage", "coverage_early", "stopped_width", "stopped_place", "read_all", "place_right"),
    *("rmse", "rmse_fixed", "rmse_ratio", "outside", "outside_fixed", "reads_fixed", "saved"),
)
GOALS = {"width": "width", "width_or_place": "width or place"}


def _rows(adaptive_budget: pd.DataFrame) -> pd.DataFrame:
    stopped = adaptive_budget[adaptive_budget["rule"].isin(["sequence", "learnt"])]
    shared = same("n_learning", "factor", "n_orderings", "n_items", "n_incomplete", "n_clusters")
    return wide(stopped, KEYS, [shared, *map(estimate, QUANTITIES)])


def _shares(row: Mapping[str, Any]) -> str:
    values = (row[name] for name in ("stopped_width", "stopped_place", "read_all"))
    return " / ".join(f"{100 * value:.0f}" for value in values)


def _rule(row: Mapping[str, Any]) -> str:
    if row["rule"] == "sequence":
        return "sequence"
    few = "" if np.isfinite(row["factor"]) else ", too few or too different"
    return f"learnt ({row['n_learning']:.0f} groups{few})"


def _beyond(row: Mapping[str, Any]) -> str:
    return f"{100 * row['outside']:.1f} ({100 * row['outside_fixed']:.1f})"


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile"),
    columns=[
        *texts("judge", "dataset", "readout"),
        cell("rule", _rule),
        cell("stop by", lambda row: GOALS[row["goal"]]),
        Number("target", "g"),
        Estimated("reads", ".2f"),
        cell("width / place / all, %", _shares),
        *estimates(".1f", times=100, missing="", coverage="held, %", coverage_early="early, %"),
        Number("place_right", ".1f", name="places right, %", times=100, missing=""),
        Number("rmse", ".3f", name="error"),
        Estimated("rmse_ratio", ".2f", name="times", missing=""),
        cell("beyond, %", _beyond),
        Estimated("saved", "z.0f", name="saved, %", times=100, missing=""),
        Flags(),
    ],
)
