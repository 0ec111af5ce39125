"""The comparisons that judges disagree about most."""

import pandas as pd

from rubric_order.tables import numbers

CAPTION = (
    "Comparisons that judges disagree about most, hardest first. Disagreement: judges that deviate from the commonest "
    "choice, mean over the orders. Consistent: share of the judges with one winner in all orders. Win rate: of the "
    "candidate over the baseline (of the first one, where there is none) by all judges. After Shi et al. (Judging the "
    "Judges), Appendix C.2: such comparisons have close candidates and much position bias. Which comparisons stand "
    "here is partly chance, the more so with few judges."
)
COLUMNS = ["dataset", "benchmark", "profile", "strategy", "n", "unit_id", "task", "candidate"]
COLUMNS += ["disagreement", "n_judges", "consistent", "win_rate", "gap"]


def table(hard_instances: pd.DataFrame, *, study: str, most: int) -> pd.DataFrame:
    """The first comparisons of each benchmark by disagreement.

    Args:
        hard_instances: see `hard_instances.estimate`.
        study: whose reads. most: rows of each benchmark.
    """
    chosen = hard_instances[hard_instances["study"] == study]
    chosen = chosen.sort_values(
        ["benchmark", "disagreement", "consistent", "unit_id"], ascending=[True, False, True, True], kind="stable"
    )
    return chosen.groupby(["benchmark", "dataset", "n"], sort=False).head(most)[COLUMNS].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["benchmark", "unit_id", "task"]].rename(columns={"unit_id": "comparison"})
    printed["disagreement"] = numbers(rows["disagreement"], form=".1f")
    printed["of judges"] = rows["n_judges"]
    printed["consistent"] = numbers(rows["consistent"], form=".2f")
    printed["win rate"] = numbers(rows["win_rate"], form=".2f")
    return printed
