"""Error of single reads with and without calibration, beside the error of several reads."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, Text, cell, known, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, wide

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
    calibration = calibration.assign(n_learning=calibration["n_learning"].fillna(0))
    values = [same("calls", "n_items", "n_incomplete", "n_clusters"), *map(estimate, QUANTITIES)]
    rows = wide(calibration, KEYS, values)
    places = pd.DataFrame({"design": rows["design"].map(ORDER), "kind": rows["calibration"].map(KINDS)})
    order = pd.concat([rows[["judge", "profile", "dataset", "readout"]], places, rows[["reads", "n_learning"]]], axis=1)
    return rows.loc[order.sort_values([*order], kind="stable").index]


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
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
