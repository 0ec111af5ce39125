"""Correlations with golden scores, arranged as Li et al. (2025) print them: columns for each dataset and source."""

from collections.abc import Sequence

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import ACCURACY_NAMES, Estimated, texts
from rubric_order.tables.spec import Rows, Table, estimate, wide

KEYS = ["judge", "kind", "varied", "order"]
COLUMNS = ["dataset", "golden", "quantity"]
COEFFICIENTS = ["spearman", "pearson"]


def _rows(scoring_accuracy: pd.DataFrame, *, studies: Sequence[str]) -> pd.DataFrame:
    """One row per judge and variant, with three columns (estimate and interval) per dataset, source and coefficient."""
    chosen = scoring_accuracy[scoring_accuracy["quantity"].isin(COEFFICIENTS) & (scoring_accuracy["dataset"] != EVERY)]
    chosen = chosen.sort_values("study", key=lambda names: names.map([*studies].index), kind="stable")
    chosen = chosen.drop_duplicates([*KEYS, *COLUMNS])
    columns = chosen[COLUMNS].drop_duplicates().sort_values(COLUMNS)
    values = [
        estimate(row.quantity, _name(*row), dataset=row.dataset, golden=row.golden)
        for row in columns.itertuples(index=False)
    ]
    rows = wide(chosen, KEYS, values)
    return rows.assign(sources=[[*dict.fromkeys(zip(columns["dataset"], columns["golden"], strict=True))]] * len(rows))


def _name(dataset: str, golden: str, quantity: str) -> str:
    return f"{dataset}|{golden}|{quantity}"


def _correlations(rows: pd.DataFrame) -> list[Estimated]:
    heads = {
        _name(dataset, golden, quantity): f"{dataset}, {golden}: {ACCURACY_NAMES[quantity]}"
        for dataset, golden in (rows["sources"].iloc[0] if len(rows) else ())
        for quantity in COEFFICIENTS
    }
    return [Estimated(name, ".2f", name=head, missing="") for name, head in heads.items() if name in rows]


TABLE = Table(
    rows=Rows(_rows, "studies", "profile", "n", "readout", "cluster"),
    columns=[*texts("judge", varied="prompt", order="order"), _correlations],
    hidden=["sources"],
)
