"""Calibration of single reads: what is learnt, how far it is drawn back, and the halves that judge it."""

import doctest
import itertools

import numpy as np
import pytest

from rubric_order.extras.one_read.methods.calibration import errors, evidence, learning, model
from rubric_order.extras.one_read.methods.calibration.model import Calibration
from rubric_order.methods.agreement import halves
from rubric_order.methods.position import blocks, preference
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

BALANCED = orderings.balanced(5)


def laid_out(judge, readout="soft", *, groups=20, candidates=2, seed=1, strategy="balanced"):
    reads = studies.read_items(judge, n=5, strategies=[strategy], groups=groups, candidates=candidates, seed=seed)
    (block,) = blocks.blocks(studies.as_scores(reads, candidates=candidates))
    return evidence.lay_out(block, readout)


@pytest.mark.parametrize("module", [model, learning, halves])
def test_the_examples_run(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


# Application.


def test_probabilities_are_divided_by_what_positions_are_worth():
    interaction = np.array([[0.0, 0.5], [0.0, -0.5]])
    calibration = Calibration(2, np.log([2.0, 0.5]), interaction, None, 9, 9, 18)
    shown = np.array([[1, 2], [2, 1]])
    found = calibration.calibrate_probabilities(np.array([[0.8, 0.2], [0.8, 0.2]]), shown)
    # Score 1 first: 0.8 / 2 against 0.2 * 2 * e^0.5; score 2 first: 0.8 / 2 against 0.2 * 2 * e^-0.5.
    first, second = 0.4 * np.exp(0.5), 0.4 * np.exp(-0.5)
    assert found == pytest.approx([(0.4 + 2 * first) / (0.4 + first), (2 * 0.4 + second) / (0.4 + second)])


def test_an_option_without_a_chance_keeps_none_and_unknown_probabilities_give_no_score():
    calibration = Calibration(3, np.array([1.0, 0.0, -1.0]), np.zeros((3, 3)), None, 9, 9, 18)
    rows = np.array([[0, 1, 0], [0, 0, 0], [np.nan] * 3])
    assert calibration.calibrate_probabilities(rows, np.array([[3, 2, 1]] * 3)).tolist()[0] == 2
    assert np.isnan(calibration.calibrate_probabilities(rows, np.array([[3, 2, 1]] * 3))[1:]).all()


@pytest.mark.parametrize(
    ("options", "shift", "values"),
    [
        ({"regression": True}, None, [2.8, 2.3]),
        ({}, None, [3 + 2.8 - 2.8, 2 + 2.3 - 2.2]),  # the cell less the mean of its row
        ({}, [0.2, 0.0, -0.2], [3 + 0.2 * (1 - 2) * -1 - 0.2 * (2 - 2) * -1, 2 + 0.1 + 0.2]),
    ],
)
def test_a_written_score_is_looked_up_by_its_position(options, shift, values):
    """In the ordering 1 3 2, the first position has a score 1 below the middle, and the last one of the middle."""
    table = np.array([[1.1, 1.2, 1.3], [2.1, 2.2, 2.3], [2.7, 2.8, 2.9]])
    calibration = Calibration(3, None, None, table, 9, 9, 18, None if shift is None else np.array(shift))
    shown = np.array([[1, 3, 2], [1, 3, 2], [1, 2, 3]])
    found = calibration.calibrate_scores(np.array([3, 2, np.nan]), shown, **options)
    assert found[:2] == pytest.approx(values)
    assert np.isnan(found[2])


def test_what_an_order_does_to_all_scores_is_learnt_from_reads_with_a_known_shift():
    """Scores that are item + ordering exactly: the shift is the regression of ordering effects on shown scores."""
    rng = np.random.default_rng(1)
    worth = np.array([0.3, 0.1, 0.0, -0.1, -0.3])
    effect = (BALANCED - 3) @ worth
    values = rng.normal(3, 0.5, (40, 1)) + effect
    written, mean = np.clip(np.round(values), 1, 5), values.mean(axis=1, keepdims=True)
    sums = learning.hard_sums(written, BALANCED, np.broadcast_to(mean, values.shape), np.arange(40))
    expected = np.linalg.lstsq(np.tile(BALANCED - 3, (40, 1)), (written - mean).ravel(), rcond=None)[0]
    found = learning._shift(sums, np.tile(np.arange(1.0, 6)[:, None], 5))
    assert found == pytest.approx(expected - expected.mean(), rel=0.05)
    assert found == pytest.approx(worth, abs=0.06)


def test_a_level_that_was_not_read_is_left_as_it_is():
    laid = laid_out(Simulation(preference="first"), "hard")
    low = laid._replace(values=np.minimum(laid.values, 3))
    model = learning.learn(low.evidence(), np.arange(20))
    assert model.counts.sum(axis=1)[3:].tolist() == [0, 0]
    assert np.ptp(model.expected[3:], axis=1).tolist() == [0, 0]
    assert np.ptp(model.expected[:3], axis=1).max() > 0


# Learning.


def dense(laid):
    """Log-probabilities and the columns of a regression on items by scores, reads, and pairs of score and position."""
    m, d, n = laid.probabilities.shape
    rows, y, groups = [], [], []
    for i, k, p in itertools.product(range(m), range(d), range(n)):
        score = laid.orderings[k, p] - 1
        row = np.zeros(m * n + m * d + n + n * n)
        for column in (i * n + score, m * n + i * d + k, m * n + m * d + p, m * n + m * d + n + score * n + p):
            row[column] = 1
        rows.append(row)
        y.append(np.log(laid.probabilities[i, k, p]))
        groups.append(laid.group[i])
    return np.array(rows), np.array(y), np.array(groups), m * n + m * d


def test_positions_are_those_of_a_regression_with_all_its_levels_drawn_back_by_a_loop_over_groups():
    laid = laid_out(Simulation(preference="first", group_positions=0.6, prompts=0.8), groups=5, candidates=1)
    x, y, group, start = dense(laid)
    x = x[:, : start + 5]

    def fitted(rows):
        beta = np.linalg.lstsq(x[rows], y[rows], rcond=None)[0][start:]
        return beta - beta.mean()

    expected = fitted(group >= 0)
    noise = 4 / 5 * sum(((fitted(group != g) - expected) ** 2).sum() for g in range(5))
    share = 1 - noise * (1 + 2 / 4) / (expected**2).sum()
    assert 0.2 < share < 0.99
    found = learning.learn(laid.evidence(), np.arange(5), interactions=False)
    assert found.position == pytest.approx(share * expected)
    assert not found.interaction.any()
    assert (found.groups, found.items, found.reads) == (5, 5, 50)


def test_positions_without_their_shrinkage_are_those_of_position_preference():
    laid = laid_out(Simulation(preference="u_shaped", preference_strength=3), groups=60)
    found = learning.learn(laid.evidence(), np.arange(60))
    by_score = np.take_along_axis(laid.probabilities, np.broadcast_to(laid.places, laid.probabilities.shape), axis=2)
    soft = preference.compare_probabilities(by_score, np.broadcast_to(laid.places, by_score.shape), laid.group)
    assert found.position == pytest.approx(preference.preference(soft).positions.coefficients, rel=1e-6)


def test_score_by_position_terms_are_found_where_they_are_and_not_where_they_are_not():
    planted = Simulation(interaction=1.2, preference="last", prompts=0.5)
    with_terms = learning.learn(laid_out(planted, groups=60).evidence(), np.arange(60))
    assert with_terms.interaction == pytest.approx(planted.interaction_weights(5), abs=0.15)
    without = learning.learn(laid_out(Simulation(preference="last", prompts=0.5), groups=60).evidence(), np.arange(60))
    assert np.abs(without.interaction).max() < 0.08
    assert np.abs(without.interaction.sum(axis=0)).max() < 1e-9


def test_only_the_chosen_groups_are_learnt_from():
    laid = laid_out(Simulation(preference="first", group_positions=1.0), groups=12)
    few = laid._replace(values=laid.values[laid.group < 4], probabilities=laid.probabilities[laid.group < 4])
    few = few._replace(group=laid.group[laid.group < 4])
    chosen = learning.learn(laid.evidence(), np.arange(4))
    alone = learning.learn(few.evidence(), np.arange(4))
    assert chosen.position == pytest.approx(alone.position)
    assert chosen.interaction == pytest.approx(alone.interaction)
    with pytest.raises(ValueError, match="at least 2 groups"):
        learning.learn(laid.evidence(), np.array([3]))


def hard_by_loops(laid):
    """The steps of `learning._expected`, with a row for each read and plain regressions."""
    n, rows = 5, []
    for i, k in itertools.product(range(len(laid.values)), range(len(laid.orderings))):
        score = int(laid.values[i, k])
        place = laid.orderings[k].tolist().index(score)
        other = laid.halves.second != laid.halves.second[k]
        rows.append((score - 1, place, laid.values[i, other].mean(), laid.group[i]))
    score, place, target, group = (np.array(column) for column in zip(*rows, strict=True))
    count, names = len(rows), np.unique(group)
    more = len(names) / (len(names) - 1)
    fitted = score + 1.0
    table = np.add.outer(np.arange(n) + 1.0, np.zeros(n))

    def drawn_back(columns_of_sets, rest):
        nonlocal fitted, table
        x = np.hstack([columns(score, place) for columns in columns_of_sets])
        grid = np.indices((n, n)).reshape(2, -1)
        beta = np.linalg.lstsq(x, rest, rcond=1e-9)[0]
        by_group = [np.linalg.lstsq(x[group != g], rest[group != g], rcond=1e-9)[0] - beta for g in names]
        start = 0
        moved, moved_table = np.zeros(count), np.zeros(n * n)
        for columns in columns_of_sets:
            own = columns(score, place)
            at = slice(start, start + own.shape[1])
            start += own.shape[1]
            middle = own.mean(axis=0) if len(columns_of_sets) > 1 else 0
            part = (own - middle) @ beta[at]
            noise = sum((((own - middle) @ one[at]) ** 2).sum() for one in by_group)
            share = max(0, 1 - noise / more * (1 + 2 / (len(names) - 1)) / (part**2).sum())
            moved += share * part
            moved_table += share * (columns(*grid) - middle) @ beta[at]
        fitted, table = fitted + moved, table + moved_table.reshape(n, n)

    drawn_back([lambda s, p: np.column_stack([np.ones(len(s)), s - 2])], target - fitted)
    drawn_back([lambda s, p: np.eye(n)[s], lambda s, p: np.eye(n)[p]], target - fitted)
    drawn_back([lambda s, p: (np.eye(n)[p] - 1 / n) * (s - 2)[:, None]], target - fitted)
    rest = target - fitted
    cells = {cell: (score == cell[0]) & (place == cell[1]) for cell in itertools.product(range(n), range(n))}
    cells = {cell: here for cell, here in cells.items() if here.any()}
    means = {cell: rest[here].mean() for cell, here in cells.items()}
    squares = {cell: sum((here & (group == g)).sum() ** 2 for g in names) for cell, here in cells.items()}
    sums = [(rest - means[cell])[here & (group == g)].sum() for cell, here in cells.items() for g in names]
    error = more * (np.array(sums) ** 2).sum() / sum(squares.values())
    noise = {cell: error * squares[cell] / here.sum() ** 2 for cell, here in cells.items()}
    between = max(0, sum(here.sum() * (means[cell] ** 2 - noise[cell]) for cell, here in cells.items()) / count)
    for cell in cells:
        table[cell] += means[cell] * between / (between + noise[cell]) if between else 0
    return np.clip(table, 1, n), between


def test_expected_scores_are_those_of_plain_regressions_step_by_step():
    corners = 4.0 * np.outer([1, -1, 0, -1, 1], [1, 0, -1, 0, 0])
    judge = Simulation(preference="first", preference_strength=2.5, interaction=corners.tolist(), decisiveness=0.6)
    laid = laid_out(judge, "hard", groups=60)
    expected, between = hard_by_loops(laid)
    assert between > 0
    found = learning.learn(laid.evidence(), np.arange(60)).expected
    assert found == pytest.approx(expected)
    without = learning.learn(laid.evidence(), np.arange(60), positions=False).expected
    assert (np.ptp(without, axis=1) < 1e-9).all()
    assert np.ptp(found, axis=1)[[0, -1]].min() > 0.1


def test_a_judge_whose_reads_agree_keeps_its_scores():
    laid = laid_out(Simulation(decisiveness=60), "hard", groups=30)
    found = learning.learn(laid.evidence(), np.arange(30)).expected
    seen = np.unique(laid.values).astype(int) - 1
    assert found[seen].mean(axis=1) == pytest.approx(seen + 1.0, abs=0.1)


def test_folds_are_of_equal_size_and_draws_without_replacement_and_both_follow_from_the_seed():
    fold = resampling.folds(23, 5, seed=1, name="a")
    assert sorted(np.bincount(fold)) == [4, 4, 5, 5, 5]
    assert (fold == resampling.folds(23, 5, seed=1, name="a")).all()
    assert (fold != resampling.folds(23, 5, seed=2, name="a")).any()
    assert np.unique(resampling.folds(3, 5, seed=1, name="a")).size == 3
    drawn = learning.draws(23, 6, 4, seed=1, name="a")
    assert drawn.shape == (4, 6)
    assert all(len(set(row)) == 6 for row in drawn.tolist())
    assert len({tuple(sorted(row)) for row in drawn.tolist()}) > 1


# Halves.


@pytest.mark.parametrize(
    "shown", [BALANCED, orderings.balanced(4), orderings.all_orderings(4), orderings.balanced_williams(5)]
)
def test_each_half_shows_every_score_equally_often_at_every_position(shown):
    found = halves.halves(shown)
    n = shown.shape[1]
    for side in (False, True):
        own = shown[found.second == side]
        at = np.array([[(own[:, p] == s).sum() for p in range(n)] for s in range(1, n + 1)])
        assert (at == len(own) / n).all()
    if found.usual is not None:  # a Williams design of five has it not
        assert not found.second[found.usual]
        assert shown[found.usual].tolist() == list(range(1, n + 1))
    for place in np.flatnonzero(found.reverse >= 0):
        assert (shown[found.reverse[place]] == shown[place][::-1]).all()
        assert found.second[found.reverse[place]] != found.second[place]


def test_each_ordering_of_balanced_is_apart_from_its_reverse():
    assert (halves.halves(BALANCED).reverse >= 0).all()
    assert (halves.halves(orderings.all_orderings(4)).reverse >= 0).all()


def test_orderings_that_cannot_be_halved():
    assert halves.halves(orderings.rotations(5)) is None
    assert halves.halves(np.array([[1, 2], [2, 1]])) is None
    assert halves.halves(BALANCED[:-1]) is None


# Errors.


def test_the_mean_of_some_random_orders_by_all_subsets():
    parts, rng = halves.halves(BALANCED), np.random.default_rng(1)
    values = rng.normal(size=(6, 10))
    levels = rng.normal(size=(6, 2))
    for reads in (1, 2, 4, 5):
        rows = []
        for side in (False, True):
            own = np.flatnonzero(parts.second == side)
            subsets = [values[:, list(subset)].mean(axis=1) for subset in itertools.combinations(own, reads)]
            apart = [mean - levels[:, int(not side)] for mean in subsets]
            rows.append([np.mean(apart, 0), np.mean(np.square(apart), 0), np.mean(subsets, 0)])
            rows[-1].append(np.mean(np.square(subsets), 0))
        expected = np.mean(rows, axis=0)
        found = errors.several(values, levels, parts, reads)
        assert [found.error, found.square, found.value, found.value_square] == [pytest.approx(row) for row in expected]


def test_opposite_orders_by_a_loop_have_no_read_on_both_sides():
    parts, rng = halves.halves(BALANCED), np.random.default_rng(2)
    group = np.array([0, 0, 1, 2, 2, 3])
    values = rng.normal(size=(6, 10)) + np.arange(10)
    squares = np.zeros((6, 10))
    for i, k in itertools.product(range(6), range(10)):
        reverse = parts.reverse[k]
        half = np.flatnonzero(parts.second == parts.second[k])
        others = [j for j in half if j != k]
        elsewhere = group != group[i]
        added = (values[elsewhere, k] - values[np.ix_(elsewhere, half)].mean(axis=1)).mean()
        halved = [values[:, parts.second == one].mean(axis=1) for one in (parts.second[k], not parts.second[k])]
        apart = (halved[0] - halved[1])[elsewhere].mean()
        target = values[i, others].mean() + added / 4 - apart / 2
        between = (halved[0] - halved[1])[i] - apart
        squares[i, k] = ((values[i, k] + values[i, reverse]) / 2 - target) ** 2 - between**2 / 8
    found = errors.opposite(values, values, parts, group)
    assert found.square == pytest.approx(squares.mean(axis=1))


def test_two_opposite_orders_are_as_wrong_as_two_reads_where_orders_do_nothing():
    parts, rng = halves.halves(BALANCED), np.random.default_rng(3)
    values = rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 10))
    group, level = np.arange(20_000), errors.levels(parts.means(values), np.arange(20_000))
    assert errors.opposite(values, values, parts, group).square.mean() == pytest.approx(1 / 2 + 1 / 5, rel=0.02)
    assert errors.several(values, level, parts, 2).square.mean() == pytest.approx(1 / 2 + 1 / 5, rel=0.02)
    assert errors.noise(level).mean() == pytest.approx(1 / 5, rel=0.03)


