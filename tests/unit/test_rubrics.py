import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base.errors import InputError
from rubric_order.datasets import rubrics

LEVELS = {1: "bad", 2: "middling", 3: "good"}


def test_levels_come_out_lowest_first_whatever_their_order_with_single_spaces():
    assert rubrics.check_levels({2: " middling ", 3: "very\n good", 1: "bad"}, "here") == (
        "bad",
        "middling",
        "very good",
    )


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({1: "bad", 3: "good"}, "level 2 is missing; found [1, 3], expected 1 to 3"),
        ({2: "bad", 3: "good"}, "level 1 is missing"),
        ({1: "bad", 2: " "}, "level 2 has no description; found ' '"),
        ({1: "bad", 2: None}, "level 2 has no description; found None"),
        ({1: "bad", 2: 7}, "level 2 has no description; found 7"),
        ({1: "bad", "2": "good"}, "'2' is not a level"),
        ({0: "none", 2: "bad"}, "level 1 is missing; found [0, 2], expected 0 to 2"),
        ({-1: "none", 0: "bad"}, "-1 is not a level; expected whole numbers from 0 or 1 to at most 10"),
        ({0: "bad", 11: "good"}, "11 is not a level; expected whole numbers from 0 or 1 to at most 10"),
        ({1: "bad", 12: "good"}, "12 is not a level; expected whole numbers from 0 or 1 to at most 11"),
        ({1: "bad", 2.0: "good"}, "2.0 is not a level"),
        ({True: "bad", 2: "good"}, "True is not a level"),
        ({1: "same", 2: "same "}, "two levels have the same description"),
        ({1: "bad"}, "at least 2 levels"),
        (["bad", "good"], "expected a mapping"),
        (None, "expected a mapping"),
    ],
)
def test_wrong_levels_are_an_error_that_names_place_and_level(levels, message):
    with pytest.raises(InputError, match=re.escape(message)) as error:
        rubrics.check_levels(levels, "file.yaml: rubric 3")
    assert str(error.value).startswith("file.yaml: rubric 3: ")


@pytest.mark.parametrize(
    ("n", "kept"), [(2, "19"), (3, "159"), (5, "13579"), (9, "123456789")], ids=lambda value: str(value)
)
def test_nine_levels_are_thinned_as_in_the_paper(n, kept):
    assert rubrics.at_scale(tuple("123456789"), n) == tuple(kept)


@pytest.mark.parametrize(("levels", "n"), [(9, 4), (9, 6), (5, 4), (5, 6), (5, 1), (3, 9)])
def test_a_scale_that_is_not_evenly_spaced_is_refused(levels, n):
    with pytest.raises(ValueError, match=f"{levels} levels has no {n} evenly spaced"):
        rubrics.at_scale(tuple("123456789"[:levels]), n)


@given(st.integers(2, 9), st.integers(1, 4))
def test_a_scale_keeps_both_ends_and_equal_steps(n, step):
    levels = tuple(range(1 + (n - 1) * step))
    assert rubrics.at_scale(levels, n) == tuple(range(0, len(levels), step))


def write(tmp_path, text):
    path = tmp_path / "rubrics.yaml"
    path.write_text(text)
    return path


GOOD = "- {id: wit, name: Wit, question: ' Is it witty? ', levels: {1: no, 2: 'yes, it is', 3: 'very'}}\n".replace(
    "no,", "'no',"
)


def test_a_rubric_file_is_read_by_criterion(tmp_path):
    read = rubrics.read_rubrics(write(tmp_path, GOOD), "plays")
    assert read == {"wit": rubrics.Rubric("plays_wit", "wit", "Is it witty?", ("no", "yes, it is", "very"), "Wit")}


def test_a_rubric_may_have_a_short_description(tmp_path):
    read = rubrics.read_rubrics(write(tmp_path, GOOD.replace("question:", "short: ' How witty. ', question:")), "plays")
    assert read["wit"].short == "How witty."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wit: 1\n", "expected a list of rubrics, found dict"),
        ("- wit\n", "rubric 1: field 'id' is missing"),
        ("- {id: wit, name: Wit, levels: {1: a, 2: b}}\n", "rubric 1: field 'question' is missing"),
        (GOOD + "- {id: x, name: X, question: 5, levels: {1: a, 2: b}}\n", "rubric 2: field 'question': expected text"),
        (GOOD + "- {id: 5, name: X, question: q, levels: {1: a, 2: b}}\n", "rubric 2: field 'id': expected text"),
        ("- {id: x, name: 5, question: q, levels: {1: a, 2: b}}\n", "rubric 1: field 'name': expected text, found 5"),
        (
            "- {id: x, name: X, short: '', question: q, levels: {1: a, 2: b}}\n",
            "rubric 1: field 'short': expected text",
        ),
        ("- {id: x, name: X, question: q, levels: {1: a, 3: b}}\n", "rubric 1 (x): levels: level 2 is missing"),
        (GOOD + GOOD, "rubric 2: id 'wit' is already used"),
    ],
)
def test_a_wrong_rubric_file_is_an_error_that_names_file_and_rubric(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        rubrics.read_rubrics(path, "plays")
    assert str(path) in str(error.value)


def test_the_rubrics_of_hanna_have_nine_levels_for_each_of_six_criteria(root):
    read = rubrics.read_rubrics(root / "resources/rubrics/hanna.yaml", "hanna")
    assert list(read) == ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"]
    assert {len(rubric.levels) for rubric in read.values()} == {9}
    assert all(rubric.question.endswith("?") for rubric in read.values())
