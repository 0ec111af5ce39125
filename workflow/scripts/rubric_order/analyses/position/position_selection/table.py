"""Positions that a judge selects."""

import pandas as pd

from rubric_order.tables.columns import Column, Estimated, Flags, Number, OrderPValue, Row, cell, numbers, texts
from rubric_order.tables.spec import Rows, Table, Taken, card_tests, taken, wide

KEYS = ["judge", "dataset", "strategy", "n", "readout", "cluster"]
TESTS = ["p", "p_cluster", "p_rotation", "p_holm", "p_bh", "n_tests"]
VARIETY = ["commonest_share", "discordant_pairs", "discordant_share"]
EFFECTS = ["cramers_v_corrected", "cramers_v_squared", "cramers_v_corrected_reads", "design_effect", "detectable_v"]
BOUNDED = {"estimate": "", "ci_low": "_low", "ci_high": "_high", "bound_low": "_bound_low", "bound_high": "_bound_high"}


def _rows(position_selection: pd.DataFrame, order_tests: pd.DataFrame, *, n: int) -> pd.DataFrame:
    """One row per judge, dataset and readout: chi-square, p-values, V, direction of bias, share of each position."""
    of_share = BOUNDED | {"sim_low": "_sim_low", "sim_high": "_sim_high"}
    values = [
        taken("chi2", "n_items", "n_clusters", "n_reads", "n_failed"),
        taken("chi2", *TESTS, estimate="chi2"),
        card_tests(order_tests, KEYS, "selection"),
        Taken({column: f"cramers_v{end}" for column, end in BOUNDED.items()}, {"quantity": "cramers_v"}),
        taken("cramers_v", "flag"),
        *(taken(name, estimate=name) for name in EFFECTS),
        taken("cramers_v", "saturated"),
        *(taken(name, estimate=name) for name in VARIETY),
        taken("direction", label="direction"),
    ]
    for position in range(1, n + 1):
        names = {column: f"pos{position}{end}" for column, end in of_share.items()}
        values.append(Taken(names, {"quantity": "share", "position": position}))
    return wide(position_selection.astype({"n_tests": float}), KEYS, values)


def _direction(row: Row) -> str:
    also = row["saturated"] and row["direction"] != "saturated"
    return f"{row['direction']}, saturated" if also else row["direction"]


def _selected(rows: pd.DataFrame) -> list[Column]:
    """The columns of Xu et al. (2026), Table 2, and columns of V and the direction of bias; none without rows."""
    if rows.empty:
        return []
    last, clusters = rows["n"].iloc[0], f"{rows['cluster'].iloc[0]}s"
    return [
        *texts(n_reads="reads", n_clusters=clusters),
        Estimated("cramers_v", name="V"),
        *numbers(".3f", cramers_v_corrected="corrected V", detectable_v="detectable V"),
        Number("chi2", ".1f"),
        OrderPValue("p_cluster", name="p", card="p_card"),
        OrderPValue("p_rotation", name="p rotation", missing=""),
        *(Estimated(f"pos{position}", ".1f", name=f"Pos{position} %", times=100) for position in (1, last)),
        Number("commonest_share", ".0f", name="commonest %", times=100),
        Number(lambda rows: 1 - rows["discordant_share"], ".0f", name="same %", times=100),
        cell("direction", _direction),
        Flags(),
    ]


TABLE = Table(
    rows=Rows(_rows, "study", "strategy", "n", "profile", "cluster"),
    columns=[*texts("judge", "dataset", "readout"), _selected],
)
