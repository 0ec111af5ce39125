"""Differences of the published correlations of Li et al. (2025) from their baseline."""

from rubric_order.tables.columns import Number, Text, filled, texts
from rubric_order.tables.spec import Rows, Table

TABLE = Table(
    rows=Rows("published_shifts"),
    columns=[
        *texts("judge", "perturbation", n_differences="differences"),
        Number("largest", ".4f", marks=filled(" ({dataset}, {scores_of})")),
        *(Text(f"beyond_{limit}", name=f"beyond {limit}") for limit in (0.03, 0.05)),
        *texts(above_0="rises"),
        Number("mean", "+.4f"),
    ],
)
