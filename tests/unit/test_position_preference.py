"""Position preference: by hand, against loops and dummy variables, and for judges whose preference is known."""

import itertools

import numpy as np
import pandas as pd
import pytest
from factories import of_positions_alone, order_tests_of, score_table, simulated_reads

from rubric_order import registry
from rubric_order.analyses.position.position_preference import estimate as position_preference
from rubric_order.analyses.position.position_preference import figure, table
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.library import comparison, estimates
from rubric_order.methods.position import blocks, preference

SETTINGS = {"confidence": 0.95, "sampling_temperatures": {"j": {"default": 1.0, "greedy": 0.0}}}
FIRST = np.array([1.0, 0.5, 0, -0.5, -1.0])


def estimated(reads, quantity="preference", readout="hard", dataset="d", cluster="group", **options):
    found = position_preference.estimate(reads, **SETTINGS | options)
    rows = "quantity == @quantity and readout == @readout and dataset == @dataset and cluster == @cluster"
    return found.query(rows).reset_index(drop=True)


def block_of(reads):
    (block,) = blocks.blocks(reads)
    return block


def test_two_levels_by_hand():
    # Two reads per item, one in each order. 30 items select the first position twice, 10 the last one twice; the others
    # select the same score twice and tell nothing.
    shown = [[1, 2], [2, 1]]
    reads = score_table([[1, 2]] * 30 + [[2, 1]] * 10 + [[1, 1]] * 60, n=2, shown=shown, per_group=1)
    rows = estimated(reads)
    # x = 2 b[1] - 2 b[2] = 4 b[1], and the odds are 30 to 10, each half a time more often with Firth's penalty.
    assert rows["estimate"].tolist() == pytest.approx([np.log(30.5 / 10.5) / 4, -np.log(30.5 / 10.5) / 4])
    assert set(rows["n_pairs"]) == {40}
    assert set(rows["n_clusters"]) == {40}
    assert set(rows["n_items"]) == {100}
    assert set(rows["differing"]) == {0.4}
    # Forty clusters with the scores 1 - p or -p and the information p (1 - p), each left out of it in turn.
    p = 30.5 / 41
    influence = np.repeat([1 - p, -p], [30, 10]) / (39 * p * (1 - p))
    se = np.sqrt((influence**2).sum() * 39 / 40) / 4
    assert rows["se"].tolist() == pytest.approx([se, se])
    assert estimated(reads, "first_last")["estimate"].tolist() == pytest.approx([np.log(30.5 / 10.5) / 2])
    assert estimated(reads, "no_preference")["p_cluster"][0] == pytest.approx(estimated(reads, "first_last")["p"][0])
    assert estimated(reads, "interaction")["estimate"].isna().all()  # with two levels it is what scores are worth


def all_pairs(reads):
    """Rows of the logit by a loop over pairs of reads, with the item of each."""
    rows, items = [], []
    for item, block in reads[reads["score"].notna()].groupby("item_id"):
        for one, other in itertools.combinations(block.itertuples(), 2):
            if one.score != other.score:
                x = np.zeros(len(one.ordering))
                first, second = list(one.ordering), list(other.ordering)
                x[first.index(one.score)] += 1
                x[second.index(other.score)] += 1
                x[first.index(other.score)] -= 1
                x[second.index(one.score)] -= 1
                rows.append(x)
                items.append(item)
    moved = np.abs(rows).sum(axis=1) > 0
    return np.array(rows)[moved], np.array(items)[moved]


