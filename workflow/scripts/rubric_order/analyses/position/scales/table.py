"""Strength of position bias with more or fewer score levels."""

import pandas as pd

from rubric_order.base.keys import MEAN
from rubric_order.tables import READOUT_NAMES, widen, with_interval

CAPTION = (
    "Corrected Cramer's V of position selection by number of score levels, as in Xu et al. (2026), Table 4: without "
    "what chance adds to V, the mean over datasets (in brackets their number, and how many are saturated, where "
    "selections cannot show a preference). Its {bootstrap[confidence]:.0%} interval combines those of the datasets, "
    "which are independent. One preference gives another V on another number of levels, and where the judge is more "
    "or less decisive: V compares selections, not preferences (table Position preference does). The CSV file has V of "
    "each dataset, with and without what chance adds; the paper's V is with it."
)
KEYS = ["judge", "readout", "cluster", "n", "dataset"]


def table(
    scales: pd.DataFrame, *, strategy: str = "balanced", profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, readout, scale and dataset, and one for the mean of the datasets of each scale.

    Args:
        scales: see `scales.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.

    Returns:
        V and the corrected V, with their intervals.
    """
    chosen = scales.query("profile == @profile and strategy == @strategy and cluster == @cluster")
    sizes = chosen.drop_duplicates(KEYS)[[*KEYS, "n_datasets", "n_saturated"]]
    return sizes.merge(widen(chosen, KEYS, ["cramers_v", "cramers_v_corrected"]), on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows and columns of Xu et al. (2026), Table 4, with intervals; single datasets are left to the CSV file."""
    means = rows[rows["dataset"] == MEAN]
    scales = sorted(means["n"].unique())
    printed = []
    for (judge, readout), block in means.groupby(["judge", "readout"], sort=False):
        row = {"judge": judge, "readout": READOUT_NAMES[readout]} | dict.fromkeys((f"n = {n}" for n in scales), "")
        for mean in block.itertuples():
            ends = mean.cramers_v_corrected_low, mean.cramers_v_corrected_high
            saturated = f", {mean.n_saturated} saturated" if mean.n_saturated else ""
            row[f"n = {mean.n}"] = f"{with_interval(mean.cramers_v_corrected, *ends)} ({mean.n_datasets}{saturated})"
        printed.append(row)
    return pd.DataFrame(printed, columns=["judge", "readout", *(f"n = {n}" for n in scales)])
