"""Names of conditions, and estimates under one of a study's conditions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rubric_order.base.keys import BASELINE

if TYPE_CHECKING:
    import pandas as pd


def of_condition(estimates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The rows of a statistic under one condition, without the column `condition`.

    Rows about none of the studies, such as rows about assumed studies, have no condition and are kept. A statistic
    without the column is returned as it is.
    """
    if "condition" not in estimates:
        return estimates
    conditions = estimates["condition"]
    kept = (conditions == condition) | conditions.isna() | (conditions == "")
    return estimates[kept].drop(columns="condition").reset_index(drop=True)


def parts(name: str) -> set[str]:
    """The parts of a condition, which its name joins by ``+``. The baseline has no parts."""
    return set(split(name)) - {BASELINE}


def split(name: str) -> list[str]:
    """The parts of a condition in their order; text in brackets is not split."""
    return re.split(r"\+(?![^()]*\))", name)
