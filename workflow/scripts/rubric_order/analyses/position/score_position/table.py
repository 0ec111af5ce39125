"""Positions where each score is selected."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, flags

CAPTION = (
    "Of the selections of each score, the share at each position in percent, as in Table 5 of the earlier version of "
    "Xu et al. Without position bias all are equal. * the {bootstrap[confidence]:.0%} bootstrap interval over "
    "{cluster}s does not hold the equal share. The CSV file has each dataset, the intervals, and how often each score "
    "was selected when it stood at each position. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster", "score"]


def table(
    score_position: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset, readout and score: share and rate of each position, with intervals.

    Args:
        score_position: see `score_position.estimate`.
        cluster: ``item`` or ``group``: what the bootstrap draws.
    """
    chosen = score_position.query("study == @study and profile == @profile and strategy == @strategy and n == @n")
    chosen = chosen[chosen["cluster"] == cluster]
    rows = chosen.groupby(KEYS, sort=False)[["n_selected", "n_reads", "n_clusters"]].first()
    for quantity, name in (("share", "pos"), ("rate", "rate")):
        for position in range(1, n + 1):
            cell = chosen[(chosen["quantity"] == quantity) & (chosen["position"] == position)].set_index(KEYS)
            for end, column in (("", "estimate"), ("_low", "ci_low"), ("_high", "ci_high")):
                rows[f"{name}{position}{end}"] = cell[column].astype(float)
    return rows.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the earlier version of Xu et al., Table 5: all datasets together."""
    rows = rows[rows["dataset"] == EVERY].reset_index(drop=True)
    n = sum(column.startswith("pos") and column[3:].isdigit() for column in rows)
    printed = rows[["judge"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["score"] = rows["score"]
    printed["selections"] = [f"{count:.0f}" for count in rows["n_selected"]]
    for position in range(1, n + 1):
        cells = rows[[f"pos{position}", f"pos{position}_low", f"pos{position}_high"]].itertuples(index=False)
        printed[f"P{position}"] = [_cell(*cell, 1 / n) for cell in cells]
    return printed.assign(flag=flags(rows["n_clusters"]))


def _cell(share: float, low: float, high: float, equal: float) -> str:
    if pd.isna(share):
        return "never"
    return f"{100 * share:.1f}{'*' if low > equal or high < equal else ''}"
