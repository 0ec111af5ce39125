"""Calibration as `import rubric_order` offers it: tables, single reads, and the file that a service loads."""

import cProfile
import doctest
import json
import pstats
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rubric_order as ro
from rubric_order.extras.one_read.library import calibration as library
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

P = [f"p_{score}" for score in range(1, 6)]


def plain(judge="judge", *, seed=1, groups=40, strategy="balanced", **simulation):
    """Reads of a judge as a user has them."""
    made = studies.read_items(Simulation(**simulation), n=5, strategies=[strategy], groups=groups, seed=seed)
    scores = studies.as_scores(made)
    shown = np.stack(scores["ordering"].to_numpy())
    options = np.take_along_axis(np.stack(scores["position_probabilities"]), np.argsort(shown, axis=1), axis=1)
    table = pd.DataFrame({"item": scores["item_id"], "group": scores["group_id"], "judge": judge})
    table["ordering"] = [" ".join(map(str, row)) for row in shown]
    return table.assign(score=scores["score"].astype(int)).join(pd.DataFrame(options, columns=P))


@pytest.fixture(scope="module")
def reads():
    return plain(preference="first", preference_strength=1.5)


@pytest.fixture(scope="module")
def calibration(reads):
    return ro.calibrate(reads)


def test_the_examples_run():
    found = doctest.testmod(library)
    assert found.attempted
    assert not found.failed


def test_single_reads_of_other_items_come_nearer_to_their_balanced_means(calibration):
    other = plain(seed=2, groups=60, preference="first", preference_strength=1.5)
    expected = other[P].to_numpy() @ np.arange(1, 6)
    target = pd.Series(expected).groupby(other["item"]).transform("mean")
    found = calibration.apply(other)
    assert list(found.columns) == [*other.columns, "calibrated_score"]
    pd.testing.assert_frame_equal(found[other.columns], other)
    raw, now = (np.sqrt(((values - target) ** 2).mean()) for values in (expected, found["calibrated_score"]))
    assert now < 0.3 * raw


def test_a_table_a_batch_and_a_single_read_have_the_same_scores(calibration, reads):
    few = reads.sample(20, random_state=1)
    shown = [list(map(int, text.split())) for text in few["ordering"]]
    for readout, many, one in (
        ("soft", {"probabilities": few[P].to_numpy()}, lambda row: {"probabilities": row[P].tolist()}),
        ("hard", {"scores": few["score"].to_numpy()}, lambda row: {"score": row["score"]}),
    ):
        table = calibration.apply(few, readout=readout)["calibrated_score"].to_numpy()
        assert calibration.scores(shown, **many) == pytest.approx(table)
        singly = [calibration.score(order, **one(row)) for order, (_, row) in zip(shown, few.iterrows(), strict=True)]
        assert singly == pytest.approx(table)
    assert not np.allclose(calibration.apply(few, readout="hard")["calibrated_score"], table + 0.01)


def test_the_readout_is_soft_where_all_scores_have_probabilities(calibration, reads):
    few = reads.head(10)
    soft = calibration.apply(few)["calibrated_score"]
    assert soft.equals(calibration.apply(few.drop(columns="score"))["calibrated_score"])
    without = few.assign(**dict.fromkeys(P, np.nan))
    hard = calibration.apply(without)["calibrated_score"]
    assert hard.equals(calibration.apply(few, readout="hard")["calibrated_score"])
    regressed = calibration.apply(few, readout="hard", regression=True)["calibrated_score"]
    assert set(regressed) <= set(calibration["judge"].expected.ravel())
    assert not set(hard) & set(regressed)
    mixed = few.copy()
    mixed.loc[few.index[0], P] = np.nan
    assert calibration.apply(mixed)["calibrated_score"].equals(hard)
    assert np.isnan(calibration.apply(mixed, readout="soft")["calibrated_score"].iloc[0])


