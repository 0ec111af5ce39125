"""A quick share of the cells of `one_read_recovery`: what an earlier version got wrong is within its bounds."""

import numpy as np
import one_read_recovery
import pytest

SMALL = {
    "two systems, prefers the first, middle": (
        20,
        {
            "calibrated difference of systems / raw one": (0.93, 1.05),
            "calibrated difference of systems, coverage": (0.75, 1),
            "calibrated mean less balanced mean": (-0.1, 0.05),
        },
    ),
    "learnt on low scores, applied to high ones": (10, {"other texts: warned, and regression refused": (1, 1)}),
    "learnt on low scores, applied to such": (20, {"like texts: warned": (0, 0.15)}),
    "no common taste, one group has half": (10, {"calibrated error / raw": (0.95, 1.02)}),
    "labels at random": (60, {"labels at random: flagged": (0, 0.17), "corrected mean, coverage": (0.85, 1)}),
    "better groups labelled": (40, {"labels not at random: seen": (0.7, 1)}),
    "pilot of 60 unequal groups": (60, {"advised study misses its target by more than 2%": (0, 0.17)}),
    "large groups are unlike small ones": (
        3,
        {"claims right, by text": (0.92, 1), "claims right, by group": (0.92, 1)},
    ),
}


@pytest.mark.parametrize("setting", SMALL)
def test_a_few_studies_of_a_cell_are_within_bounds(setting):
    studies, bounds = SMALL[setting]
    cell = next(cell for cell in one_read_recovery.cells() if cell.setting == setting)
    rows = one_read_recovery.run(cell, studies, 1).set_index("quantity")["now"]
    for quantity, (low, high) in bounds.items():
        assert low <= rows[quantity] <= high, (quantity, rows[quantity])


def test_earlier_numbers_belong_to_cells():
    names = {(cell.setting, cell.n_groups, name) for cell in one_read_recovery.cells() for name in cell.targets}
    assert set(one_read_recovery.BEFORE) <= names
    assert all(np.isfinite(value) for value in one_read_recovery.BEFORE.values())
