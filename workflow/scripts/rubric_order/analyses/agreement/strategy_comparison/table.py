"""Comparison of strategies by their agreement with human scores."""

import pandas as pd

from rubric_order.base.keys import CLUSTERS, EVERY, STRATEGIES
from rubric_order.tables import (
    PARTS,
    READOUT_NAMES,
    SIGNIFICANT,
    flags,
    from_strategy,
    intervals,
    numbers,
    with_interval,
)

CAPTION = (
    "Pearson's r with human scores under each strategy, with {bootstrap[confidence]:.0%} bootstrap intervals over the "
    "sample ({cluster}; both: groups, and items one by one, as the paper draws them), and the difference from "
    "{strategy} to each other strategy over the items that both have scored, with intervals of a paired bootstrap "
    "({paired[resamples]} resamples), as in Xu et al. (2026), Table 3. A mean of several reads agrees better than one "
    "read, whatever is varied between them, so that a difference from repeats of the usual ordering is not one of the "
    "order alone. Order: what is: the mean r of single orderings less that of the usual ordering, one read an item "
    "each (jackknife intervals). Averaging: what averaging adds to r of {strategy}, less what it adds to r of the "
    "repeats; the difference is the sum of both. † repeats of the usual ordering are one read in 95% of the items or "
    "more, so that they cannot gain by averaging. * the interval does not hold 0; ** p < 0.05 also after Holm's "
    "adjustment for all judges, profiles, datasets and scales of the study. Few clusters: a sample of fewer than 30, "
    "with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "readout", "cluster"]
DIFFERENCE = {"": "estimate", "_low": "ci_low", "_high": "ci_high", "_p": "p", "_p_holm": "p_holm", "_p_bh": "p_bh"}
REPEATS = ("same_repeats", "flag")  # how alike the reads of the other strategy are


def table(
    human_agreement: pd.DataFrame,
    strategy_comparison: pd.DataFrame,
    *,
    study: str,
    n: int,
    strategy: str = "balanced",
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout: r of each strategy, how much higher it is under `strategy`, and by what.

    Args:
        human_agreement: see `human_agreement.estimate`.
        strategy_comparison: see `strategy_comparison.estimate`.
        strategy: what the others are compared with.
        cluster: ``item`` or ``group``: what the bootstrap draws; ``both`` has a row of each.
    """
    clusters = CLUSTERS if cluster == "both" else (cluster,)
    human_agreement, strategy_comparison = (
        estimates[estimates["cluster"].isin(clusters)] for estimates in (human_agreement, strategy_comparison)
    )
    reads = f"study == @study and profile == @profile and n == @n and criterion == '{EVERY}'"
    pearson = human_agreement.query(f"{reads} and quantity == 'pearson'")
    compared = [name for name in STRATEGIES if (pearson["strategy"] == name).any()]
    others = [name for name in compared if name != strategy]
    differences = from_strategy(strategy_comparison.query(f"{reads} and quantity != 'spearman'"), strategy)
    rows = []
    for key, block in pearson.groupby(KEYS, sort=False):
        row = dict(zip(KEYS, key, strict=True)) | {"n": n, "n_clusters": block["n_clusters"].min()}
        for entry in block.itertuples():
            row |= {f"r_{entry.strategy}": entry.estimate, f"items_{entry.strategy}": entry.n_items}
            row |= {f"r_{entry.strategy}_low": entry.ci_low, f"r_{entry.strategy}_high": entry.ci_high}
        for entry in differences[(differences[KEYS] == list(key)).all(axis=1)].to_dict("records"):
            name = f"delta_{entry['baseline']}"
            if entry["quantity"] == "pearson":
                row |= {f"{name}_{column}": entry[column] for column in REPEATS} | {f"{name}_items": entry["n_items"]}
            else:
                name = f"{name}_{entry['quantity']}"
            row |= {f"{name}{end}": entry[column] for end, column in DIFFERENCE.items()}
        rows.append(row)
    columns = [*KEYS, "n", "n_clusters"]
    for name in compared:
        columns += [f"r_{name}", f"r_{name}_low", f"r_{name}_high", f"items_{name}"]
    for name in others:
        columns += [*(f"delta_{name}{end}" for end in DIFFERENCE), f"delta_{name}_items"]
        if any(f"delta_{name}_order" in row for row in rows):
            columns += [f"delta_{name}_{part}{end}" for part in PARTS for end in DIFFERENCE]
            columns += [f"delta_{name}_{column}" for column in REPEATS]
    return pd.DataFrame(rows, columns=columns)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 3, and r of each strategy."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    if rows["cluster"].nunique() > 1:
        printed["sample"] = rows["cluster"] + "s"
    for name in [column.removeprefix("items_") for column in rows if column.startswith("items_")]:
        printed[f"{name} r"] = intervals(rows, f"r_{name}", form=".2f")
    for name in [column[6:-6] for column in rows if column.startswith("delta_") and column.endswith("_items")]:
        values = rows[[f"delta_{name}{end}" for end in ("", "_low", "_high", "_p_holm")]]
        marked = rows.get(f"delta_{name}_flag", pd.Series("", index=rows.index)).fillna("")
        texts = [_difference(*row) for row in values.itertuples(index=False)]
        printed[f"less {name} r"] = [text + "†" * bool(flag) for text, flag in zip(texts, marked, strict=True)]
        if (part := f"delta_{name}_order") in rows:
            printed[f"less {name} r: order"] = intervals(rows, part, form="+.3f")
            added = rows[f"delta_{name}_averaging"] - rows[f"delta_{name}_averaging_baseline"]
            printed[f"less {name} r: averaging"] = numbers(added, form="+.3f")
    return printed.assign(flag=flags(rows["n_clusters"]))


def _difference(value: float, low: float, high: float, holm: float) -> str:
    excludes_zero = pd.notna(low) and not low <= 0 <= high
    return with_interval(value, low, high, form="+.3f") + (
        "" if not excludes_zero else "**" if holm < SIGNIFICANT else "*"
    )
