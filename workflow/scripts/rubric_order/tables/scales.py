"""How strong position bias is with more or fewer score levels."""

import numpy as np
import pandas as pd

from rubric_order.methods import resampling
from rubric_order.tables import READOUT_NAMES, with_interval

CAPTION = (
    "Cramer's V of position selection by number of score levels, as in Xu et al. (2026), Table 4: the mean over "
    "datasets (their number in brackets). Its {bootstrap[confidence]:.0%} interval combines those of the datasets, "
    "which are independent. V does not depend on the number of reads, but chance adds to it, and more to few reads; "
    "the CSV file has V of each dataset, with and without what chance adds."
)
MEAN = "mean"
KEYS = ["judge", "readout", "cluster"]


def table(
    position_selection: pd.DataFrame,
    *,
    studies: list[str],
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, readout, scale and dataset, and one for the mean of the datasets of each scale.

    Args:
        position_selection: see `position_selection.estimate`.
        studies: of a judge, scale and dataset that several have, the first one's is taken.
        cluster: ``item`` or ``group``: what counts as the sample.

    Returns:
        V with its interval (that of the mean by `resampling.interval_of_mean`), and the corrected V.

    Source: Xu et al. (2026), Table 4.
    """
    chosen = position_selection.query(
        "study in @studies and profile == @profile and strategy == @strategy and cluster == @cluster"
    )
    chosen = chosen.sort_values("study", key=lambda column: column.map(studies.index), kind="stable")
    chosen = chosen.drop_duplicates([*KEYS, "n", "dataset", "quantity", "position"])
    of = {name: chosen[chosen["quantity"] == name] for name in ("cramers_v", "cramers_v_corrected")}
    corrected = of["cramers_v_corrected"].set_index([*KEYS, "n", "dataset"])["estimate"]
    rows = []
    for key, block in of["cramers_v"].groupby([*KEYS, "n"]):
        v, low, high = (block[column].to_numpy() for column in ("estimate", "ci_low", "ci_high"))
        datasets = block["dataset"].tolist()
        without_chance = [corrected[(*key, dataset)] for dataset in datasets]
        found = [*zip(datasets, v, low, high, without_chance, strict=True)]
        found.append((MEAN, v.mean(), *resampling.interval_of_mean(v, low, high), np.mean(without_chance)))
        rows += [(*key, dataset, 1 if dataset != MEAN else len(v), *values) for dataset, *values in found]
    columns = [*KEYS, "n", "dataset", "n_datasets", "cramers_v", "cramers_v_low", "cramers_v_high"]
    return pd.DataFrame(rows, columns=[*columns, "cramers_v_corrected"])


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
