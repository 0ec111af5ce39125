"""Detectable V by size of study."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.methods.position import uniformity

COLUMNS = {
    "position_selection": [*KEYS, "readout", "cluster", "quantity", "estimate", "saturated", "n_items", "n_reads"],
}
METHOD = "noncentral chi-square over the design effect"
ASSUMED, MEASURED = "assumed", "measured"


def design_effect(reads: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Design effect of K reads per item with correlation rho: 1 + (K - 1) rho.

    Source: Kish (1965), Survey Sampling, Section 5.4.
    """
    return 1 + (np.asarray(reads) - 1) * np.asarray(correlation)


def estimate(
    position_selection: pd.DataFrame,
    *,
    n: int,
    items: Sequence[int],
    budgets: Sequence[int],
    correlations: Sequence[float],
    level: float,
    power: float,
) -> pd.DataFrame:
    """The smallest V that would be found, for ``assumed`` and for ``measured`` studies, by `uniformity.detectable_v`.

    With items as clusters, `correlation` and `design_effect` follow from each other and `budget`. `n_effective`:
    independent reads that would determine the shares as well.
    """
    grid = pd.MultiIndex.from_product([correlations, budgets, items], names=["correlation", "budget", "n_items"])
    assumed = grid.to_frame(index=False).assign(source=ASSUMED, n=n, cluster="item")
    assumed["design_effect"] = design_effect(assumed["budget"], assumed["correlation"])
    table = pd.concat([assumed, _measured(position_selection)], ignore_index=True)
    reads = table["n_items"] * table["budget"]
    table["n_effective"] = reads / table["design_effect"]
    table["detectable_v"] = [
        uniformity.detectable_v(count, levels, deff=deff, level=level, power=power)
        for count, levels, deff in zip(reads, table["n"], table["design_effect"], strict=True)
    ]
    columns = ["source", *KEYS, "cluster", "n_items", "budget", "correlation", "design_effect", "n_effective"]
    columns += ["detectable_v"]
    table = table.reindex(columns=[*columns, "cramers_v"]).assign(level=level, power=power, method=METHOD)
    return table.astype({"n": int, "n_items": int} | dict.fromkeys(KEYS[:-1], "str"))


def _measured(statistics: pd.DataFrame) -> pd.DataFrame:
    # Saturated judges are left out: their design effect does not say which V would be found, see
    # `uniformity.is_saturated`.
    quantities = ["design_effect", "cramers_v"]
    wanted = rows_with(statistics, readout=Readout.HARD, quantity=quantities, saturated=False)
    keys = [*KEYS, "cluster", "n_items", "n_reads"]
    table = wanted.set_index([*keys, "quantity"])["estimate"].unstack("quantity").reset_index()
    table = table.reindex(columns=[*keys, "design_effect", "cramers_v"]).dropna(subset="design_effect")
    budget = table["n_reads"] / table["n_items"]
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = (table["design_effect"] - 1) / (budget - 1)
    correlation = correlation.where((budget > 1) & (table["cluster"] == "item"))
    return table.drop(columns="n_reads").assign(source=MEASURED, budget=budget, correlation=correlation)
