"""Predicted precision of simulated studies against the precision that they turn out to have."""

import pytest
from advice_recovery import SETTINGS, WITHIN, compare

from rubric_order.extras.one_read.methods.advice import goals


@pytest.mark.parametrize("goal", [goals.MEAN, goals.RANKED])
def test_predictions_are_near_what_unequal_groups_with_effects_of_their_own_give(goal):
    row = compare(SETTINGS[1], goal, "hard", "balanced", pilots=8, count=12)
    assert row["predicted"] == pytest.approx(row["realised"], rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "goal", "readout", "design"),
    [
        (0, goals.R, "hard", "random 3"),
        (1, goals.R, "soft", "balanced"),
        (1, goals.MEAN, "hard", "balanced"),
        (3, goals.PREFERENCE, "hard", "balanced"),
        (4, goals.RANKED, "hard", "rotated"),
        (6, goals.EQUIVALENT, "soft", "balanced"),
    ],
)
def test_predicted_and_realised_precision_agree(setting, goal, readout, design):
    few = goal == goals.EQUIVALENT
    row = compare(SETTINGS[setting], goal, readout, design, pilots=6 if few else 15, count=30 if few else 25)
    assert row["predicted"] == pytest.approx(row["realised"], rel=WITHIN + (0.1 if few else 0))
