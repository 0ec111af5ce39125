"""Effect of the criterion right before on a criterion's score, and the position effects that remain beside it."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, PValue, Text, filled, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, select, significant, taken, wide

KEYS = ["judge", "dataset", "strategy", "n", "readout"]
# Tests of all criteria together, each with its quantity and its model.
TESTS = {
    "predecessor": ("any_predecessor", "position + predecessor"),
    "leader": ("any_leader", "position + leader"),
    "position": ("any_position", "position"),
    "position_given_slope": ("any_position", "position + level"),
}


def _rows(carry_over: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset, strategy and readout."""
    single = carry_over[carry_over["criterion"].notna() & carry_over["quantity"].isin([of for of, _ in TESTS.values()])]
    values: list[Value] = [taken("carry_over", "n_texts", "n_groups", "n_scores")]
    values.append(estimate("carry_over", "slope", "p", "p_holm"))
    for name, (quantity, model) in TESTS.items():
        where = {"quantity": quantity, "model": model, "criterion": None}
        values.append(taken(where, "p", "p_holm", prefix=f"{name}_"))
        if quantity == "any_position":
            of_model = significant(select(single, model=model), KEYS, ["p_holm"])
            values.append(of_model.set_axis([f"{name}_criteria"], axis=1))
    return wide(carry_over, KEYS, [*values, single.groupby(KEYS)["criterion"].nunique().rename("n_criteria")])


TABLE = Table(
    rows=Rows(_rows, "study", "n", "profile", "readouts"),
    columns=[
        *texts("judge", "dataset", "strategy", "readout"),
        Estimated("slope"),
        *(PValue(f"{name}_p", name=f"{name.replace('_', ' ')}, p") for name in TESTS),
        Text("position_criteria", name="criteria", marks=filled("/{n_criteria}")),
        Text("position_given_slope_criteria", name="criteria given slope", marks=filled("/{n_criteria}")),
        Flags("n_groups"),
    ],
)
