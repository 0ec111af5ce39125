"""Generalisability: how well scores tell items apart, and how many orderings and repeats are needed for it."""

import numpy as np
import pandas as pd

from rubric_order.tables import READOUT_NAMES, intervals, numbers, widen

CAPTION = (
    "Where the variance of a read under {strategy} comes from, and how reliable means of reads are; without human "
    "scores. Item: how items differ. Shift: what an ordering adds to all items. Interaction: what it adds to each in "
    "its own way. Repetition: how reads of one ordering differ; where that is not known it is part of the rest, which "
    "holds interaction and repetition together. Percentages are of item, shift and rest together; small parts can come "
    "out negative. G of k: the correlation that the mean over k orderings, each read once, is predicted to have with "
    "the mean over k others, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s; in brackets what "
    "disjoint sets of the orderings had. Where orderings spread the scores unequally, sets of them correlate better "
    "than predicted: the prediction takes the variances of sets as their mean, and is exact for those. A judge can be "
    "reliable and wrong: whether it agrees with people is in table Agreement with human scores. Reliability grows with "
    "how much the items differ, and is of these datasets alone. The CSV file has dependability too, which counts "
    "shifts as an error."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
PARTS = ["item", "shift", "interaction", "repetition", "rest"]
COEFFICIENTS = ["generalisability", "dependability"]


def table(
    generalisability: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout: the variances, and the coefficients of up to 2n orderings.

    Args:
        generalisability: see `generalisability.estimate`.
        cluster: ``item`` or ``group``: what the jackknife leaves out.
    """
    reads = "study == @study and profile == @profile and strategy == @strategy and n == @n and cluster == @cluster"
    chosen = generalisability.query(reads)
    parts = [widen(chosen[chosen["quantity"].isin(PARTS)], KEYS, PARTS).set_index(KEYS)]
    once = chosen[(chosen["repeats"] == 1) & (chosen["orderings"] <= 2 * n)]
    for name in COEFFICIENTS:
        for orderings, rows in once[once["quantity"] == name].groupby("orderings"):
            parts.append(_columns(f"{name}_{orderings}", rows))
        one = chosen[(chosen["quantity"] == name) & (chosen["orderings"] == 1) & (chosen["repeats"] > 1)]
        for repeats, rows in one.groupby("repeats"):
            parts.append(_columns(f"{name}_1_repeated_{repeats}", rows))
    for orderings, rows in once[once["quantity"] == "observed"].groupby("orderings"):
        parts.append(_columns(f"observed_{orderings}", rows).iloc[:, :1])
    parts.append(chosen.groupby(KEYS, sort=False)[["repetition_from", "n_items", "n_clusters"]].first())
    return pd.concat(parts, axis=1).rename_axis(KEYS).reset_index()


def _columns(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """A coefficient and its interval, by `KEYS`."""
    ends = {"estimate": name, "ci_low": f"{name}_low", "ci_high": f"{name}_high"}
    return rows.set_index(KEYS)[[*ends]].rename(columns=ends)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Percentages of the variance of a read, and generalisability of one ordering, of half of them, and of all."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    total = rows[["item", "shift", "rest"]].sum(axis=1)
    for name in PARTS:
        shares = numbers(rows[name] / total, form=".0f", times=100)
        printed[f"{name} %"] = np.where(rows[name].isna(), "", shares)
    sizes = [int(name.split("_")[1]) for name in rows if name.startswith("generalisability_") and name.count("_") == 1]
    most = max(sizes, default=1)
    for size in sorted({1, 2, most // 2, most} & set(sizes)):
        written = intervals(rows, f"generalisability_{size}", form=".2f")
        seen = rows[f"observed_{size}"] if f"observed_{size}" in rows else pd.Series(float("nan"), rows.index)
        printed[f"G of {size}"] = [
            text if pd.isna(value) else f"{text} ({value:.2f})" for text, value in zip(written, seen, strict=True)
        ]
    return printed
