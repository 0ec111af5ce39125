"""People's means by labels alone, by the judge alone, and by both; labels that are needed."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from rubric_order.tables.columns import Column, Estimated, Flags, Number, cell, known, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, taken, wide

CAPTION = (
    "What people would say on average about all items, where they scored those of some groups: by these labels alone, "
    "by the judge alone, and by both (corrected), with {bootstrap[confidence]:.0%} intervals over groups. In points of "
    "people's scale; pass rates from 0 to 1. Corrected: PPI++ with groups as the sample. It is right on average "
    "whatever the judge is like, if the labelled groups are a random sample; where they were chosen by other reasons, "
    "labels alone and corrected are wrong, and nothing here shows it. The judge's own interval says nothing of how far "
    "people disagree with it. By errors: pass rate from the judge's rate, sensitivity and specificity (Rogan and "
    "Gladen); it needs no random sample but errors that are the same in groups without labels. Weight: points by which "
    "the estimate moves for one of the judge's. Labels: share of the labels that labels alone would need for the same "
    "error, with the groups that there are; more than 1 is a loss. It holds for the mean of this target, and not for "
    "single items. Groups for the margin: labelled groups that half of an interval takes to be {margin} (points, or "
    "share), labels alone and corrected; the same number for both where it is more than the groups that there are. All "
    "labels: the mean with labels that were hidden. Few clusters: fewer than 30 labelled groups."
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
    """One row a judge, dataset, criterion, strategy, readout and target."""
    table = corrected_means.fillna({"other": "", "flag": ""})
    values = [same("n_items", "n_labels", "n_clusters", "n_labelled", "n_unscored")]
    values += [estimate("value", name, estimator=estimator) for estimator, name in ESTIMATORS.items()]
    values += [taken({"quantity": "value", "estimator": "corrected"}, "weight", "flag")]
    values += [taken({"quantity": "value", "estimator": "rogan_gladen"}, flag="errors_flag")]
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
        Estimated("labels_alone", ".3f", name="labels alone"),
        Estimated("judge_alone", ".3f", name="judge alone"),
        Estimated("corrected", ".3f"),
        _by_errors,
        Estimated("all_labels", ".3f", name="all labels", missing="", when=known("all_labels")),
        Number("weight", ".2f"),
        Estimated("label_share", ".2f", name="labels", missing=""),
        cell("groups for the margin", _needed),
        Flags("n_labelled", others=["flag", "errors_flag"]),
    ],
)
