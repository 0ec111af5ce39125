"""Scores that are written as letters, Roman numerals or a user's words."""

import itertools

import pytest
from growth import is_linear

from rubric_order.parsing.choices import CONFLICTING, ECHO, NO_SCORE, NOT_INTEGER, OUT_OF_RANGE
from rubric_order.parsing.one_score import parse_score
from rubric_order.prompts import conditions

STYLES = {"l": tuple("EDCBA"), "r": ("i", "ii", "iii", "iv", "v"), "u": ("bad", "weak", "fair", "good", "very good")}
GIVEN = [
    ("l", "[RESULT] B", "B"),
    ("l", "Feedback: A good text. [RESULT] B", "B"),
    ("l", "[RESULT] (B)", "B"),
    ("l", "[RESULT]: b", "B"),
    ("l", "[RESULT] Score: C", "C"),
    ("l", "RESULT: A", "A"),
    ("l", "Score: A", "A"),
    ("l", '{"score": "B"}', "B"),
    ("l", '"B"}', "B"),
    ("l", "**B**", "B"),
    ("l", "B.", "B"),
    ("l", "(A)", "A"),
    ("l", "b", "B"),
    ("l", "Grade: C", "C"),
    ("l", "The final score is D.", "D"),
    ("l", "Overall grade: B", "B"),
    ("l", "I would give it a grade of C because it is short.", "C"),
    ("l", "It deserves an A.", "A"),
    ("l", "The response receives a B for style.", "B"),
    ("l", "I'd rate this response a D.", "D"),
    ("l", "It is a solid B.", "B"),
    ("l", "The text is fine, so I choose (D).", "D"),
    ("l", "Answer: E", "E"),
    ("l", "Option D", "D"),
    ("l", "[[C]]", "C"),
    ("l", "\\boxed{C}", "C"),
    ("l", "A: the response meets the criterion.", "A"),
    ("l", "E - it fails.", "E"),
    ("l", "The score should be A, as it is complete.", "A"),
    ("l", "<think>A</think>B", "B"),
    ("l", "My grade for this is B", "B"),
    ("l", "Feedback: fine.\n\nB", "B"),
    ("l", "The score of this response is C", "C"),
    ("l", "It scores a B overall.", "B"),
    ("r", "[RESULT] iv", "iv"),
    ("r", "Score: iv", "iv"),
    ("r", "IV.", "iv"),
    ("r", "[RESULT] IV", "iv"),
    ("r", "(iii)", "iii"),
    ("r", "iii", "iii"),
    ("r", "Score: V", "v"),
    ("r", "The response deserves a iv.", "iv"),
    ("r", "a rating of ii", "ii"),
    ("r", "[RESULT] i", "i"),
    ("r", "score of v because it is good", "v"),
    ("r", '{"score": "iii"}', "iii"),
    ("r", "Score i: the response", "i"),
    ("r", "[RESULT] I", "i"),
    ("r", "\nii\n", "ii"),
    ("r", "It is rated v.", "v"),
    ("r", "Grade: IV - good", "iv"),
    ("u", "[RESULT] very good", "very good"),
    ("u", "Score: Good", "good"),
    ("u", "fair.", "fair"),
    ("u", "I would give it a score of weak.", "weak"),
    ("u", "Very good", "very good"),
    ("r", "The score I would give is iv.", "iv"),
    ("l", "The response falls short of an A; it deserves a B.", "B"),
    ("l", "Plan B is discussed. [RESULT] C", "C"),
]
NOT_GIVEN = [
    ("l", "A good response would cite sources."),
    ("l", "This is a good text, and a better one is rare."),
    ("l", "I think it is fine."),
    ("r", "I think it is fine."),
    ("r", "i. The story is good."),
    ("r", "i. The story\nii. The plot\niii. The end"),
    ("r", "I would score this well."),
    ("l", "Option A of the rubric describes a complete answer."),
    ("l", "Score A of the rubric asks for more."),
    ("l", "Score A requires detail that is not here."),
    ("l", "B+"),
    ("l", "[RESULT] B-"),
    ("l", "Score: A or B"),
    ("l", "A/B"),
    ("l", "[RESULT] 4"),
    ("l", ""),
    ("l", "Score E: Wrong.\nScore D: Poor.\nScore C: Fair."),
    ("l", "[RESULT] (one of E, D, C, B, A)"),
    ("l", "It does not deserve an A."),
    ("r", "(i) plot, (ii) style"),
    ("l", "A. poor\nB. weak"),
    ("r", "The score is I think fine"),
    ("l", "The reference answer gets a score of A."),
    ("r", "Score: i or ii"),
    ("l", "Vitamin A is discussed."),
    ("l", "It gives a reason."),
    ("l", "It gives A good reason."),
    ("r", "Henry V is discussed."),
    ("l", "The answer is a good one."),
    ("l", "The answer is A good one"),
]


@pytest.mark.parametrize(("style", "text", "label"), GIVEN)
def test_a_label_is_read_in_the_form_in_which_it_is_given(style, text, label):
    assert parse_score(text, STYLES[style]).label == label


@pytest.mark.parametrize(("style", "text"), NOT_GIVEN)
def test_what_is_no_score_is_not_read_as_one(style, text):
    choice = parse_score(text, STYLES[style])
    assert choice.label is None
    assert choice.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[RESULT] B-", NOT_INTEGER),
        ("Score: A or B", CONFLICTING),
        ("[RESULT] 4", OUT_OF_RANGE),
        ("[RESULT] (one of E, D, C, B, A)", ECHO),
        ("Score E: Wrong.\nScore D: Poor.", ECHO),
        ("A good response.", NO_SCORE),
    ],
)
def test_a_failure_has_its_reason(text, reason):
    assert parse_score(text, STYLES["l"]).reason == reason


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
