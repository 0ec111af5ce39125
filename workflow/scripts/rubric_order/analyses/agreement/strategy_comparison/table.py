"""Comparison of strategies by their agreement with human scores."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.strategies import COMPARED
from rubric_order.tables.columns import Column, Estimated, Flags, Number, Text, away_from_zero, texts, there, varied
from rubric_order.tables.spec import PARTS, Rows, Table, Taken, differences_from, estimate, same, select, taken, wide

KEYS = ["judge", "dataset", "readout", "cluster"]
TESTS = ("p", "p_holm", "p_bh")


def _rows(
    human_agreement: pd.DataFrame, strategy_comparison: pd.DataFrame, *, strategy: str = "balanced"
) -> pd.DataFrame:
    """One row per judge, dataset and readout: r of each strategy, and differences from `strategy` with their parts."""
    pearson = select(human_agreement, criterion=EVERY, quantity="pearson")
    differences = differences_from(select(strategy_comparison, criterion=EVERY), strategy)
    compared = [name for name in COMPARED if name in set(pearson["strategy"])]
    correlations = [estimate("pearson", f"r_{name}", strategy=name) for name in compared]
    items = [taken({"strategy": name}, n_items=f"items_{name}") for name in compared]
    of_strategies = [part for pair in zip(correlations, items, strict=True) for part in pair]
    rows = wide(pearson, KEYS, [same("n"), pearson.groupby(KEYS)["n_clusters"].min(), *of_strategies])
    of_others = [part for name in compared if name != strategy for part in _difference(differences, name)]
    return rows.merge(wide(differences, KEYS, of_others), on=KEYS, how="left")


def _difference(differences: pd.DataFrame, other: str) -> list[Taken]:
    delta, of = f"delta_{other}", {"quantity": "pearson", "baseline": other}
    values = [estimate("pearson", delta, *TESTS, baseline=other), taken(of, n_items=f"{delta}_items")]
    if len(select(differences, quantity="order", baseline=other)):
        values += [estimate(part, f"{delta}_{part}", *TESTS, baseline=other) for part in PARTS]
        values.append(taken(of, "same_repeats", "flag", prefix=f"{delta}_"))
    return values


def _less(name: str) -> list[Column]:
    """The difference from a strategy, as in Xu et al. (2026), Table 3, and the parts of the difference."""
    delta, has_parts = f"delta_{name}", there(f"delta_{name}_order")

    def marks(rows: pd.DataFrame) -> list[str]:
        repeated = rows.get(f"{delta}_flag", pd.Series("", rows.index)).fillna("") != ""
        pairs = zip(away_from_zero(delta)(rows), repeated, strict=True)
        return [f"{stars}†" if is_repeated else stars for stars, is_repeated in pairs]

    def averaging(rows: pd.DataFrame) -> pd.Series:
        return rows[f"{delta}_averaging"] - rows[f"{delta}_averaging_baseline"]

    return [
        Estimated(delta, "+.3f", name=f"less {name} r", when=there(delta), marks=marks),
        Estimated(f"{delta}_order", "+.3f", name=f"less {name} r: order", when=has_parts),
        Number(averaging, "+.3f", name=f"less {name} r: averaging", when=has_parts),
    ]


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "cluster"),
    columns=[
        *texts("judge", "dataset", "readout"),
        Text(lambda rows: rows["cluster"] + "s", name="sample", when=varied("cluster")),
        *(Estimated(f"r_{name}", ".2f", name=f"{name} r", when=there(f"r_{name}")) for name in COMPARED),
        *(column for name in COMPARED for column in _less(name)),
        Flags(),
    ],
)
