"""Changes between runs: permutations counted by hand, rare events, groups of any size, and the level of all runs."""

import itertools

import numpy as np
import pytest
from scipy import stats

from rubric_order.extras.gate import run_changes


def exact(runs, weights, latest):
    """Share of all permutations of runs within groups whose difference is at least as large."""
    n_runs, n_groups = runs.shape
    weights = weights / weights.sum()
    sizes = np.array(
        [
            [runs[list(chosen), g].mean() - np.delete(runs[:, g], list(chosen)).mean() for g in range(n_groups)]
            for chosen in itertools.combinations(range(n_runs), latest)
        ]
    )
    all_sums = np.array([sum(weights * picked) for picked in itertools.product(*sizes.T)])
    observed = weights @ (runs[-latest:].mean(axis=0) - runs[:-latest].mean(axis=0))
    return (all_sums >= observed - 1e-12).mean()


@pytest.mark.parametrize("latest", [1, 2, 3])
def test_a_p_value_is_never_below_the_share_of_permutations(latest):
    rng = np.random.default_rng(5)
    smaller = 0
    for _ in range(60):
        runs, weights = rng.choice([0.0, 0.0, 1.0, 4.0], size=(4, 5)), rng.gamma(0.5, size=5) + 0.01
        runs[-latest:] += rng.choice([0, 3])
        difference = run_changes.difference(runs, weights, latest)
        share = exact(runs, weights, latest)
        assert difference.greater >= share - 1e-12
        smaller += difference.greater < 1
    assert smaller > 3


def test_the_most_unlikely_permutation_has_its_own_probability():
    runs = np.repeat([[2.0], [2.0], [2.0], [3.0]], 6, axis=1)
    difference = run_changes.difference(runs, np.ones(6), 1)
    assert difference.greater == pytest.approx(4.0**-6, rel=1e-3)
    assert difference.greater >= run_changes.smallest(4, 1, 6) * (1 - 1e-9)
    assert run_changes.difference(-runs, np.ones(6), 1).less == difference.greater
    before = run_changes.difference(runs[::-1], np.ones(6), 3)  # the first run alone differs
    assert before.less == pytest.approx(4.0**-6, rel=1e-3)


def test_one_rare_event_is_no_finding_however_quiet_the_runs_before():
    runs = np.zeros((300, 50))
    runs[-1, 7] = -4.0
    difference = run_changes.difference(runs, np.ones(50), 1)
    assert difference.less == pytest.approx(1 / 300, rel=1e-3)


def test_runs_that_are_the_same_have_no_finding_and_no_interval_but_0():
    runs = np.full((3, 40), 2.5)
    assert run_changes.difference(runs, np.ones(40), 1)[1:4] == (0.0, 1.0, 1.0)
    assert run_changes.interval(runs, np.ones(40), 1, 0.05, reach=4) == pytest.approx((0, 0), abs=1e-6)


def test_values_that_are_missing_leave_a_group_to_its_other_runs():
    rng = np.random.default_rng(0)
    runs = rng.normal(size=(6, 8))
    runs[1, 0] = runs[-1, 1] = np.nan
    difference = run_changes.difference(runs, np.ones(8), 1)
    assert difference.n_groups == 7  # group 1 has no last run
    means = runs[-1] - np.nanmean(runs[:-1], axis=0)
    assert difference.estimate == pytest.approx(np.delete(means, 1).mean())
    nothing = run_changes.difference(np.full((2, 3), np.nan), np.ones(3), 1)
    assert np.isnan(nothing.estimate)
    assert nothing.p == 1
    assert np.isnan(run_changes.interval(np.full((2, 3), np.nan), np.ones(3), 1, 0.05, reach=4)).all()


def test_order_of_groups_and_scale_of_weights_do_not_matter():
    rng = np.random.default_rng(1)
    runs, weights = rng.normal(size=(9, 30)) + np.arange(9)[:, None] / 5, rng.gamma(1, size=30)
    order = rng.permutation(30)
    one, other = run_changes.difference(runs, weights, 1), run_changes.difference(runs[:, order], 7 * weights[order], 1)
    assert one[1:] == pytest.approx(other[1:])
    assert one.greater < 0.01


