"""Agreement of each pair of judges that compare the same candidates, and results of their majority."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Text, estimates, texts
from rubric_order.tables.spec import ENDS, Rows, Table, join_flags, select, taken, wide

KEYS = ["dataset", "benchmark", "profile", "strategy", "n", "judge", "other"]
QUANTITIES = ["agreement", "agreement_decided", "kappa", "position_consistency", "preference_fairness", "first_last"]
COUNTED = {"quantity": ["agreement", "position_consistency", "mean_consistency"]}


def _rows(judge_agreement: pd.DataFrame) -> pd.DataFrame:
    chosen = select(judge_agreement, level=None)
    counts = taken(COUNTED, "n_judges", "n_values", "n_clusters", "flag")
    rows = wide(chosen, KEYS, [*QUANTITIES, "mean_consistency", counts])
    return rows.assign(flag=join_flags(rows, select(chosen, quantity="first_last"), KEYS, "beta:"))


def _add_mean(rows: pd.DataFrame) -> pd.DataFrame:
    ends = {f"position_consistency{end}": f"mean_consistency{end}" for end in ENDS.values()}
    return rows.assign(**{name: rows[name].fillna(rows[mean]) for name, mean in ends.items()})


TABLE = Table(
    rows=Rows(_rows, "study"),
    columns=[
        *texts("benchmark"),
        Text("judge", names={EVERY: "all, mean"}),
        *texts(other="other judge"),
        *estimates(".3f", "agreement", agreement_decided="decided", missing=""),
        Estimated("kappa", ".2f", missing=""),
        Estimated("position_consistency", name="PC", missing=""),
        Estimated("preference_fairness", "+.3f", name="PF", missing=""),
        Estimated("first_last", "+.2f", name="beta", missing=""),
        *texts(n_judges="judges", n_values="prompts", flag="flag"),
    ],
    printed=_add_mean,
)
