"""The statistic `corrected_means` with its table and figure, and `rubric_order.corrected_mean`."""

import doctest

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads

import rubric_order as ro
from rubric_order.base.labels import Labels
from rubric_order.extras.one_read.agreement.corrected_means import estimate as statistic
from rubric_order.extras.one_read.agreement.corrected_means import figure
from rubric_order.extras.one_read.agreement.corrected_means import table as layout
from rubric_order.extras.one_read.library import means
from rubric_order.extras.one_read.methods import corrected, pass_rates
from rubric_order.figures import view

OPTIONS = {"confidence": 0.95, "seed": 1}


@pytest.fixture(scope="module")
def scores():
    return simulated_reads(groups=60, candidates=3, strategies=["balanced"], soft=True, failing=0.02, seed=4)


@pytest.fixture(scope="module")
def rows(scores):
    return statistic.estimate(scores, **OPTIONS, human_pass=3, groups=30)


def value(rows, estimator="corrected", quantity="value", *, target="mean", candidate="all", readout="hard", **more):
    chosen = rows.query(
        "estimator == @estimator and quantity == @quantity and target == @target and candidate == @candidate"
        " and readout == @readout"
    )
    for name, wanted in more.items():
        chosen = chosen[chosen[name] == wanted]
    (row,) = chosen.to_dict("records")
    return row


def items_of(scores, column="score"):
    table = scores.assign(judge=scores[column].astype(float)).groupby("item_id")
    return table.agg({"group_id": "first", "candidate": "first", "human_score": "first", "judge": "mean"})


@pytest.mark.parametrize(("readout", "column"), [("hard", "score"), ("soft", "expected_score")])
def test_the_judges_score_is_its_mean_over_reads(scores, rows, readout, column):
    items = items_of(scores, column)
    assert value(rows, "judge", readout=readout)["estimate"] == pytest.approx(items["judge"].mean())
    assert value(rows, "all_labels", readout=readout)["estimate"] == pytest.approx(items["human_score"].mean())


def test_so_many_groups_are_labelled_and_the_others_are_hidden(scores, rows):
    row = value(rows)
    assert (row["n_items"], row["n_labels"], row["n_clusters"], row["n_labelled"]) == (180, 90, 60, 30)
    assert value(rows, "all_labels")["n_labels"] == 180
    shuffled = statistic.estimate(scores.sample(frac=1, random_state=3), **OPTIONS, human_pass=3, groups=30)
    pd.testing.assert_frame_equal(shuffled, rows)
    whole = statistic.estimate(scores, **OPTIONS)
    assert value(whole)["flag"] == statistic.ALL_LABELLED
    assert (whole["estimator"] != "all_labels").all()
    assert value(whole)["estimate"] == pytest.approx(value(rows, "all_labels")["estimate"])


def test_each_candidate_has_a_mean_and_a_difference_from_the_reference(scores, rows):
    items = items_of(scores)
    means = items.groupby("candidate")["judge"].mean()
    assert value(rows, "judge", candidate="c1")["estimate"] == pytest.approx(means["c1"])
    for other in ("c0", "c2"):
        table = rows if other == "c0" else statistic.estimate(scores, **OPTIONS, reference=other)
        found = value(table, "judge", target="difference", candidate="c1", other=other)
        assert found["estimate"] == pytest.approx(means["c1"] - means[other])
    single = scores.assign(candidate=scores["item_id"])  # each its own writer
    assert set(statistic.estimate(single, **OPTIONS)["candidate"]) == {"all"}


def test_pass_rates_by_labels_by_the_judge_and_by_its_errors(scores, rows):
    items = items_of(scores)
    about = {"target": "pass_rate"}
    assert value(rows, "all_labels", **about)["estimate"] == pytest.approx((items["human_score"] >= 3 - 1e-9).mean())
    assert value(rows, "judge", **about)["estimate"] == pytest.approx((items["judge"] >= 3 - 1e-9).mean(), abs=1e-9)
    q = value(rows, "judge", **about)["estimate"]
    right = [value(rows, "rogan_gladen", name, **about)["estimate"] for name in ("sensitivity", "specificity")]
    expected = (q + right[1] - 1) / (sum(right) - 1)
    assert value(rows, "rogan_gladen", **about)["estimate"] == pytest.approx(expected)
    stricter = statistic.estimate(scores, **OPTIONS, human_pass=3, judge_pass=4, groups=30)
    assert value(stricter, "judge", **about)["estimate"] == pytest.approx((items["judge"] >= 4 - 1e-9).mean(), abs=1e-9)


