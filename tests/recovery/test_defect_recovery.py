"""Results of formulas that look right: a small version, with fixed seeds."""

import itertools

import defect_recovery
import numpy as np
import preference_recovery
import pytest


@pytest.mark.parametrize("name", defect_recovery.SPLIT)
def test_repeats_of_the_usual_order_give_another_share_of_the_order_than_there_is(name):
    found = defect_recovery.shares_of_the_order(defect_recovery.SPLIT[name], 4).mean()
    assert abs(found["of_fixed"] - found["truth"]) > 0.3
    assert found["of_probabilities"] == pytest.approx(found["truth"], abs=0.06)
    assert found["of_repeats"] == pytest.approx(found["truth_of_rotations"], abs=0.06)


def test_halves_without_a_common_ordering_say_more_noise_than_two_runs_have():
    found = defect_recovery.flips_between_halves(defect_recovery.NOISE["items prefer positions"], 4).mean()
    assert found["complementary"] > found["truth"] + 0.05
    assert found["independent"] == pytest.approx(found["truth"], abs=0.03)


def test_of_two_positions_of_which_one_nearly_always_wins_firth_has_the_number_that_others_lack():
    setting = preference_recovery.planted()["hard_n2_g40_d4"]
    found = defect_recovery.of_two_levels(setting, 300)
    truth = preference_recovery.truth(setting)[0]
    assert found["likelihood"].isna().mean() > 0.2
    assert found["likelihood"].mean() < truth - 0.04
    assert found["jackknife"].mean() < truth - 0.15
    assert found["firth"].notna().all()
    assert abs(found["firth"].mean() - truth) < 0.03 + 3 * found["firth"].std() / np.sqrt(300)
    fits = [fit.coefficients[0] for fit, _ in itertools.islice(preference_recovery.fits(setting, 300), 20)]
    assert found["firth"][:20].tolist() == pytest.approx(fits)
