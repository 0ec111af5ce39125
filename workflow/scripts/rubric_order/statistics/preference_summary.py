"""Position preference over judges and datasets: mean, how much judges and datasets differ, and shrunken estimates."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.methods import random_effects, tidy

COLUMNS = {
    "position_preference": [*KEYS, "readout", "cluster", "quantity", "position", "estimate", "se"],
}
SETTING = ["study", "profile", "condition", "strategy", "n", "readout", "cluster", "quantity", "position"]
FACTORS = ("judge", "dataset")
METHOD = "random effects by REML, Hartung and Knapp's interval; sampling errors independent"


def estimate(position_preference: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Random-effects summary of position preference and its contrasts, in place of means over judges and datasets.

    Args:
        position_preference: see `position_preference.estimate`; estimates without a standard error are left out.
        confidence: see the package.

    Returns:
        One row an estimate of a study, profile, condition, strategy, scale, `readout`, `cluster`, `quantity` and, of
        ``preference``, `position`; from all judges and datasets of the study that have it (`n_judges`, `n_datasets`,
        `n_estimates`), if there are two estimates at least. `term` is

        - ``mean`` with its interval, `p` and `df`, see `random_effects.summary`: of judges and datasets of which these
          are a sample;
        - ``sd_judge``, ``sd_dataset``, ``sd_rest``: standard deviation of the true values between judges, between
          datasets, and of what is of one judge on one dataset alone; ``heterogeneity``: Cochran's Q, with its `p`;
        - ``judge`` (named in that column) or ``dataset``: shrunken estimates of each, and ``both``, of one judge on one
          dataset. They have no intervals: those of table `position_preference` are not shrunken.

        Judges read the same items, so that their sampling errors on one dataset can be correlated; they are taken as
        independent. A few judges say little of how judges differ: see `df`.
    """
    known = position_preference[(position_preference["dataset"] != EVERY) & (position_preference["se"] > 0)]
    rows = []
    for key, block in known.groupby(SETTING, dropna=False, sort=True):
        codes = {name: pd.factorize(block[name], sort=True) for name in FACTORS}
        found = random_effects.summary(
            block["estimate"].to_numpy(dtype=float),
            block["se"].to_numpy(dtype=float),
            {name: code for name, (code, _) in codes.items()},
            confidence,
        )
        if found is not None:
            about = dict(zip(SETTING, key, strict=True)) | {"n_estimates": len(block), "method": METHOD}
            about |= {f"n_{name}s": len(levels) for name, (_, levels) in codes.items()}
            levels = {name: list(levels) for name, (_, levels) in codes.items()}
            rows += [about | row for row in _terms(found, block, levels)]
    columns = [*KEYS, "readout", "cluster", "quantity", "position", "term", "estimate", "ci_low", "ci_high", "p", "df"]
    columns += ["n_judges", "n_datasets", "n_estimates", "method"]
    table = tidy.from_rows_with_gaps(rows, columns, ["readout", "cluster", "quantity", "term", "method"])
    return table.assign(confidence=confidence)


def _terms(found: random_effects.Summary, block: pd.DataFrame, levels: dict[str, list[str]]) -> Iterator[dict]:
    """The rows of one summary."""
    everywhere = {"judge": EVERY, "dataset": EVERY}
    mean = {"estimate": found.mean, "ci_low": found.low, "ci_high": found.high, "p": found.p, "df": found.df}
    yield everywhere | {"term": "mean"} | mean
    for name, value in found.sd.items():
        yield everywhere | {"term": f"sd_{name}", "estimate": value}
    yield everywhere | {"term": "heterogeneity", "estimate": found.q, "p": found.q_p, "df": len(block) - 1}
    for name, values in found.shrunken.items():
        for level, value in zip(levels[name], values, strict=True):
            yield everywhere | {name: level, "term": name, "estimate": float(value)}
    for judge, dataset, value in zip(block["judge"], block["dataset"], np.asarray(found.own), strict=True):
        yield {"judge": judge, "dataset": dataset, "term": "both", "estimate": float(value)}
