"""Share of the gain from averaging all reads that a few reads have."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, taken

CAPTION = (
    "Correlation with human scores ({statistic}) of the mean of one read and of all reads an item, over all choices of "
    "so many reads, and the part of that gain that a few reads have, with {bootstrap[confidence]:.0%} intervals over "
    "{cluster}s. Only where the interval of the gain lies above 0: else there is nothing to have a part of. Xu et al. "
    "(2026), Section 5.3: about two thirds with 3 of 10 reads and 85% with 5, for judges that benefit. Where reads are "
    "independent, the part that k of K have is (1 - 1/k) / (1 - 1/K) for a small gain, 74% with 3 of 10 and 89% with "
    "5, and less the noisier one read is. So two thirds with three is within what averaging alone does, and says "
    "nothing of orders."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
FEW = (3, 5)
VALUES = [taken({"quantity": "r", "last": True}, "n_items", "n_clusters", k="reads")]
VALUES += [estimate("r", "r_one", k=1), estimate("r", "r_all", last=True), estimate("gain", last=True)]
VALUES += [estimate("gain_share", f"share_{k}", k=k) for k in FEW]


def _with_last(budget_curve: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout; `reads` are all of them."""
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
