"""Share of the gain from averaging all reads that a few reads have."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals

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


def table(budget_curve: pd.DataFrame, *, study: str, statistic: str, cluster: str) -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout.

    Args:
        budget_curve: see `budget_curve.estimate`.
        study, statistic, cluster: which rows.

    Returns:
        `reads` K, `r_one`, `r_all`, `gain`, and `share_3` and `share_5` of it, each with `_low` and `_high`.
    """
    chosen = budget_curve.query("study == @study and statistic == @statistic and cluster == @cluster")
    rows = chosen.groupby(KEYS, sort=False).agg(
        reads=("k", "max"), n_items=("n_items", "first"), n_clusters=("n_clusters", "first")
    )
    last = chosen["k"] == chosen.groupby(KEYS)["k"].transform("max")
    parts = {"r_one": ("r", chosen["k"] == 1), "r_all": ("r", last), "gain": ("gain", last)}
    parts |= {f"share_{k}": ("gain_share", chosen["k"] == k) for k in FEW}
    for name, (quantity, where) in parts.items():
        part = chosen[where & (chosen["quantity"] == quantity)].set_index(KEYS)
        for end, column in (("", "estimate"), ("_low", "ci_low"), ("_high", "ci_high")):
            rows[f"{name}{end}"] = part[column].reindex(rows.index).astype(float)
    return rows.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "dataset", "strategy"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["reads"] = rows["reads"]
    for name, head in (("r_one", "one read"), ("r_all", "all reads"), ("gain", "gain")):
        printed[head] = intervals(rows, name, form="+.3f" if name == "gain" else ".3f")
    for k in FEW:
        told = rows[f"share_{k}"].notna()
        shares = pd.Series(intervals(rows, f"share_{k}", form=".0f", times=100), rows.index)
        printed[f"{k} reads: % of the gain"] = shares.where(told, "")
    return printed.assign(flag=flags(rows["n_clusters"]))