def test_each_judge_has_a_calibration_of_its_own_and_rows_keep_their_places(reads):
    both = pd.concat([reads, plain("other", preference="last")]).sample(frac=1, random_state=3)
    found = ro.calibrate(both)
    assert set(found) == {"judge", "other"}
    assert found["judge"].position[0] > 0.5 > found["other"].position[0]
    table = found.apply(both)
    assert table.index.equals(both.index)
    for judge in found:
        own = both["judge"] == judge
        alone = ro.calibrate(both[own]).apply(both[own])
        assert table.loc[own, "calibrated_score"].to_numpy() == pytest.approx(alone["calibrated_score"].to_numpy())
    with pytest.raises(ro.InputError, match="judge: expected one of judge, other"):
        found.score([1, 2, 3, 4, 5], score=3)
    with pytest.raises(ro.InputError, match="'othr' has no calibration; did you mean 'other'"):
        found.score([1, 2, 3, 4, 5], score=3, judge="othr")
    with pytest.raises(ro.InputError, match="judge 'third' has no calibration"):
        found.apply(both.assign(judge="third"))


def test_reads_in_orderings_of_their_own_are_learnt_from_by_probabilities_alone():
    found = ro.calibrate(plain(strategy="random", preference="first"))
    assert found["judge"].position[0] > 0.3
    assert found["judge"].expected is None
    with pytest.raises(ro.InputError, match="learnt without written scores; expected readout 'soft'"):
        found.score([1, 2, 3, 4, 5], score=3)


def test_written_scores_alone_are_learnt_from_in_shared_orderings(reads):
    found = ro.calibrate(reads.drop(columns=P))
    assert found["judge"].position is None
    assert (found["judge"].groups, found["judge"].items, found["judge"].reads) == (40, 40, 400)
    with pytest.raises(ro.InputError, match="learnt without option probabilities; expected readout 'hard'"):
        found.score([1, 2, 3, 4, 5], probabilities=[0.2] * 5)


def test_what_cannot_be_learnt_from_is_named(reads):
    usual = reads[reads["ordering"] == "1 2 3 4 5"]
    with pytest.raises(ro.InputError, match="judge 'judge': nothing to learn from; expected items"):
        ro.calibrate(usual)
    with pytest.raises(ro.InputError, match="there is 1 group; at least 2 are needed to learn from"):
        ro.calibrate(reads.assign(group="one"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ordering": "1 2 3 4 4"}, "row 1: field 'ordering'"),
        ({"score": 6}, "row 1: field 'score'"),
        ({"p_1": 0.9, "p_2": 0.9}, "row 1: fields 'p_1' to 'p_5'"),
        ({"ordering": "1 2 3 4", "score": 1} | dict.fromkeys(P), "expected 5 levels, found orderings of 4"),
    ],
)
def test_a_mistake_in_a_table_is_named(calibration, reads, change, message):
    with pytest.raises(ro.InputError, match=message):
        calibration.apply(reads.head(5).assign(**change))
    with pytest.raises(ro.InputError, match="no rows"):
        calibration.apply(reads.head(0))
    with pytest.raises(ro.InputError, match="column 'ordering' is missing"):
        calibration.apply(reads.head(5).drop(columns="ordering"))


def test_a_mistake_in_a_single_read_is_named(calibration):
    for words, message in (
        ({"ordering": [1, 2, 3], "score": 1}, "expected whole scores 1 to 5"),
        ({"ordering": [1.0, 2.0, 3.0, 4.0, 5.0], "score": 1}, "expected whole scores 1 to 5"),
        ({"ordering": [True, 2, 3, 4, 5], "score": 1}, "expected whole scores 1 to 5"),
        ({"ordering": [1, 2, 3, 4, 5], "score": True}, "expected a whole number, found True"),
        ({"ordering": [1, 2, 3, 4, 5], "score": 1, "criteria": "x"}, "criteria: unknown argument"),
        ({"ordering": [1, 2, 3, 4, 4], "score": 1}, r"found \[1, 2, 3, 4, 4\]"),
        ({"ordering": [1, 2, 3, 4, 5], "score": 7}, "whole numbers from 1 to 5"),
        ({"ordering": [1, 2, 3, 4, 5], "probabilities": [0.5, 0.5]}, "expected 5 numbers"),
        ({"ordering": [1, 2, 3, 4, 5], "probabilities": [0.5, 0.5, 0, 0, -1]}, "expected 5 numbers"),
        ({"ordering": [1, 2, 3, 4, 5]}, "either probabilities or written scores"),
    ):
        with pytest.raises(ro.InputError, match=message):
            calibration.score(**words)


# Use elsewhere.


def limited(reads, low, high):
    """Reads whose written scores are within bounds, as if texts were worse or better."""
    return reads.drop(columns=P).assign(score=reads["score"].clip(low, high))


