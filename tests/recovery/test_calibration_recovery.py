"""Calibration against balanced means that are known: gains, no harm, intervals, and what a leak would look like."""

import numpy as np
import pytest
from calibration_recovery import BIASED, DECISIVENESS, EVEN, changes, judge, rmse, study
from scipy import stats

from rubric_order.extras.one_read.agreement.calibration import estimate as calibration
from rubric_order.extras.one_read.methods.calibration import learning
from rubric_order.methods.uncertainty import resampling
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation


@pytest.mark.parametrize("decisiveness", DECISIVENESS)
@pytest.mark.parametrize("name", BIASED)
def test_calibrated_single_reads_are_nearer_to_the_balanced_mean(name, decisiveness):
    (found,) = changes(judge(decisiveness, **BIASED[name]), [20], draws=3).to_dict("records")
    most = 0.9 if name == "groups" else 0.65
    assert found["soft"] < most
    assert found["soft, usual"] < (0.97 if name == "groups" else 0.8)
    assert found["regressed"] < 0.97
    assert found["regressed, usual"] < 1.02
    assert found["hard"] < 1.01
    assert found["hard, usual"] < 1.01


@pytest.mark.parametrize("decisiveness", DECISIVENESS)
@pytest.mark.parametrize("name", EVEN)
def test_a_judge_without_a_preference_is_not_harmed(name, decisiveness):
    found = changes(judge(decisiveness, **EVEN[name]), [10, 20], draws=4)
    assert (found[["hard", "hard, usual"]].to_numpy() < [[1.03], [1.01]]).all()
    assert (found[["soft", "soft, usual"]] < 1.01).all(axis=None)
    assert (found[["regressed", "regressed, usual"]] < 1.01).all(axis=None)


def test_what_is_learnt_is_right_where_it_is_right_for_all_items():
    """Without effects of items, groups and prompts, all error of a single read by probabilities is the order's."""
    of = Simulation(preference="u_shaped", preference_strength=1.5, interaction=0.8)
    old, new = study(of, groups=30, seed=1), study(of, groups=200, seed=2)
    model = learning.learn(old.soft.evidence(), np.arange(30))
    weights = of.position_weights(5)
    assert model.position == pytest.approx(weights - weights.mean(), abs=1e-6)
    values = model.calibrate_probabilities(new.soft.probabilities, new.soft.orderings)
    assert np.ptp(values, axis=1).max() < 1e-6
    assert rmse(values, new.truth) < 0.25 * rmse(new.soft.values, new.truth)


def test_a_saturated_judge_gains_nothing_by_what_it_writes():
    of = Simulation(preference="first", preference_strength=1.5, decisiveness=40)
    (found,) = changes(of, [20], draws=3).to_dict("records")
    assert found["hard"] == pytest.approx(1, abs=0.02)


def in_sample(laid):
    """Error against the other half by a calibration that has seen its own items, over that of the reads as they are."""
    model = learning.learn(laid.evidence(), np.arange(int(laid.group.max()) + 1))
    return ratio(model, laid)


def ratio(model, laid):
    targets = laid.halves.targets(laid.values)
    shown = np.broadcast_to(laid.orderings, (*laid.values.shape, 5))
    error, before = model.calibrate_scores(laid.values, shown, regression=True) - targets, laid.values - targets
    return float(np.sqrt((error**2).mean() / (before**2).mean()))


def test_a_calibration_that_sees_its_own_items_looks_better_than_it_is_and_ours_does_not():
    of = Simulation(preference="first", decisiveness=0.3, group_positions=0.5)
    new = study(of, groups=600, candidates=1, seed=10_000)
    seen, claimed, true = [], [], []
    for seed in range(30):
        reads = studies.read_items(of, n=5, strategies=["balanced"], groups=10, candidates=1, seed=seed)
        scores = studies.as_scores(reads)
        own = study(of, groups=10, candidates=1, seed=seed)
        seen.append(in_sample(own.hard))
        rows = calibration.estimate(scores, confidence=0.95, seed=seed, groups=[])
        chosen = rows.query("quantity == 'rmse_ratio' and readout == 'hard' and design == 'random' and reads == 1")
        claimed += chosen.query("calibration == 'regressed'")["estimate"].tolist()
        half = resampling.folds(10, 5, seed=seed, name="x") != 0
        true.append(ratio(learning.learn(own.hard.evidence(), np.flatnonzero(half)), new.hard))
    seen, claimed, true = (np.array(values) for values in (seen, claimed, true))
    apart = np.sqrt(true.var() / len(true) + claimed.var() / len(claimed))
    assert seen.mean() < true.mean() - 0.03
    assert abs(claimed.mean() - true.mean()) < max(3 * apart, 0.02)
    assert claimed.mean() > seen.mean() + 0.03


@pytest.mark.slow
@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_intervals_cover_the_change_of_error_as_often_as_they_say(readout):
    of, groups, count = judge(1.0, preference="first", preference_strength=0.8), 60, 150
    big = study(of, groups=3000, seed=77)
    laid = big.hard if readout == "hard" else big.soft
    targets = laid.halves.targets(laid.values)
    errors = []
    for seed in range(20):
        old = study(of, groups=groups * 4 // 5, seed=5000 + seed)
        model = learning.learn((old.hard if readout == "hard" else old.soft).evidence(), np.arange(groups * 4 // 5))
        values = calibration.applied(model, laid, np.full(len(laid.values), True), regression=True)
        errors.append(np.square(values - targets).mean())
    before = np.square(laid.values - targets).mean()
    truth = {"rmse": np.sqrt(np.mean(errors)), "rmse_ratio": np.sqrt(np.mean(errors) / before)}
    truth["rmse_change"] = truth["rmse"] - np.sqrt(before)
    covered = dict.fromkeys(truth, 0)
    for seed in range(count):
        reads = studies.read_items(of, n=5, strategies=["balanced"], groups=groups, candidates=2, seed=seed)
        rows = calibration.estimate(studies.as_scores(reads, candidates=2), confidence=0.95, seed=1, groups=[])
        kind = (
            "regressed" if readout == "hard" else "folds"
        )  # a correction of positions alone differs from draw to draw
        chosen = rows.query(f"readout == @readout and design == 'random' and reads == 1 and calibration == '{kind}'")
        for quantity, value in truth.items():
            (row,) = chosen[chosen["quantity"] == quantity].to_dict("records")
            covered[quantity] += row["ci_low"] <= value <= row["ci_high"]
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], count, 0.95)
    assert all(low <= times <= high for times in covered.values()), covered
