"""Advice on further studies: variances by hand, by the analysis of variance and by cards; options; refusals."""

import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import rubric_order as ro
from rubric_order.base.labels import Labels
from rubric_order.cards import card, groups
from rubric_order.commands.app import app
from rubric_order.extras.one_read.agreement.advice import estimate as advice
from rubric_order.extras.one_read.agreement.advice import figure
from rubric_order.extras.one_read.agreement.advice import table as layout
from rubric_order.extras.one_read.methods.advice import card as card_errors
from rubric_order.extras.one_read.methods.advice import designs, goals, options, pilot, variances
from rubric_order.extras.one_read.methods.advice.goals import Asked, Margins
from rubric_order.extras.one_read.methods.advice.options import Budget
from rubric_order.extras.one_read.methods.advice.pilot import Pilot
from rubric_order.extras.one_read.methods.advice.variances import Shape
from rubric_order.figures import view
from rubric_order.library import estimates
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings
from rubric_order.settings.base import parse
from rubric_order.settings.studies import Study
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

JUDGE = Simulation(preference="first", preference_strength=0.6, prompts=0.3, group_error=0.5, group_positions=0.2)
OPTIONS = {"confidence": 0.95, "seed": 1, "points": 0.1, "log_odds": 0.2, "margin": 0.1}
NOTHING = {"target": None, "budget": None}


def made(of=JUDGE, *, count=40, candidates=3, strategy="balanced", budget=None, seed=1):
    reads = studies.read_items(
        of, n=5, strategies=[strategy], budget=budget, groups=count, candidates=candidates, seed=seed
    )
    return studies.as_scores(reads, candidates=candidates, study="s", dataset="d")


@pytest.fixture(scope="module")
def scores():
    return made()


def pilot_of(scores, readout="hard"):
    (block,) = blocks.blocks(scores)
    return Pilot.of(block, readout, {"hard": "score", "soft": "expected_score"}[readout], seed=1)


def asked(goal, temperature=None):
    return Asked(goal, 0.95, Margins(0.1, 0.2, 0.1), temperature, 1)


def design(pilot, name):
    possible = designs.possible(pilot.block.orderings[0], pilot.repeats, crossed=False)
    (chosen,) = (one for one in possible if one.name == name)
    return chosen


def parts_of(influence, unit):
    sums = variances.unit_sums(np.asarray(influence, dtype=float)[:, None], np.asarray(unit))
    return variances.parts(sums.sum(axis=0))


def test_parts_of_two_groups_by_hand():
    # Groups (1, 3) and (-1, -3): sums 4 and -4, within-group squares 2 + 2 of 2 degrees of freedom.
    found = parts_of([1, 3, -1, -3], [0, 0, 1, 1])
    assert found.within == pytest.approx(2)
    # Variance of sums: (16 + 16) * 2 / 1 = 64 in all; less 4 items times 2, over 4 + 4.
    assert found.between == pytest.approx((64 - 8) / 8)
    assert found.variance(Shape(2.0), 10) == pytest.approx((7 + 2 / 2) / 10)
    assert found.variance(Shape(2.0, inequality=1.5), 10) == pytest.approx((7 * 1.5 + 1) / 10)


def test_parts_of_equal_groups_are_those_of_the_analysis_of_variance():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 4)) + rng.normal(size=(30, 1))
    values -= values.mean()
    found = parts_of(values.ravel(), np.repeat(np.arange(30), 4))
    between = 4 * values.mean(axis=1).var(ddof=1)
    within = values.var(axis=1, ddof=1).mean()
    assert found.within == pytest.approx(within)
    assert found.between == pytest.approx((between - within) / 4)


def test_parts_of_unequal_groups_are_those_that_were_planted():
    rng = np.random.default_rng(2)
    sizes = np.tile([1, 1, 2, 3, 9], 400)
    unit = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=len(sizes))[unit] * 0.7 + rng.normal(size=len(unit)) * 1.5
    found = parts_of(values - values.mean(), unit)
    assert found.within == pytest.approx(2.25, rel=0.06)
    assert found.between == pytest.approx(0.49, rel=0.3)
    # What a study of these sizes is predicted to have is the error of a mean over such groups.
    mean = found.variance(Shape.of(sizes[:50]), 50)
    true = (0.49 * np.square(sizes[:50]).sum() + 2.25 * sizes[:50].sum()) / sizes[:50].sum() ** 2
    assert mean == pytest.approx(true, rel=0.2)


