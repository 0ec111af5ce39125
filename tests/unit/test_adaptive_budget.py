"""Reading of items until they are known well enough: confidence sequences, a rule that is learnt, and when to stop."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rubric_order.base.labels import Labels
from rubric_order.extras.one_read.agreement.adaptive_budget import estimate as adaptive_budget
from rubric_order.extras.one_read.agreement.adaptive_budget import figure
from rubric_order.extras.one_read.agreement.adaptive_budget import table as layout
from rubric_order.extras.one_read.methods.adaptive import boundary, sequences, stopping
from rubric_order.extras.one_read.methods.adaptive.boundary import Goal, Scale, Spread
from rubric_order.figures import view
from rubric_order.methods.position import blocks
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

SCALE = Scale(10, 1, 5)
OPTIONS = {"confidence": 0.95, "seed": 1}


def test_what_is_certain_by_hand():
    bounds = sequences.certain(np.array([[5.0, 4.0, np.nan]]), size=3, low=1, high=5)
    assert bounds[0, :2].tolist() == [[pytest.approx(7 / 3), 5], [pytest.approx(10 / 3), pytest.approx(14 / 3)]]
    assert np.isnan(bounds[0, 2]).all()


def capital(read: list[float], mean: float, size: int) -> list[float]:
    """Capital against one mean after each read, of scores from 0 to 1, by a loop."""
    sides = {(side, bet): 1.0 for side in (1, -1) for bet in sequences.BETS}
    total, made = 0.0, []
    for count, x in enumerate(read):
        expected = (size * mean - total) / (size - count)
        for side, bet in sides:
            if 0 < expected < 1:
                room = expected if side == 1 else 1 - expected
                sides[side, bet] *= 1 + bet * side * (x - expected) / room
        total += x
        made.append(sum(sequences.BETS[bet] * part / 2 for (_, bet), part in sides.items()))
    return made


def test_a_confidence_sequence_by_a_loop():
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, (6, 8)).astype(float)
    ends = sequences.intervals(scores, size=10, low=1, high=5, alpha=0.2, whole=True)
    for read, found in zip(scores, ends, strict=True):
        left = set(range(41))
        for t in range(1, 9):
            total = read[:t].sum()
            possible = {k for k in left if total + 10 - t <= 10 + k <= total + 5 * (10 - t)}
            left = {k for k in possible if capital(list((read - 1) / 4), k / 40, 10)[t - 1] < 5}
            assert found[t - 1].tolist() == pytest.approx([1 + min(left) / 10, 1 + max(left) / 10])


@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_no_item_is_missed_more_often_than_alpha_in_all_orders_of_its_reads(alpha):
    """Each multiset of five scores from 1 to 3, in each of its 120 orders: nothing is left to chance."""
    orders = np.array(list(itertools.permutations(range(5))))
    shares = []
    for scores in itertools.combinations_with_replacement((1.0, 2.0, 3.0), 5):
        read = np.array(scores)[orders]
        ends = sequences.intervals(read, size=5, low=1, high=3, alpha=alpha, whole=True)
        mean = np.mean(scores)
        shares.append(((ends[..., 0] > mean + 1e-9) | (ends[..., 1] < mean - 1e-9)).any(axis=1).mean())
    assert max(shares) <= alpha
    assert max(shares) > 0  # it can miss, so that the bound is no empty one


def test_scores_that_are_no_whole_numbers_have_an_interval_that_holds_that_of_whole_ones():
    scores = np.random.default_rng(2).integers(1, 6, (20, 9)).astype(float)
    whole, real = (
        sequences.intervals(scores, size=10, low=1, high=5, alpha=0.2, whole=chosen) for chosen in (True, False)
    )
    assert (real[..., 0] <= whole[..., 0] + 1e-9).all()
    assert (real[..., 1] >= whole[..., 1] - 1e-9).all()
    assert (real[..., 1] - real[..., 0] <= whole[..., 1] - whole[..., 0] + 0.2 + 0.04).all()


def test_places_are_settled_where_nothing_overlaps():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 6, 40)
    group = np.unique(group, return_inverse=True)[1]
    low = rng.uniform(1, 5, 40)
    high = low + rng.uniform(0, 0.8, 40)
    low[4] = high[4] = np.nan
    groups = stopping.grouped(group)
    expected = []
    for i in range(40):
        others = [j for j in range(40) if group[j] == group[i] and j != i]
        apart = (high[i] < low[others]) | (high[others] < low[i])  # False beside a NaN
        expected.append(bool(len(others)) and bool(apart.all()) and i != 4)
    assert stopping.settled(low, high, groups).tolist() == expected
    assert any(expected)
    alone = stopping.grouped(np.array([0]))
    assert not stopping.settled(np.array([1.0]), np.array([1.0]), alone).any()


def test_items_stop_by_width_by_place_and_at_the_end():
    widths = np.array([[4.0, 1.0, 0.0], [4.0, 3.0, 0.0], [4.0, 3.9, 0.0], [np.nan] * 3])
    groups = stopping.grouped(np.array([0, 0, 1, 1]))
    middle = np.array([[3, 4.5, 4.5], [3, 1.5, 1.5], [3, 3, 3], [3, 3, 3.0]])
    places = np.stack([middle - widths / 2, middle + widths / 2], axis=-1)
    stops = stopping.stop(widths, 3, 1.0, groups)
    assert (stops.reads.tolist(), stops.reason.tolist()) == ([2, 3, 3, 3], [1, 3, 3, 3])
    stops = stopping.stop(widths, 3, 1.0, groups, places=places)
    assert (stops.reads.tolist(), stops.reason.tolist()) == ([2, 2, 3, 3], [1, 2, 3, 3])
    so_far = stopping.stop(widths[:, :2], 3, 1.0, groups, places=places[:, :2])
    assert (so_far.reads.tolist(), so_far.reason.tolist()) == ([2, 2, 2, 2], [1, 2, 0, 0])


def test_estimates_and_their_errors_by_hand():
    values, offsets = np.array([[3.0, 5.0, 4.0]]), np.array([[0.5, -0.5, 0.0]])
    walk = boundary.paths(values, offsets, Spread(0.8, 4.0), Scale(3, 1, 5))
    assert walk.estimate[0].tolist() == pytest.approx([2.5, 4.0, 4.0])
    own = np.array([2.5, 5.5])
    variance = [0.8, (4 * 0.8 + own.var() * 2) / 5]
    errors = [(variance[0] * 2 / 3) ** 0.5, (variance[1] / 2 / 3) ** 0.5, 0]
    assert walk.error[0].tolist() == pytest.approx(errors)
    assert walk.within(walk.reach(2.0))[0, 2].tolist() == [4.0, 4.0]
    assert np.isinf(walk.reach(np.inf)).all()


def test_offsets_and_variances_leave_the_own_group_out():
    rng = np.random.default_rng(4)
    group, values = np.repeat([0, 1, 2], [1, 3, 2]), rng.integers(1, 6, (6, 10)).astype(float)
    overall, without = boundary.offsets_of(values, group)
    centred = values - values.mean(axis=1, keepdims=True)
    assert overall == pytest.approx(centred.mean(axis=0))
    spread, others = boundary.spreads(values, group, overall)
    for one in range(3):
        kept = group != one
        assert without[one] == pytest.approx(centred[kept].mean(axis=0))
        assert others.variance[one] == pytest.approx((values[kept] - overall).var(axis=1, ddof=1).mean())
    assert spread.variance == pytest.approx((values - overall).var(axis=1, ddof=1).mean())


def test_the_weight_of_other_items_is_that_of_the_scaled_f_distribution():
    """Variances of normal reads whose own variance is drawn from a scaled inverse chi-square distribution."""
    rng = np.random.default_rng(5)
    own = 0.5 * 20 / rng.chisquare(20, 200_000)
    values = rng.normal(size=(len(own), 10)) * np.sqrt(own)[:, None]
    spread, _ = boundary.spreads(values, np.arange(len(own)) % 50, np.zeros(10))
    assert spread.variance == pytest.approx(0.5 * 20 / 18, rel=0.02)
    assert spread.weight == pytest.approx(20, rel=0.15)


def made(of, *, groups, candidates=2, seed=1, **about):
    reads = studies.read_items(of, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed)
    return studies.as_scores(reads, candidates=candidates, **{"study": "s", "dataset": "d"} | about)


FIRST = Simulation(preference="first", preference_strength=1.5, prompts=0.3, group_positions=0.2)


@pytest.fixture(scope="module")
def items():
    (block,) = blocks.blocks(made(FIRST, groups=30))
    return adaptive_budget.items_of(block, "hard", 1)[0]


@pytest.mark.parametrize("place", [False, True])
def test_the_factor_is_the_smallest_that_other_groups_would_have_borne(items, place):
    goal = Goal(1.0, place, 0.1)
    group, cell = items.group, items.cell
    rule = boundary.learn(items.values, group, cell, SCALE, goal, draws=1, rng=np.random.default_rng(6))
    order = np.random.default_rng(6).permuted(np.tile(np.arange(10), (len(group), 1)), axis=1)
    groups, risks, walks = stopping.grouped(cell), {}, []
    _, spreads = boundary.spreads(items.values, group, boundary.offsets_of(items.values, group)[0])
    for i in range(len(group)):
        others = items.values[group != group[i]]
        offsets = (others - others.mean(axis=1, keepdims=True)).mean(axis=0)
        spread = Spread(spreads.variance[group[i]], spreads.weight[group[i]])
        walks.append(boundary.paths(items.values[i, order[i]][None], offsets[order[i]][None], spread, SCALE))
    walk = boundary.Paths(*(np.concatenate(parts) for parts in zip(*walks, strict=True)))
    highest = 0.0
    for factor in boundary.FACTORS:
        claimed = boundary.claims(walk, float(factor), goal, SCALE, groups)
        wrong = boundary.wrong(claimed, items.truth, groups)
        share = np.array([wrong[group == one].mean() for one in range(30)])
        early = np.array([(claimed.stops.reads < 10)[group == one].mean() for one in range(30)])
        # What one group more adds: the mean share, each share weighted by itself.
        expected = share.sum() + (np.average(share, weights=share) if share.any() else 1)
        highest = max(highest, expected)
        if highest / 31 > 0.1:
            break
        risks[float(factor)] = expected / (early.sum() + 1)
    assert rule.factor == min(factor for factor, risk in risks.items() if risk <= 0.1)
    assert rule.n_groups == 30


def test_with_too_few_groups_only_what_is_certain_stops(items):
    kept = items.only(items.group < 18)
    goal = Goal(1.0, False, 0.05)
    rule = boundary.learn(kept.values, kept.group, kept.cell, SCALE, goal, draws=2, rng=np.random.default_rng(1))
    assert rule.factor == np.inf
    walk = boundary.paths(kept.read, rule.offsets[kept.order], rule.spread, SCALE)
    stops = boundary.claims(walk, rule.factor, goal, SCALE, stopping.grouped(kept.cell)).stops
    assert (stops.reads == 8).all()  # two reads to come: at most 2 x 4 / 10 = 0.8 points


def test_a_rule_for_a_fold_does_not_see_the_fold(items):
    """Other scores of one fold's items: their own estimates still take the offsets of the other folds alone."""
    goal, name = Goal(1.0, False, 0.05), "x"
    own = adaptive_budget.resampling.folds(30, 5, seed=1, name=name)[items.group] == 0
    values = items.values.copy()
    values[own] = 6 - values[own]
    changed = items._replace(values=values)
    tracks = adaptive_budget.learnt_outcome(changed, goal, name, seed=1, folds=5, draws=2).tracks
    others = values[~own]
    learnt = (others - others.mean(axis=1, keepdims=True)).mean(axis=0)
    read, reads = changed.read[own], np.arange(1, 11)
    expected = np.cumsum(read - learnt[items.order[own]], axis=1) / reads
    low, high = np.moveaxis(sequences.certain(read, size=10, low=1, high=5), -1, 0)
    assert tracks[own] == pytest.approx(np.clip(expected, low, high))
    before = adaptive_budget.learnt_outcome(items, goal, name, seed=1, folds=5, draws=2).tracks
    assert not np.allclose(before[~own], tracks[~own])  # for the others the fold does count


