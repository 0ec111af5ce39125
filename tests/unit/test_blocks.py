"""Reads as arrays: whatever the order of the rows, each score stands in its item's row and its read's column."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.base.keys import KEYS
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings


def row(item, index, ordering, score, *, group="g", human=3.0, **keys):
    key = dict(zip(KEYS, ("s", "j", "default", "baseline", "d", "balanced", len(ordering)), strict=True))
    about = {"item_id": item, "group_id": group, "candidate": item, "criterion": "c", "human_score": human}
    read = {"read_index": index, "ordering": np.array(ordering), "score": score, "expected_score": np.nan}
    return key | keys | about | read


@pytest.fixture
def table():
    rows = [
        *(row("a", 0, [1, 2], 1), row("a", 1, [2, 1], 2), row("a", 2, [2, 1], None), row("a", 3, [1, 2], 2)),
        *(row("b", 0, [1, 2], 1), row("b", 1, [2, 1], 1), row("b", 2, [2, 1], 2), row("b", 3, [1, 2], 2)),
    ]
    return pd.DataFrame(rows).astype({"score": "Int8"})


def test_scores_stand_by_item_and_read(table):
    (block,) = blocks.blocks(table.sample(frac=1, random_state=1))
    assert block.keys == dict(zip(KEYS, ("s", "j", "default", "baseline", "d", "balanced", 2), strict=True))
    assert block.items["item_id"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(block.matrix("score"), [[1, 2, np.nan, 2], [1, 1, 2, 2]])
    assert [readout for readout, _ in block.readouts()] == ["hard"]


def test_the_mean_under_an_ordering_needs_every_read_of_it(table):
    (block,) = blocks.blocks(table)
    shown, number = block.orderings
    assert shown.tolist() == [[1, 2], [2, 1]]
    assert number.tolist() == [0, 1, 1, 0] * 2
    np.testing.assert_array_equal(block.ordering_means(block.matrix("score")), [[1.5, np.nan], [1.5, 1.5]])


def test_orderings_keep_the_order_of_the_reads():
    (block,) = blocks.blocks(simulated_reads(groups=3, strategies=["balanced"]).sample(frac=1, random_state=1))
    assert block.orderings[0].tolist() == orderings.balanced(5).tolist()


def test_blocks_are_sorted_and_hold_every_read_once():
    table = pd.concat(
        [simulated_reads(groups=4, n=n, judge=judge, seed=n) for judge in ("b", "a") for n in (5, 2)],
        ignore_index=True,
    )
    found = list(blocks.blocks(table))
    assert [block.key for block in found] == sorted(block.key for block in found)
    assert len(found) == 2 * 2 * 3
    back = pd.concat([block.table for block in found])
    assert back.index.sort_values().tolist() == list(range(len(table)))
    for block in found:
        expected = table
        for name, value in block.keys.items():
            expected = expected[expected[name] == value]
        wide = expected.pivot(index="item_id", columns="read_index", values="score").astype(float)
        np.testing.assert_array_equal(block.matrix("score"), wide.to_numpy())
        assert block.items["item_id"].tolist() == wide.index.tolist()


def test_tables_one_by_one_give_the_blocks_of_one_table():
    parts = [simulated_reads(groups=3, judge=judge) for judge in ("a", "b")]
    together, apart = blocks.blocks(pd.concat(parts, ignore_index=True)), blocks.blocks(iter(parts))
    for one, other in zip(together, apart, strict=True):
        assert one.key == other.key
        np.testing.assert_array_equal(one.matrix("score"), other.matrix("score"))


def test_no_reads_give_no_blocks(table):
    assert list(blocks.blocks(table.iloc[:0])) == []


def test_sums_over_units_and_their_resamples():
    values, unit = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([1, 0, 1])
    assert resampling.sum_units(values, unit).tolist() == [[3, 4], [6, 8]]
    sums = resampling.resampled_sums(values, unit, resamples=200, seed=1, name="test")
    assert sums[0].tolist() == [9, 12]
    # Two units: a resample is one of them twice, or both.
    assert set(map(tuple, sums[1:])) == {(6, 8), (9, 12), (12, 16)}
    alone = resampling.resampled_sums(values, np.zeros(3, dtype=int), resamples=5, seed=1, name="test")
    assert np.isnan(alone[1:]).all()


def test_units_are_numbered_by_their_ids():
    (block,) = blocks.blocks(simulated_reads(groups=3, candidates=2, strategies=["single"]))
    assert block.units("group").tolist() == [0, 0, 1, 1, 2, 2]
    assert block.units("item").tolist() == list(range(6))
    assert block.units("group", np.array([False] * 2 + [True] * 4)).tolist() == [0, 0, 1, 1]


def test_small_tables_become_one():
    parts = [({"a": 1}, {"b": np.array([1, 2]), "c": "x"}), ({"a": 2}, {"b": np.array([3])})]
    table = tidy.join_parts(parts, ["c", "a", "b", "d"], {"c": "str"})
    expected = pd.DataFrame({"c": ["x", "x", np.nan], "a": [1, 1, 2], "b": [1, 2, 3], "d": np.nan})
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    assert tidy.join_parts([], ["a"]).columns.tolist() == ["a"]


@pytest.mark.parametrize("strategy", ["balanced", "random", "fixed"])
def test_recorded_reads_are_crossed_where_their_orderings_are(strategy):
    table = simulated_reads(strategies=[strategy])
    (block,) = blocks.blocks(table)
    (recorded,) = blocks.blocks(table.assign(strategy="recorded"))
    assert block.crossed == recorded.crossed == (strategy != "fixed")


def test_reads_of_one_ordering_beside_balanced_ones_leave_them_crossed_and_items_of_one_ordering_do_not():
    balanced, fixed = simulated_reads(strategies=["balanced"]), simulated_reads(strategies=["fixed"], reads=40)
    fixed["read_index"] += 10
    (block,) = blocks.blocks(pd.concat([balanced, fixed]).assign(strategy="recorded"))
    assert block.crossed  # each ordering counts once for each item
    few = balanced[balanced["item_id"].isin(balanced["item_id"].unique()[:4])]
    (block,) = blocks.blocks(pd.concat([few, fixed]).assign(strategy="recorded"))
    assert not block.crossed


def test_rows_of_one_length_are_a_matrix_and_others_an_error_also_where_their_sum_would_fit():
    rows = pd.Series([np.array([0.5, 0.25]), [1, 0], np.array([0.0, 1.0])]).to_numpy()
    assert blocks.matrix_of(rows).tolist() == np.stack(rows).tolist()
    with pytest.raises(ValueError, match="one length"):
        blocks.matrix_of(pd.Series([[1, 2, 3], [1], [1, 2]]).to_numpy())