def test_single_items_have_no_part_that_groups_share():
    values = np.random.default_rng(3).normal(size=50)
    found = parts_of(values - values.mean(), np.arange(50))
    assert found.between == 0
    assert found.within == pytest.approx(values.var(ddof=1))


def test_parts_without_a_group_are_those_of_the_other_groups():
    rng = np.random.default_rng(4)
    unit = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    values = rng.normal(size=(len(unit), 2))
    without = variances.parts(variances.left_out(variances.unit_sums(values, unit)))
    for place in range(12):
        rows = unit != place
        again = values[rows] - values[rows].mean(axis=0)
        own = variances.parts(variances.unit_sums(again, np.unique(unit[rows], return_inverse=True)[1]).sum(axis=0))
        assert without.within[place + 1] == pytest.approx(own.within)
        assert without.between[place + 1] == pytest.approx(own.between)


def test_designs_are_those_that_a_config_can_ask_for_and_the_pilot_has_read():
    names = [one.name for one in designs.possible(orderings.balanced(5), 1, crossed=False)]
    assert names == ["rotated", "random, 2 reads", "random, 3 reads", "random, 5 reads", "balanced"]
    assert [one.name for one in designs.possible(orderings.balanced(5), 1, crossed=True)] == ["balanced"]
    turns = orderings.rotations(5)
    repeated = designs.possible(turns, 3, crossed=True)
    assert [(one.name, one.orderings, one.repeats) for one in repeated] == [
        ("repeated_rotations, 10 reads", 5, 2),
        ("repeated_rotations, 15 reads", 5, 3),
    ]
    assert designs.possible(turns[:3], 1, crossed=True) == []
    two = designs.possible(orderings.rotations(2), 2, crossed=True)
    assert [(one.name, one.reads) for one in two] == [("balanced", 4)]


def test_random_reads_are_distinct_orderings_of_the_pilot(scores):
    reads = pilot_of(scores)
    once = reads.means(design(reads, "rotated"))
    assert set(np.unique(once)) <= {1, 2, 3, 4, 5}
    # Without replacement: as many as there are would be the mean over all.
    every = designs.Design("random", 10, 10, 1)
    assert reads.means(every) == pytest.approx(np.tile(reads.values.mean(axis=(1, 2)), (pilot.DRAWS, 1)))


@pytest.mark.parametrize("candidates", [1, 3])
def test_a_study_as_large_as_the_pilot_has_the_intervals_of_the_pilot(candidates):
    scores = made(candidates=candidates, count=60)
    for readout in ("hard", "soft"):
        reads = pilot_of(scores, readout)
        balanced = design(reads, "balanced")
        table = pd.DataFrame({"mean": reads.values.mean(axis=(1, 2)), "unit": reads.unit})
        sums = resampling.left_out_sums(np.column_stack([np.ones(len(table)), table["mean"]]), reads.unit)
        sizes = resampling.part_sizes(reads.unit)
        interval = resampling.jackknife_t(sums[:, 1] / sums[:, 0], 0.95, sizes=sizes).interval
        predicted = goals.predictor(reads, balanced, asked("mean"))
        assert predicted.at(reads.shape, reads.groups) == pytest.approx((interval.high - interval.low) / 2, rel=0.01)
        assert predicted.value == pytest.approx(interval.estimate)
        agreement = estimates.estimate("human_agreement", scores)
        (row,) = agreement.query("readout == @readout and quantity == 'pearson' and cluster == 'group'").to_dict(
            "records"
        )
        of_r = goals.predictor(reads, balanced, asked("r"))
        assert of_r.value == pytest.approx(row["estimate"], abs=1e-6)
        width = (row["ci_high"] - row["ci_low"]) / 2
        assert of_r.at(reads.shape, reads.groups) == pytest.approx(width, rel=0.08)
        preference = estimates.estimate("position_preference", scores)
        own = preference.query(
            "readout == @readout and quantity == 'preference' and cluster == 'group' and dataset == 'd'"
        )
        width = ((own["ci_high"] - own["ci_low"]) / 2).mean()
        of_positions = goals.predictor(reads, balanced, asked("preference"))
        assert of_positions.at(reads.shape, reads.groups) == pytest.approx(width, rel=0.06)


