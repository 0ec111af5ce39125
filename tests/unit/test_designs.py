"""The design of reads: which orderings, how often, and whether every score meets every position."""

import numpy as np
import pytest
from factories import random_scores

from rubric_order.methods.position import blocks
from rubric_order.prompts import orderings

TURNS = orderings.rotations(4)


def design(shown, *, items=3, strategy="recorded", n=4, **options):
    table = random_scores(
        1, n=n, n_items=items, n_reads=len(shown), failing=0, shown=shown, strategy=strategy, **options
    )
    (block,) = blocks.blocks(table)
    return block.design


@pytest.mark.parametrize("times", [1, 2, 7])
def test_reading_one_ordering_more_often_leaves_a_design_balanced(times):
    found = design(np.vstack([*[TURNS[:1]] * (times - 1), TURNS]))
    assert (found.fewest, found.most, found.several.tolist()) == (1, times, [4, 4, 4])
    assert found.shared
    assert found.balanced
    assert found.crossed


def test_an_ordering_that_is_not_read_leaves_scores_at_some_positions_more_often():
    found = design(TURNS[:3])
    assert found.shared
    assert not found.balanced
    assert not found.crossed
    # Score 1 stands at positions 1, 4 and 3.
    assert found.exposure[0, 0] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_reads_that_are_chosen_keep_the_numbers_of_items_and_orderings():
    (block,) = blocks.blocks(random_scores(1, n=4, n_items=3, n_reads=8, failing=0))
    chosen = (block.item != 1) & (block.orderings[1] < 6)
    found = block.design_of(chosen)
    assert found.several.tolist() == [6, 0, 6]
    assert (found.fewest, found.most, len(found.orderings)) == (0, 1, 8)
    assert found.weights.tolist() == [1] * 12
    assert not found.exposure[1].any()


def test_items_that_are_read_in_orderings_of_their_own_share_none():
    rng = np.random.default_rng(1)
    table = random_scores(1, n_items=6, n_reads=5, failing=0)
    table["ordering"] = [*rng.permuted(np.tile(np.arange(1, 6), (30, 1)), axis=1)]
    (block,) = blocks.blocks(table)
    assert not block.design.shared
    assert block.common is block


def test_one_stray_read_leaves_the_orderings_that_items_share():
    table = random_scores(1, n=4, n_items=30, n_reads=8, failing=0)
    table["ordering"] = [*np.tile(np.vstack([TURNS, TURNS[:, ::-1]]), (30, 1))]
    table.at[table.index[3], "ordering"] = np.array([2, 1, 3, 4])
    (block,) = blocks.blocks(table)
    assert block.design.shared
    assert block.design.common.tolist().count(False) == 1
    assert (len(block.common.orderings[0]), len(block.common.table)) == (8, 239)
