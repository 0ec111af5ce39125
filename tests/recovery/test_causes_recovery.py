"""Bias cards where something else than a position gives the same numbers: small versions of `causes_recovery`."""

import causes_recovery
import pytest

STUDIES = 8
CELLS = {
    f"{causes_recovery.quantity(cell)}: {causes_recovery.setting(cell)}, {cell.groups}": cell
    for cell in causes_recovery.cells()
}


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        ("biased: nine orderings agree", 7, 8),
        ("wrongly biased: 60% of the scores", 0, 2),
        ("wrongly biased: 30% of the answers at position 1 lost; 5 levels, 400", 0, 2),
        ("wrongly preference claimed: one stray ordering", 0, 2),
        ("wrongly share that changes: each row three times", 0, 0),
        ("wrongly biased: twice as sharp in one ordering; 5 levels; probabilities", 0, 2),
        pytest.param("wrongly equivalent: written scores of groups", 0, 2, marks=pytest.mark.slow),
        pytest.param("biased: one group has 12%", 7, 8, marks=pytest.mark.slow),
    ],
)
def test_cards_name_what_is_planted(words, least, most):
    """Of 8 studies: 3 or more wrong ones in 6 of 1,000 runs at 5%; 6 or fewer right ones in 6 of 100 at 95%."""
    cell = next(cell for name, cell in CELLS.items() if name.startswith(words))
    assert least <= sum(causes_recovery.answers(cell, STUDIES, 5)) <= most


def test_every_cell_has_a_name_of_its_own():
    assert len(CELLS) == len(causes_recovery.cells())