def test_errors_that_decide_a_card_are_those_of_the_card():
    scores = made(Simulation(prompts=0.3, group_positions=0.1), count=60, candidates=2)
    (made_card,) = card.cards(estimates.card_statistics(scores))
    expected = groups._errors(made_card.evidence)
    reads = pilot_of(scores)
    own = card_errors.card_errors(reads, design(reads, "balanced"), temperature=None).at(reads.shape, reads.groups)
    assert own.by == expected.by
    assert own.groups == pytest.approx(expected.groups)
    for name in ("log_odds", "one_place", "points", "written", "interaction"):
        sizes = [np.sqrt(np.square(getattr(errors, name)).mean()) for errors in (own, expected)]
        # A part below 0 counts as 0 here, so that errors of single orderings come out somewhat larger.
        assert 0.98 * sizes[1] < sizes[0] < 1.12 * sizes[1], name
    assert own.exponent == pytest.approx(expected.exponent, rel=0.06)
    assert own.spread.variance == pytest.approx(expected.spread.variance, rel=0.02)
    assert own.spread.error == pytest.approx(expected.spread.error, rel=0.06)
    assert own.spread.logarithm == expected.spread.logarithm
    assert own.beyond == pytest.approx(expected.beyond, rel=0.06)


def test_where_scores_and_probabilities_may_be_of_two_answers_fewer_studies_show_a_judge_equivalent():
    reads = pilot_of(made(Simulation(prompts=0.15), count=40, candidates=1), "soft")
    one, other = (
        goals.predictor(reads, design(reads, "balanced"), asked("equivalent", temperature)).at(reads.shape, 250)
        for temperature in (1.0, None)
    )
    assert other < one - 0.2


def test_share_of_pairs_is_that_of_normal_scores_whose_errors_are_known():
    rng = np.random.default_rng(6)
    true = rng.normal(size=(4000, 1))
    predicted = goals.share_ranked(np.array([1.0]), np.array([0.5]))
    seen = (true + np.sqrt(0.5) * rng.normal(size=true.shape)).ravel()
    one, other = rng.permutation(4000), rng.permutation(4000)
    right = (np.sign(seen[one] - seen[other]) == np.sign(true[one, 0] - true[other, 0])).mean()
    assert predicted == pytest.approx(right, abs=0.02)
    assert predicted == pytest.approx(0.5 + np.arcsin(np.sqrt(2 / 3)) / np.pi)


def test_with_a_target_each_option_has_the_fewest_groups_and_the_cheapest_stands_first(scores):
    reads, target = pilot_of(scores), 0.1
    chosen, _ = options.options(reads, asked("r"), Budget(target, None, 0.5))
    assert [option.calls for option in chosen] == sorted(option.calls for option in chosen)
    assert len(chosen) == 5 * 3  # designs by groups of 3, 1 and 2 items
    for option in chosen:
        of = goals.predictor(reads, option.design, asked("r"))
        assert option.precision.high <= target
        least = option.groups == goals.FEWEST_GROUPS
        assert least or of.interval(option.shape, option.groups - 1)[1] > target
        assert option.calls == round(option.groups * option.shape.items * option.design.reads)
        assert option.cost == option.calls * 0.5
        assert option.precision.low < option.precision.estimate < option.precision.high


def test_with_a_budget_each_option_takes_what_it_pays_for_and_the_most_precise_stands_first(scores):
    reads = pilot_of(scores)
    chosen, _ = options.options(reads, asked("mean"), Budget(None, 10.0, 0.01))
    values = [option.precision.estimate for option in chosen]
    assert values == sorted(values)
    assert all(1000 - 30 < option.calls <= 1000 for option in chosen)
    both, _ = options.options(reads, asked("mean"), Budget(0.2, 500.0, np.nan))
    assert {option.affordable for option in both} == {True, False}
    assert [option.affordable for option in both] == sorted((option.affordable for option in both), reverse=True)


@pytest.mark.parametrize("target", [None, 1e-6])
def test_a_budget_for_too_few_groups_of_unequal_size_gives_no_option(target):
    scores = made()
    scores = scores[(scores["group_id"] <= "g00003") | scores["item_id"].str.endswith("c00")]
    reads = pilot_of(scores)
    assert reads.shape.worth < 0.9
    unlimited, _ = options.options(reads, asked("mean"), Budget(None, None, np.nan))
    assert all(option.groups * option.shape.worth >= goals.FEWEST_GROUPS for option in unlimited)
    fewest = math.ceil(goals.FEWEST_GROUPS / reads.shape.worth)
    for count in (fewest - 1, fewest):
        amount = float(math.ceil(10 * reads.shape.items * count))  # ten orderings of each item
        chosen, _ = options.options(reads, asked("mean"), Budget(target, amount, np.nan))
        counts = [option.groups for option in chosen if option.like_pilot and option.design.reads == 10]
        assert counts == ([fewest] if count == fewest else [])


