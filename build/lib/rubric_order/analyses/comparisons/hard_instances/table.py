"""The comparisons that judges disagree about most."""

import pandas as pd

from rubric_order.tables.columns import Number, numbers, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Comparisons that judges disagree about most, hardest first. Disagreement: judges that deviate from the commonest "
    "choice, mean over the orders. Consistent: share of the judges with one winner in all orders. Win rate: of the "
    "candidate over the baseline (of the first one, where there is none) by all judges. After Shi et al. (Judging the "
    "Judges), Appendix C.2: such comparisons have close candidates and much position bias. Which comparisons stand "
    "here is partly chance, the more so with few judges."
)
VALUES = ["dataset", "benchmark", "profile", "strategy", "n", "unit_id", "task", "candidate"]
VALUES += ["disagreement", "n_judges", "consistent", "win_rate", "gap"]


def _rows(hard_instances: pd.DataFrame, *, most: int) -> pd.DataFrame:
    """The first comparisons of each benchmark by disagreement, at most so many."""
    order = {"benchmark": True, "disagreement": False, "consistent": True, "unit_id": True}
    rows = hard_instances.sort_values([*order], ascending=[*order.values()], kind="stable")
    return rows.groupby(["benchmark", "dataset", "n"], sort=False).head(most)


TABLE = Table(
    rows=Rows(_rows, "study", columns=VALUES),
    columns=[
        *texts("benchmark", unit_id="comparison", task="task"),
        Number("disagreement", ".1f"),
        *texts(n_judges="of judges"),
        *numbers(".2f", "consistent", win_rate="win rate"),
    ],
)
