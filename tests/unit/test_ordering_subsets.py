"""The statistic `ordering_subsets`: errors by few orderings, its table and figure."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import random_scores, score_table, simulated_reads

from rubric_order.analyses.agreement.ordering_subsets import estimate as statistic
from rubric_order.analyses.agreement.ordering_subsets import figure
from rubric_order.analyses.agreement.ordering_subsets import table as layout
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.agreement import ordering_subsets as subsets
from rubric_order.methods.position import blocks
from rubric_order.methods.position.by_ordering import complete_orderings
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings

OPTIONS = {"resamples": 60, "confidence": 0.95, "seed": 1}
BALANCED = orderings.balanced(3)  # six orderings
TWO = [[1, 2], [2, 1]]


@pytest.fixture(scope="module")
def scores():
    """Items of 12 unequal groups, which prefer what stands first, each by another amount."""
    reads = simulated_reads(groups=12, candidates=3, n=3, strategies=["balanced"], preference=[1.2, 0, 0], soft=True)
    drop = reads["group_id"].isin(sorted(set(reads["group_id"]))[:5]) & (reads["candidate"] != reads["candidate"].min())
    return reads[~drop].reset_index(drop=True)


@pytest.fixture(scope="module")
def rows(scores):
    return statistic.estimate(scores, **OPTIONS, target_error=0.3)


def value(rows, design, k, quantity="rmse", *, readout="hard", column="estimate"):
    chosen = rows.query("design == @design and quantity == @quantity and readout == @readout")
    (found,) = chosen.loc[chosen["k"] == k, column]
    return found


def matrix(scores, column="score", shown=BALANCED):
    """Items by orderings, and the group of each item."""
    table = scores.assign(number=[shown.tolist().index(list(row)) for row in scores["ordering"]])
    wide = table.astype({column: float}).pivot(index="item_id", columns="number", values=column)
    return wide.to_numpy(), pd.factorize(table.groupby("item_id")["group_id"].first(), sort=True)[0]


def test_reads_that_differ_by_their_ordering_alone():
    found = statistic.estimate(score_table([[1, 2]] * 4, shown=TWO, n=2, per_group=1), **OPTIONS)
    for design in ("best", "random", "usual"):
        assert value(found, design, 1) == value(found, design, 1, "rmse_least") == pytest.approx(0.5)
    for design in ("best", "best_pairs", "random", "pairs", "usual"):
        assert value(found, design, 2) == 0


def test_reads_that_differ_by_chance_alone():
    """Half of the items have 1 and 2, half 2 and 1: the others differ from each by 1/6 the other way round."""
    selected = [[1, 2], [2, 1], [1, 2], [2, 1]]
    found = statistic.estimate(score_table(selected, shown=TWO, n=2, per_group=1), **OPTIONS)
    assert value(found, "random", 1) == pytest.approx(np.sqrt(1 / 4 + 4 / 9))
    assert value(found, "random", 2) == pytest.approx(np.sqrt(4 / 9))
    assert value(found, "random", 1, "rmse_least") == pytest.approx(0.5)
    assert value(found, "random", 2, "rmse_least") == 0
    assert set(found["known_from"]) == {"", "option probabilities"}


def test_repeats_tell_chance_from_the_ordering():
    """One ordering gives 1 or 2 by chance, the other always 2."""
    reads = score_table([[1, 2, 2, 2]] * 4, shown=[TWO[0], TWO[1], TWO[0], TWO[1]], n=2, per_group=1, soft=False)
    found = statistic.estimate(reads, **OPTIONS)
    assert set(found["known_from"]) == {"repeats"}
    assert "rmse_least" not in set(found["quantity"])
    assert value(found, "usual", 1) == pytest.approx(np.sqrt(0.5))
    assert value(found, "best", 1) == 0
    assert value(found, "best", 1, column="orderings") == "2 1"
    assert value(found, "random", 1) == pytest.approx(0.5)
    assert value(found, "random", 2) == value(found, "best", 2) == pytest.approx(np.sqrt(0.125))


def errors_by_loops(values, group, readout):
    """Square of the error of each item by each set of orderings."""
    squares = {}
    noise = np.zeros(len(values))
    if readout == "hard":
        for i, own in enumerate(values):
            shift = np.mean(
                [row - row.mean() for row, other in zip(values, group, strict=True) if other != group[i]], axis=0
            )
            noise[i] = ((own - own.mean() - shift) ** 2).sum() / 5
    for size in range(1, 7):
        for chosen in itertools.combinations(range(6), size):
            squares[chosen] = (values[:, chosen].mean(axis=1) - values.mean(axis=1)) ** 2 + noise / 6
    return squares


@pytest.mark.parametrize(("readout", "column"), [("hard", "score"), ("soft", "expected_score")])
def test_every_design_by_loops(scores, rows, readout, column):
    values, group = matrix(scores, column)
    squares = errors_by_loops(values, group, readout)
    fold = resampling.folds(12, 5, seed=1, name="/".join(map(str, next(blocks.blocks(scores)).key)))[group]
    pairs = [{i, BALANCED.tolist().index(row[::-1].tolist())} for i, row in enumerate(BALANCED)]

    def best(of_size):
        own = np.full(len(values), np.nan)
        for one in range(5):
            chosen = min(of_size, key=lambda way: squares[way][fold != one].mean().round(12))
            own[fold == one] = squares[chosen][fold == one]
        return np.sqrt(own.mean())

    for size in range(1, 7):
        of_size = [way for way in squares if len(way) == size]
        in_pairs = [way for way in of_size if all(pairs[i] <= {*way} for i in way)]
        about = {"k": size, "readout": readout}
        random = np.sqrt(np.mean([squares[way] for way in of_size]))
        assert value(rows, "random", **about) == pytest.approx(random)
        assert value(rows, "best", **about) == pytest.approx(best(of_size), abs=1e-9)
        assert value(rows, "best", quantity="over_random", **about) == pytest.approx(best(of_size) - random, abs=1e-9)
        if in_pairs:
            assert value(rows, "pairs", **about) == pytest.approx(np.sqrt(np.mean([squares[way] for way in in_pairs])))
            assert value(rows, "best_pairs", **about) == pytest.approx(best(in_pairs), abs=1e-9)
            gap = best(in_pairs) - best(of_size)
            assert value(rows, "best_pairs", quantity="over_best", **about) == pytest.approx(gap, abs=1e-9)
    named = {("usual", 1): [(0,)], ("usual", 2): [tuple(sorted(pairs[0]))], ("balanced", 3): [(0, 1, 2), (3, 4, 5)]}
    for (design, size), ways in named.items():
        expected = np.sqrt(np.mean([squares[way] for way in ways]))
        assert value(rows, design, size, readout=readout) == pytest.approx(expected)


def test_no_group_has_a_part_in_the_choice_of_its_orderings(scores):
    (block,) = blocks.blocks(scores)
    reads = complete_orderings(block, "soft", dict(block.readouts())["soft"])
    fold = resampling.folds(12, 5, seed=1, name="x")
    sets = subsets.choices(reads.reverse, 6, 1000, seed=1)
    weights = np.ones((1, 12))
    before = statistic.arms(reads, sets, fold, weights)["best"]
    means = reads.means.copy()
    own = fold[reads.group] == 2
    means[own] = np.random.default_rng(1).uniform(1, 3, means[own].shape)
    after = statistic.arms(reads._replace(means=means), sets, fold, weights)["best"]
    assert (before.choice[2] == after.choice[2]).all()
    assert (before.choice != after.choice).any()  # others choose by them
    assert not np.allclose(before.squares[fold == 2], after.squares[fold == 2])


def test_a_resample_of_all_groups_chooses_as_they_do(scores, rows):
    (block,) = blocks.blocks(scores)
    reads = complete_orderings(block, "hard", dict(block.readouts())["hard"])
    fold = resampling.folds(12, 5, seed=1, name="x")
    sets = subsets.choices(reads.reverse, 6, 1000, seed=1)
    weights = np.stack([np.ones(12), np.where(fold == 1, 0, 2)])  # and one without a fold
    arm = statistic.arms(reads, sets, fold, weights)["best"]
    assert arm.draws[0] == pytest.approx(arm.squares.sum(axis=0))
    assert arm.least_draws[0] == pytest.approx(arm.least.sum(axis=0))
    others = reads._replace(means=reads.means[fold[reads.group] != 1], group=reads.group[fold[reads.group] != 1])
    kept = np.unique(others.group)
    others = others._replace(times=others.times[:1], variance=np.zeros(others.means.shape), known_from="repeats")
    others = others._replace(group=np.searchsorted(kept, others.group))
    exact = reads._replace(variance=np.zeros(reads.means.shape), known_from="repeats")
    left = statistic.arms(others, sets, fold[kept], np.ones((1, len(kept))))["best"]
    assert statistic.arms(exact, sets, fold, weights)["best"].draws[1] == pytest.approx(2 * left.draws[0])


def test_chosen_orderings_are_named_and_folds_compared(rows):
    chosen = rows.query("design == 'best' and quantity == 'rmse'")
    assert [text.count(";") + 1 for text in chosen["orderings"]] == [1, 2, 3, 4, 5, 6] * 2
    assert (chosen["n_same"] <= 5).all()
    assert (chosen["n_folds"] == 5).all()
    assert chosen["n_sets"].tolist() == [6, 15, 20, 15, 6, 1] * 2
    assert (chosen["complete"] == 1).all()
    pairs = rows.query("design == 'best_pairs' and quantity == 'rmse'")
    assert pairs["n_sets"].tolist() == [3, 3, 1] * 2
    assert (pairs["n_pairs"] == 5).all()


def test_intervals_are_those_of_groups_and_paired(scores, rows):
    known = rows.dropna(subset="ci_low")
    assert (known["ci_low"] <= known["estimate"] + 1e-12).all()
    assert (known["estimate"] <= known["ci_high"] + 1e-12).all()
    assert set(rows["n_clusters"]) == {12}
    same = rows.query("design == 'best_pairs' and quantity == 'over_best' and k == 6")
    assert same[["estimate", "ci_low", "ci_high"]].abs().max(axis=None) < 1e-12
    assert rows.query("quantity == 'rmse' and k == 6 and readout == 'soft'")["ci_low"].isna().all()  # an error of 0
    twice = pd.concat([scores, scores.assign(item_id=scores["item_id"] + "x", candidate=scores["candidate"] + "x")])
    again = statistic.estimate(twice, **OPTIONS, target_error=0.3)
    for end in ("ci_low", "ci_high"):  # the same items again say nothing new
        of_both = [value(table, "random", 1, readout="soft", column=end) for table in (rows, again)]
        assert of_both[0] == pytest.approx(of_both[1])


def test_reads_needed_are_the_least_whose_error_stays_within_the_target(rows):
    for readout, design in itertools.product(("hard", "soft"), ("best", "random")):
        errors = [value(rows, design, k, readout=readout) for k in range(1, 7)]
        least = min((k for k in range(1, 7) if max(errors[k - 1 :]) <= 0.3), default=np.nan)
        (row,) = rows.query("design == @design and readout == @readout and quantity == 'needed'").to_dict("records")
        assert row["estimate"] == least or (np.isnan(least) and np.isnan(row["estimate"]))
    sizes, errors = np.array([2, 4, 6]), np.array([0.2, 0.4, 0.3])
    nothing = np.full(3, np.nan)
    assert subsets.needed(sizes, errors, nothing, nothing, 0.3) == (6, 6, 6)  # 2 would be chance
    assert np.isnan(subsets.needed(sizes, errors, nothing, nothing, 0.25)).all()
    assert subsets.needed(sizes, errors, nothing, nothing, 0.4) == (2, 2, 2)


def test_of_many_orderings_some_sets_are_drawn_and_all_pairs_are_among_them():
    reverse = np.arange(20)[::-1]
    sets, again = (subsets.choices(reverse, 12, 60, seed=3) for _ in range(2))
    assert all((one == other).all() for one, other in zip(sets, again, strict=True))
    assert sets.complete.tolist() == [True, *[False] * 11]
    assert (sets.masks.sum(axis=1) == sets.sizes).all()
    assert len(np.unique(sets.masks, axis=0)) == len(sets.masks)
    assert sets.of_pairs[sets.sizes == 2].sum() == 10
    assert sets.of_pairs[sets.sizes == 6].sum() == 60
    assert not sets.of_pairs[sets.sizes % 2 == 1].any()
    assert ((sets.masks == sets.masks[:, ::-1]).all(axis=1) == sets.of_pairs).all()
    few = subsets.choices(np.array([1, 0, -1]), 3, 10, seed=1)  # the third has no reverse
    assert few.masks[few.of_pairs].tolist() == [[True, True, False]]


def test_all_orderings_of_four_levels_are_read_up_to_eight_times():
    table = random_scores(
        1, n=4, n_items=8, n_reads=24, shown=orderings.all_orderings(4), strategy="all", per_group=2, failing=0
    )
    found = statistic.estimate(table, **OPTIONS, subsets_per_size=30)
    assert found["k"].max() == 8
    assert found.query("design == 'best' and quantity == 'rmse' and k == 3")["n_sets"].iloc[0] == 30
    assert set(found.query("design == 'best' and quantity == 'rmse' and k == 3")["complete"]) == {0}
    assert "balanced" not in set(found["design"])  # a half has twelve orderings


def test_items_that_lack_a_score_are_left_out_and_counted():
    selected = np.random.default_rng(1).integers(1, 6, (20, 10)).astype(object)
    selected[3, 4] = None
    found = statistic.estimate(score_table(selected.tolist(), soft=False), **OPTIONS)
    assert set(found["n_items"]) == {19}
    assert set(found["n_incomplete"]) == {1}


def test_orderings_that_are_not_shared_or_not_balanced_have_no_errors():
    tables = [
        simulated_reads(groups=6, strategies=["random", "fixed"]),
        simulated_reads(groups=2, strategies=["balanced"]),
        score_table([[1] * 3] * 20, shown=orderings.balanced(5)[:3], strategy="recorded"),
        score_table([[None] * 10] * 20, soft=False),
    ]
    for table in tables:
        found = statistic.estimate(table, **OPTIONS)
        assert found.empty
        shown = layout.TABLE.table(found, study="s")
        assert shown.empty
        assert layout.TABLE.printout(shown).empty


def test_a_judge_that_always_says_the_same_needs_one_read_in_the_usual_order():
    found = statistic.estimate(score_table([[4] * 10] * 20), **OPTIONS)
    assert (found.query("quantity == 'rmse'")["estimate"] == 0).all()
    assert value(found, "best", 1, column="orderings") == "1 2 3 4 5"
    assert set(found.query("quantity == 'needed' and design == 'best'")["estimate"]) == {1}
    assert "ratio" not in set(found["quantity"])


def test_written_scores_of_a_known_temperature_have_the_chance_of_their_probabilities(scores):
    temperatures = {scores["judge"].iloc[0]: {"default": 1.0}}
    found = statistic.estimate(scores, **OPTIONS, temperatures=temperatures)
    assert set(found["known_from"]) == {"option probabilities"}
    values, _ = matrix(scores)
    shares = np.stack(scores["position_probabilities"].to_list())
    shown = np.stack(scores["ordering"].to_list())
    mean = (shares * shown).sum(axis=1)
    variance, _ = matrix(scores.assign(variance=(shares * shown**2).sum(axis=1) - mean**2), "variance")
    expected = (values[:, 0] - values.mean(axis=1)) ** 2 + 2 * variance[:, 0] / 6 - variance.mean(axis=1) / 6
    assert value(found, "usual", 1) == pytest.approx(np.sqrt(expected.mean()))


# Table and figure.


def test_the_table_has_a_row_a_number_of_reads_and_design(rows):
    table = layout.TABLE.table(rows, study="s", n=3)
    assert len(table) == len(rows.dropna(subset="k")[["readout", "design", "k"]].drop_duplicates())
    printed = layout.TABLE.printout(table)
    own = printed[printed["readout"] == "option probabilities"]
    assert own["reads"].tolist() == ["1"] * 3 + ["2"] * 5 + ["3"] * 3 + ["6"]
    first = own.iloc[0]
    assert first["orderings"] == "best"
    assert first["error"].startswith(f"{value(rows, 'best', 1, readout='soft'):.3f} [")
    assert first["at least"] == ""
    assert own.iloc[-1]["within the target"] == "yes"
    hard = printed[printed["readout"] == "selected option"].iloc[0]
    assert hard["at least"] == f"{value(rows, 'best', 1, 'rmse_least'):.3f}"
    assert hard["chance known from"] == "not known"
    assert set(printed["within the target"]) <= {"yes", "no", "not shown"}
    assert set(printed["flag"]) == {"few clusters"}


def test_a_target_that_is_out_of_reach_needs_more_reads(scores):
    table = layout.TABLE.table(statistic.estimate(scores, **OPTIONS, target_error=0.01), study="s", n=3)
    printed = layout.TABLE.printout(table).query("readout == 'selected option' and orderings == 'random'")
    assert printed["reads for it"].iloc[0] in ("more", "more [6, more]")
    assert printed["within the target"].iloc[0] == "no"


def test_the_figure_has_a_panel_a_judge_and_a_line_a_design(scores, rows, root):
    mpl.use("agg")
    keys = {"study": "s", "n": 3, "strategy": "balanced", "width_in": 6.5, "panel_height_in": 2.2, "columns": 2}
    labels = Labels({rows["judge"].iloc[0]: "A judge"}, {"d": "Data D"})
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, rows, **keys, readout="hard", labels=labels)
        nothing = view.draw(figure, rows, **keys | {"strategy": "all"}, readout="soft", labels=labels)
    (axis,) = (axis for axis in drawn.axes if axis.get_visible())
    assert axis.get_title() == f"A judge\nData D ({rows['n_items'].max()} items, chance not known)"
    bars = {container.get_label(): container.lines[0] for container in axis.containers}
    assert set(bars) == {name for name, _ in figure.LINES.values()}
    expected = [value(rows, "best", k) for k in range(1, 7)]
    assert bars["best orderings"].get_ydata().tolist() == pytest.approx(expected)
    assert bars["any pairs"].get_xdata() == pytest.approx([2, 4, 6], abs=0.2)
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert lines["target (0.3 points)"].get_ydata()[0] == 0.3
    assert "the same balanced orderings" in nothing.texts[0].get_text()
    plt.close("all")