@pytest.mark.parametrize("goal", goals.GOALS)
def test_more_groups_are_never_worse(goal):
    scores = made(Simulation(prompts=0.15), count=40, candidates=2)
    reads = pilot_of(scores, "soft")
    of = goals.predictor(reads, design(reads, "balanced"), asked(goal))
    values = [of.at(reads.shape, groups) for groups in (30, 100, 1000)]
    assert values == sorted(values, reverse=goal not in goals.RISING)
    low, high = of.interval(reads.shape, 100)
    assert low <= values[1] <= high


def test_the_interval_of_an_error_is_that_of_its_log_by_the_jackknife(scores):
    reads = pilot_of(scores)
    of = goals.predictor(reads, design(reads, "balanced"), asked("mean"))
    values, count = np.log(of.values(reads.shape, 80)), reads.groups
    error = np.sqrt((count - 1) / count * np.square(values[1:] - values[0]).sum())
    reach = stats.t.ppf(0.975, resampling.degrees(np.bincount(reads.unit) ** 2)) * error
    assert of.interval(reads.shape, 80) == pytest.approx(np.exp([values[0] - reach, values[0] + reach]))


def test_keys_of_config_are_those_of_a_study(scores):
    rows = advice.estimate(scores, goal="r", target=0.1, budget=None, **OPTIONS)
    for text in rows.loc[rows["kind"] == "option", "config"]:
        study = Study.model_validate({"datasets": ["d"], "judges": ["j"]} | parse(text))
        assert study.sample >= 30


def test_a_part_below_zero_counts_as_zero_and_is_named():
    rng = np.random.default_rng(1)
    scores = made(Simulation(), count=30, candidates=4)
    # Items of a group in turn high and low: their means agree more than by chance.
    level = np.tile(np.repeat([2, 4, 2, 4], 10), 30)
    scores["score"] = pd.array(np.clip(level + rng.integers(-1, 2, len(level)), 1, 5), dtype="Int8")
    reads = pilot_of(scores)
    of = goals.predictor(reads, design(reads, "balanced"), asked("mean"))
    assert of.truncated == ("what groups share",)
    (influence,) = pilot.mean_influence(reads, design(reads, "balanced")).T
    parts = parts_of(influence, reads.unit)
    assert parts.between < 0
    assert of.at(Shape(2.0), 50) == pytest.approx(stats.t.ppf(0.975, 49) * np.sqrt(float(parts.within[0]) / 2 / 50))
    rows = advice.estimate(scores, goal="mean", target=0.1, budget=None, **OPTIONS)
    assert "below 0: what groups share" in set(rows.query("readout == 'hard' and kind == 'option'")["flag"])


def refusal(scores, goal):
    rows = advice.estimate(scores, goal=goal, **NOTHING, **OPTIONS)
    hard = rows[rows["readout"] == rows["readout"].iloc[0]]
    assert set(hard["kind"]) == {"refused"}
    assert hard["estimate"].isna().all()
    return hard["flag"].iloc[0]


def test_what_a_pilot_cannot_tell_is_refused(scores):
    hard = scores.drop(columns=["expected_score", "position_probabilities"])
    assert "one ordering" in refusal(made(strategy="single"), "mean")
    assert "is 1 group of items" in refusal(hard.assign(group_id="g"), "mean")
    names = pd.Series(sorted(hard["group_id"].unique()))
    few = hard[hard["group_id"].isin(names[:29])]
    assert "there are 29 groups of items; at least 30 are needed to know how groups differ" in refusal(few, "mean")
    one = hard.assign(group_id=hard["group_id"].where(~hard["group_id"].isin(names[:20]), "large"))
    assert "groups of items, as informative as " in refusal(one, "mean")
    people = hard.assign(human_score=hard["human_score"].where(hard["group_id"].isin(names[:29])))
    assert "there are 29 groups of items with human scores; at least 30 are needed" in refusal(people, "r")
    assert "human score" in refusal(hard.assign(human_score=np.nan), "r")
    assert "the spread between single items is not known" in refusal(hard, "equivalent")
    same = hard.assign(score=pd.array(np.full(len(hard), 5), dtype="Int8"))
    assert "all the same" in refusal(same, "mean")
    assert "all the same" in refusal(same, "r")
    assert "saturated" in refusal(same.assign(position=[[*row].index(5) + 1 for row in same["ordering"]]), "bias")
    random = made(strategy="random", budget=4).drop(columns=["expected_score", "position_probabilities"])
    assert "all read in the same orderings" in refusal(random, "mean")
    few = hard[hard["ordering"].map(lambda row: row[0] in (1, 2))]
    assert "no strategy of a config" in refusal(few, "preference")


