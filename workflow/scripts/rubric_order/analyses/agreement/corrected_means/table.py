"""Means of people's scores from labels alone, from the judge alone and from both, and labelled groups needed."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Column, Estimated, Flags, Number, cell, known, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, taken, wide

CAPTION = (
    "Estimates of what people would say on average about all items: from their scores of some groups alone (labels), "
    "from the judge alone, and from both (corrected). Intervals are {bootstrap[confidence]:.0%} intervals over "
    "groups. Values are in points of people's scale; pass rates are from 0 to 1. Corrected is PPI++ with groups as "
    "the sample. It is right on average whatever the judge is like, if the labelled groups are a random sample. If "
    "they were chosen for other reasons, labels alone and corrected are wrong. Labelled less others is the judge's "
    "mean over labelled groups less that over the others: far from 0, the sample is not random, and the row is "
    "flagged. Intervals hold for the people who gave the scores, and near an end of the scale for 91% instead of 95%. "
    "The interval of judge alone does not show how far people disagree with the judge. By errors is the pass rate from "
    "the judge's rate, sensitivity and specificity (Rogan and Gladen). It needs no random sample, but the same "
    "errors in groups without labels. Weight is by how many points the estimate moves for one point of the judge's. "
    "Column labels is the number of labels that corrected needs, as a share of the number that labels alone needs "
    "for the same error, with the groups that there are. More than 1 is a loss. The share holds for the mean of this "
    "target, and not for single items. Groups for the margin are the labelled groups with which half of an interval "
    "is {margin} (points, or share), for labels alone and corrected. Both numbers are the same if they exceed the "
    "groups that there are. All labels is the mean with labels that were hidden. Few clusters: fewer than 30 "
    "effective labelled groups, which are as many equal ones as give the same error."
)
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


def _by_errors(rows: pd.DataFrame) -> Iterator[Column]:
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
        _by_errors,
        Estimated("all_labels", ".3f", name="all labels", missing="", when=known("all_labels")),
        Number("weight", ".2f"),
        Estimated("label_share", ".2f", name="labels", missing=""),
        cell("groups for the margin", _needed),
        Flags("n_effective", others=["flag", "errors_flag"]),
    ],
)
