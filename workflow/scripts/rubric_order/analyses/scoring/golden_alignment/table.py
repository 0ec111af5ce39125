"""Golden scores beside people's."""

import pandas as pd

from rubric_order.tables import flags, intervals, numbers, widen

CAPTION = (
    "Agreement of golden scores with the mean of people's scores: labels are the mean of those that came with the "
    "dataset; a judge's are the vote of its reads (majority; the median where no score has one). Spearman's ρ, "
    "Pearson's r, quadratic kappa (scores rounded, halves up), mean absolute error (MAE) in points, with "
    "{bootstrap[confidence]:.0%} intervals from leaving out groups. Reads differ: share of items whose reads do not "
    "all agree; in brackets, share of items in which no score has a majority. At temperature 0 reads are nearly one, "
    "and a vote says little more than one read. A judge whose scores are golden and are judged agrees with itself. "
    "After Li et al. (2025), Table 2, which has correlations alone."
)
KEYS = ["dataset", "source"]
QUANTITIES = ("spearman", "pearson", "kappa", "mean_absolute_error", "differ", "median")


def table(golden_alignment: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset and source, see `golden_alignment.estimate`."""
    rows = widen(golden_alignment, KEYS, list(QUANTITIES))
    counts = golden_alignment.groupby(KEYS)[["n_items", "n_clusters"]].max()
    return rows.join(counts, on=KEYS)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    printed = rows[["dataset", "source"]].assign(items=rows["n_items"])
    for quantity, head in (("spearman", "ρ"), ("pearson", "r"), ("kappa", "kappa"), ("mean_absolute_error", "MAE")):
        none = rows[quantity].isna()
        printed[head] = ["" if skip else text for skip, text in zip(none, intervals(rows, quantity), strict=True)]
    shares = [numbers(rows[name], form=".1%") for name in ("differ", "median")]
    is_known = rows["differ"].notna()
    told = zip(is_known, *shares, strict=True)
    printed["reads differ (no majority)"] = [f"{differ} ({none})" if has else "" for has, differ, none in told]
    return printed.assign(flag=flags(rows["n_clusters"]))
