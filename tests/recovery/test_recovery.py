"""A small version of `recover.py`, with fixed seeds: it fails where an estimate is biased or an interval too short."""

import numpy as np
import pandas as pd
import pytest
import recover
from scipy import stats

from rubric_order.methods.position import uniformity

STUDIES = 200


@pytest.fixture(scope="module")
def studied():
    """Estimates from many studies of a setting, and the truth."""
    kept = {}

    def run(name):
        if name not in kept:
            setting = recover.SETTINGS[name]
            starts = range(0, STUDIES, 20)
            parts = [recover.estimates(setting, range(start, start + 20), resamples=300) for start in starts]
            kept[name] = pd.concat(parts), recover.truths(setting, items=100_000)
        return kept[name]

    return run


@pytest.fixture
def found(studied):
    """Recovery in two settings: bias with dependent reads, and failures where the bias is."""
    return lambda name: recover.compared(*studied(name))


def by_items(table, *quantities):
    rows = table[(table["cluster"] == "item") & table["quantity"].isin(quantities)]
    assert set(rows["quantity"]) == set(quantities)
    return rows


# Where answers fail by the position that was chosen, shares are compared with what stood there in the reads that have a
# score, which is another quantity than the share of the selections that `truths` gives.
SELECTED = {"greedy": ("share", "cramers_v_squared"), "failures": ()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["greedy", "failures"])
def test_estimates_are_unbiased_within_monte_carlo_error(found, name):
    rows = by_items(found(name), *SELECTED[name], "r_balanced", "r_fixed", "delta_r")
    assert rows["z"].abs().max() < 4
    assert (rows["n_studies"] == STUDIES).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["greedy", "failures"])
def test_intervals_cover_the_truth_as_often_as_they_say(found, name):
    rows = by_items(found(name), *SELECTED[name][:1], "r_balanced", "r_fixed", "delta_r")
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], STUDIES, 0.95) / STUDIES
    assert rows["ci"].between(low, high).all(), rows
    if SELECTED[name]:
        assert found(name)["sim"].dropna().min() >= low


def test_chance_makes_v_too_large_and_the_correction_takes_it_away():
    _, judge, temperature = recover.NULLS["sticky"]
    counts = recover.null_counts(judge, temperature, items=100, studies=STUDIES)
    raw = uniformity.cramers_v(counts.sum(axis=1))
    assert raw.mean() > 0.05  # though no position is preferred
    squared = np.array([uniformity.squared_v(study) for study in counts])
    assert abs(squared.mean()) < 4 * squared.std() / np.sqrt(STUDIES)
    assert np.mean([uniformity.corrected_v(study) for study in counts]) < 0.6 * raw.mean()


@pytest.mark.slow
def test_a_biased_estimate_and_an_interval_that_is_too_short_are_seen(studied):
    table, true = studied("greedy")
    moved = recover.compared(table.assign(estimate=table["estimate"] + 0.01), true)
    assert by_items(moved, "share", "r_balanced", "delta_r")["z"].abs().min() > 4
    middle = (table["ci_low"] + table["ci_high"]) / 2
    half = 0.7 * (table["ci_high"] - table["ci_low"]) / 2
    short = recover.compared(table.assign(ci_low=middle - half, ci_high=middle + half), true)
    low = stats.binom.ppf(1e-3, STUDIES, 0.95) / STUDIES
    assert (by_items(short, "share", "r_balanced", "r_fixed", "delta_r")["ci"] < low).all()


@pytest.mark.slow
@pytest.mark.parametrize("null", recover.NULLS)
def test_our_test_keeps_its_level_whatever_the_dependence_of_reads(null):
    _, judge, temperature = recover.NULLS[null]
    rates = recover.rejections(recover.null_counts(judge, temperature, items=100, studies=1500))
    assert 0.025 < rates["cluster"] < 0.068  # with few items and dependent reads it rejects a little less than 5%
    assert rates["rotation"] == pytest.approx(0.05, abs=0.018)


@pytest.mark.slow
def test_the_chi_square_of_the_papers_rejects_by_how_reads_depend():
    rates = {
        null: recover.rejections(recover.null_counts(judge, temperature, items=100, studies=300))["chi2"]
        for null, (_, judge, temperature) in recover.NULLS.items()
    }
    assert rates["sticky"] > 0.8  # ten reads that keep to a position count as ten
    assert rates["consistent"] < 0.01  # ten reads that keep to a score are spread over positions by design
    assert np.mean(list(rates.values())) > 0.2


@pytest.mark.slow
def test_the_predicted_power_is_found():
    _, judge, temperature, items = recover.POWERS["mixed"]
    power = recover.power_found(judge, temperature, items=items, studies=600)
    assert 0.3 < power["predicted"] < 0.95
    assert power["found"] == pytest.approx(power["predicted"], abs=0.08)
