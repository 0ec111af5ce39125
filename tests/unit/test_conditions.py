"""Estimates under one condition."""

import pandas as pd

from rubric_order.analyses.position.power import estimate as power
from rubric_order.base.conditions import select_condition

GRID = {"n": 5, "items": [50, 320], "budgets": [1, 10], "correlations": [0.0, 1.0], "level": 0.05, "power": 0.8}


def test_rows_of_other_conditions_are_left_out_and_those_of_none_are_kept():
    table = pd.DataFrame({"condition": ["baseline", "letter", None, ""], "estimate": [1, 2, 3, 4]})
    assert select_condition(table, "baseline").to_dict("list") == {"estimate": [1, 3, 4]}
    assert select_condition(table, "letter").to_dict("list") == {"estimate": [2, 3, 4]}


def test_a_statistic_without_conditions_is_as_it_was():
    table = pd.DataFrame({"estimate": [1, 2]})
    assert select_condition(table, "baseline") is table


def test_assumed_studies_are_of_every_condition():
    known = {"study": "s", "judge": "j", "profile": "default", "condition": "letter", "dataset": "d"}
    known |= {
        "strategy": "balanced",
        "n": 5,
        "readout": "hard",
        "cluster": "group",
        "n_items": 100,
        "n_reads": 1000,
        "saturated": False,
    }
    rows = [known | {"quantity": name, "estimate": 1.0} for name in ("design_effect", "cramers_v")]
    found = select_condition(power.estimate(pd.DataFrame(rows), **GRID), "baseline")
    assert set(found["source"]) == {"assumed"}