def test_a_judge_that_never_varies_is_read_once_and_gains_nothing_beside_one_read_of_all():
    same = np.repeat(np.random.default_rng(7).integers(1, 6, 60)[:, None], 10, axis=1).astype(float)
    group = np.arange(60) // 2
    order = stopping.orders(1, [("d", i) for i in range(60)], 10)
    items = adaptive_budget.Items(same, order, group, group, SCALE, True)
    goal = Goal(0.5, False, 0.05)
    outcome = adaptive_budget.learnt_outcome(items, goal, "same", seed=1, folds=5, draws=2)
    compared = adaptive_budget._compared(items, outcome, goal)
    assert (outcome.claims.stops.reads == 1).all()
    assert compared["rmse"][0][0] == compared["rmse_fixed"][0][0] == 0
    assert (compared["reads_fixed"][0] == 1).all()
    assert (compared["saved"][0] == 0).all()


def test_reads_between_whole_numbers():
    table = np.array([[0.9, 0.5, 0.1, 0.0]] * 4)
    assert adaptive_budget._at(table, np.array([1, 2.5, 3.25, 4])) == pytest.approx([0.9, 0.3, 0.075, 0])
    assert adaptive_budget._reads_of(table, np.array([0.9, 0.3, 0.075, 0])) == pytest.approx([1, 2.5, 3.25, 4])
    assert adaptive_budget._reads_of(table[:1], np.array([2.0])) == [1]


