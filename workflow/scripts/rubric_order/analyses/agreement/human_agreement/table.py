"""Agreement with human scores."""

import numpy as np
import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals

CAPTION = (
    "Agreement of each item's mean score with its human score: Pearson's r, Spearman's rho, Kendall's tau-b, and kappa "
    "with quadratic weights, which compares rounded scores; with {bootstrap[confidence]:.0%} jackknife intervals over "
    "{cluster}s. The mean of more reads that differ agrees better, whatever is varied between them: a higher r under "
    "one strategy than under another need not be due to the order (table Strategies compared takes the two apart). "
    "Criterion all pools the items of all criteria. R without rater noise: Pearson's r over the root of the human "
    "scores' reliability, of items with several raters; what raters err in together is not corrected. Where every item "
    "has as many scores, each column is taken for a rater, and what a rater gives throughout is no noise. Raters not "
    "told apart: numbers of scores differ between items, or columns do not differ, as those of raters who are equally "
    "severe, or stand in another order in each item; severity then counts as noise, which is right where each item has "
    "raters of its own, and makes r too high where the same ones scored all items. Means leave out "
    "reads without a score; the CSV file has bounds of r over what those could have been. Datasets without human "
    "scores are not shown. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
QUANTITIES = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau-b", "kappa": "kappa"}
WITHOUT_NOISE = ["pearson_corrected", "human_reliability"]
TOLD, NOT_TOLD = "told apart", "raters not told apart"  # the latter is a flag of the statistic
KEYS = ["judge", "dataset", "criterion", "strategy", "readout", "cluster"]
COUNTS = ["n_items", "n_clusters", "n_reads", "n_failed"]
ENDS = {"": "estimate", "_low": "ci_low", "_high": "ci_high"}
BOUNDS = {"pearson_bound_low": "bound_low", "pearson_bound_high": "bound_high"}


def table(
    human_agreement: pd.DataFrame, *, study: str, n: int, profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, dataset, criterion, strategy and readout, see `human_agreement.estimate`.

    Args:
        cluster: ``item`` or ``group``: what the jackknife leaves out.
    """
    chosen = human_agreement.query("study == @study and profile == @profile and n == @n and cluster == @cluster")
    rows = []
    for key, block in chosen.groupby(KEYS, sort=False):
        of = block.set_index("quantity")
        row = dict(zip(KEYS, key, strict=True)) | of.iloc[0][COUNTS].to_dict()
        for quantity in QUANTITIES:
            row |= {f"{quantity}{end}": of.at[quantity, column] for end, column in ENDS.items()}
        for quantity in WITHOUT_NOISE:
            ends = [f"{quantity}{end}" for end in ("", "_low", "_high")]
            values = of.loc[quantity, ["estimate", "ci_low", "ci_high"]] if quantity in of.index else [np.nan] * 3
            row |= dict(zip(ends, values, strict=True))
        row["raters"] = (of.at["pearson_corrected", "flag"] or TOLD) if "pearson_corrected" in of.index else np.nan
        rows.append(row | {name: of.at["pearson", column] for name, column in BOUNDS.items()})
    estimates = [f"{quantity}{end}" for quantity in QUANTITIES for end in ENDS]
    estimates += [f"{quantity}{end}" for quantity in WITHOUT_NOISE for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*KEYS, *COUNTS, *estimates, *BOUNDS, "raters"])


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Every row with its intervals; bounds are left to the CSV file."""
    printed = rows[["judge", "dataset", "criterion", "strategy"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    printed["failed reads"] = rows["n_failed"]
    printed = printed.assign(**{title: intervals(rows, quantity, form=".2f") for quantity, title in QUANTITIES.items()})
    written = intervals(rows, "pearson_corrected", form=".2f")
    printed["r without rater noise"] = np.where(rows["pearson_corrected"].isna(), "", written)
    return printed.assign(flag=flags(rows["n_clusters"], np.where(rows["raters"] == NOT_TOLD, NOT_TOLD, "")))