def test_levels_that_were_not_learnt_from_are_named_and_regression_to_another_mean_is_refused(reads, tmp_path):
    low, high = (limited(plain(seed=seed, groups=40), *ends) for seed, ends in ((1, (1, 3)), (2, (4, 5))))
    learnt = ro.calibrate(low)
    learnt.save(tmp_path / "low.json")
    for calibration in (learnt, ro.load_calibration(tmp_path / "low.json")):
        with pytest.warns(UserWarning, match=r"shares of the scores 1 to 5: 0% 0% 0% .* learn a calibration from"):
            moved = calibration.apply(high)["calibrated_score"] - high["score"]
        assert moved.abs().max() < 0.5
        with pytest.raises(ro.InputError, match="regression to the mean of other texts needs texts like these"):
            calibration.apply(high, regression=True)
        with pytest.warns(UserWarning, match="shares of the scores 1 to 5: 0% 0% 0% 0% 100%"):
            assert calibration.score([1, 2, 3, 4, 5], score=5) == pytest.approx(5, abs=0.5)
        with pytest.raises(ro.InputError, match="regression to the mean"):
            calibration.score([1, 2, 3, 4, 5], score=5, regression=True)


@pytest.mark.filterwarnings("error")
def test_like_texts_in_the_usual_order_raise_no_warning():
    judge = {"preference": "first", "preference_strength": 1.5}
    for seed in range(10):
        learnt = ro.calibrate(plain(seed=seed, groups=20, **judge).drop(columns=P))
        learnt.apply(plain(seed=seed + 100, groups=60, strategy="single", **judge).drop(columns=P), regression=True)


def test_a_calibration_is_for_its_criterion_condition_and_texts(reads, tmp_path):
    other = plain(preference="last", preference_strength=1.5)
    two = pd.concat([reads.assign(criterion="style", condition="plain"), other.assign(criterion="truth")])
    two["condition"] = "plain"
    found = ro.calibrate(two, prompt="Rate {text}", model="m-1")
    assert set(found) == {"judge, style", "judge, truth"}
    assert found["judge, style"].position[0] > 0.5 > found["judge, truth"].position[0]
    found.save(tmp_path / "c.json")
    found = ro.load_calibration(tmp_path / "c.json")
    applied = found.apply(two)["calibrated_score"].to_numpy()
    assert applied[: len(reads)] == pytest.approx(ro.calibrate(reads).apply(reads)["calibrated_score"].to_numpy())
    one = {"ordering": [1, 2, 3, 4, 5], "probabilities": [0.2] * 5}
    assert found.score(**one, criterion="style") != found.score(**one, criterion="truth")
    for words, message in (
        ({}, "criterion: expected one of style, truth, found none"),
        ({"criterion": "stile"}, "criterion 'stile' has no calibration; did you mean 'style'"),
        ({"criterion": "style", "condition": "padded"}, "condition 'padded' has no calibration"),
        ({"criterion": "style", "prompt": "Rate it"}, "prompt: the calibration was learnt with another prompt"),
        ({"criterion": "style", "model": 3}, "model: expected a text, found 3"),
    ):
        with pytest.raises(ro.InputError, match=message):
            found.score(**one, **words)
    assert found.score(**one, criterion="style", prompt="Rate {text}", rubric="any", model="m-1") > 3
    with pytest.raises(ro.InputError, match="temperature: unknown argument; expected one of rubric, prompt, model"):
        ro.calibrate(reads, temperature="1")
    conditions = pd.concat([reads.assign(condition="a"), other.assign(condition="b")])
    assert set(ro.calibrate(conditions)) == {"judge, a", "judge, b"}


def test_eleven_levels_save_and_load(tmp_path):
    made = studies.read_items(Simulation(preference="first"), n=11, strategies=["balanced"], groups=4, seed=1)
    scores = studies.as_scores(made)
    table = pd.DataFrame({"item": scores["item_id"], "score": scores["score"].astype(int)})
    table["ordering"] = [" ".join(map(str, row)) for row in scores["ordering"]]
    ro.calibrate(table).save(tmp_path / "c.json")
    assert ro.load_calibration(tmp_path / "c.json")["judge"].n == 11


# The file.