def test_an_interval_leaves_out_0_where_the_test_rejects_and_moves_with_the_runs():
    rng = np.random.default_rng(2)
    runs = rng.normal(size=(5, 60))
    for shift in (0.0, 0.2, 0.4, 0.6):
        moved = runs + shift * (np.arange(5) == 4)[:, None]
        difference = run_changes.difference(moved, np.ones(60), 1)
        low, high = run_changes.interval(moved, np.ones(60), 1, 0.02, reach=4)
        assert low < difference.estimate < high
        assert (low > 0) == (difference.greater <= 0.01)
        base = run_changes.interval(runs, np.ones(60), 1, 0.02, reach=4)
        assert (low - shift, high - shift) == pytest.approx(base, abs=1e-6)


def test_intervals_hold_a_change_of_unequal_groups():
    rng = np.random.default_rng(3)
    sizes = np.array([20.0] * 5 + [1.0] * 35)
    inside = 0
    for _ in range(100):
        runs = rng.normal(size=(4, 40)) / np.sqrt(sizes)
        change = rng.normal(0.3, 0.3, size=40)
        runs[-1] += change
        low, high = run_changes.interval(runs, sizes, 1, 0.1, reach=4)
        inside += low <= sizes @ change / sizes.sum() <= high
    assert inside >= 90


def test_ends_of_an_interval_lie_within_what_there_can_be():
    assert run_changes.interval(np.array([[1.0, 2.0], [2.0, 2.5]]), np.ones(2), 1, 0.05, reach=4) == (-4, 4)


@pytest.mark.parametrize("latest", [1, 3])
def test_whole_runs_are_compared_as_student_s_test_compares_their_means(latest):
    """All groups move together, so that a permutation within groups finds what is a common day."""
    rng = np.random.default_rng(4)
    means = rng.normal(0, 0.2, size=12) + 1.1 * (np.arange(12) >= 12 - latest)
    runs, weights = means[:, None] + rng.normal(0, 1e-4, size=(12, 40)), rng.gamma(1, size=40)
    whole = runs @ weights / weights.sum()
    student = stats.ttest_ind(whole[-latest:], whole[:-latest], alternative="greater")
    days = run_changes._split(runs, weights, latest).days(1e-9)
    assert days.estimate / days.observed == pytest.approx(student.statistic, rel=1e-6)
    assert days.freedom == student.df
    wide = run_changes._split(runs, weights, latest).days(5.0)
    assert wide.tail(1.0) == pytest.approx(2 * student.pvalue, rel=1e-6)
    assert wide.tail(-1.0) == 1
    assert run_changes.difference(runs, weights, latest).greater < student.pvalue / 100
    assert run_changes.difference(runs, weights, latest, daily=5.0).greater == wide.tail(1.0)


def test_a_shock_that_is_allowed_for_widens_the_first_comparison():
    """Two groups that change by 1 and 3: their standard error is 1, and that of the shocks to two runs is 2."""
    days = run_changes._split(np.array([[0.0, 0.0], [1.0, 3.0]]), np.ones(2), 1).days(2 / np.sqrt(2))
    assert (days.estimate, days.allowed, days.freedom) == pytest.approx((2, np.sqrt(1 + 4), 0))
    assert days.tail(1.0) == pytest.approx(2 * stats.norm.sf(2 / np.sqrt(5)))
    assert days.half_width(0.1) == pytest.approx(stats.norm.isf(0.025) * np.sqrt(5))


def test_an_interval_of_whole_runs_leaves_out_0_where_the_test_rejects():
    rng = np.random.default_rng(6)
    runs = rng.normal(size=(9, 60)) / 4 + rng.normal(size=(9, 1)) / 8
    for shift in (0.0, 0.3, 0.5, 0.8):
        moved = runs + shift * (np.arange(9) == 8)[:, None]
        low, high = run_changes.interval(moved, np.ones(60), 1, 0.02, reach=4, daily=0.05)
        difference = run_changes.difference(moved, np.ones(60), 1, daily=0.05)
        assert low < difference.estimate < high
        assert (low > 0) == (difference.greater <= 0.01)


