"""Names for people: what tables and figures write in place of the ids of judges and datasets, and in which order."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd


class Labels(NamedTuple):
    """Labels by id, in the order of config.

    Attributes:
        judges, datasets: those that studies use; what is not there is written as its id.
    """

    judges: Mapping[str, str]
    datasets: Mapping[str, str]

    def judge(self, name: str) -> str:
        return self.judges.get(name, name)

    def dataset(self, name: str) -> str:
        return self.datasets.get(name, name)

    def place_of_judge(self, name: str) -> int:
        """Place of a judge in config, from 0, by which it looks the same in all figures."""
        return list(self.judges).index(name) if name in self.judges else len(self.judges)

    def place_of_dataset(self, name: str) -> int:
        return list(self.datasets).index(name) if name in self.datasets else len(self.datasets)


def in_order(estimates: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Estimates with judges and datasets in the order of config; what is of all of them comes after the single ones.

    Args:
        estimates: a table of statistics, sorted by its keys, which are its first columns. Published numbers keep the
            order of the paper.
    """
    places = {"judge": labels.place_of_judge, "dataset": labels.place_of_dataset}
    columns = list(estimates)
    known = [place for place, name in enumerate(columns) if name in places]
    if not known or "published" in columns:
        return estimates
    keys = columns[: known[-1] + 1]
    ranks = estimates[keys].assign(**{name: estimates[name].map(places[name]) for name in places if name in keys})
    return estimates.loc[ranks.sort_values(keys, kind="stable").index].reset_index(drop=True)


def with_labels(printed: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """A printed table with labels in place of the ids in its columns of judges and datasets."""
    judges = dict.fromkeys(("judge", "other judge", "less", "ours"), _judge_and_profile)
    columns = judges | {"dataset": _datasets}
    found = {name: columns[name.lower()] for name in printed if name.lower() in columns}
    return printed.assign(**{name: [write(text, labels) for text in printed[name]] for name, write in found.items()})


def _judge_and_profile(text: str, labels: Labels) -> str:
    judge, slash, profile = text.partition("/")
    return labels.judge(judge) + slash + profile


def _datasets(text: str, labels: Labels) -> str:
    """One dataset, or several with blanks between them, as a published average has them."""
    return ", ".join(map(labels.dataset, text.split(" ")))
