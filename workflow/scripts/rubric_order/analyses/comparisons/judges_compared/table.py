"""Differences between judges of comparisons and a reference judge, by task, and self-preference."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Text, numbers, texts
from rubric_order.tables.spec import Rows, Table

CAPTION = (
    "Differences between each judge of comparisons and one other judge, over the comparisons that both have decided in "
    "all orders, with {bootstrap[confidence]:.0%} intervals of paired differences over questions. PC is position "
    "consistency, PF preference fairness (above 0: more recency). After Shi et al. (Judging the Judges), Figure 6. Own "
    "family's wins shows self-preference: how much more often the judge's own family wins under this judge than under "
    "the other one, on the same prompts. Self-preference is a difference of two judges: it also arises where the other "
    "judge likes the family less, or is less able."
)
VALUES = ["profile", "dataset", "benchmark", "strategy", "n", "task", "judge", "other", "quantity"]
VALUES += ["estimate", "ci_low", "ci_high", "of_judge", "of_other", "n_values", "n_clusters", "flag"]
SELF_PREFERENCE = "self_preference"
NAMES = {"position_consistency": "PC", "preference_fairness": "PF", SELF_PREFERENCE: "own family's wins"}


def _rows(judges_compared: pd.DataFrame, *, reference: str | None) -> pd.DataFrame:
    """One row per judge, benchmark, task and quantity.

    Args:
        reference: judge that other judges are compared with; None for the first judge in config of each benchmark.
            Self-preference is shown against every other judge.
    """
    alone, keys = judges_compared["quantity"] == SELF_PREFERENCE, ["benchmark", "dataset"]
    first = judges_compared[~alone].groupby(keys)["judge"].first().rename("first")
    others = judges_compared[keys].join(first, on=keys)["first"] if reference is None else reference
    return judges_compared[(judges_compared["other"] == others) | alone]


TABLE = Table(
    rows=Rows(_rows, "study", columns=VALUES),
    columns=[
        *texts("benchmark", "task", "judge", other="other judge"),
        Text("quantity", names=NAMES),
        Estimated("estimate", "+.3f", name="difference"),
        *numbers(".3f", of_judge="of the judge", of_other="of the other", missing=""),
        *texts(n_values="comparisons", flag="flag"),
    ],
)
