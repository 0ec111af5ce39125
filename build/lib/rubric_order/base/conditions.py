"""Names of conditions, and estimates under one of a study's conditions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rubric_order.base.keys import BASELINE

if TYPE_CHECKING:
    import pandas as pd


def of_condition(estimates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The rows of a statistic under one condition, without that column.

    Rows that are about no study at all, such as studies that are assumed, have no condition and are kept. A statistic
    that has no conditions is returned as it is.
    """
    if "condition" not in estimates:
        return estimates
    conditions = estimates["condition"]
    kept = (conditions == condition) | conditions.isna() | (conditions == "")
    return estimates[kept].drop(columns="condition").reset_index(drop=True)


def parts(name: str) -> set[str]:
    """The parts of a condition that is written as parts joined by ``+``; none of the baseline."""
    return set(split(name)) - {BASELINE}


def split(name: str) -> list[str]:
    """The parts of a condition in their order; what stands in brackets is not split."""
    return re.split(r"\+(?![^()]*\))", name)
