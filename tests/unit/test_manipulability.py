"""The statistic `manipulability`: what somebody who chooses the order can do, its table and figure."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads

from rubric_order.analyses.position.manipulability import estimate as statistic
from rubric_order.analyses.position.manipulability import figure
from rubric_order.analyses.position.manipulability import table as layout
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.position import blocks, reach
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 60, "confidence": 0.95, "seed": 1}
TWO = [[1, 2], [2, 1]]
BALANCED = orderings.balanced(3)


@pytest.fixture(scope="module")
def scores():
    """Prompts of one to four candidates, by a judge that prefers what stands first."""
    reads = simulated_reads(groups=12, candidates=4, n=3, strategies=["balanced"], preference=[1.2, 0, 0], soft=True)
    place = reads["candidate"].rank(method="dense")
    most = reads["group_id"].rank(method="dense") % 4 + 1
    return reads[place <= most].reset_index(drop=True)


@pytest.fixture(scope="module")
def rows(scores):
    return statistic.estimate(scores, **OPTIONS)


def value(rows, quantity, choice, part="seen", *, readout="hard", column="estimate"):
    chosen = rows.query("quantity == @quantity and choice == @choice and part == @part and readout == @readout")
    (found,) = chosen[column]
    return found


def test_three_candidates_by_hand():
    """In the usual order 5, 3 and 1; in the other one 2, 4 and 1."""
    values = np.array([[5.0, 2.0], [3.0, 4.0], [1.0, 1.0]])
    found = reach.moved(values, np.array([[0, 1, 2]]), 0)
    assert found.points.tolist() == [3, 1, 0]
    assert found.points_shared == pytest.approx(3 - 7 / 3)
    assert found.places.tolist() == [[1, 0, 0]]  # the first one falls behind 3, the second stays between 5 and 1
    assert found.places_shared.tolist() == [[1, 1, 0]]
    assert found.best.tolist() == [True]
    assert found.best_shared.tolist() == [True]
    tied = np.array([[5.0, 3.0], [3.0, 3.0], [1.0, 1.0]])
    found = reach.moved(tied, np.array([[0, 1, 2]]), 0)
    assert found.places.tolist() == [[0.5, 0, 0]]
    assert found.places_shared.tolist() == [[0.5, 0.5, 0]]
    assert found.best.tolist() == found.best_shared.tolist() == [False]  # the best one is still among the best


def test_a_candidate_of_its_own_prompt_alone_has_no_rank():
    found = reach.moved(np.array([[5.0, 2.0], [3.0, 4.0]]), np.array([[0, 1], [1, -1]]), 0)
    assert np.isnan(found.places[1]).tolist() == [False, True]
    assert found.places[1, 0] == 0
    assert not found.best[1]


def matrix(scores, column):
    table = scores.assign(number=[BALANCED.tolist().index(list(row)) for row in scores["ordering"]])
    wide = table.astype({column: float}).pivot(index="item_id", columns="number", values=column)
    return wide.round(9), table.groupby("item_id")["group_id"].first()


@pytest.mark.parametrize(("readout", "column"), [("hard", "score"), ("soft", "expected_score")])
def test_what_is_seen_by_loops(scores, rows, readout, column):
    wide, group = matrix(scores, column)
    assert value(rows, "points", "own", readout=readout) == pytest.approx(np.ptp(wide, axis=1).mean())
    assert value(rows, "points", "shared", readout=readout) == pytest.approx(np.ptp(wide.mean()))
    places, best = {"own": [], "shared": []}, {"own": [], "shared": []}
    for _, block in wide.groupby(group):
        x = block.to_numpy()
        if len(x) < 2:
            continue

        def rank(scored, i):
            others = np.delete(scored, i)
            return (others > scored[i]).sum() + 0.5 * (others == scored[i]).sum()

        def winners(scored):
            return set(np.flatnonzero(scored == scored.max()))

        usual = x[:, 0]
        changed = {(i, k): np.where(np.arange(len(x)) == i, x[:, k], usual) for i in range(len(x)) for k in range(6)}
        for i in range(len(x)):
            places["own"].append(np.ptp([rank(changed[i, k], i) for k in range(6)]))
            places["shared"].append(np.ptp([rank(x[:, k], i) for k in range(6)]))
        best["own"].append(any(not winners(scored) & winners(usual) for scored in changed.values()))
        best["shared"].append(any(not winners(x[:, k]) & winners(usual) for k in range(6)))
    for choice in ("own", "shared"):
        assert value(rows, "places", choice, readout=readout) == pytest.approx(np.mean(places[choice]))
        assert value(rows, "best_changed", choice, readout=readout) == pytest.approx(np.mean(best[choice]))
    assert value(rows, "places", "own", column="n_items") == len(places["own"])
    assert value(rows, "best_changed", "own", column="n_items") == len(best["own"]) == 9


def test_chance_is_the_mean_over_all_exchanges():
    """Two items of two reads have four exchanges."""
    reads = np.array([[2.0, 1.0], [1.0, 2.0]])[:, :, None]
    found = reach.chance_reach(reads, np.array([[0, 1]]), 0, count=4000, rng=np.random.default_rng(1))
    every = [
        np.array([reads[0, list(one), 0], reads[1, list(two), 0]]) for one, two in itertools.product(TWO_WAYS, TWO_WAYS)
    ]
    wanted = [reach.moved(values, np.array([[0, 1]]), 0) for values in every]
    for part, *ways in zip(found, *wanted, strict=True):
        assert part == pytest.approx(np.mean(ways, axis=0), abs=0.03)
    assert found.points.tolist() == [1, 1]  # one read in each ordering: nothing tells chance
    assert found.points_shared == pytest.approx(0.5, abs=0.03)


TWO_WAYS = ((0, 1), (1, 0))


def test_one_read_in_each_ordering_does_not_tell_chance_from_an_effect_on_single_items(rows):
    assert value(rows, "points", "own", "chance") == pytest.approx(value(rows, "points", "own"))
    hard = rows.query("readout == 'hard'")
    assert hard.query("quantity == 'points' and choice == 'own' and part in ('beyond', 'reached')").empty
    assert hard.query("quantity == 'places' and part == 'reached'").empty
    assert set(hard["known_from"]) == {""}


def test_expected_scores_have_no_chance(rows):
    soft = rows.query("readout == 'soft'")
    assert (soft.query("part == 'chance'")["estimate"] == 0).all()
    for quantity, choice in itertools.product(("points", "places", "best_changed"), ("own", "shared")):
        seen = value(rows, quantity, choice, readout="soft")
        assert value(rows, quantity, choice, "beyond", readout="soft") == seen
        if (quantity, choice) != ("points", "shared"):
            assert value(rows, quantity, choice, "reached", readout="soft") == seen


def test_orders_for_all_are_chosen_in_other_folds(scores, rows):
    wide, group = matrix(scores, "score")
    (block,) = blocks.blocks(scores)
    number = pd.factorize(group, sort=True)[0]
    fold = resampling.folds(12, 5, seed=1, name="/".join(map(str, block.key)))[number]
    x, gained = wide.to_numpy(), []
    for i in range(len(x)):
        means = x[fold != fold[i]].mean(axis=0)
        gained.append(x[i, means.argmax()] - x[i, means.argmin()])
    assert value(rows, "points", "shared", "reached") == pytest.approx(np.mean(gained))
    assert value(rows, "points", "shared", "reached", column="ci_high") < 2


def test_halves_of_repeats_choose_for_each_other():
    """The first reads of two orderings choose for the second reads, and the second for the first."""
    shown = [TWO[0], TWO[1], TWO[0], TWO[1]]
    reads = score_table([[2, 1, 2, 1], [2, 1, 1, 2]] * 4, shown=shown, n=2, per_group=2, soft=False)
    found = statistic.estimate(reads, **OPTIONS)
    assert set(found["known_from"]) == {"repeats"}
    # The first item reaches 1 both ways; the second is chosen by chance and loses 1 both ways.
    assert value(found, "points", "own", "reached") == 0
    assert value(found, "points", "own") == pytest.approx(0.5)  # means of the orderings: 2 and 1, 1.5 and 1.5
    assert value(found, "points", "own", "chance") == pytest.approx(1 / 3, abs=0.05)  # of 6 deals, 2 are apart by 1
    # Ranks in the usual order of the other half: the first item always leads or ties, as does the second in one.
    one = np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 2.0]])
    ranks = [-reach.ranks(half[None], 0)[0] for half in one]
    ways = [
        [ranks[1 - side][i, half[i].argmax()] - ranks[1 - side][i, half[i].argmin()] for i in (0, 1)]
        for side, half in enumerate(one)
    ]
    assert value(found, "places", "own", "reached") == pytest.approx(np.mean(ways))


def test_written_scores_of_a_known_temperature_are_what_is_expected_of_the_draw(scores, rows):
    temperatures = {scores["judge"].iloc[0]: {"default": 1.0}}
    found = statistic.estimate(scores, **OPTIONS, temperatures=temperatures)
    for quantity, choice in (("points", "own"), ("places", "shared"), ("best_changed", "own")):
        soft = value(rows, quantity, choice, readout="soft")
        assert value(found, quantity, choice) == pytest.approx(soft)
    assert set(found["known_from"]) == {"option probabilities"}


def test_a_judge_that_always_says_the_same_moves_nothing():
    found = statistic.estimate(score_table([[4] * 10] * 40), **OPTIONS)
    assert (found["estimate"] == 0).all()
    assert (found.query("part == 'seen'")["ci_low"].fillna(0) == 0).all()


def test_exchanges_in_parts_are_the_same_exchanges(scores, rows, monkeypatch):
    monkeypatch.setattr(reach, "_CELLS_AT_ONCE", 3000)
    found = statistic.estimate(scores, **OPTIONS)
    pd.testing.assert_frame_equal(found, rows)


def test_items_that_lack_a_score_are_left_out_and_counted():
    selected = np.random.default_rng(1).integers(1, 6, (20, 10)).astype(object)
    selected[3, 4] = None
    found = statistic.estimate(score_table(selected.tolist(), soft=False), **OPTIONS)
    assert set(found.query("quantity == 'points'")["n_items"]) == {19}
    assert set(found["n_incomplete"]) == {1}
    assert set(found.query("quantity == 'best_changed'")["n_items"]) == {5}


def test_items_without_competitors_have_points_alone():
    found = statistic.estimate(score_table([[1, 2, 3, 4, 5] * 2] * 6, per_group=1), **OPTIONS)
    assert set(found["quantity"]) == {"points"}
    for table in (simulated_reads(groups=6, strategies=["random", "fixed"]), score_table([[1] * 10] * 4)):
        nothing = statistic.estimate(table, **OPTIONS)
        assert nothing.empty
        shown = layout.TABLE.table(nothing, study="s")
        assert layout.TABLE.printout(shown).empty


# Table and figure.


def test_the_table_has_a_row_a_quantity_and_choice(rows):
    table = layout.TABLE.table(rows, study="s", n=3)
    assert len(table) == 2 * 3 * 2
    printed = layout.TABLE.printout(table)
    first = printed.iloc[0]
    assert first[["quantity", "order for", "beyond chance", "reached"]].tolist() == [
        *("points", "one item", "not known", "not known")
    ]
    assert first["seen"].startswith(f"{value(rows, 'points', 'own'):.2f} [")
    assert first["by chance"] == f"{value(rows, 'points', 'own', 'chance'):.2f}"
    assert printed["chance known from"].tolist() == ["not known"] * 6 + ["option probabilities"] * 6
    assert set(printed["flag"]) == {"few clusters"}


def test_the_figure_has_a_panel_a_quantity_and_a_row_a_judge(scores, rows, root):
    mpl.use("agg")
    other = statistic.estimate(simulated_reads(groups=5, n=3, strategies=["balanced"], judge="k", seed=3), **OPTIONS)
    keys = {"study": "s", "n": 3, "strategy": "balanced", "width_in": 6.5, "row_height_in": 0.45}
    labels = Labels({"k": "Judge K"}, {"d": "Data D"})
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, pd.concat([rows, other]), **keys, readout="hard", labels=labels)
        nothing = view.draw(figure, rows, **keys | {"strategy": "all"}, readout="soft", labels=labels)
    assert [axis.get_xlabel() for axis in drawn.axes] == list(figure.QUANTITIES.values())
    points = {container.get_label(): container.lines[0] for container in drawn.axes[0].containers}
    assert points["order for one item: seen"].get_xdata()[0] == value(rows, "points", "own")
    assert points["order for all items: by chance"].get_xdata()[0] == value(rows, "points", "shared", "chance")
    assert len(points["order for one item: seen"].get_xdata()) == 2
    assert len(points["order for one item: reached"].get_xdata()) == 0
    assert [text.get_text() for text in drawn.axes[0].get_yticklabels()][1] == "Judge K"
    assert "the same balanced orderings" in nothing.texts[0].get_text()
    plt.close("all")


def test_a_panel_without_ranks_says_why_and_has_no_scale(scores, root):
    one = scores[scores.groupby("group_id")["candidate"].transform("min") == scores["candidate"]]
    keys = {"study": "s", "n": 3, "strategy": "balanced", "width_in": 6.5, "row_height_in": 0.45}
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, statistic.estimate(one, **OPTIONS), **keys, readout="hard", labels=Labels({}, {}))
    points, *others = drawn.axes
    assert not points.texts
    assert len(points.get_xticks())
    assert [axis.texts[0].get_text() for axis in others] == ["no prompt has\nseveral candidates"] * 2
    assert [len(axis.get_xticks()) for axis in others] == [0, 0]
    plt.close("all")
