"""Reads without a score: counts against plain ones, bounds against a search of everything that could have been."""

import itertools

import numpy as np
import pandas as pd
import pytest
from factories import score_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from rubric_order.analyses.overview.parse_failures import estimate as parse_failures
from rubric_order.base.keys import KEYS
from rubric_order.methods.position import uniformity
from rubric_order.methods.uncertainty import bounds

FEW = settings(max_examples=6)


# Counts.


def random_table(seed, *, n=5, judge="judge"):
    rng = np.random.default_rng(seed)
    choices = np.array([*range(1, n + 1), None, "ambiguous"], dtype=object)
    return score_table(rng.choice(choices, size=(8, 2 * n)).tolist(), n=n, judge=judge)


def plain_failures(table):
    found = {}
    for read in table.itertuples():
        places = {(str(score), str(read.ordering.tolist().index(score) + 1)) for score in range(1, read.n + 1)}
        for score, position in {*places, ("all", "all")}:
            for reason in {"all", read.failure} if isinstance(read.failure, str) else {"all"}:
                key = (read.judge, read.n, score, position, reason)
                reads, failed = found.get(key, (0, 0))
                found[key] = (reads + 1, failed + isinstance(read.failure, str))
    return found


def test_parse_failures_of_a_hand_worked_case():
    result = parse_failures.estimate(score_table([[1, None], ["truncated", 2]], n=2, shown=[[1, 2], [2, 1]]))
    assert list(result.columns) == [*KEYS, "option", "position", "reason", "n_scores", "n_failed"]
    assert list(result.iloc[:, len(KEYS) :].itertuples(index=False, name=None)) == [
        ("1", "1", "all", 2, 1),
        ("1", "1", "truncated", 2, 1),
        ("1", "2", "all", 2, 1),
        ("1", "2", "no_score", 2, 1),
        ("2", "1", "all", 2, 1),
        ("2", "1", "no_score", 2, 1),
        ("2", "2", "all", 2, 1),
        ("2", "2", "truncated", 2, 1),
        ("all", "all", "all", 4, 2),
        ("all", "all", "no_score", 4, 1),
        ("all", "all", "truncated", 4, 1),
    ]


@FEW
@given(st.integers(0, 1000))
def test_parse_failures_agree_with_a_plain_count_in_any_row_order(seed):
    table = pd.concat([random_table(seed), random_table(seed + 1, n=3, judge="another")], ignore_index=True)
    result = parse_failures.estimate(table)
    counted = {(row.judge, row.n, row.option, row.position, row.reason): row.n_failed for row in result.itertuples()}
    plain = plain_failures(table)
    assert counted == {key: failed for key, (_, failed) in plain.items() if failed or key[-1] == "all"}
    pooled = result[result["reason"] == "all"]
    for row in pooled.itertuples():
        assert row.n_scores == plain[row.judge, row.n, row.option, row.position, "all"][0]
    pd.testing.assert_frame_equal(parse_failures.estimate(table.sample(frac=1, random_state=seed)), result)
    parts = [part for _, part in table.groupby("judge")]
    pd.testing.assert_frame_equal(parse_failures.estimate(iter(parts)), result)


def test_parse_failures_say_so_when_nothing_failed():
    result = parse_failures.estimate(score_table([[3] * 10] * 4))
    assert set(result["reason"]) == {"all"}
    assert set(result["n_failed"]) == {0}
    assert len(result) == 25 + 1
    assert result["n_scores"].tolist() == [8] * 25 + [40]


def test_recorded_reads_are_counted_by_position_only_where_orderings_vary():
    canonical = np.tile([1, 2, 3, 4, 5], (10, 1))
    alike = parse_failures.estimate(score_table([[3] * 10], shown=canonical, strategy="recorded"))
    assert alike["position"].tolist() == ["all"]
    assert len(parse_failures.estimate(score_table([[3] * 10], strategy="recorded"))) == 26


# Bounds of shares and V.


@pytest.mark.parametrize(("counts", "failed"), [([3, 1], 2), ([0, 0, 4], 3), ([2, 2, 2, 2, 2], 4), ([5, 1, 3], 1)])
def test_bounds_of_shares_and_v_hold_for_everything_that_could_have_been_selected(counts, failed):
    counts = np.array(counts)
    n = len(counts)
    low, high = bounds.share_bounds(counts, failed)
    found = []
    for selected in itertools.product(range(n), repeat=failed):
        total = counts + np.bincount(selected, minlength=n)
        shares = total / total.sum()
        assert ((low - 1e-12 <= shares) & (shares <= high + 1e-12)).all()
        found.append((*shares, uniformity.cramers_v(total)))
    found = np.array(found)
    assert low == pytest.approx(found[:, :-1].min(axis=0))
    assert high == pytest.approx(found[:, :-1].max(axis=0))
    least, greatest = bounds.v_bounds(counts, failed)
    assert greatest == pytest.approx(found[:, -1].max())
    assert least <= found[:, -1].min() + 1e-12  # a read may be divided


