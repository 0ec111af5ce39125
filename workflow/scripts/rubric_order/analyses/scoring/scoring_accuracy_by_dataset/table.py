"""Correlations with golden scores, laid out as Li et al. (2025) print them: a column a dataset and source."""

from collections.abc import Sequence

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import ACCURACY_NAMES, with_interval

CAPTION = (
    "Correlations of scores with golden scores (human: the mean of people's; labels: those that came with the "
    "dataset; else the vote of a judge) under conditions and orders of the prompt: Spearman's ρ and Pearson's r of the "
    "items that have a score, with {bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. In the layout of "
    "Li et al. (2025), Table 3, which has no intervals. Whether two of them differ is not seen here but in the table "
    "of differences on the same items."
)
KEYS = ["judge", "kind", "varied", "order"]
COEFFICIENTS = {name: ACCURACY_NAMES[name] for name in ("spearman", "pearson")}


def table(
    scoring_accuracy: pd.DataFrame,
    *,
    studies: Sequence[str],
    profile: str = "default",
    n: int = 5,
    readout: str = "hard",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge and variant; of each dataset, source and coefficient three columns.

    Args:
        scoring_accuracy: see `scoring_accuracy.estimate`.
        studies: which ones; of a variant that several have, the first one's is taken.
        profile, n, readout, cluster: which rows.
    """
    chosen = scoring_accuracy.query(
        "study in @studies and profile == @profile and n == @n and readout == @readout and cluster == @cluster"
    )
    chosen = chosen[chosen["quantity"].isin(COEFFICIENTS) & (chosen["dataset"] != EVERY)]
    chosen = chosen.sort_values("study", key=lambda names: names.map(list(studies).index), kind="stable")
    chosen = chosen.drop_duplicates([*KEYS, "dataset", "golden", "quantity"])
    rows = chosen[KEYS].drop_duplicates().set_index(KEYS)
    for (dataset, golden, quantity), part in chosen.groupby(["dataset", "golden", "quantity"], sort=True):
        part = part.set_index(KEYS)
        for end, name in (("", "estimate"), ("_low", "ci_low"), ("_high", "ci_high")):
            rows[f"{dataset}|{golden}|{quantity}{end}"] = part[name].reindex(rows.index)
    return rows.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded, with Spearman's before Pearson's."""
    printed = rows[KEYS].drop(columns="kind").rename(columns={"varied": "prompt"})
    heads = [name for name in rows if name.count("|") == 2 and not name.endswith(("_low", "_high"))]
    for head in sorted(heads, key=lambda name: (*name.split("|")[:2], list(COEFFICIENTS).index(name.split("|")[2]))):
        dataset, golden, quantity = head.split("|")
        ends = zip(*(rows[f"{head}{end}"] for end in ("", "_low", "_high")), strict=True)
        printed[f"{dataset}, {golden}: {COEFFICIENTS[quantity]}"] = [
            "" if pd.isna(value) else with_interval(value, low, high, form=".2f") for value, low, high in ends
        ]
    return printed
