"""Factors that consistency and fairness of comparisons depend on, as Shi et al. print them."""

from rubric_order.tables.columns import Number, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "What position consistency and preference fairness depend on, after Shi et al. (Judging the Judges, Tables 3 to "
    "8): the last step of a stepwise regression of cells of judge, candidate and task, with the model as it is (none) "
    "and without each of its terms. AIC is n ln(RSS / n) + 2k, as printed there, with k coefficients without the "
    "variance. Quality gap: own is from the judgments that the outcome is from, as there; a pair without a consistent "
    "winner adds half a win, so that this gap and consistency are tied by arithmetic. The gap of others is from the "
    "other judges. Cells are taken as independent, as there; they share questions, so that small differences of AIC "
    "tell little. Of lengths, those of the candidates' texts are a term where they are known."
)
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
