"""Estimates under one of a study's conditions."""

import pandas as pd


def of_condition(estimates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The rows of a statistic under one condition, without that column.

    Rows that are about no study at all, such as studies that are assumed, have no condition and are kept. A statistic
    that has no conditions is returned as it is.
    """
    if "condition" not in estimates:
        return estimates
    known = estimates["condition"]
    kept = (known == condition) | known.isna() | (known == "")
    return estimates[kept].drop(columns="condition").reset_index(drop=True)
