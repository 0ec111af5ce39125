"""Reads laid out as arrays, position effects fitted with text levels, and groups with random signs."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base import permutations
from rubric_order.base.keys import KEYS
from rubric_order.methods import tidy
from rubric_order.methods.position import panels


def test_a_panel_is_the_table_laid_out():
    values = np.array([[[1, 2, np.nan], [4, 5, 1]], [[3, 3, 3], [2, 2, 5]]], dtype=float)
    reads = criteria_table(values, [[1, 2, 3], [3, 1, 2]], human=[[1, 2, 3], [4, 5, 6]], groups=["b", "a"])
    found = panels.panel(reads.sample(frac=1, random_state=1), "hard")
    by_name = [found.criteria.index(name) for name in ("wit", "plot", "style")]
    np.testing.assert_array_equal(found.values[:, :, by_name], values)
    assert found.positions[0][:, by_name].tolist() == [[1, 2, 3], [2, 3, 1]]
    number = {0: None} | {place + 1: name for place, name in enumerate(found.criteria)}
    before = [[number[code] for code in row] for row in found.before[1][:, by_name].tolist()]
    assert before == [[None, "wit", "plot"], ["style", "wit", None]]
    assert found.human[:, by_name].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert found.groups.tolist() == [1, 0]
    assert found.group_ids.tolist() == ["b", "a"]


def test_texts_may_lack_criteria_and_reads():
    values, shown = draw_criteria(3, 3, rng=np.random.default_rng(1))
    reads = criteria_table(values, shown)
    reads = reads[~((reads["unit_id"] == "t0001") & (reads["criterion"] == "plot"))]
    reads = reads[~((reads["unit_id"] == "t0002") & (reads["read_index"] >= 4))]
    found = panels.panel(reads, "hard")
    assert (found.positions[1, :, 1] == 0).all()
    assert np.isnan(found.values[1, :, 1]).all()
    assert (found.positions[2, 4:] == 0).all()
    cells = panels.cells(found.values, found.positions)
    flipped = panels.flipped_shifts(cells, found.groups, 20, rng=np.random.default_rng(2))
    assert flipped.shape == (20, 3, 3)
    assert not np.isnan(flipped).any()


def test_blocks_gives_each_group_by_each_readout_that_it_has():
    values, shown = draw_criteria(4, 3, rng=np.random.default_rng(1))
    both = [
        criteria_table(values, shown, soft=values + 0.1),
        criteria_table(values, shown, strategy="fixed"),
        criteria_table(np.full_like(values, np.nan), shown, judge="silent"),
    ]
    names = [(name["judge"], name["strategy"], readout) for name, readout, _, _ in panels.blocks(pd.concat(both))]
    assert names == [("j", "balanced", "hard"), ("j", "balanced", "soft")]
    names = [(name["strategy"], readout) for name, readout, _, _ in panels.blocks(both, crossed=False)]
    assert names == [("balanced", "hard"), ("balanced", "soft"), ("fixed", "hard")]


def test_rows_are_sorted_by_keys_as_text_and_a_row_without_a_key_comes_last():
    row = dict.fromkeys(KEYS[:-1], "a") | {"n": 5}
    rows = [row | {"judge": judge, "estimate": place} for place, judge in enumerate([None, 10, "b", 9, math.nan])]
    table = tidy.make_table(rows, [*KEYS, "estimate"])
    assert table["estimate"].tolist() == [1, 3, 2, 0, 4]
    assert table["judge"].dropna().tolist() == ["10", "9", "b"]


# Position effects.


def test_position_effects_of_complete_balanced_reads_are_differences_of_means():
    values, shown = draw_criteria(7, 4, rng=np.random.default_rng(1))
    panel = panels.panel(criteria_table(values, shown), "hard")
    level, shift = panels.position_effects(panels.cells(panel.values, panel.positions))
    place = permutations.positions_of(shown)
    for criterion in range(4):
        means = [values[:, :, criterion][:, place[:, criterion] == p].mean() for p in range(1, 5)]
        assert level[criterion] == pytest.approx(np.mean(means))
        assert shift[criterion] == pytest.approx(means - np.mean(means))


def plain_effects(panel, criterion, weights):
    """Level and shifts from a weighted regression with a dummy for each text and for each position."""
    text, read = np.nonzero(~np.isnan(panel.values[:, :, criterion]))
    place = panel.positions[text, read, criterion] - 1
    n_texts, n_places = len(weights), panel.positions.max()
    x = np.hstack([(text[:, None] == np.arange(n_texts)), place[:, None] == np.arange(n_places)]).astype(float)
    root = np.sqrt(weights[text])
    score = panel.values[text, read, criterion]
    solution = np.linalg.lstsq(x * root[:, None], score * root, rcond=None)[0]
    shift, own = solution[n_texts:], solution[:n_texts]
    used = np.isin(np.arange(n_texts), text)
    return ((own + shift.mean()) * weights)[used].sum() / weights[used].sum(), shift - shift.mean()


@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(["balanced", "random", "balanced_williams"]))
def test_position_effects_of_incomplete_reads_agree_with_a_plain_regression(seed, n_criteria, strategy):
    rng = np.random.default_rng(seed)
    values, shown = draw_criteria(12, n_criteria, rng=rng, strategy=strategy, failing=0.2)
    panel = panels.panel(criteria_table(values, shown), "hard")
    weights = rng.integers(1, 4, (2, 12)).astype(float)
    level, shift = panels.position_effects(panels.cells(panel.values, panel.positions), weights)
    for criterion in range(n_criteria):
        if not np.isnan(shift[:, criterion]).any():
            for row, weight in enumerate(weights):
                expected, shifts = plain_effects(panel, criterion, weight)
                assert level[row, criterion] == pytest.approx(expected)
                assert shift[row, criterion] == pytest.approx(shifts, abs=1e-9)


def test_a_position_is_not_credited_with_texts_that_failed_elsewhere():
    # Text 0 scores 5 everywhere and text 1 scores 1 everywhere; text 1 fails in position 2.
    values = np.array([[[5.0], [5.0]], [[1.0], [np.nan]]])
    positions = np.array([[[1], [2]], [[1], [2]]])
    level, shift = panels.position_effects(panels.cells(values, positions))
    assert shift.tolist() == [[pytest.approx(0), pytest.approx(0)]]
    assert level == pytest.approx([3])


def test_positions_that_no_text_connects_have_no_shift():
    values = np.array([[[5.0], [4.0]], [[1.0], [2.0]]])
    positions = np.array([[[1], [2]], [[3], [4]]])
    assert np.isnan(panels.position_effects(panels.cells(values, positions))[1]).all()
    one = np.ones((2, 1, 1), dtype=int)
    assert np.isnan(panels.position_effects(panels.cells(np.ones((2, 1, 1)), one))[1]).all()


# Random signs of groups.


def test_a_group_changes_its_sign_as_a_whole():
    # Two groups of two texts: their shifts are a and b, so that all there can be are plus or minus (a + b) / 2 or half
    # their difference, for both criteria at once.
    values, shown = draw_criteria(4, 2, rng=np.random.default_rng(3), rounded=False)
    panel = panels.panel(criteria_table(values, shown, groups=["a", "a", "b", "b"], soft=values), "soft")
    one, two = (
        panels.position_effects(panels.cells(panel.values[rows], panel.positions[rows]))[1]
        for rows in (slice(2), slice(2, 4))
    )
    cells = panels.cells(panel.values, panel.positions)
    found = panels.flipped_shifts(cells, panel.groups, 200, rng=np.random.default_rng(4))
    possible = np.array([(s * one + t * two) / 2 for s in (-1, 1) for t in (-1, 1)])
    nearest = np.abs(found[:, None] - possible).max(axis=(2, 3)).argmin(axis=1)
    assert found == pytest.approx(possible[nearest])
    assert np.bincount(nearest, minlength=4) == pytest.approx(50, abs=22)


def test_random_signs_leave_unknown_positions_unknown():
    values = np.array([[[5.0], [4.0]], [[1.0], [2.0]]])
    positions = np.array([[[1], [2]], [[3], [4]]])
    found = panels.flipped_shifts(panels.cells(values, positions), np.arange(2), 5, rng=np.random.default_rng(5))
    assert np.isnan(found).all()
