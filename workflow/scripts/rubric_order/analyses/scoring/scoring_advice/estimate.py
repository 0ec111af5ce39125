"""Tests of published advice."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.conditions import parts
from rubric_order.base.keys import EVERY
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.uncertainty import multiplicity, random_effects

COLUMNS: dict[str, list[str]] = {}
SETTING = ["study", "profile", "n", "readout", "cluster", "golden", "quantity", "advice"]
FACTORS = ("judge", "dataset")
QUANTITIES = ("spearman", "pearson", "kappa", "mean_absolute_error")
OF_IDS = ("letter", "roman")
DESCENDING, FULL_MARK = "descending", "reference_full_mark"


def estimate(scoring_accuracy: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Effect of each piece of advice on agreement, by ``judge``, and the ``mean`` over judges and datasets.

    Source: Li et al. (2025), Conclusion, for the advice; the paper tests none of it.
    """
    table = scoring_accuracy[scoring_accuracy["quantity"].isin(QUANTITIES)]
    pieces = [advice(*row) for row in table[["varied", "order", "kind"]].itertuples(index=False)]
    table = table.assign(advice=pieces)
    table = table[(table["advice"] != "") & table["difference"].notna()]
    rows = [row for key, block in table.groupby(SETTING, sort=True) for row in _rows(key, block, confidence)]
    columns = ["study", "judge", "profile", "dataset", "n", "readout", "cluster", "golden", "quantity", "advice"]
    columns += ["term"]
    columns += ["estimate", "ci_low", "ci_high", "p", "sd_judge", "n_items", "n_clusters", "n_estimates", "method"]
    whole = dict.fromkeys(("n_items", "n_clusters", "n_estimates"), 0)
    estimates = tidy.make_table([whole | row for row in rows], columns).assign(confidence=confidence)
    return multiplicity.adjust(estimates, "p")


def advice(varied: str, order: str, kind: str) -> str:
    if kind == "order":
        return DESCENDING if order == DESCENDING else ""
    said = parts(varied)
    if kind == "reference":
        return FULL_MARK if "reference_5" in said else ""
    return next((name for name in OF_IDS if name in said), "") if kind == "ids" else ""


def _rows(key: tuple[Any, ...], block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    common = dict(zip(SETTING, key, strict=True))
    ends = {"estimate": "difference", "ci_low": "difference_low", "ci_high": "difference_high", "p": "p"}
    for row in block.to_dict("records"):
        keys = {name: row[name] for name in ("judge", "dataset", "n_items", "n_clusters", "method")}
        yield common | keys | {"term": "judge"} | {name: row[column] for name, column in ends.items()}
    single = block[(block["dataset"] != EVERY) & (block["difference_se"] > 0)]
    if single["judge"].nunique() < 2:
        return
    codes = {name: pd.factorize(single[name], sort=True)[0] for name in FACTORS}
    values, errors = (single[name].to_numpy(dtype=float) for name in ("difference", "difference_se"))
    same = codes["dataset"][:, None] == codes["dataset"]
    shared = single.groupby("dataset")["error_correlation"].transform("mean").fillna(0).to_numpy()
    correlations = np.where(np.eye(len(single), dtype=bool), 1.0, np.where(same, shared, 0.0))
    summary = random_effects.summary(values, errors, codes, confidence, correlations=correlations)
    if summary is not None:
        mean: Row = {"estimate": summary.mean, "ci_low": summary.low, "ci_high": summary.high, "p": summary.p}
        mean |= {"judge": EVERY, "dataset": EVERY, "term": "mean", "n_estimates": len(single)}
        mean["sd_judge"] = summary.sd.get("judge", float("nan"))
        yield common | mean | {"method": "random effects by REML, Hartung and Knapp's interval; correlated errors"}