@pytest.mark.parametrize("strategy", ["balanced", "random"])
def test_comparisons_are_those_of_a_loop(strategy):
    reads = simulated_reads(groups=6, n=4, strategies=[strategy], failing=0.2, preference=[1, 0, 0, 0], seed=1)
    found = preference.compared(block_of(reads.sample(frac=1, random_state=2)), "hard")
    rows, items = all_pairs(reads)
    assert found.discordant == len(rows)
    low, high, low_at, high_at, low_then, high_then = found.data.rows.T
    one = np.eye(4)
    ours = one[low_at] + one[high_then] - one[high_at] - one[low_then]
    names = block_of(reads).items["item_id"].to_numpy()
    listed = [(names[c], *ours[r]) for c, r, w in zip(*found.data[1:4], strict=True) for _ in range(int(w))]
    assert sorted(listed) == sorted((item, *row) for item, row in zip(items, rows, strict=True))
    assert (low < high).all()
    scored = reads["score"].notna().groupby(reads["item_id"]).sum()
    assert found.pairs == (scored * (scored - 1) // 2).sum()
    assert (found.items, found.reads) == ((scored > 1).sum(), scored[scored > 1].sum())


def test_option_probabilities_are_fitted_as_with_a_level_for_each_score_and_read():
    reads = simulated_reads(
        groups=5, candidates=2, n=4, strategies=["random"], soft=True, seed=3, preference=[1, 0, 0, 0]
    )
    rng = np.random.default_rng(0)
    noisy = [p * np.exp(rng.normal(size=4)) for p in reads["position_probabilities"]]
    reads["position_probabilities"] = [p / p.sum() for p in noisy]
    y, place, score, read, item = [], [], [], [], []
    for number, row in enumerate(reads.itertuples()):
        y += np.log(row.position_probabilities).tolist()
        place += [0, 1, 2, 3]
        score += list(row.ordering)
        read += [number] * 4
        item += [row.item_id] * 4
    levels = [
        pd.get_dummies(pd.Series(names)) for names in (read, [f"{i} {s}" for i, s in zip(item, score, strict=True)])
    ]
    design = np.column_stack([np.eye(4)[place], *levels]).astype(float)
    b = np.linalg.lstsq(design, np.array(y), rcond=None)[0][:4]
    assert estimated(reads, readout="soft")["estimate"].tolist() == pytest.approx((b - b.mean()).tolist())
    line = np.linspace(-1, 1, 4)
    product = (line[np.array(score) - 1] * line[place])[:, None]
    further = np.linalg.lstsq(np.column_stack([product, design]), np.array(y), rcond=None)[0][0]
    assert estimated(reads, "interaction", "soft")["estimate"].tolist() == pytest.approx([further])


def test_a_score_without_a_probability_in_one_read_is_left_out_of_its_item():
    reads = simulated_reads(groups=4, candidates=1, n=3, strategies=["balanced"], soft=True, preference=[1, 0, 0])
    shares = np.stack(reads["position_probabilities"])
    before = estimated(reads, readout="soft")["estimate"]
    first = reads.index[reads["item_id"] == reads["item_id"].iloc[0]]
    shares[first[0], 1] = 0  # not among the most probable tokens
    shares[first[1]] = np.nan
    reads["position_probabilities"] = [None if np.isnan(p).any() else p / p.sum() for p in shares]
    found = preference.compared(block_of(reads), "soft")
    values = found.parts[0][0][0]
    gone = reads["ordering"][first[0]][1] - 1
    assert np.isnan(values[1]).all()
    assert np.isnan(values[:, gone]).all()
    assert np.isfinite(np.delete(np.delete(values, gone, axis=1), 1, axis=0)).all()
    # This judge has no noise: what is left tells the same.
    assert estimated(reads, readout="soft")["estimate"].tolist() == pytest.approx(before.tolist())


def test_what_is_found_does_not_depend_on_the_order_of_rows_nor_on_chunks(monkeypatch):
    reads = simulated_reads(groups=10, soft=True, failing=0.1, preference=FIRST)
    once = position_preference.estimate(reads, **SETTINGS)
    monkeypatch.setattr(preference, "PAIRS_AT_ONCE", 100)
    monkeypatch.setattr(preference, "CELLS_AT_ONCE", 100)
    again = position_preference.estimate(reads.sample(frac=1, random_state=1), **SETTINGS)
    pd.testing.assert_frame_equal(once, again, rtol=1e-9, atol=1e-12)


def test_fixed_orderings_tell_nothing_and_random_ones_need_two_reads():
    reads = simulated_reads(groups=5, strategies=["fixed", "balanced"])
    assert set(position_preference.estimate(reads, **SETTINGS)["strategy"]) == {"balanced"}
    single = simulated_reads(groups=5, strategies=["random"], reads=1)
    rows = estimated(single)
    assert rows["estimate"].isna().all()
    assert set(rows["flag"]) == {"no comparisons, saturated"}


def test_a_judge_that_always_says_the_same_is_saturated_and_has_no_number():
    rows = estimated(score_table([[5] * 10] * 40))
    assert rows[["estimate", "ci_low", "ci_high"]].isna().all(axis=None)
    assert set(rows["flag"]) == {"no comparisons, saturated"}


def test_a_judge_that_always_takes_the_first_is_separated():
    shown = np.array([[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    rows = estimated(score_table([[1, 2, 3]] * 40, n=3, shown=shown, per_group=1))
    assert set(rows["flag"]) == {"separated"}
    first = rows[(rows["quantity"] == "preference") & (rows["position"] == 1)].iloc[0]
    assert 0 < first["ci_low"] < first["estimate"] < 10
    found = position_preference.estimate(score_table([[1, 2, 3]] * 40, n=3, shown=shown, per_group=1), **SETTINGS)
    assert found.query("quantity == 'no_preference'")["p_cluster"].max() < 1e-6


def test_the_test_of_one_contrast_is_the_score_test_where_it_is_separated():
    shown = np.array([[1, 2], [2, 1]])
    table = score_table([[1, 2]] * 6 + [[1, 1]] * 6, n=2, shown=shown, per_group=1)
    found = position_preference.estimate(table, **SETTINGS).query("cluster == 'group' and readout == 'hard'")
    found = found[found["dataset"] != "all"].set_index("quantity")
    assert "separated" in found.loc["first_last", "flag"]
    assert found.loc["first_last", "p"] == found.loc["no_preference", "p_cluster"] < 0.05
    assert found.loc["first_last", "ci_low"] < 0  # by Wald's interval, which is too wide


def test_the_method_says_by_which_error_intervals_are():
    scores = simulated_reads(groups=12, dataset="d", soft=True, strategies=["balanced"], seed=1, preference=FIRST)
    found = position_preference.estimate(scores, **SETTINGS).groupby("readout")["method"].first()
    assert "the larger error of sandwich CR3" in found["hard"]
    assert "independent comparisons" not in found["soft"]


def test_datasets_are_taken_together():
    parts = [
        simulated_reads(groups=groups, dataset=name, soft=True, strategies=["balanced"], seed=groups, preference=FIRST)
        for groups, name in ((12, "one"), (30, "two"))
    ]
    joined = pd.concat(
        [
            p.assign(dataset="d", item_id=p["dataset"] + p["item_id"], group_id=p["dataset"] + p["group_id"])
            for p in parts
        ]
    )
    for readout in ("hard", "soft"):
        pooled = estimated(iter(parts), readout=readout, dataset="all")
        whole = estimated(joined, readout=readout)
        columns = ["estimate", "ci_low", "ci_high", "n_pairs", "n_clusters", "n_items", "n_reads"]
        np.testing.assert_allclose(pooled[columns].astype(float), whole[columns].astype(float))
    found = position_preference.estimate(iter(parts), **SETTINGS)
    tests = found[found["quantity"] == "no_preference"].groupby("dataset")["n_tests"].unique()
    assert {name: list(count) for name, count in tests.items()} == {"all": [1], "one": [2], "two": [2]}


def test_the_unit_says_what_a_log_odds_is():
    reads = simulated_reads(groups=4, strategies=["balanced"], soft=True)
    greedy, unknown = reads.assign(profile="greedy"), reads.assign(judge="other")
    found = position_preference.estimate([reads, greedy, unknown], **SETTINGS)
    units = found.groupby(["judge", "profile", "readout"])["unit"].unique().explode()
    assert units["j", "default", "hard"] == "log-odds of an answer at temperature 1"
    assert units["j", "greedy", "hard"].startswith("temperature 0: relative to")
    assert units["j", "greedy", "soft"] == "log-odds of the model's probabilities"
    assert units["other", "default", "hard"].endswith("temperature unknown")


@pytest.fixture(scope="module")
def found():
    """Two judges and two datasets, another scale and another profile."""
    parts = [
        simulated_reads(groups=12, judge=judge, dataset=dataset, seed=seed, preference=FIRST, soft=judge == "judge_a")
        for seed, (judge, dataset) in enumerate(itertools.product(("judge_a", "judge_b"), ("d", "e")))
    ]
    parts += [
        simulated_reads(groups=8, judge="judge_a", n=3),
        simulated_reads(groups=8, judge="judge_a", profile="warm"),
    ]
    return position_preference.estimate(iter(parts), **SETTINGS), order_tests_of(parts)


def test_the_table_has_the_columns_that_others_rely_on(found):
    rows = table.TABLE.table(*found, study="s")
    first = ["judge", "profile", "dataset", "strategy", "n", "readout", "position", "preference", "preference_low"]
    assert rows.columns[:13].tolist() == [*first, "preference_high", "p_cluster", "n_pairs", "n_clusters"]
    assert not rows.duplicated(first[:7]).any()
    usual = rows.query("profile == 'default' and strategy == 'balanced' and n == 5")
    assert len(usual) == 3 * 3 * 5  # two readouts of one judge and one of the other; two datasets, and both together
    assert set(usual["dataset"]) == {"all", "d", "e"}
    assert usual[["preference", "preference_low", "preference_high", "p_cluster"]].notna().all(axis=None)
    np.testing.assert_allclose(usual.groupby(["judge", "dataset", "readout"])["preference"].sum(), 0, atol=1e-9)
    assert set(rows["profile"]) == {"default", "warm"}
    assert set(rows["n"]) == {3, 5}
    printed = table.TABLE.printout(rows)
    assert not printed.duplicated(["judge", "profile", "dataset", "strategy", "n", "readout"]).any()
    assert printed["Pos1"].str.fullmatch(r"[+-]\d\.\d\d \[[+-]\d\.\d\d, [+-]\d\.\d\d\]").all()
    assert set(printed.loc[printed["n"] == 3, "Pos4"]) == {""}
    assert table.TABLE.printout(rows[:0]).empty


def test_the_figure_has_a_panel_a_judge_and_readout_and_a_line_a_dataset(found):
    found, _ = found
    options = {"study": "s", "strategy": "balanced", "n": 5, "readouts": ["hard", "soft"], "columns": 2}
    shape = {"width_in": 6.5, "panel_height_in": 2.6, "labels": Labels({"judge_a": "A", "judge_b": "B"}, {"d": "D"})}
    drawn = view.draw(figure, found, **options, **shape)
    panels = [axis for axis in drawn.axes if axis.get_visible()]
    assert [axis.get_title() for axis in panels] == [
        "A\nSelected option",
        "A\nOption probabilities",
        "B\nSelected option",
    ]
    assert [len(axis.containers) for axis in panels] == [3, 3, 3]
    one = view.draw(figure, found[found["dataset"] != "e"], **options, **shape)
    assert len(one.axes[0].containers) == 1  # one dataset needs no line for all
    empty = view.draw(figure, found, **options | {"strategy": "all"}, **shape)
    assert empty.texts[0].get_text().startswith("No reads of study s (strategy: all) that tell a position preference")
    contrast = found.assign(estimate=found["estimate"].mask(found["quantity"] == "preference"))
    empty = view.draw(figure, contrast, **options, **shape)
    text = "of study s (strategy: balanced) do not tell what each position adds, only what the first adds over the last"
    assert text in empty.texts[0].get_text()
    empty = view.draw(figure, contrast.assign(estimate=np.nan), **options, **shape)
    assert empty.texts[0].get_text().startswith("Too few reads of an item differ in study s (strategy: balanced)")


def test_a_separated_line_does_not_flatten_the_others(found):
    """Readouts have axes of their own, and an interval that only a penalty keeps finite sets no axis of other lines."""
    table_, _ = found
    options = {"study": "s", "strategy": "balanced", "n": 5, "readouts": ["hard", "soft"], "columns": 2}
    shape = {"width_in": 6.5, "panel_height_in": 2.6, "labels": Labels({"judge_a": "A", "judge_b": "B"}, {"d": "D"})}
    before = [axis.get_ylim() for axis in view.draw(figure, table_, **options, **shape).axes]
    separated = (table_["judge"] == "judge_b") & (table_["quantity"] == "preference") & (table_["n"] == 5)
    wild = table_.assign(
        flag=table_["flag"].mask(separated, "separated"),
        ci_low=table_["ci_low"].mask(separated, -12.0),
        ci_high=table_["ci_high"].mask(separated, 12.0),
    )
    drawn = view.draw(figure, wild, **options, **shape)
    assert drawn.axes[0].get_ylim() == drawn.axes[2].get_ylim()  # one readout, two judges
    assert all(axis.get_ylim()[1] < 5 for axis in drawn.axes if axis.get_visible())
    assert drawn.axes[1].get_ylim() == before[1]
    hollow = [line for line in drawn.axes[2].lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 3
    assert not [line for line in drawn.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert "separated" in registry.caption("figures", "position_preference")
    alone = view.draw(figure, wild[wild["judge"] == "judge_b"], **options, **shape)
    assert alone.axes[0].get_ylim()[1] > 12  # nothing else to show


@pytest.mark.parametrize(
    ("weights", "preferred"),
    [
        ((1, 1, 1, 1, 1), set()),
        ((3, 1, 1, 1, 1), {"first_last", "ends_middle"}),
        ((3, 1, 1, 1, 3), {"ends_middle"}),
        ((1, 1e-3, 1e-6, 1e-9, 1e-12), {"first_last"}),
    ],
)
def test_rounding_that_all_groups_share_is_no_effect(weights, preferred):
    """Probabilities of options whose position alone counts are the same in all groups."""
    reads = estimates.scores_of(pd.DataFrame(of_positions_alone("j", weights)))
    made = estimates.estimate("position_preference", reads)
    one = made.query("readout == 'soft' and cluster == 'group' and dataset == 'all'").set_index("quantity")
    assert {name for name in ("first_last", "ends_middle") if one["p"][name] < 0.001} == preferred
    assert (one["p_cluster"]["no_preference"] < 0.001) == bool(preferred)
    assert not (one["p"][["interaction", "no_interaction"]] < 0.05).any()
    assert one["estimate"]["interaction"] == 0


@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (3, 1, 1, 1, 1)])
def test_rounding_that_all_groups_share_is_no_difference_between_judges(weights):
    judges = {"a": (1, 2, 3, 4, 7), "b": (0.1, 0.2, 0.05, 0.6, 0.05)}
    rows = [row for judge, scores in judges.items() for row in of_positions_alone(judge, weights, of_score=scores)]
    found = comparison.compare(pd.DataFrame(rows))
    assert len(found.differences) > 1
    assert found.verdict != "different"
