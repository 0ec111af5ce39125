"""Effect of the order of the score levels on the scores, in points."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Number, OrderPValue, estimates, filled, texts
from rubric_order.tables.spec import Rows, Table, card_tests, taken, wide

KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
USUAL, REVERSED = "usual_minus_balanced", "ascending_minus_descending"
OF_TEST = ["p_holm", "p_bh", "n_tests", "mean_score", "commonest", "flag"]
OF_TEST += ["n_items", "n_clusters", "n_reads", "n_failed"]
CHANCE = filled(" ({gap_by_chance:.2f})")


def _rows(score_effects: pd.DataFrame, order_tests: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, profile, dataset, strategy, scale and readout: shifts of the mean score with intervals."""
    values = [
        *(USUAL, REVERSED, taken("order_test", "p_order"), taken(USUAL, p_order="usual_p")),
        card_tests(order_tests, KEYS, "points"),
        card_tests(order_tests, KEYS, "usual", "usual_p_card"),
        taken("largest_gap", estimate="largest_gap", chance="gap_by_chance", chance_high="gap_by_chance_high"),
        taken("order_test", *OF_TEST, estimate="root_mean_square"),
    ]
    return wide(score_effects, KEYS, values)


TABLE = Table(
    rows=Rows(_rows, "study", "cluster"),
    columns=[
        *texts("judge", "profile", "strategy", "n", "readout", n_items="items"),
        Number("mean_score", ".2f", name="mean score"),
        *estimates("+.2f", **{USUAL: "usual less balanced", REVERSED: "ascending less descending"}, missing=""),
        Number("largest_gap", ".2f", name="largest gap (chance)", marks=CHANCE, where="largest_gap"),
        OrderPValue("p_order", name="p", card="p_card"),
        OrderPValue("usual_p", name="p, usual", card="usual_p_card", missing=""),
        *texts("flag"),
    ],
    printed={"dataset": EVERY},
)