def test_scores_of_people_on_another_scale(scores, rows):
    """Ten points per level: what people say is ten times as much, and the judge's levels are mapped."""
    other = scores.assign(human_score=10 * scores["human_score"] - 10)
    found = statistic.estimate(other, **OPTIONS, human_pass=20, groups=30, human_scales={"d": (0, 40)})
    for estimator in ("labels", "judge", "corrected"):
        assert value(found, estimator)["estimate"] == pytest.approx(10 * value(rows, estimator)["estimate"] - 10)
    about = {"target": "pass_rate"}
    for estimator in ("labels", "judge", "corrected", "rogan_gladen"):
        assert value(found, estimator, **about)["estimate"] == pytest.approx(
            value(rows, estimator, **about)["estimate"]
        )
    assert value(found)["weight"] == pytest.approx(value(rows)["weight"])


def test_a_saturated_judge_and_one_without_scores_say_nothing():
    human = np.tile([2.0, 3, 4, 5], 20)
    human[40:] = np.nan
    for given in (5, None):
        selected = [[given] * 10] * 79 + [[5] * 10]
        table = statistic.estimate(score_table(selected, human, per_group=2), **OPTIONS, human_pass=3)
        row = value(table)
        assert row["weight"] == 0
        assert row["estimate"] == pytest.approx(value(table, "labels")["estimate"])
        told = value(table, "rogan_gladen", target="pass_rate")
        assert told["flag"] in (pass_rates.NEAR_ONE, pass_rates.NO_LABELS)
        assert np.isnan(told["estimate"])
        assert value(table, quantity="label_share")["estimate"] > 1
    assert row["n_unscored"] == 79


def test_few_labels_are_not_corrected_and_none_have_no_row(scores):
    few = statistic.estimate(scores, **OPTIONS, groups=3)
    assert value(few)["flag"] == statistic.FEW_LABELS
    assert value(few)["estimate"] == pytest.approx(value(few, "labels")["estimate"])
    assert statistic.estimate(scores.assign(human_score=np.nan), **OPTIONS).empty


def test_the_table_has_a_row_a_target(rows):
    table = layout.TABLE.table(rows, study="s", margin=0.2)
    printed = layout.TABLE.printout(table[table["readout"] == "hard"])
    assert printed["what"].tolist()[:2] == ["mean", "pass rate"]
    assert printed["what"].tolist()[-1] == "difference of c2 less c0"
    first = printed.iloc[0]
    assert first["labelled groups"] == "30 of 60"
    assert first["corrected"].startswith(f"{value(rows)['estimate']:.3f} [")
    assert first["by errors"] == ""
    assert first["all labels"].startswith(f"{value(rows, 'all_labels')['estimate']:.3f} [")
    needed = [value(rows, name, "groups_needed", margin=0.2)["estimate"] for name in ("labels", "corrected")]
    assert first["groups for the margin"] == " / ".join(f"{number:,.0f}" for number in needed)
    told = layout.TABLE.printout(table.assign(by_errors=np.nan, errors_flag="cannot tell: x"))
    assert told["by errors"].tolist()[1] == "cannot tell"
    assert "cannot tell: x" in told["flag"].tolist()[1]


@pytest.mark.parametrize("target", ["mean", "difference", "pass_rate"])
def test_the_figure_shows_each_estimate_and_the_labels_that_are_needed(root, rows, target):
    mpl.use("agg")
    names = Labels({"judge": "Judge A"}, {"d": "Data D"})
    view_of = {"study": "s", "n": 5, "strategy": "balanced", "readout": "hard", "criterion": "all", "target": target}
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, rows, **view_of, width_in=6.5, row_height_in=0.3, labels=names)
    left, right = drawn.axes
    candidate = "c1" if target == "difference" else "all"
    places = {line.get_label(): line for line in left.containers}
    estimate = value(rows, target=target, candidate=candidate)["estimate"]
    assert places["corrected"].lines[0].get_xdata()[0] == pytest.approx(estimate)
    (line,) = [line for line in right.lines if line.get_label() == "labels alone"]
    needed = rows.query(
        "quantity == 'groups_needed' and estimator == 'labels' and target == @target and candidate == @candidate"
        " and readout == 'hard'"
    ).dropna(subset="estimate")
    assert sorted(line.get_xdata()) == sorted(needed["estimate"])
    assert ("by errors" in places) == (target == "pass_rate")
    nothing = view.draw(figure, rows.iloc[:0], **view_of, width_in=6.5, row_height_in=0.3, labels=names)
    assert "No " in nothing.texts[0].get_text()
    plt.close("all")