def test_answers_of_the_run_before_are_recognised_by_the_sign_of_distances():
    """The second of three runs is nearer to the third in all 16 groups, which is left out, and then in 14, not in 2."""
    side = np.tile([1.0, -1.0], 8)
    back = np.where(np.arange(16) < 2, -1.15, 1.15)
    runs = np.stack([0 * back, 1 + 0 * back, 1.1 + 0 * back, back]) * side
    assert run_changes.reused(runs, np.ones(16)) == pytest.approx(2 * stats.norm.sf(12 / np.sqrt(16 * 16 / 15)))
    assert run_changes.reused(runs[:3], np.ones(16)) == 1
    assert run_changes.reused(runs[:, :1], np.ones(1)) == 1


def test_distances_are_those_beside_the_median_group():
    runs = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.5], [np.nan] * 3, [1.0, np.nan, 3.5]])
    expected = [[0.0, 0.0, 0.5], [np.nan] * 3, [0.25, np.nan, 0.25]]
    np.testing.assert_allclose(run_changes.distances(runs), expected)


@pytest.mark.parametrize("days", [15, 20, 28, 60])
def test_a_change_of_many_groups_is_no_reuse(days):
    """Each group moves its own way on day 14."""
    rng = np.random.default_rng(10)
    runs = rng.normal(size=(60, 400)) / 8 + (np.arange(60)[:, None] >= 14) * rng.normal(size=400)
    assert run_changes.reused(runs[:days], np.ones(400)) > 0.01


@pytest.mark.parametrize(("reuse", "n_groups", "days"), [(0.9, 60, 14), (0.5, 60, 40), (0.3, 60, 150), (0.5, 10, 150)])
def test_answers_that_are_used_again_are_recognised(reuse, n_groups, days):
    rng = np.random.default_rng(11)
    reads = rng.normal(size=(days, n_groups, 30))
    for day in range(1, days):
        reads[day] = np.where(rng.random((n_groups, 30)) < reuse, reads[day - 1], reads[day])
    assert run_changes.reused(reads.mean(axis=2), np.ones(n_groups)) < 1e-4


def test_a_judge_that_begins_to_waver_has_new_answers():
    rng = np.random.default_rng(9)
    runs = np.where(np.arange(14)[:, None] < 5, 5.0, 5 - 0.1 * (rng.random((14, 60)) < 0.3))
    assert all(run_changes.reused(runs[:n], np.ones(60)) > 0.001 for n in range(3, 15))


@pytest.mark.parametrize("change", [0.0, 0.2, 5.0])
def test_new_answers_are_not_taken_for_old_ones_whatever_changes(change):
    rng = np.random.default_rng(7)
    changed = change * (np.arange(30)[:, None] >= 28) * (np.arange(60) < 30)
    runs = np.round(rng.normal(size=(30, 60)) + changed + rng.normal(size=(30, 1)), 1)
    assert run_changes.reused(runs[:-1], np.ones(60)) > 0.01
    assert run_changes.reused(np.full((5, 60), 3.0), np.ones(60)) > 0.01
    rare = np.full((20, 60), 5.0)
    rare[rng.integers(20, size=4), rng.integers(60, size=4)] = 4.9
    assert run_changes.reused(rare, np.ones(60)) > 0.01


def test_a_single_group_has_the_p_value_of_its_own_runs():
    rng = np.random.default_rng(8)
    runs = rng.normal(size=(40, 5)) + 3 * (np.arange(40)[:, None] >= 26) * (np.arange(5) == 2)
    p = run_changes.single(runs, 14)
    for group in range(5):
        own = run_changes.difference(runs[:, [group]], np.ones(1), 14)
        assert p[group] == min(own.greater, own.less)
    assert p[2] < 0.001


def test_parts_of_the_level_add_up_to_1():
    parts = [run_changes.spending(run) for run in range(1, 20 * run_changes.YEAR)]
    assert 0.999 < sum(parts) < 1
    assert parts == sorted(parts, reverse=True)
    with pytest.raises(ValueError, match="expected a run from 1"):
        run_changes.spending(0)


def test_recent_runs_are_compared_once_there_are_as_many_before():
    assert [run_changes.latest(n) for n in (1, 2, 3, 14, 56)] == [[], [1], [1, 2], [1, 7, 13], [1, 7, 28, 55]]
    with pytest.raises(ValueError, match="expected 1 to 1 runs at the end"):
        run_changes.difference(np.zeros((2, 3)), np.ones(3), 2)
