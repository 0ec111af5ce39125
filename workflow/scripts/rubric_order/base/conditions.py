"""Names of conditions, and estimates under one of a study's conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from rubric_order.base.keys import BASELINE

if TYPE_CHECKING:
    import pandas as pd


def select_condition(estimates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Rows under one condition, and rows without one (about no study of this config), without the column
    `condition`.
    """
    if "condition" not in estimates:
        return estimates
    conditions = estimates["condition"]
    mask = (conditions == condition) | conditions.isna() | (conditions == "")
    return estimates[mask].drop(columns="condition").reset_index(drop=True)


def pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each two conditions; the baseline is the second of its pairs."""
    return combinations(sorted(names, key=lambda name: (name == BASELINE, name)), 2)


def parts(name: str) -> set[str]:
    """Parts of a condition, whose name joins them by ``+``. The baseline has no parts."""
    return set(split(name)) - {BASELINE}


def split(name: str) -> list[str]:
    """Parts of a condition in their order. Text in brackets is not split."""
    return re.split(r"\+(?![^()]*\))", name)
