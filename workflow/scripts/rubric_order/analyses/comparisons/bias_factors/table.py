"""Factors that consistency and fairness of comparisons depend on, as Shi et al. print them."""

import pandas as pd

from rubric_order.tables import numbers

CAPTION = (
    "What position consistency and preference fairness depend on, after Shi et al. (Judging the Judges, Tables 3 to "
    "8): the last step of a stepwise regression of cells of judge, candidate and task, with the model as it is (none) "
    "and without each of its terms. AIC is n ln(RSS / n) + 2k, as printed there, with k coefficients without the "
    "variance. Quality gap: own is from the judgments that the outcome is from, as there; a pair without a consistent "
    "winner adds half a win, so that this gap and consistency are tied by arithmetic. The gap of others is from the "
    "other judges. Cells are taken as independent, as there; they share questions, so that small differences of AIC "
    "tell little. Of lengths, those of the candidates' texts are a term where they are known."
)
KEYS = ["profile", "dataset", "outcome", "gap"]
OUTCOME_NAMES = {"position_consistency": "PC", "preference_fairness": "PF"}


def table(bias_factors: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a dataset (``all``: all of them), outcome, kind of quality gap, and removed term.

    Args:
        bias_factors: see `bias_factors.estimate`.
        study: whose reads.
    """
    columns = [*KEYS, "removed", "df", "sum_of_squares", "rss", "aic", "n_cells"]
    return bias_factors.loc[bias_factors["study"] == study, columns].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of the paper."""
    printed = rows[["dataset"]].copy()
    printed["outcome"] = rows["outcome"].map(OUTCOME_NAMES)
    printed["quality gap"] = rows["gap"]
    printed["removed"] = rows["removed"].str.replace("_", " ")
    printed["DF"] = rows["df"]
    printed["sum of squares"] = numbers(rows["sum_of_squares"], form=".3f")
    printed["RSS"] = numbers(rows["rss"], form=".3f")
    printed["AIC"] = numbers(rows["aic"], form=".1f")
    printed["cells"] = rows["n_cells"]
    return printed
