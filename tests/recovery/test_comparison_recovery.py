"""Comparisons keep their level where a judge only wavers, depends on groups, or is harsher with a reference."""

import comparison_recovery
import pytest

CELLS = comparison_recovery.cells()


def run(part, studies=40):
    (cell,) = (cell for name, cell in CELLS.items() if part in name)
    return comparison_recovery.run(cell, studies, 3).set_index("quantity")


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["3 levels, 4 candidates", "5 levels, 4 candidates", "9 levels, 8 candidates"])
def test_a_surer_order_is_no_reversal(scale):
    found = run(f"rank reversal: usual order 10 times as sure, {scale}, 100 groups")
    assert found.loc["tau", "before"] > 0.8
    assert (found["now"] <= 0.1).all()


@pytest.mark.slow
def test_real_reversals_are_still_found():
    found = run("real reversals, usual order 1 times as sure, 5 levels, 4 candidates, 40 groups")
    assert found.loc["tau", "now"] > found.loc["tau", "before"] - 0.1


def test_judges_with_one_v_are_not_told_apart_by_their_dependence():
    found = run("V 0, 9 levels, unequal groups, 60 groups", 100)
    assert found.loc["V", "before"] > 0.4
    assert found.loc["V", "now"] <= 0.1


def test_a_mean_over_judges_with_correlated_errors_holds_the_truth():
    found = run("10 judges on 1 datasets, errors correlated 0.8, sd of judges 0, 60 groups", 100)
    assert found.loc["mean", "before"] < 0.75
    assert found.loc["mean", "now"] >= 0.9


def test_a_text_is_not_found_where_a_reference_is_shown():
    found = run("one text under all numbers, text does not attract, 40 groups", 10)
    assert found.loc["text", "before"] > 0.5
    assert found.loc["text", "now"] == 0


def test_rows_are_printed_with_all_that_was_asked():
    (cell,) = (
        cell for name, cell in CELLS.items() if "one text under all numbers, text does not attract, 20 groups" in name
    )
    table = comparison_recovery.run(cell, 2, 1)
    assert table.columns.tolist() == [
        *("point", "setting", "n_groups", "quantity", "studies", "before", "now", "target")
    ]
    assert list(comparison_recovery.lines(table))[2].startswith("| 6, harsher with a reference | one text under")
