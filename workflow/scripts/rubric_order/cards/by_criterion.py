"""Separate bias cards for each criterion: statistics of cards take each criterion of a dataset for a dataset of its
own.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from rubric_order.contracts import inputs

if TYPE_CHECKING:
    from rubric_order.cards.card import Card

BETWEEN = "/"  # separates dataset and criterion; no id of a dataset contains it


class Part(NamedTuple):
    """Ids of a dataset and of one of its criteria."""

    dataset: str
    criterion: str


def split(tables: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """One table of scores per criterion, with a dataset of its own; tables with one criterion are left out."""
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


def part_of(card: "Card") -> Part:
    """The dataset and the criterion that a card is about."""
    dataset, _, criterion = str(card.evidence.keys["dataset"]).partition(BETWEEN)
    return Part(dataset, criterion)


def name_dataset(card: "Card") -> "Card":
    """The card with the dataset's own id, without the criterion."""
    keys = card.evidence.keys | {"dataset": part_of(card).dataset}
    return dataclasses.replace(card, evidence=dataclasses.replace(card.evidence, keys=keys))
