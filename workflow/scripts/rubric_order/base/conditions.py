"""Estimates under one of a study's conditions."""

import pandas as pd


def of_condition(estimates: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The rows of a statistic under one condition, without that column; a statistic that has no conditions as it is."""
    if "condition" not in estimates:
        return estimates
    return estimates[estimates["condition"] == condition].drop(columns="condition").reset_index(drop=True)
