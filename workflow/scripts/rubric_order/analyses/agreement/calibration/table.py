"""Error of single reads with and without calibration, beside the error of several reads."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, Text, cell, known, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, wide

CAPTION = (
    "Error of few reads of an item, in points, with and without calibration ({strategy}), with "
    "{bootstrap[confidence]:.0%} jackknife intervals over groups, which take the calibrations as they were learnt: "
    "learnt anew on other groups, they would differ. Orderings are divided into two halves. A score is "
    "compared with the item's mean over the half that its reads are not in, less what that half adds in other "
    "groups. Usual is one read in the ordering 1 to n. Random is one read in any ordering. Rotated is one read, with "
    "the orderings taken in turn from item to item. Opposite is an ordering and its reverse. Balanced is all "
    "orderings of a half. Calibrated scores are corrected by what the balanced reads of other groups show about "
    "positions. The other groups are some drawn at random, or all of the other folds. Regressed also replaces a "
    "written score by the mean that items of other groups with this score have, and by score alone does so wherever "
    "the score stood: single scores come nearer to the mean of all, and differences shrink. Calls are the reads an "
    "item, plus the reads that the calibration took, divided among these items. They are fewer if more items are "
    "scored with one calibration. Own error leaves out the error of the mean that scores are compared with. Times is "
    "the error divided by that of the same reads without calibration. Shift is the mean error: the bias of a mean. "
    "Slope is the difference of scores for one point between items, or between systems: below 1, differences are too "
    "small. Pass is the share of scores that round to the second highest level or more, less that share of the means "
    "that they are compared with. A calibration corrects for positions alone: other reasons why judge and people "
    "disagree remain."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "design", "reads", "calibration", "n_learning"]
QUANTITIES = (
    "rmse",
    "error",
    "shift",
    "slope",
    "slope_systems",
    "pass_shift",
    "pearson",
    "rmse_ratio",
    "rmse_change",
    "pearson_change",
)
ORDER = {name: place for place, name in enumerate(("usual", "random", "rotated", "opposite", "balanced"))}
KINDS = {name: place for place, name in enumerate(("none", "scores", "regressed", "groups", "folds"))}


def _rows(calibration: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, readout, design, number of reads and calibration."""
    calibration = calibration.assign(n_learning=calibration["n_learning"].fillna(0))
    values = [same("calls", "n_items", "n_incomplete", "n_clusters"), *map(estimate, QUANTITIES)]
    rows = wide(calibration, KEYS, values)
    places = pd.DataFrame({"design": rows["design"].map(ORDER), "kind": rows["calibration"].map(KINDS)})
    order = pd.concat([rows[["judge", "profile", "dataset", "readout"]], places, rows[["reads", "n_learning"]]], axis=1)
    return rows.loc[order.sort_values([*order], kind="stable").index]


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of single reads, and rows of ``opposite`` and ``balanced`` reads without calibration.

    Single reads with a calibration that was learnt on drawn groups are kept only in the usual ordering.
    """
    balanced = rows["design"].isin(["opposite", "balanced"]) & (rows["calibration"] == "none")
    single = (rows["reads"] == 1) & ((rows["design"] == "usual") | (rows["calibration"] != "groups"))
    return rows[balanced | single]


def _calibrated(row: Mapping[str, Any]) -> str:
    of_groups = f"{row['n_learning']:.0f} groups"
    words = {"none": "", "folds": f"other folds ({of_groups})", "groups": of_groups}
    words["regressed"] = f"regressed ({of_groups})"
    return words.get(row["calibration"], f"by score alone ({of_groups})")


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile"),
    columns=[
        *texts("judge", "dataset", "readout"),
        Text("design", name="orders"),
        cell("calibrated", _calibrated),
        Number("calls", ".3g"),
        Estimated("rmse", ".3f", name="error"),
        Number("error", ".3f", name="own error"),
        Estimated("rmse_ratio", ".2f", name="times", missing=""),
        Estimated("shift", "+z.3f"),
        Estimated("slope", ".2f", missing=""),
        Number("slope_systems", ".2f", name="slope, systems", missing="", when=known("slope_systems")),
        Number("pass_shift", "+z.2f", name="pass", missing=""),
        Number("pearson", ".3f", name="r with people", missing="", when=known("pearson")),
        Flags(),
    ],
    printed=_printed,
)
