"""Generalisability: reliability of mean scores in distinguishing items, by numbers of orderings and repeats."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Number, OfRows, Row, each_row, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, select, taken, wide

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
PARTS = ["item", "shift", "interaction", "repetition", "rest"]
COUNTS = ["repetition_from", "n_items", "n_clusters"]


def _rows(generalisability: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """One row per judge, dataset and readout: variances, and coefficients of up to 2n orderings, for n levels."""
    values: list[Value] = [*PARTS]
    once = generalisability[(generalisability["repeats"] == 1) & (generalisability["orderings"] <= 2 * n)]
    again = generalisability[(generalisability["repeats"] > 1) & (generalisability["orderings"] == 1)]
    for name in ("generalisability", "dependability"):
        for k in sorted(select(once, quantity=name)["orderings"].unique()):
            values.append(estimate(name, f"{name}_{k}", orderings=k, repeats=1))
        for k in sorted(select(again, quantity=name)["repeats"].unique()):
            values.append(estimate(name, f"{name}_1_repeated_{k}", orderings=1, repeats=k))
    for k in sorted(select(once, quantity="observed")["orderings"].unique()):
        values.append(taken({"quantity": "observed", "orderings": k, "repeats": 1}, estimate=f"observed_{k}"))
    return wide(generalisability, KEYS, [*values, generalisability.groupby(KEYS)[COUNTS].first()])


def _coefficients(rows: pd.DataFrame) -> list[Estimated]:
    sizes = [k for k in range(1, 2 * rows["n"].max() + 1) if f"generalisability_{k}" in rows] if len(rows) else []
    most = max(sizes, default=1)
    chosen = sorted({1, 2, most // 2, most} & {*sizes})
    return [Estimated(f"generalisability_{k}", ".2f", name=f"G of {k}", marks=_observed(k)) for k in chosen]


def _observed(k: int) -> OfRows:

    def write(row: Row) -> str:
        observed = row.get(f"observed_{k}")
        return "" if pd.isna(observed) else f" ({observed:.2f})"

    return each_row(write)


def _share(part: str) -> Number:
    total = ["item", "shift", "rest"]
    return Number(lambda rows: rows[part] / rows[total].sum(axis=1), ".0f", name=f"{part} %", times=100, where=part)


TABLE = Table(
    rows=Rows(_rows, "study", "n", "strategy", "profile", "cluster"),
    columns=[*texts("judge", "dataset", "readout", n_items="items"), *map(_share, PARTS), _coefficients],
)