def test_a_saved_calibration_is_small_and_gives_the_same_scores(calibration, reads, tmp_path):
    path = tmp_path / "calibration.json"
    calibration.save(path)
    assert path.stat().st_size < 4000
    loaded = ro.load_calibration(path)
    assert list(loaded) == ["judge"]
    for readout in ("soft", "hard"):
        found, expected = (one.apply(reads, readout=readout)["calibrated_score"] for one in (loaded, calibration))
        assert found.equals(expected)


def test_a_service_needs_numpy_alone(calibration, tmp_path):
    path = tmp_path / "calibration.json"
    calibration.save(path)
    program = f"""
import sys, rubric_order
calibration = rubric_order.load_calibration({str(path)!r})
print(calibration.score([2, 1, 3, 4, 5], probabilities=[0.1, 0.2, 0.3, 0.2, 0.2]))
print(calibration.score([2, 1, 3, 4, 5], score=2))
slow = set("numpy pandas scipy pyarrow pydantic yaml matplotlib".split())
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & slow))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    soft, hard, modules = done.stdout.splitlines()
    assert modules == "numpy"
    assert float(soft) == calibration.score([2, 1, 3, 4, 5], probabilities=[0.1, 0.2, 0.3, 0.2, 0.2])
    assert float(hard) == calibration.score([2, 1, 3, 4, 5], score=2)


def test_what_is_wrong_with_a_file_is_named(calibration, tmp_path):
    path = tmp_path / "calibration.json"
    calibration.save(path)
    good = json.loads(path.read_text())
    judge = good["judges"]["judge"]
    for content, message in (
        ("{", "malformed JSON"),
        ("[]", "expected a file of format 'rubric-order calibration'"),
        (good | {"version": 2}, "field 'version': expected 1, found 2"),
        (good | {"judges": {}}, "field 'judges': expected a mapping"),
        (good | {"judges": {"judge": 1}}, "judges/judge: expected a mapping, found 1"),
        (good | {"judges": {"judge": {"levels": 5}}}, "judges/judge: field 'groups' is missing"),
        (judge | {"levels": 1}, "judges/judge/levels: expected a whole number from 2 to 11, found 1"),
        (judge | {"position": [0, 0]}, "judges/judge/position: expected 5 numbers"),
        (judge | {"position": [0, 0, 0, 0, float("nan")]}, "judges/judge/position: expected 5 numbers"),
        (judge | {"position": None}, "expected both position and interaction, or neither"),
        (judge | {"interaction": "x"}, "judges/judge/interaction: expected 5 x 5 numbers, found 'x'"),
        (judge | {"expected": [[9] * 5] * 5}, "judges/judge/expected: expected scores from 1 to 5, found 9"),
        (judge | {"position": [800, 0, 0, 0, 0]}, "judges/judge/position: expected numbers from -50 to 50, found 800"),
        (judge | {"position": [True, 0, 0, 0, 0]}, "judges/judge/position: expected 5 numbers, found"),
        (judge | {"shift": [0] * 4}, "judges/judge/shift: expected 5 numbers"),
        (judge | {"counts": [[-1] * 5] * 5}, "judges/judge/counts: expected numbers of reads, found -1"),
        (judge | {"about": {"prompt": 3}}, "judges/judge/about: expected a mapping of texts"),
    ):
        whole = content if isinstance(content, str) or "judges" in content else good | {"judges": {"judge": content}}
        path.write_text(whole if isinstance(whole, str) else json.dumps(whole))
        with pytest.raises(ro.InputError, match=message) as raised:
            ro.load_calibration(path)
        assert str(path) in str(raised.value)
    with pytest.raises(ro.InputError, match="No such file"):
        ro.load_calibration(tmp_path / "nothing.json")


def calls_of(function, *arguments, **words):
    profile = cProfile.Profile()
    profile.runcall(function, *arguments, **words)
    return pstats.Stats(profile).total_calls


def test_a_single_read_takes_few_calls_and_many_take_no_more(calibration):
    shown, shares = np.array([[2, 1, 3, 4, 5]]), np.full((1, 5), 0.2)
    one = calls_of(calibration.score, [2, 1, 3, 4, 5], probabilities=[0.2] * 5)
    assert one < 150  # under a microsecond each on any machine that runs numpy
    batches = [
        calls_of(calibration.scores, np.repeat(shown, count, axis=0), probabilities=np.repeat(shares, count, axis=0))
        for count in (1, 100_000)
    ]
    assert batches[0] == batches[1]
