"""Gates over daily runs: quiet while nothing changes, and loud soon after a change."""

import drift_recovery
import numpy as np
import pytest

from rubric_order.cards.anchors import Anchors
from rubric_order.extras.gate import drift

CELLS = {cell.title: cell for cell in drift_recovery.CELLS}
QUIET = [title for title, cell in CELLS.items() if not cell.changes]


def run(title, years, days):
    return drift_recovery.gates(CELLS[title], years, days=days)


@pytest.mark.parametrize("title", QUIET)
def test_a_judge_that_does_not_change_is_left_alone(title):
    assert run(title, 4, 30)["false"] == 0


@pytest.mark.parametrize(
    "title",
    ["0.2 points from the first run after the baseline on", "0.5 points from the first run after the baseline on"],
)
def test_a_new_version_is_found_within_a_week(title):
    found = run(title, 4, 8)
    assert found["false"] == 0
    assert found["within_7"] == 1


@pytest.mark.parametrize("title", ["0.1 points", "0.5 points up in half of the groups, down in the others"])
def test_a_change_is_found_within_a_week(title):
    found = run(title, 2, drift_recovery.CHANGED + 7)
    assert found["within_7"] == 1


@pytest.mark.parametrize(
    ("title", "last"),
    [
        ("no change, 2% of the reads fail", drift_recovery.CHANGED + 1),
        ("no change, days move all scores by 0.03 points", 30),
        ("0.2 points in half of the groups", drift_recovery.CHANGED + 1),
        ("1.5 points in a single group", drift_recovery.CHANGED + 14),
    ],
)
def test_the_simulated_gate_decides_as_the_real_one(title, last):
    cell = CELLS[title]
    series = drift_recovery.year(cell, np.random.default_rng(8), last)
    first, quantity = drift_recovery.first_alarm(series, cell.sizes)
    items = np.array(cell.sizes)
    runs = [
        Anchors("", items, {("hard", name): series[name][day] for name in ("score", "order", "ends", "failed")})
        for day in range(len(series["score"]))
    ]
    for day in {1, 2, 20, *((first - 1, first) if first else (last,))}:
        drifts = drift.drifts(runs[0], runs[1 : day + 1], check=day, levels=5, intervals=False)
        assert [found.quantity for found in drifts if found.changed] == [quantity] * (day == first), day
        assert not drift.reused(runs[0], runs[1 : day + 1])
    assert (first > 0) == cell.changes


def test_answers_that_are_used_again_are_recognised_within_two_weeks():
    for number in range(3):
        cell = CELLS["no change, 90% of the answers are those of the day before"]
        series = drift_recovery.year(cell, np.random.default_rng(number), 14)
        assert not drift_recovery.is_new(series, np.array(cell.sizes, dtype=float), 14)


def test_a_single_group_that_moves_is_found_within_a_fortnight():
    found = run("1.5 points in a single group", 2, drift_recovery.CHANGED + 14)
    assert (found["false"], found["within_28"]) == (0, 1)


def test_more_groups_exclude_smaller_drifts():
    """The page on the gate has the medians: ``python tests/recovery/drift_recovery.py --excluded``."""
    few, many = (np.median([drift_recovery.excluded(groups, 1, seed) for seed in range(3)]) for groups in (20, 120))
    assert 0.15 < few < 0.35
    assert 0.05 < many < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("title", QUIET)
def test_forty_years_of_a_judge_that_does_not_change_have_two_alarms_at_most(title):
    """The page on the gate has those of a hundred years: ``python tests/recovery/drift_recovery.py``."""
    assert run(title, 40, drift_recovery.DAYS)["false"] <= 2


@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title, cell in CELLS.items() if cell.changes])
def test_each_change_is_found_within_four_weeks(title):
    found = run(title, 20, drift_recovery.CHANGED + 28)
    assert found["false"] <= 1
    assert found["within_28"] >= 0.9
