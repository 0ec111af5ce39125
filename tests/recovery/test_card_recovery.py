"""Bias cards of simulated judges: small versions of the cells of `card_recovery`."""

import card_recovery
import pytest

STUDIES = 20
SHOWN = {cell: f"{card_recovery.setting(cell)}, {cell.groups} groups" for cell in card_recovery.cells()}


def cells(words, groups):
    found = [cell for cell in SHOWN if words in SHOWN[cell] and cell.groups == groups]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ("five rotations, the usual one read three times more", 60),
        ("ten orderings, the usual one read twice more, lenient; 5 levels,", 60),
        ("ten orderings, the usual one read twice more, lenient; 5 levels; probabilities", 60),
        pytest.param("8% of the reads lost", 400, marks=pytest.mark.slow),
    ],
)
def test_reads_that_are_not_spread_evenly_make_no_bias(words, groups):
    row = card_recovery.run(cells(words, groups), STUDIES, 5).iloc[0]
    assert row["now"] * STUDIES <= 4  # 1 is expected at most; 5 and more in 3 of 1,000 runs


@pytest.mark.parametrize(
    ("words", "groups", "least"),
    [
        ("first position worth .3; 5 levels; probabilities known", 40, 0.8),
        pytest.param("no bias; 5 levels; probabilities known", 200, 0.6, marks=pytest.mark.slow),
        pytest.param("pass or fail, no bias", 400, 0.5, marks=pytest.mark.slow),
    ],
)
def test_cards_find_what_is_there(words, groups, least):
    found = [
        cell for cell in SHOWN if SHOWN[cell].startswith(words) and cell.groups == groups and cell.most != cell.most
    ]
    assert len(found) == 1
    assert card_recovery.run(found[0], STUDIES, 5).iloc[0]["now"] >= least


def test_every_cell_has_a_name_of_its_own_and_one_row():
    names = {(card_recovery.setting(cell), cell.groups, card_recovery.quantity(cell)) for cell in SHOWN}
    assert len(names) == len(SHOWN)