def test_least_v_is_that_of_the_best_division_of_the_failed_reads():
    counts = np.array([9.0, 4, 1, 6])
    for failed in (0, 2, 5, 20, 40):
        best = optimize.minimize(
            lambda x: uniformity.cramers_v(counts + x) ** 2,
            np.full(4, failed / 4),
            bounds=[(0, failed)] * 4,
            constraints={"type": "eq", "fun": lambda x, failed=failed: x.sum() - failed},
            tol=1e-14,
        )
        assert bounds.v_bounds(counts, failed)[0] == pytest.approx(np.sqrt(best.fun), abs=1e-4)


def test_without_failures_bounds_are_the_estimates():
    counts = np.array([5.0, 3, 2])
    assert np.array(bounds.share_bounds(counts, 0)) == pytest.approx(np.tile(counts / 10, (2, 1)))
    assert bounds.v_bounds(counts, 0) == pytest.approx([uniformity.cramers_v(counts)] * 2)
    scores, human = np.array([1.0, 2, 3, 3]), np.array([2.0, 1, 4, 3])
    assert bounds.correlation_bounds(scores, scores, human) == pytest.approx([np.corrcoef(scores, human)[0, 1]] * 2)


# Bounds of r.


def intervals(seed, *, n_items=6, n_failed=3, n=5):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, n_items) + rng.random(n_items)
    known = np.clip(np.round(human + rng.normal(0, 1, n_items)), 1, n)
    low, high = known.copy(), known.copy()
    chosen = rng.choice(n_items, n_failed, replace=False)
    low[chosen], high[chosen] = 1, n
    return low, high, human


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_r_hold_for_every_score_and_the_positive_maximum_is_reached(seed):
    low, high, human = intervals(seed)
    least, greatest = bounds.correlation_bounds(low, high, human)
    free = np.flatnonzero(high > low)
    scores = np.array(list(itertools.product(np.linspace(1, 5, 17), repeat=len(free))))
    x = np.tile(low, (len(scores), 1))
    x[:, free] = scores
    moved = x - x.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found = moved @ (human - human.mean()) / (np.sqrt((moved**2).sum(axis=1)) * human.std() * np.sqrt(len(human)))
    assert least - 1e-9 <= np.nanmin(found)
    assert np.nanmax(found) <= greatest + 1e-9
    assert greatest == pytest.approx(np.nanmax(found), abs=0.01)  # a finer grid comes closer
    if np.nanmin(found) < -0.05:
        assert least == pytest.approx(np.nanmin(found), abs=0.01)


def test_greatest_r_agrees_with_an_optimiser():
    low, high, human = intervals(20, n_items=60, n_failed=25)
    best = max(
        -optimize.minimize(
            lambda x: -np.corrcoef(x, human)[0, 1], start, bounds=np.column_stack([low, high]), method="L-BFGS-B"
        ).fun
        for start in (np.clip(human, low, high), (low + high) / 2)
    )
    assert bounds.correlation_bounds(low, high, human)[1] == pytest.approx(best, abs=1e-4)


def test_bounds_of_r_are_not_far_apart_where_few_reads_failed():
    rng = np.random.default_rng(30)
    human = rng.normal(3, 1, 500)
    mean = np.clip(human + rng.normal(0, 1, 500), 1, 5)
    failed = rng.random(500) < 0.1  # one of ten reads of each tenth item
    low, high = np.where(failed, 0.9 * mean + 0.1, mean), np.where(failed, 0.9 * mean + 0.5, mean)
    least, greatest = bounds.correlation_bounds(low, high, human)
    r = np.corrcoef(0.5 * (low + high), human)[0, 1]
    assert r - 0.03 < least < r < greatest < r + 0.03


def test_bounds_of_r_that_cannot_be_positive():
    human = np.array([1.0, 2, 3, 4])
    low = np.array([4.0, 3, 2, 1])
    least, greatest = bounds.correlation_bounds(low, low + 0.1, human)
    assert least == pytest.approx(-1)
    assert -1 <= greatest < -0.9


@pytest.mark.parametrize("human", [[2.0, 2, 2], [2.0]])
def test_r_that_is_not_defined_has_no_bounds(human):
    scores = np.arange(len(human), dtype=float)
    assert np.isnan(bounds.correlation_bounds(scores, scores + 1, np.array(human))).all()


def test_scores_that_are_all_unknown_can_correlate_in_any_way():
    human = np.array([1.0, 2, 3, 4, 5])
    assert bounds.correlation_bounds(np.ones(5), np.full(5, 5.0), human) == pytest.approx((-1, 1), abs=1e-6)
