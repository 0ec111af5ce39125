"""Published shifts of correlations."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

COLUMNS: dict[str, list[str]] = {}
TABLE = "li2025_table3"
CELL = ["judge", "dataset", "scores_of"]
COEFFICIENTS = ("spearman", "pearson")
BASELINE = "baseline"
LIMITS = (0.03, 0.05)  # "within 0.03", "exceeding 0.05"
EVERY = "all"


def estimate(published: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Counts and sizes of differences from the printed baseline; ``beyond_0.05`` counts sizes above that limit."""
    columns = ["judge", "perturbation", "n_differences", "largest", "dataset", "scores_of", "mean", "above_0"]
    columns += [f"beyond_{limit}" for limit in LIMITS]
    if TABLE not in published:
        return pd.DataFrame(columns=columns)
    long = published[TABLE].melt([*CELL, "perturbation"], list(COEFFICIENTS), "coefficient", "value")
    wide = long.assign(value=long["value"].astype(float))
    wide = wide.pivot(index=[*CELL, "coefficient"], columns="perturbation", values="value")
    moved = wide.drop(columns=BASELINE).sub(wide[BASELINE], axis=0).stack().rename("difference").reset_index()
    rows = []
    for judge, block in [*moved.groupby("judge", sort=True), (EVERY, moved)]:
        for perturbation, part in [*block.groupby("perturbation", sort=True), (EVERY, block)]:
            size = part["difference"].abs().round(10)  # without errors of rounding: 0.03 must not be beyond 0.03
            at = part.loc[size.idxmax()]
            row = {"judge": judge, "perturbation": perturbation, "n_differences": len(part), "largest": size.max()}
            row |= {"dataset": at["dataset"], "scores_of": at["scores_of"], "mean": part["difference"].mean()}
            row |= {"above_0": int(np.sum(part["difference"].round(10) > 0))}
            rows.append(row | {f"beyond_{limit}": int((size > limit).sum()) for limit in LIMITS})
    return pd.DataFrame(rows, columns=columns)
