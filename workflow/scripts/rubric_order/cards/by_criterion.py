"""Separate bias cards for each criterion, if the items of a dataset belong to several criteria.

The statistics of cards are estimated as if each criterion of a dataset were a dataset of its own. The name of such a
dataset contains the names of the dataset and the criterion.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rubric_order.cards.card import Card
from rubric_order.contracts import inputs

BETWEEN = "/"  # separates dataset and criterion; no id of a dataset contains it


class Part(NamedTuple):
    """Part of a dataset.

    Attributes:
        dataset: id of the dataset.
        criterion: id of a criterion.
    """

    dataset: str
    criterion: str


def split(tables: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Split each table into one table per criterion, with a dataset of its own. Tables with one criterion are left out.

    Args:
        tables: scores with the columns `dataset` and `criterion`.
    """
    for table in tables:
        if table["criterion"].nunique() > 1:
            for criterion, scores in table.groupby("criterion", sort=False):
                yield scores.assign(dataset=scores["dataset"] + f"{BETWEEN}{criterion}")


def read(columns: Mapping[str, Sequence[str]], paths: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
    """Inputs of a statistic, see `inputs.read`, with scores as `split` returns them."""
    if "scores" in columns:
        columns = {**columns, "scores": [*dict.fromkeys([*columns["scores"], "criterion"])]}
    tables = inputs.read(columns, paths)
    return tables | ({"scores": split(tables["scores"])} if "scores" in tables else {})


def part_of(card: Card) -> Part:
    """The dataset and the criterion that a card is about."""
    dataset, _, criterion = str(card.evidence.keys["dataset"]).partition(BETWEEN)
    return Part(dataset, criterion)


def with_dataset(card: Card) -> Card:
    """The card with the dataset's own id, without the criterion."""
    keys = card.evidence.keys | {"dataset": part_of(card).dataset}
    return dataclasses.replace(card, evidence=dataclasses.replace(card.evidence, keys=keys))
