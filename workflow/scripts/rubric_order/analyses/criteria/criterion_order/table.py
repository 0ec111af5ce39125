"""Criterion-order bias: gaps between positions, and numbers of criteria that depend on the position."""

import pandas as pd

from rubric_order.base.keys import MACRO
from rubric_order.tables.columns import Flags, Number, PValue, Text, filled, numbers, texts
from rubric_order.tables.spec import Rows, Table, select, significant, taken, wide

KEYS = ["judge", "dataset", "strategy", "n", "readout"]
OF_GAP = ["ci_low", "ci_high", "null", "excess", "p_cluster", "p_cluster_holm", "p_least"]
OF_TEST = ["p", "p_holm", "p_bh", "p_cluster", "p_cluster_holm", "p_cluster_bh"]


def _rows(criterion_order: pd.DataFrame, criteria_agreement: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, dataset and readout."""
    pearson = select(criteria_agreement, quantity="pearson", cluster="group", criterion=MACRO)
    pearson = pearson.set_index(KEYS)["estimate"].rename("pearson")
    gaps = [taken(name, *OF_GAP, prefix=f"{name}_", estimate=name) for name in ("mean_gap", "max_gap")]
    tests = select(criterion_order, quantity="position_test")
    w = tests.groupby(KEYS)["estimate"].agg(n_criteria="size", mean_w=lambda values: values.mean())
    significant_tests = significant(tests, KEYS, OF_TEST).add_prefix("n_significant_")
    counts = taken("mean_gap", "n_texts", "n_groups", "n_failed")
    return wide(criterion_order, KEYS, [counts, pearson, *gaps, w, significant_tests])


TABLE = Table(
    rows=Rows(_rows, "study", "strategy", "n", "profile", "readouts"),
    columns=[
        *texts("judge", "dataset", "readout"),
        Number("pearson", name="Avg r"),
        *numbers(".2f", mean_gap="Mean gap", mean_gap_null="chance, mean"),
        *numbers(".2f", max_gap="Max gap", max_gap_null="chance, max"),
        PValue("mean_gap_p_cluster", name="p, mean", least="mean_gap_p_least"),
        Text("n_significant_p_cluster_holm", name="Sig., groups", marks=filled("/{n_criteria}")),
        Text("n_significant_p_holm", name="Sig., texts", marks=filled("/{n_criteria}")),
        *texts(n_groups="groups"),
        Flags("n_groups"),
    ],
)
