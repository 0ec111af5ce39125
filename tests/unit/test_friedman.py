"""Rank tests against hand-worked blocks, scipy, and a plain version of Skillings and Mack's formulas."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from rubric_order.methods.uncertainty import friedman

GAP = math.nan


def test_friedman_of_a_hand_worked_case():
    # Three blocks rank three treatments 1 2 3, 1 2 3 and 1 3 2: rank sums 3, 7, 8.
    # 12 / (3 * 3 * 4) * (9 + 49 + 64) - 3 * 3 * 4 = 14/3 on 2 degrees of freedom: p = exp(-7/3).
    test = friedman.rank_test(np.array([[1, 2, 3], [10, 20, 30], [1, 9, 5.0]]))
    assert test.statistic == pytest.approx(14 / 3)
    assert (test.df, test.n_blocks, test.n_incomplete, test.method) == (2, 3, 0, "Friedman")
    assert test.p == pytest.approx(math.exp(-7 / 3))
    assert test.w == pytest.approx(14 / 3 / 6)


def test_skillings_mack_of_a_hand_worked_case():
    # Blocks (1, 2) of two values: weight sqrt(12 / 3) = 2, scores -1 and 1. Treatments a<b, b<c, a<c:
    # sums -2, 0, 2. Each pair of treatments is in one block: covariances -1, variances 2, whose inverse on sums of
    # zero is 1/3: (4 + 0 + 4) / 3.
    cells = np.array([[1, 2, GAP], [GAP, 1, 2], [1, GAP, 2.0]])
    test = friedman.rank_test(cells)
    assert test.statistic == pytest.approx(8 / 3)
    assert (test.df, test.n_blocks, test.n_incomplete, test.method) == (2, 3, 3, "Skillings-Mack")
    assert test.w == pytest.approx(8 / 9)


def plain_skillings_mack(cells):
    """The statistic as Skillings and Mack (1981) write it, for values without ties."""
    k = len(cells[0])
    sums, covariance = [0.0] * k, [[0.0] * k for _ in range(k)]
    for block in cells:
        here = [place for place in range(k) if not math.isnan(block[place])]
        if len(here) < 2:
            continue
        for place in here:
            rank = 1 + sum(block[other] < block[place] for other in here)
            sums[place] += math.sqrt(12 / (len(here) + 1)) * (rank - (len(here) + 1) / 2)
            for other in here:
                if other != place:
                    covariance[place][other] -= 1
                    covariance[place][place] += 1
    return float(np.array(sums) @ np.linalg.pinv(np.array(covariance)) @ np.array(sums))


@given(st.integers(2, 7), st.integers(2, 12), st.integers(0, 2**32))
def test_incomplete_blocks_agree_with_the_published_formula(k, n_blocks, seed):
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(n_blocks, k))
    cells[rng.random(cells.shape) < 0.3] = np.nan
    assert friedman.rank_test(cells).statistic == pytest.approx(plain_skillings_mack(cells.tolist()), abs=1e-9)


@given(st.integers(3, 7), st.integers(2, 15), st.integers(0, 2**32), st.integers(1, 4))
def test_complete_blocks_agree_with_scipy_ties_included(k, n_blocks, seed, n_values):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, n_values + 1, (n_blocks, k)).astype(float)
    assume(np.ptp(cells, axis=1).any())
    expected = stats.friedmanchisquare(*cells.T)
    found = friedman.rank_test(cells)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)


@given(st.integers(2, 6), st.integers(1, 10), st.integers(0, 2**32))
def test_names_order_and_levels_of_blocks_do_not_count(k, n_blocks, seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 6, (n_blocks, k)).astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    found = friedman.rank_test(cells)
    shuffled = cells[rng.permutation(n_blocks)][:, rng.permutation(k)]
    for other in (shuffled, cells + 10 * np.arange(n_blocks)[:, None], np.vstack([cells, np.full(k, np.nan)])):
        again = friedman.rank_test(other)
        assert again.statistic == pytest.approx(found.statistic, abs=1e-9)
        assert (again.df, again.n_blocks) == (found.df, found.n_blocks)
    assert math.isnan(found.w) or -1e-9 <= found.w <= 1 + 1e-9


def test_blocks_that_agree_on_every_order_have_w_1_also_where_they_are_incomplete():
    cells = np.arange(5.0) + 10 * np.arange(8)[:, None]
    assert friedman.rank_test(cells).w == pytest.approx(1)


def test_nothing_to_rank_is_no_evidence():
    for cells in (np.zeros((0, 4)), np.full((3, 4), np.nan), np.array([[1, np.nan], [np.nan, 2.0]])):
        test = friedman.rank_test(cells)
        assert (test.statistic, test.df, test.p, test.n_blocks) == (0, 0, 1, 0)
        assert math.isnan(test.w)
    tied = friedman.rank_test(np.ones((6, 3)))
    assert (tied.statistic, tied.df, tied.p, tied.w, tied.n_blocks) == (0, 0, 1, 0, 6)


def test_treatments_that_no_block_connects_cost_a_degree_of_freedom():
    cells = np.array([[1, 2, GAP, GAP], [GAP, GAP, 1, 2.0]] * 4)
    assert friedman.rank_test(cells).df == 2


@pytest.mark.parametrize(("n_blocks", "k"), [(96, 6), (400, 4)])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.slow
def test_the_level_is_kept_with_a_fifth_missing_at_random(n_blocks, k, rounded):
    rng = np.random.default_rng(20261121 + k)
    simulations = 2000
    rejected = 0
    for _ in range(simulations):
        cells = rng.normal(size=(n_blocks, 1)) + 0.7 * rng.normal(size=(n_blocks, k))
        cells = np.clip(np.round(3 + cells), 1, 5) if rounded else cells
        cells[rng.random(cells.shape) < 0.2] = np.nan
        rejected += friedman.rank_test(cells).p < 0.05
    assert 0.035 <= rejected / simulations <= 0.065


def test_a_planted_difference_is_found_with_a_fifth_missing():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(50):
        cells = rng.normal(size=(96, 1)) + rng.normal(size=(96, 6)) + np.array([0.8, 0, 0, 0, 0, 0])
        cells[rng.random(cells.shape) < 0.2] = np.nan
        found += friedman.rank_test(cells).p < 0.05
    assert found > 40