def test_what_a_half_adds_to_all_items_is_made_up_for_by_what_it_adds_in_other_groups():
    parts, rng = halves.halves(BALANCED), np.random.default_rng(5)
    level = rng.normal(size=400)
    values = level[:, None] + np.where(parts.second, 1.0, 0.0) + np.arange(10) / 10
    group = np.arange(400) // 2
    found = errors.levels(parts.means(values), group)
    assert found == pytest.approx(np.repeat(values.mean(axis=1)[:, None], 2, axis=1))
    assert errors.noise(found).max() < 1e-9
    values[group == 0] += np.where(parts.second, 5.0, 0.0)  # its own group does not tell
    found = errors.levels(parts.means(values), group)
    assert np.ptp(found[group == 0], axis=1) == pytest.approx([5.0, 5.0])


def test_a_summary_by_numpy():
    rng = np.random.default_rng(4)
    values, human = rng.normal(size=(50, 10)), rng.normal(size=50)
    human[:7] = np.nan
    parts = halves.halves(BALANCED)
    targets = parts.targets(values)
    level = parts.means(values)
    moments = errors.single(values, targets, 3, 0.5).moments(human)
    of_levels = errors.level_moments(level)
    of_levels[:, 0] = 0.04
    found = errors.summary(moments.sum(axis=0), of_levels.sum(axis=0))
    apart = values[:, 3] - values[:, parts.second].mean(axis=1)
    covered, alike = (np.cov(one, level[:, 1], ddof=0)[0, 1] for one in (values[:, 3], level[:, 0]))
    assert found.slope == pytest.approx(covered / alike)
    assert found.pass_shift == pytest.approx((values[:, 3] >= 0.5).mean() - (level[:, 1] >= 0.5).mean())
    assert found.rmse == pytest.approx(np.sqrt((apart**2).mean()))
    assert found.error == pytest.approx(np.sqrt((apart**2).mean() - 0.04))
    assert found.shift == pytest.approx(apart.mean())
    assert found.pearson == pytest.approx(np.corrcoef(values[7:, 3], human[7:])[0, 1])