@pytest.fixture(scope="module")
def scores():
    return made(FIRST, groups=24, candidates=3)


@pytest.fixture(scope="module")
def rows(scores):
    return adaptive_budget.estimate(scores, **OPTIONS, targets=[1.0, 1.5], draws=2)


def value(rows, quantity, *, rule="learnt", goal="width", target=1.0, readout="hard", column="estimate"):
    chosen = rows[(rows["quantity"] == quantity) & (rows["rule"] == rule) & (rows["goal"] == goal)]
    (found,) = chosen.loc[(chosen["target"] == target) & (chosen["readout"] == readout), column]
    return found


def test_the_statistic_replays_each_item_in_its_own_order_by_a_loop(scores, rows):
    """Confidence sequences, item by item, from the table of reads."""
    reads, missed, errors = [], [], []
    for item, own in scores.groupby("item_id"):
        values = own.sort_values("read_index")["score"].to_numpy(dtype=float)
        read = values[stopping.orders(1, [("d", item, 5)], 10)[0]]
        ends = sequences.intervals(read[None], size=10, low=1, high=5, alpha=0.05, whole=True)[0]
        t = next(t for t in range(1, 11) if ends[t - 1, 1] - ends[t - 1, 0] <= 1 + 1e-9)
        reads.append(t)
        missed.append(not ends[t - 1, 0] - 1e-9 <= values.mean() <= ends[t - 1, 1] + 1e-9)
        errors.append(read[:t].mean() - values.mean())
    assert value(rows, "reads", rule="sequence") == pytest.approx(np.mean(reads))
    assert value(rows, "spared", rule="sequence") == pytest.approx(1 - np.mean(reads) / 10)
    assert value(rows, "coverage", rule="sequence") == 1 - np.mean(missed)
    assert value(rows, "rmse", rule="sequence") == pytest.approx(np.sqrt(np.square(errors).mean()))


