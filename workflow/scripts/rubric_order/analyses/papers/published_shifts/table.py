"""Differences of the published correlations of Li et al. (2025) from their baseline."""

from rubric_order.tables.columns import Number, Text, filled, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Differences of the printed correlations of Li et al. (2025), Table 3, from the printed baseline, under each "
    "perturbation. They are those of both coefficients, in six pairs of dataset and golden scores. Largest is the "
    "paper's fluctuation, with the dataset and golden scores where it is. Rises is the number of differences above "
    "0. The paper's table has neither Roman numerals nor reference answers. No number in it says how far a "
    "correlation moves under an edit without meaning, and the largest of many differences is not 0 even for a judge "
    "that nothing moves. So a fluctuation is no evidence by itself. The differences of a judge are not independent "
    "of each other, so no test is made of them."
)
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
