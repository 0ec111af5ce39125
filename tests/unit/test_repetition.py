"""Variance of repetition: by hand, from probabilities, and from repeats."""

import numpy as np
import pytest
from factories import score_table

from rubric_order.methods.position import blocks, repetition
from rubric_order.prompts import orderings


def block_of(table):
    (block,) = blocks.blocks(table)
    return block


def test_the_variance_of_a_draw_by_hand():
    # Mean 2.5; squares 1/4, 1/4, 9/4, 9/4 a quarter each: 5/4.
    assert repetition.variance_of_draw(np.full(4, 0.25), np.arange(1, 5)) == pytest.approx(1.25)
    assert repetition.variance_of_draw(np.array([0, 1, 0]), np.arange(3)) == 0


def test_a_draw_at_another_temperature_is_the_softmax_of_the_log_probabilities_over_it():
    shares = np.array([[0.1, 0.6, 0.3], [0.2, 0.4, 0.4]])
    for temperature in (0.3, 1, 2):
        weights = np.exp(np.log(shares) / temperature)
        expected = weights / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(repetition.temper(shares, temperature), expected)
    assert repetition.temper(shares, 0).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert repetition.temper(np.array([0.0, 0.7, 0.3]), 0.001).tolist() == [0, 1, 0]


def test_probabilities_give_each_read_its_own_variance_and_expected_scores_none():
    sure, torn = [0.0, 0, 0, 0, 1], [0.5, 0, 0, 0, 0.5]
    table = score_table([[5, 1, None]], probabilities=[[sure, torn, torn]], shown=orderings.balanced(5)[:3])
    block = block_of(table)
    values = block.matrix("score")
    found, source = repetition.variances(block, "hard", values, 1.0)
    np.testing.assert_allclose(found, [[0, 4, np.nan]])
    assert source == repetition.PROBABILITIES
    np.testing.assert_allclose(repetition.variances(block, "hard", values, 0)[0], [[0, 0, np.nan]])
    np.testing.assert_allclose(repetition.variances(block, "soft", block.matrix("expected_score"), 1.0)[0][:, :2], 0)
    assert repetition.variances(block, "hard", values, None) is None


def test_repeats_give_each_ordering_its_own_variance():
    shown = np.tile(orderings.rotations(5)[:2], (3, 1))
    table = score_table([[1, 5, 3, 5, 2, None], [2, None, 2, None, 2, 4]], shown=shown)
    block = block_of(table)
    found, source = repetition.variances(block, "hard", block.matrix("score"))
    np.testing.assert_allclose(found, [[1, 0, 1, 0, 1, np.nan], [0, np.nan, 0, np.nan, 0, np.nan]])
    assert source == repetition.REPEATS
    assert repetition.repeats_of(block) == 3


@pytest.mark.parametrize(
    "shown", [orderings.balanced(5), orderings.fixed(5, 10), [*orderings.balanced(5)[:9], range(1, 6)]]
)
def test_one_read_of_each_ordering_or_one_ordering_or_unequal_repeats_say_nothing(shown):
    shown = [list(row) for row in shown]
    block = block_of(score_table([[1] * 10, [2] * 10], shown=shown))
    assert repetition.variances(block, "hard", block.matrix("score")) is None
