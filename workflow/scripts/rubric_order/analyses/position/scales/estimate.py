"""Position bias by number of levels."""

from collections.abc import Sequence

import pandas as pd

from rubric_order.base.intervals import Interval
from rubric_order.base.keys import BASELINE, KEYS, MEAN
from rubric_order.base.rows import rows_with
from rubric_order.methods import tidy
from rubric_order.methods.uncertainty import resampling

COLUMNS = {
    "position_selection": [*KEYS, "readout", "cluster", "quantity", "estimate", "ci_low", "ci_high", "saturated"],
}
QUANTITIES = ["cramers_v", "cramers_v_corrected"]
SETTING = ["judge", "profile", "strategy", "readout", "cluster", "n", "quantity"]


def estimate(position_selection: pd.DataFrame, *, studies: Sequence[str]) -> pd.DataFrame:
    """Cramer's V of each dataset, and the mean (`resampling.interval_of_mean`) over datasets of several studies.

    `n_saturated` counts datasets whose selections cannot show a preference.

    Source: Xu et al. (2026), Table 4.
    """
    chosen = rows_with(position_selection, study=list(studies), condition=BASELINE, quantity=QUANTITIES)
    chosen = chosen.sort_values("study", key=lambda column: column.map(list(studies).index), kind="stable")
    chosen = chosen.drop_duplicates([*SETTING, "dataset"])
    rows = []
    for key, block in chosen.groupby(SETTING):
        base_columns = dict(zip(SETTING, key, strict=True))
        by_dataset = block[["dataset", "estimate", "ci_low", "ci_high"]].assign(n_datasets=1, method="one dataset")
        by_dataset["n_saturated"] = block["saturated"].astype(int)
        rows += [base_columns | row for row in by_dataset.to_dict("records")]
        values, low, high = (block[name].to_numpy() for name in ("estimate", "ci_low", "ci_high"))
        mean = {"dataset": MEAN, "n_datasets": len(values)}
        mean |= Interval(values.mean(), *resampling.interval_of_mean(values, low, high)).columns()
        mean["n_saturated"] = int(block["saturated"].sum())
        rows.append(base_columns | mean | {"method": "mean over datasets, which are independent"})
    columns = [*SETTING[:-1], "dataset", "quantity", "estimate", "ci_low", "ci_high", "n_datasets", "n_saturated"]
    columns.append("method")
    return tidy.typed(pd.DataFrame(rows, columns=columns))
