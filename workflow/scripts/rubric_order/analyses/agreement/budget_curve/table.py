"""Gain from averaging a few reads, as a share of the gain from averaging all reads."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, taken

CAPTION = (
    "Correlation with human scores ({statistic}) of one read and of the mean of all reads of an item, and the share of "
    "the gain that a few reads reach. Correlations are means over all choices of the reads, or over "
    "{budget_curve[subsets_per_size]} drawn ones if there are more, with {bootstrap[confidence]:.0%} intervals over "
    "{cluster}s. The gain is the correlation of all reads less that of one read. A share is given only where the "
    "interval of the gain lies above 0; else there may be no gain. Xu et al. (2026), Section 5.3, report about two "
    "thirds with 3 of 10 reads and 85% with 5, for judges that benefit. If reads are independent, k of K reads reach "
    "(1 - 1/k) / (1 - 1/K) of a small gain: 74% with 3 of 10 and 89% with 5. The noisier one read is, the smaller the "
    "share. So averaging alone can explain two thirds with three reads; this says nothing about orders."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
FEW = (3, 5)
VALUES = [taken({"quantity": "r", "last": True}, "n_items", "n_clusters", k="reads")]
VALUES += [estimate("r", "r_one", k=1), estimate("r", "r_all", last=True), estimate("gain", last=True)]
VALUES += [estimate("gain_share", f"share_{k}", k=k) for k in FEW]


def _with_last(budget_curve: pd.DataFrame) -> pd.DataFrame:
    """The estimates, with column `last`, which is true for the largest number of reads of each curve."""
    return budget_curve.assign(last=budget_curve["k"] == budget_curve.groupby(KEYS)["k"].transform("max"))


TABLE = Table(
    rows=Rows(_with_last, "study", "statistic", "cluster", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "dataset", "strategy", "readout", "reads"),
        *estimates(".3f", r_one="one read", r_all="all reads"),
        Estimated("gain", "+.3f"),
        *(Estimated(f"share_{k}", ".0f", name=f"{k} reads: % of the gain", times=100, missing="") for k in FEW),
        Flags(),
    ],
)