def plain(seed=1, labelled=40, groups=120):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), 2)
    worth = rng.normal(3, 0.6, groups)[group] + rng.normal(0, 0.6, 2 * groups)
    human = np.where(group < labelled, worth + rng.normal(0, 0.5, 2 * groups), np.nan)
    columns = {"score": worth + 0.4, "human_score": human, "group": group, "candidate": np.tile(["a", "b"], groups)}
    return pd.DataFrame(columns).assign(item=np.arange(2 * groups))


def test_the_examples_of_the_library_run():
    (test,) = doctest.DocTestFinder().find(ro.corrected_mean, "corrected_mean", globs={"ro": ro, "pd": pd})
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_library_says_what_the_methods_say():
    table = plain()
    found = ro.corrected_mean(table, passes=(3, 3.4), reference="b")
    sums = corrected.sums(table["human_score"].to_numpy(), table["score"].to_numpy(), table["group"].to_numpy())
    own = corrected.corrected(sums, 0.95)
    rows = found.table.query("quantity == 'value' and estimator == 'corrected'").set_index(["target", "candidate"])
    first = rows.loc[("mean", "all")]
    assert (first["estimate"], first["ci_low"], first["ci_high"]) == pytest.approx(own.interval)
    assert rows.loc[("difference", "a"), "other"] == "b"
    assert ("pass_rate", "all") in rows.index
    twice = pd.concat([table.assign(score=table["score"] - 0.3), table.assign(score=table["score"] + 0.3)])
    again = ro.corrected_mean(twice, passes=(3, 3.4), reference="b")
    pd.testing.assert_frame_equal(again.table, found.table)
    mpl.use("agg")
    assert found.plot().axes[0].get_title().startswith("judge\n")


def test_the_library_takes_a_file(tmp_path):
    plain().to_csv(tmp_path / "scores.csv", index=False)
    expected = ro.corrected_mean(plain()).table
    pd.testing.assert_frame_equal(ro.corrected_mean(tmp_path / "scores.csv").table, expected, check_exact=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="human_score"), "scores: column 'human_score' is missing"),
        (lambda table: table.assign(score="good"), "row 1: field 'score': expected a number, or nothing, found 'good'"),
        (lambda table: table.assign(score=np.nan), "field 'score': expected numbers, found none in any row"),
        (
            lambda table: table.assign(human_score=np.nan),
            "field 'human_score': expected numbers, found none in any row",
        ),
        (
            lambda table: table.assign(item=table["group"], candidate="a"),
            "row 2: field 'human_score': item '0' has two human scores",
        ),
        (lambda table: table.assign(item=table["item"] // 4, human_score=3), "field 'group': '0' has two groups"),
        (lambda table: table.iloc[:0], "no rows"),
        (
            lambda table: table.assign(judge=np.where(table["item"] % 2, "a", "b")),
            "field 'judge': expected the scores of one judge, found b, a",
        ),
    ],
)
def test_bad_tables_are_one_error_with_row_and_field(change, message):
    with pytest.raises(ro.InputError) as error:
        ro.corrected_mean(change(plain()))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_bad_options_are_one_error():
    with pytest.raises(ro.InputError, match="reference: 'aa' is no candidate"):
        ro.corrected_mean(plain(), reference="aa")
    with pytest.raises(ro.InputError, match="confidence: expected a number between 0 and 1, found 95"):
        ro.corrected_mean(plain(), confidence=95)


def test_margins_of_the_library_are_those_of_config():
    assert means.MARGINS == statistic.MARGINS
