"""Labels, which tables and figures write instead of the ids of judges and datasets, and the order of these labels."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from rubric_order.base import gold as golds
from rubric_order.base.conditions import select_condition
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE, EVERY

# Columns of printed tables that hold a judge (also as judge/profile), or a dataset. `golden` and `source` name the
# source of the golden scores, which can be a judge.
JUDGES = ("judge", "our judge", "other judge", "golden", "source", "writer", "reviewer")
DATASETS = ("dataset",)
# Columns whose rows may hold a judge, a dataset or something else. The value names the column that says which it is.
NAMED_BY = {"one": "compared", "other": "compared", "which": "of"}


class Labels(NamedTuple):
    """Labels of judges and datasets by id, in the order of the studies; others are written as ids. `gold`:
    `common_kind`.
    """

    judges: Mapping[str, str]
    datasets: Mapping[str, str]
    gold: str = golds.HUMAN

    @property
    def gold_scores(self) -> str:
        """Name of the scores with which judges are compared: ``human scores`` or ``intended levels``."""
        return f"{golds.NAMES[self.gold]}s"

    def judge(self, name: str) -> str:
        return self.judges.get(name, name)

    def dataset(self, name: str) -> str:
        return self.datasets.get(name, name)

    def place_of_judge(self, name: str) -> int:
        """Index of a judge's label, from 0. It determines the judge's look, which is the same in all figures."""
        return list(self.judges).index(name) if name in self.judges else len(self.judges)

    def place_of_dataset(self, name: str) -> int:
        return list(self.datasets).index(name) if name in self.datasets else len(self.datasets)


def order_by_labels(estimates: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Estimates in the order of the labels, rows about all judges or datasets last; published numbers keep the paper's
    order.
    """
    places = {"judge": labels.place_of_judge, "dataset": labels.place_of_dataset}
    columns = list(estimates)
    ranked = [place for place, name in enumerate(columns) if name in places]
    if not ranked or "published" in columns:
        return estimates
    keys = columns[: ranked[-1] + 1]
    ranks = estimates[keys].assign(**{name: estimates[name].map(places[name]) for name in places if name in keys})
    return estimates.loc[ranks.sort_values(keys, kind="stable").index].reset_index(drop=True)


def statistics_of_block(
    statistics: Mapping[str, pd.DataFrame], settings: dict[str, Any], labels: Labels
) -> tuple[dict[str, pd.DataFrame], Labels]:
    """Statistics that a result's block of config chooses, in the order of the labels, and their labels.

    Removes `condition` from `settings`.
    """
    condition = settings.pop("condition", BASELINE)
    tables = {name: select_condition(estimates, condition) for name, estimates in statistics.items()}
    if settings.get("profile") == EVERY:
        tables, labels = every_profile(tables, labels)
    return {name: order_by_labels(estimates, labels) for name, estimates in tables.items()}, labels


def every_profile(statistics: Mapping[str, pd.DataFrame], labels: Labels) -> tuple[dict[str, pd.DataFrame], Labels]:
    """Statistics in which each profile of a judge is a judge of its own, ``judge/profile``, and the labels with these
    judges.

    >>> table = pd.DataFrame({"judge": ["a", "a"], "profile": ["default", "think"]})
    >>> found, labels = every_profile({"s": table}, Labels({"a": "A-7B"}, {}))
    >>> found["s"]["judge"].tolist(), [labels.judge(name) for name in found["s"]["judge"]]
    (['a', 'a/think'], ['A-7B', 'A-7B, think'])
    """
    tables = {name: _profiles_as_judges(table, labels) for name, table in statistics.items()}
    seen = {name for table in tables.values() if "judge" in table for name in table["judge"].dropna().unique()}
    judges = {}
    for judge, label in labels.judges.items():
        judges[judge] = label
        profiles = sorted(name for name in seen if name.startswith(f"{judge}/"))
        judges |= {name: f"{label}, {name.partition('/')[2]}" for name in profiles}
    return tables, labels._replace(judges=judges)


def _profiles_as_judges(table: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    if "judge" not in table or "profile" not in table:
        return table
    other = table["profile"].notna() & (table["profile"] != DEFAULT_PROFILE)
    changed = table.assign(profile=EVERY)
    changed["judge"] = table["judge"].where(~other, table["judge"] + "/" + table["profile"])
    if "other" in table:  # a judge, or a strategy
        renamed = other & table["other"].isin(labels.judges)
        changed["other"] = table["other"].where(~renamed, table["other"] + "/" + table["profile"])
    return changed


def replace_ids(printed: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """A printed table with labels for the ids in the columns of `JUDGES`, `DATASETS` and `NAMED_BY`, and in heads."""
    labelled = printed.copy()
    for name in printed:
        if NAMED_BY.get(name) in printed:
            kinds = printed[NAMED_BY[name]].tolist()
        elif name.lower() in (*JUDGES, *DATASETS):
            kinds = [name.lower()] * len(printed)
        else:
            continue
        labelled[name] = [_label(text, kind, labels) for text, kind in zip(printed[name], kinds, strict=True)]
    return labelled.rename(columns=lambda name: _head(name, labels))


def _label(value: object, kind: str, labels: Labels) -> object:
    if not isinstance(value, str):
        return value
    if kind in JUDGES:
        return _judge_and_profile(value, labels)
    return _datasets(value, labels) if kind in DATASETS else value


def _head(name: str, labels: Labels) -> str:
    """Head of a column with labels for the dataset and judge that it names (``dataset, judge: r``)."""
    dataset, comma, rest = name.partition(", ")
    if not comma or dataset not in labels.datasets:
        return golds.worded(name, labels.gold)
    golden, colon, of = rest.partition(": ")
    return labels.dataset(dataset) + comma + _judge_and_profile(golden, labels) + colon + of


def _judge_and_profile(text: str, labels: Labels) -> str:
    if text in labels.judges:
        return labels.judge(text)
    judge, slash, profile = text.partition("/")
    return labels.judge(judge) + slash + profile


def _datasets(text: str, labels: Labels) -> str:
    return ", ".join(map(labels.dataset, text.split(" ")))
