"""Tests that the order of the criteria and the order of the score levels act independently."""

import pandas as pd

from rubric_order.tables.columns import Flags, PValue, estimates, texts
from rubric_order.tables.spec import Rows, Table, estimate, same, taken

KEYS = ["judge", "dataset", "strategy", "n"]
TESTS = {"criterion_order": "criterion order, p", "level_order": "level order, p"}
TESTS |= {"interaction": "act apart, p", "same_selection": "same selection, p"}
VALUES = [same("n_texts", "n_groups", "n_scores", "n_failed")]
VALUES += [taken(name, "p", "p_holm", "p_bh", prefix=f"{name}_") for name in TESTS]
VALUES += [taken("interaction", "n_pairs")]
VALUES += [estimate("cramers_v", "v_first", first=True), estimate("cramers_v", "v_last", last=True)]


def _add_ends(crossed_orders: pd.DataFrame) -> pd.DataFrame:
    positions = crossed_orders.groupby([*KEYS, "quantity"])["criterion_position"]
    first, last = (crossed_orders["criterion_position"] == positions.transform(end) for end in ("min", "max"))
    return crossed_orders.assign(first=first, last=last)


TABLE = Table(
    rows=Rows(_add_ends, "study", "n", "profile", keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "dataset", "strategy"),
        *(PValue(f"{name}_p", name=title) for name, title in TESTS.items()),
        *estimates(".3f", v_first="V, first", v_last="V, last"),
        Flags("n_groups"),
    ],
)
