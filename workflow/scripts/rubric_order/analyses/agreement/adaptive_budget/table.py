"""Reads until the intervals of items' means are narrow enough, and the share of right claims about these means."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, cell, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, wide

CAPTION = (
    "Number of reads of an item until reading stops, in a replay of complete reads ({strategy}) in random order. "
    "Intervals are {bootstrap[confidence]:.0%} intervals over groups. What is estimated is the item's mean over its "
    "orderings, as the judge answered them. This mean is certain once all orderings are read. It is not the mean "
    "over repeats. Sequence is a confidence sequence for reads in random order without replacement, valid for each "
    "item and any judge. Learnt removes what orderings add. Half of its interval is a factor times the standard "
    "error; this factor would have made {adaptive_budget[level]:.0%} of the claims right in other groups. Learnt is "
    "valid on average over items of groups like these. An item stops by width if its interval is at most as wide as "
    "the target, and by place if its interval overlaps with that of no other candidate. Held is the share of "
    "intervals that contain the mean; early is that share of items that were not read to their end. Error is the "
    "root mean square error, in points. Times is the error divided by that of as many reads of every item. Beyond is "
    "the share of items that err by more than half of the target; in brackets, that share with as many reads of "
    "every item. Saved is the share of calls saved against a number of reads that is the same for all items and has "
    "the same error. It is below 0 where that number takes fewer calls. Calls of the groups that were learnt on are "
    "not counted. Few reads are also enough if a judge writes the same score in all of them, whatever the order "
    "does. Column times shows what stopping items one by one gains."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "rule", "goal", "target"]
QUANTITIES = (
    *("reads", "spared", "coverage", "coverage_early", "stopped_width", "stopped_place", "read_all", "place_right"),
    *("rmse", "rmse_fixed", "rmse_ratio", "outside", "outside_fixed", "reads_fixed", "saved"),
)
GOALS = {"width": "width", "width_or_place": "width or place"}


def _rows(adaptive_budget: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, readout, rule, goal and target."""
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