def test_repeats_are_advised_where_the_pilot_has_them():
    scores = made(Simulation(prompts=0.2), strategy="repeated_rotations", budget=20, count=40, candidates=1)
    hard = scores.drop(columns=["expected_score", "position_probabilities"])
    reads = pilot_of(hard)
    for repeats in (2, 4):
        one = design(reads, f"repeated_rotations, {5 * repeats} reads")
        share = goals.predictor(reads, one, asked("equivalent")).at(reads.shape, 400)
        assert 0 <= share <= 1
        if repeats == 4:
            assert share > 0.05


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    scores = made(count=30, candidates=2)
    table = pd.DataFrame(
        {
            "item": scores["item_id"],
            "group": scores["group_id"],
            "ordering": [" ".join(map(str, row)) for row in scores["ordering"]],
            "score": scores["score"],
            "human_score": scores["human_score"],
        }
    )
    path = tmp_path_factory.mktemp("advice") / "pilot.csv"
    table.to_csv(path, index=False)
    return path


def test_the_library_gives_options_and_a_block_of_config(reads):
    found = ro.advise(reads, goal="r", target=0.1, budget=5000)
    assert (found.table["estimate"] <= 0.1).sum() >= 4
    block = parse(found.config(0, study="next"))
    study = Study.model_validate(block["studies"]["next"])
    assert study.sample == found.table["groups"].iloc[0]
    assert "rank" in found._repr_html_()
    assert found.to_dicts()[0]["cost"] is None
    assert isinstance(found.plot(), plt.Figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": "rr"}, "goal: expected one of r, mean"),
        ({"goal": "r", "target": -1}, "target: expected a number above 0, found -1"),
        ({"goal": "ranked", "target": 2}, "target: ranked is a share; expected a number below 1, found 2"),
        ({"goal": "r", "readout": "sof"}, "readout: expected 'hard' or 'soft', found 'sof'"),
        ({"goal": "r", "readout": "soft"}, "no scores by readout 'soft'"),
        ({"goal": "equivalent"}, "equivalent cannot be predicted: "),
        ({"goal": "r", "budget": 10}, "the budget pays for none"),
        ({"goal": "preference", "target": 1e-6}, "no design reaches 1e-06"),
    ],
)
def test_bad_questions_get_one_clear_error(reads, arguments, message):
    with pytest.raises(ro.InputError, match="(?s)" + message):
        ro.advise(reads, **arguments)


def test_the_command_prints_options_and_config(reads):
    run = CliRunner().invoke(app, ["advise", str(reads), "--goal", "mean", "--budget", "20", "--price", "0.01"])
    assert run.exit_code == 0, run.output
    assert "Half-width of the interval of the mean score" in run.output
    assert "strategies: [" in run.output
    run = CliRunner().invoke(app, ["advise", str(reads), "--goal", "mean", "--budget", "900", "--json"])
    first = json.loads(run.output)[0]
    assert first["calls"] <= 900
    assert first["goal"] == "mean"


def test_table_and_figure_show_the_options(scores):
    rows = advice.estimate(scores, goal="r", target=0.1, budget=4.0, call_prices={"simulated": 0.001}, **OPTIONS)
    table = layout.TABLE.table(rows, study="s")
    printed = layout.TABLE.printout(table)
    assert {"config", "calls", "cost", "half-width of r", "r or mean"} <= set(printed.columns)
    assert (printed["limits"] == "").iloc[0]
    labels = Labels(judges={"simulated": "Simulated"}, datasets={"d": "Made up"})
    drawn = view.draw(
        figure, rows, study="s", strategy="balanced", n=5, readout="hard", width_in=6, panel_height_in=2, labels=labels
    )
    (axis,) = [axis for axis in drawn.axes if axis.get_title()]
    assert len(axis.get_legend_handles_labels()[1]) == 5
    plt.close(drawn)
    single = made(strategy="single").assign(strategy="balanced")
    refused = advice.estimate(single, goal="r", **NOTHING, **OPTIONS)
    assert layout.TABLE.printout(layout.TABLE.table(refused, study="s"))["note"].str.contains("one ordering").all()
    drawn = view.draw(
        figure,
        refused,
        study="s",
        strategy="balanced",
        n=5,
        readout="hard",
        width_in=6,
        panel_height_in=2,
        labels=labels,
    )
    assert "one ordering" in drawn.texts[0].get_text()
    plt.close(drawn)
