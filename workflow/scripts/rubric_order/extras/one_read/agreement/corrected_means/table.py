"""Means of people's scores from labels alone, from the judge alone and from both, and labelled groups needed."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Column, Estimated, Flags, Number, cell, known, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, taken, wide

KEYS = ["judge", "profile", "dataset", "criterion", "strategy", "n", "readout", "target", "candidate", "other"]
ESTIMATORS = {
    "labels": "labels_alone",
    "judge": "judge_alone",
    "corrected": "corrected",
    "rogan_gladen": "by_errors",
    "all_labels": "all_labels",
}


def _rows(corrected_means: pd.DataFrame, *, margin: float) -> pd.DataFrame:
    """One row per judge, dataset, criterion, strategy, readout, target and candidate."""
    table = corrected_means.fillna({"other": "", "flag": ""})
    values = [same("n_items", "n_labels", "n_clusters", "n_labelled", "n_effective", "n_unscored")]
    values += [estimate("value", name, estimator=estimator) for estimator, name in ESTIMATORS.items()]
    values += [taken({"quantity": "value", "estimator": "corrected"}, "weight", "flag")]
    values += [taken({"quantity": "value", "estimator": "rogan_gladen"}, flag="errors_flag")]
    values += [estimate("labelled_less_others"), taken({"quantity": "labelled_less_others"}, p="p_sample")]
    values += [estimate(name) for name in ("sensitivity", "specificity", "correlation", "label_share")]
    values += [estimate("label_share_at_best")]
    for estimator in ("labels", "corrected"):
        where = {"quantity": "groups_needed", "estimator": estimator, "margin": margin}
        values.append(taken(where, estimate=f"groups_needed_{estimator}"))
    return wide(table, KEYS, values).fillna({"flag": "", "errors_flag": ""})


def _target(row: Mapping[str, Any]) -> str:
    of = "" if row["candidate"] == "all" else f" of {row['candidate']}"
    less = f" less {row['other']}" if row["other"] else ""
    return row["target"].replace("_", " ") + of + less


def _groups(row: Mapping[str, Any]) -> str:
    return f"{row['n_labelled']} of {row['n_clusters']}"


def _needed(row: Mapping[str, Any]) -> str:
    numbers = [row["groups_needed_labels"], row["groups_needed_corrected"]]
    return " / ".join("" if pd.isna(number) else f"{number:,.0f}" for number in numbers)


def _error_columns(rows: pd.DataFrame) -> Iterator[Column]:
    if rows["target"].eq("pass_rate").any():
        yield Estimated("by_errors", ".3f", name="by errors", missing="cannot tell", where=_is_rate)


def _is_rate(rows: pd.DataFrame) -> pd.Series:
    return rows["target"] == "pass_rate"


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile"),
    columns=[
        *texts("judge", "dataset", "criterion", "strategy", "readout"),
        cell("what", _target),
        cell("labelled groups", _groups),
        Estimated("labelled_less_others", "+z.2f", name="labelled less others", missing=""),
        Estimated("labels_alone", ".3f", name="labels alone"),
        Estimated("judge_alone", ".3f", name="judge alone"),
        Estimated("corrected", ".3f"),
        _error_columns,
        Estimated("all_labels", ".3f", name="all labels", missing="", when=known("all_labels")),
        Number("weight", ".2f"),
        Estimated("label_share", ".2f", name="labels", missing=""),
        cell("groups for the margin", _needed),
        Flags("n_effective", others=["flag", "errors_flag"]),
    ],
)
