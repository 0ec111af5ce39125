"""How strong position bias is with more or fewer score levels."""

import pandas as pd

from rubric_order.base.keys import MEAN
from rubric_order.tables import READOUT_NAMES, widen, with_interval

CAPTION = (
    "Cramer's V of position selection by number of score levels, as in Xu et al. (2026), Table 4: the mean over "
    "datasets (their number in brackets). Its {bootstrap[confidence]:.0%} interval combines those of the datasets, "
    "which are independent. V does not depend on the number of reads, but chance adds to it, and more to few reads; "
    "the CSV file has V of each dataset, with and without what chance adds."
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
        V with its interval, and the corrected V.
    """
    chosen = scales.query("profile == @profile and strategy == @strategy and cluster == @cluster")
    sizes = chosen.drop_duplicates(KEYS)[[*KEYS, "n_datasets"]]
    rows = sizes.merge(widen(chosen, KEYS, ["cramers_v", "cramers_v_corrected"]), on=KEYS)
    return rows.drop(columns=["cramers_v_corrected_low", "cramers_v_corrected_high"])


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows and columns of Xu et al. (2026), Table 4, with intervals; single datasets are left to the CSV file."""
    means = rows[rows["dataset"] == MEAN]
    scales = sorted(means["n"].unique())
    printed = []
    for (judge, readout), block in means.groupby(["judge", "readout"], sort=False):
        row = {"judge": judge, "readout": READOUT_NAMES[readout]} | dict.fromkeys((f"n = {n}" for n in scales), "")
        for found in block.itertuples():
            value = with_interval(found.cramers_v, found.cramers_v_low, found.cramers_v_high)
            row[f"n = {found.n}"] = f"{value} ({found.n_datasets})"
        printed.append(row)
    return pd.DataFrame(printed, columns=["judge", "readout", *(f"n = {n}" for n in scales)])
