"""Agreement of scores with golden scores under conditions and orders of a prompt."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, flags, intervals, numbers, p_values, widen

CAPTION = (
    "Agreement of scores with golden scores (human: the mean of people's; labels: those that came with the dataset) "
    "under conditions and orders of the prompt: Spearman's ρ, Pearson's r, quadratic kappa, mean absolute error (MAE) "
    "in points. Difference: r less that of the study's first condition and strategy on the same items, with "
    "{bootstrap[confidence]:.0%} intervals and p from leaving out {cluster}s (* significant after Holm's adjustment). "
    "Items without a score are left out; bounds: the r that they could make. Fluctuation: the largest size of a "
    "difference over datasets and variants of one kind; in brackets that of edits without meaning, and how often the "
    "first would be above the second if every edit moved scores alike: a largest difference grows with the number of "
    "differences that it is taken from. A correlation is blind to a shift of all scores, "
    "which the error and kappa see. After Li et al. (2025), Table 3, which has no intervals and no floor."
)
KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind", "readout", "golden"]
QUANTITIES = ("spearman", "pearson", "kappa", "mean_absolute_error")
FLUCTUATION = "fluctuation_"


def table(
    scoring_accuracy: pd.DataFrame, *, study: str, profile: str = "default", cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, dataset, variant, readout and source of golden scores; and rows of fluctuations.

    Args:
        scoring_accuracy: see `scoring_accuracy.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = scoring_accuracy.query("study == @study and profile == @profile and cluster == @cluster")
    largest = chosen["quantity"].str.startswith(FLUCTUATION)
    estimates = widen(chosen[~largest], KEYS, list(QUANTITIES)).set_index(KEYS)
    for quantity in ("spearman", "pearson"):
        of_quantity = chosen[chosen["quantity"] == quantity].set_index(KEYS)
        for name in ("difference", "difference_low", "difference_high", "p", "p_holm"):
            estimates[f"{quantity}_{name}"] = of_quantity[name]
    of_pearson = chosen[chosen["quantity"] == "pearson"].set_index(KEYS)
    for name in ("bound_low", "bound_high", "n_items", "n_clusters", "n_failed"):
        estimates[name] = of_pearson[name]
    wide = chosen[largest].assign(quantity=lambda rows: rows["quantity"].str.removeprefix(FLUCTUATION))
    sizes = wide.pivot_table(index=KEYS, columns="quantity", values=["estimate", "floor"], observed=True)
    chance = chosen[largest & chosen["above_by_chance"].notna()].groupby(KEYS, observed=True)["above_by_chance"].first()
    sizes.columns = [f"{FLUCTUATION}{quantity}{'_floor' * (name == 'floor')}" for name, quantity in sizes.columns]
    sizes["above_by_chance"] = chance
    return pd.concat([estimates.reset_index(), sizes.reset_index()], ignore_index=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    largest = rows["varied"] == ""
    printed = rows[["judge", "dataset"]].copy()
    variants = zip(rows["varied"], rows["order"], rows["kind"], strict=True)
    printed["prompt"] = [f"{varied}, {order}" if varied else f"fluctuation, {kind}" for varied, order, kind in variants]
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["golden"] = rows["golden"]
    for quantity, head in (("spearman", "ρ"), ("pearson", "r")):
        printed[head] = numbers(rows[quantity], form=".2f")
        if f"{FLUCTUATION}{quantity}" in rows:
            of_kinds = rows[largest]
            floors = numbers(of_kinds.get(f"{FLUCTUATION}{quantity}_floor", of_kinds[quantity] * float("nan")))
            sizes = numbers(of_kinds[f"{FLUCTUATION}{quantity}"])
            chance = ["" if pd.isna(c) else f"; above by chance in {c:.0%}" for c in of_kinds["above_by_chance"]]
            texts = zip(sizes, floors, chance, strict=True)
            printed.loc[largest, head] = [f"{size} ({floor}{often})" for size, floor, often in texts]
    renamed = {f"pearson_{name}": name for name in ("difference", "difference_low", "difference_high")}
    base = rows["kind"] == "base"
    differences = intervals(rows.rename(columns=renamed), "difference", form="+.3f")
    printed["difference of r"] = ["" if skip else text for skip, text in zip(base | largest, differences, strict=True)]
    p = p_values(rows["pearson_p"], rows["pearson_p_holm"])
    printed["p"] = ["" if skip else text for skip, text in zip(base | largest, p, strict=True)]
    for quantity, head in (("kappa", "kappa"), ("mean_absolute_error", "MAE")):
        printed[head] = ["" if skip else text for skip, text in zip(largest, numbers(rows[quantity]), strict=True)]
    ends = zip(
        *(numbers(rows[end], form=".2f") for end in ("bound_low", "bound_high")), rows["n_failed"], largest, strict=True
    )
    printed["bounds of r"] = [f"{low} to {high}" if failed and not skip else "" for low, high, failed, skip in ends]
    few = flags(rows["n_clusters"].fillna(float("inf")))
    return printed.assign(flag=few)[rows["dataset"].ne(EVERY) | largest].reset_index(drop=True)
