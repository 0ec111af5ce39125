"""Factors that consistency and fairness of comparisons depend on, as Shi et al. print them."""

from rubric_order.tables.columns import Number, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "What position consistency (PC) and preference fairness (PF) depend on, after Shi et al. (Judging the Judges, "
    "Tables 3 to 8): the last step of a stepwise regression over cells of judge, candidate and task. One row has the "
    "chosen model as it is (removed: none), each other row the model without one of its terms. AIC is n ln(RSS / n) "
    "+ 2k, as printed in the paper, where k counts the coefficients without the variance. The own quality gap comes "
    "from the same judgments as the outcome, as in the paper. A pair without a consistent winner adds half a win to "
    "the win rate behind it, so arithmetic ties this gap to consistency. The quality gap of others comes from the "
    "other judges. As in the paper, cells are taken as independent; they share questions, so small differences of "
    "AIC say little. Lengths of the candidates' texts, of the question and of the prompt are terms where they are "
    "known."
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
