"""Effect of the criterion right before on a criterion's score, and the position effects that remain beside it."""

import pandas as pd

from rubric_order.tables.columns import Estimated, Flags, PValue, Text, filled, texts
from rubric_order.tables.spec import Rows, Table, Value, estimate, select, significant, taken, wide

CAPTION = (
    "Carry-over: whether a criterion scores higher right after one under which the text scores high, and which "
    "position effects remain when that is taken into account. Slope is the number of points by which a criterion "
    "scores higher for each point by which the text scores higher under the criterion right before it than under an "
    "average one; it is 0 without carry-over. Predecessor: p of the hypothesis that it has no effect which criterion "
    "comes right before. Leader: the same for which criterion stands first. Position: p of no effect of the position, "
    "alone and given the slope. * means significant at 5% after Holm's adjustment for all judges, profiles, datasets "
    "and scales of the study. Criteria: the number of single criteria in which the same test of the position is "
    "significant in this way. All p-values take groups of texts as the sample; few clusters means fewer than 30 "
    "groups. Rotations put each criterion after the same two neighbours; Williams designs (strategy "
    "balanced_williams) put it after each other criterion equally often."
)
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