def test_the_rows_belong_together_and_do_not_depend_on_the_order_of_reads(scores, rows):
    for goal in ("width", "width_or_place"):
        parts = [value(rows, name, goal=goal) for name in ("stopped_width", "stopped_place", "read_all")]
        assert sum(parts) == pytest.approx(1)
        assert value(rows, "rmse_ratio", goal=goal) == pytest.approx(
            value(rows, "rmse", goal=goal) / value(rows, "rmse_fixed", goal=goal)
        )
        saved = 1 - value(rows, "reads", goal=goal) / value(rows, "reads_fixed", goal=goal)
        assert value(rows, "saved", goal=goal) == pytest.approx(saved)
    assert value(rows, "reads", goal="width_or_place") <= value(rows, "reads", rule="sequence")
    again = adaptive_budget.estimate(scores.sample(frac=1, random_state=1), **OPTIONS, targets=[1.0, 1.5], draws=2)
    pd.testing.assert_frame_equal(again, rows)


def test_items_without_a_score_in_some_ordering_are_counted_and_left_out(scores):
    failed = scores.copy()
    first = failed.index[failed["item_id"] == failed["item_id"].iloc[0]][3]
    failed.loc[first, ["score", "expected_score"]] = np.nan
    failed.at[first, "position"] = pd.NA
    found = adaptive_budget.estimate(failed, **OPTIONS, targets=[1.5], draws=1).query("readout == 'hard'")
    assert set(found["n_incomplete"]) == {1}
    assert set(found["n_items"]) == {71}
    assert adaptive_budget.estimate(scores.iloc[:0], **OPTIONS).empty


def test_the_table_prints_a_row_a_rule_goal_and_target_and_the_figure_draws_them(rows, root):
    table = layout.TABLE.table(rows, study="s")
    assert len(table) == 2 * 2 * 2 * 2  # readouts, rules, goals, targets
    printed = layout.TABLE.printout(table)
    chosen = printed[(printed["readout"] == "selected option") & (printed["target"] == "1")]
    assert chosen["rule"].tolist()[0] == "sequence"
    assert chosen["reads"].iloc[0].startswith(f"{value(rows, 'reads', rule='sequence'):.2f} [")
    assert set(printed["flag"]) == {"few clusters"}
    mpl.use("agg")
    keys = {"study": "s", "n": 5, "strategy": "balanced", "width_in": 6.5, "panel_height_in": 2.4, "columns": 2}
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, rows, **keys, readout="hard", labels=Labels({}, {"d": "Data D"}))
        nothing = view.draw(figure, rows, **keys | {"strategy": "all"}, readout="hard", labels=Labels({}, {}))
    bars = {container.get_label(): container.lines[0] for container in drawn.axes[0].containers}
    assert set(bars) == {*figure.LINES, *figure.POINTS}
    for name, rule in figure.POINTS.items():
        expected = [value(rows, "reads", rule=rule, target=target) for target in (1.0, 1.5)]
        assert bars[name].get_xdata().tolist() == pytest.approx(expected)
    assert drawn.axes[0].get_title() == "simulated\nData D (72 items)"
    assert "orderings that they share" in nothing.texts[0].get_text()
    plt.close("all")
