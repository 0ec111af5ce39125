"""The simulators of `spread_recovery`: each kind of cell runs, and finds what is planted."""

import pytest
import spread_recovery


def by_quantity(name, studies):
    table = spread_recovery.run(spread_recovery.cells()[name], studies, 1)
    assert list(table.columns) == spread_recovery.COLUMNS
    return table.set_index("quantity")


def test_raters_of_unlike_severity():
    found = by_quantity("raters_0.5", 60)
    row = found.loc["r without rater noise"]
    assert abs(row["now"] - row["target"]) < 0.01
    assert row["before"] > row["target"] + 0.02


def test_groups_of_unlike_size():
    found = by_quantity("generalisability_40", 100)
    row = found.loc["variance of items"]
    assert row["before"] < row["now"]
    assert found.loc["variance of items, coverage", "now"] > found.loc["variance of items, coverage", "before"]


@pytest.mark.slow
def test_items_that_orderings_move_are_never_equivalent():
    found = by_quantity("order_spread_5_2", 10)
    assert found.loc["equivalent", "now"] == 0
    assert found.loc["spread", "now"] == pytest.approx(found.loc["spread", "target"], rel=0.05)


@pytest.mark.slow
def test_savings_of_a_choice():
    found = by_quantity("bias_cost_60", 10)
    assert found.loc["cost saved", "now"] == pytest.approx(found.loc["cost saved", "target"], abs=0.06)
