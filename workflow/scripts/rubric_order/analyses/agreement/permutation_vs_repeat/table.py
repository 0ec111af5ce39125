"""Comparison of permuted orderings with repeats of one ordering, by agreement with human scores."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.strategies import COMPARED
from rubric_order.tables.columns import Column, Estimated, Flags, Number, each_row, texts, there
from rubric_order.tables.spec import PARTS, Rows, Table, differences_from, estimate, same, select, wide

KEYS = ["judge", "dataset", "readout", "cluster"]


def _rows(
    human_agreement: pd.DataFrame,
    strategy_comparison: pd.DataFrame,
    *,
    strategy: str = "balanced",
    baseline: str = "fixed",
) -> pd.DataFrame:
    """One row per judge, dataset and readout: Pearson's r and Spearman's rho under each strategy, and differences."""
    agreement = select(human_agreement, criterion=EVERY)
    differences = select(differences_from(select(strategy_comparison, criterion=EVERY), strategy), baseline=baseline)
    rows = wide(differences, KEYS, [same("n_items", "n_clusters", "same_repeats", "flag")])
    rows["flag"] = rows["flag"].replace("", None)
    for of in ("pearson", "spearman"):
        both = [estimate(of, f"{of}_{name}", strategy=name) for name in (strategy, baseline)]
        rows = rows.merge(wide(agreement, KEYS, both), on=KEYS)
        rows = rows.merge(wide(differences, KEYS, [estimate(of, f"{of}_difference")]), on=KEYS)
    parts = [part for part in PARTS if (differences["quantity"] == part).any()]
    return rows.merge(wide(differences, KEYS, parts), on=KEYS)


def _correlation(of: str, title: str) -> list[Column]:
    names = {f"{of}_{name}": f"{name} {title}" for name in COMPARED}
    marks = each_row(lambda row: "†" if of == "pearson" and "order" in row and pd.notna(row["flag"]) else "")
    difference = Estimated(f"{of}_difference", "+.3f", name=f"difference {title}", marks=marks)
    return [*(Number(name, ".2f", name=head, when=there(name)) for name, head in names.items()), difference]


def _averaging(rows: pd.DataFrame) -> pd.Series:
    return rows["averaging"] - rows["averaging_baseline"]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster"),
    columns=[
        *texts("judge", "dataset", "readout", n_items="items"),
        *_correlation("pearson", "Pearson r"),
        Estimated("order", "+.3f", name="of it order", when=there("order")),
        Number(_averaging, "+.3f", name="of it averaging", when=there("order")),
        *_correlation("spearman", "Spearman rho"),
        Flags(),
    ],
)
