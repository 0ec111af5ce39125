"""Scores that are written as letters, Roman numerals or a user's words."""

import itertools

import pytest
from growth import is_linear

from rubric_order.parsing.one_score import parse_score
from rubric_order.prompts import conditions

STYLES = {"l": tuple("EDCBA"), "r": ("i", "ii", "iii", "iv", "v"), "u": ("bad", "weak", "fair", "good", "very good")}
FRAMES = ["{}", "[RESULT] {}", "Feedback: It is short. [RESULT] {}", "Score: {}", '{{"score": "{}"}}', "**{}**", "({})"]
NAMES = ["letter", "letter_a_lowest", "roman", "roman_i_highest", "arabic_1_highest", "ids(bad,weak,fair,good,best)"]
NAMES += ["ids(one star,two stars,three stars,four stars,five stars)", "ids(c,b,a,a+,a++)", "ids(F,D,C,B,A)"]


@pytest.mark.parametrize(("name", "frame"), list(itertools.product(NAMES, FRAMES)))
def test_each_id_of_each_style_is_read_back(name, frame):
    labels = conditions.read(name, 5).labels(5)
    assert [parse_score(frame.format(label), labels).label for label in labels] == list(labels)


@pytest.mark.parametrize("unit", ["\n", " ", "(", "A or ", "Score A: \n", "a score ", "i. ", "I ", "not a ", "one of "])
@pytest.mark.parametrize("style", ["l", "r"])
def test_time_is_linear_in_repetition_that_makes_a_careless_pattern_slow(style, unit):
    assert is_linear(lambda text: parse_score(text, STYLES[style]), unit, start="I give it ", end="x")
