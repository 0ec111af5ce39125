"""Errors of scores by few orderings: the best ones, random ones, and pairs of an ordering and its reverse."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, Number, Text, cell, count, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, select, wide

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout", "design"]
QUANTITIES = ("rmse", "rmse_least", "ratio", "over_random", "over_best")
ABOUT = ("orderings", "n_same", "n_pairs", "n_folds", "n_sets", "complete", "known_from", "target")
PLACES = {name: place for place, name in enumerate(("best", "best_pairs", "random", "pairs", "usual", "balanced"))}
NAMES = {"best_pairs": "best pairs"}


def _rows(ordering_subsets: pd.DataFrame) -> pd.DataFrame:
    errors = ordering_subsets[ordering_subsets["k"].notna()]
    first_columns = same(*ABOUT, "n_items", "n_incomplete", "n_clusters")
    rows = wide(errors, [*KEYS, "k"], [first_columns, *map(estimate, QUANTITIES)])
    least = wide(select(ordering_subsets, quantity="needed"), KEYS, [estimate("needed")])
    rows = rows.merge(least, on=KEYS, how="left")
    order = rows[["judge", "profile", "dataset", "readout", "k"]].assign(place=rows["design"].map(PLACES))
    return rows.loc[order.sort_values([*order], kind="stable").index].reset_index(drop=True)


def _within(row: Mapping[str, Any]) -> str:
    least = "rmse" if row["known_from"] else "rmse_least"
    low, high = (
        row[name] if pd.isna(row[end]) else row[end] for name, end in ((least, f"{least}_low"), ("rmse", "rmse_high"))
    )
    return "yes" if high <= row["target"] else "no" if low > row["target"] else "not shown"


def _needed(row: Mapping[str, Any]) -> str:
    if pd.isna(row["needed"]) and pd.isna(row["needed_low"]):
        return "more"
    least, low, high = (count(row[name]) or "more" for name in ("needed", "needed_low", "needed_high"))
    return least if least == low == high else f"{least} [{low}, {high}]"


def _printed(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[(rows["k"] <= rows["n"]) | (rows["design"].eq("random") & (rows["k"] == 2 * rows["n"]))]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile"),
    columns=[
        *texts("judge", "dataset", "readout"),
        Number("k", ".0f", name="reads"),
        Text("design", name="orderings", names=NAMES),
        Estimated("rmse", ".3f", name="error"),
        Number("rmse_least", ".3f", name="at least", missing=""),
        Estimated("ratio", ".2f", name="times random", missing=""),
        Estimated("over_best", "+z.3f", name="less best", missing=""),
        cell("within the target", _within),
        cell(
            "reads for it", _needed, where=lambda rows: rows["design"].isin(["best", "best_pairs", "random", "pairs"])
        ),
        Text("orderings", name="chosen", missing=""),
        Text("known_from", name="chance known from", names={"": "not known"}),
        Flags(),
    ],
    printed=_printed,
)
