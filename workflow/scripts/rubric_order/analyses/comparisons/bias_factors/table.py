"""Factors that consistency and fairness of comparisons depend on, as Shi et al. print them."""

from rubric_order.tables.columns import Number, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table

OUTCOME_NAMES = {"position_consistency": "PC", "preference_fairness": "PF"}
VALUES = ["profile", "dataset", "outcome", "gap", "removed", "df", "sum_of_squares", "rss", "aic", "n_cells"]

TABLE = Table(
    rows=Rows("bias_factors", "study", columns=VALUES),
    columns=[
        *texts("dataset"),
        Text("outcome", names=OUTCOME_NAMES),
        *texts(gap="quality gap"),
        Text("removed", spaced=True),
        *texts(df="DF"),
        *numbers(".3f", sum_of_squares="sum of squares", rss="RSS"),
        Number("aic", ".1f", name="AIC"),
        *texts(n_cells="cells"),
    ],
)
