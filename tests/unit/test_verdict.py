"""The parser of verdicts and rankings: forms of writing one, text that is none, and answers that were read."""

import collections
import gzip
import json
import os
from pathlib import Path

import pytest
from growth import is_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_order.parsing.choices import (
    CONFLICTING,
    ECHO,
    EMPTY,
    NO_SCORE,
    OUT_OF_RANGE,
    REASONS,
    TRUNCATED,
    UNFINISHED_THINKING,
)
from rubric_order.parsing.verdict import first_verdict, parse_ranking, parse_verdict

THREE = ("A", "B", "C")

# What is written about two candidates and a tie, C; and the verdict or the reason why there is none.
WRITTEN = [
    ("Assistant A is thorough.\n\n[[A]]", "A", "brackets"),
    ("[[B]]", "B", "brackets"),
    ("Therefore, the final verdict is: **[[A]]**", "A", "brackets"),
    ('The verdict is a tie.\n[["C"]]', "C", "in_brackets"),
    ("[[Assistant B]]", "B", "in_brackets"),
    ("[[ A ]]", "A", "in_brackets"),
    ("[[tie]]", "C", "in_brackets"),
    ("Feedback: Response B is more exact. [RESULT] B", "B", "result"),
    ("So the better response is Response A. [RESULT] A", "A", "result"),
    ("[RESULT] Response 2", "B", "result"),
    (r"The answer is \boxed{B}", "B", "boxed"),
    ("**Final verdict: Assistant B**", "B", "final"),
    ("Final Verdict: It's a tie", "C", "final"),
    ("My final decision is that Response 1 is better.", "A", "final"),
    ("Overall winner: the second response", "B", "final"),
    ("Choice: B\nReason:\n1. Response 2 is clearer.", "B", "choice"),
    ("Choice: B. Response 2 is better than Response 1.", "B", "choice"),
    ("**Choice:** A", "A", "choice"),
    ('{"reason": "clear", "choice": "A"}', "A", "choice"),
    ("Winner: Assistant A", "A", "verdict"),
    ("Better response: Response 2", "B", "verdict"),
    ("Verdict: tie", "C", "verdict"),
    ("A", "A", "own_line"),
    ("(B)", "B", "own_line"),
    ("Both are fluent.\n\nB", "B", "own_line"),
    ("Response 1", "A", "own_line"),
    ("Tie", "C", "own_line"),
    ("A: Summary #1 is more coherent.", "A", "leading"),
    ("B: Summary #2 is more relevant.", "B", "leading"),
    ("C: Both Summary #1 and Summary #2 are equally coherent.", "C", "leading"),
    ("B. It keeps to the facts.", "B", "leading"),
    ("Response 1 is better", "A", "conclusion"),
    ("Therefore, Assistant A is better.", "A", "conclusion"),
    ("Overall, Assistant B provided a better answer to the second user question.", "B", "conclusion"),
    ("Response 1 rambles. In conclusion, Response 2 is clearly better than Response 1.", "B", "conclusion"),
    ("Based on this, I would say no more. I prefer Summary #2.", "B", "conclusion"),
    ("Overall, both assistants are equally helpful.", "C", "conclusion"),
    ("They agree. Therefore, it is a tie.", "C", "conclusion"),
    ("<think>[[A]]? No.</think>[[B]]", "B", "brackets"),
    # Relations
    ("My final verdict is: [[A=B]]", "C", "in_brackets"),
    ("My final verdict is tie: [[A=B]]", "C", "in_brackets"),
    ("Assistant A is slightly better: [[A>B]]", "A", "in_brackets"),
    ("[[B>>A]]", "B", "in_brackets"),
    ("My final verdict is [[A<B]]", "B", "in_brackets"),
    ("[[A<<B]]", "B", "in_brackets"),
    ("[[Assistant B >> Assistant A]]", "B", "in_brackets"),
    ("Final verdict: A = B", "C", "final"),
    ("Verdict: Response 2 < Response 1", "A", "verdict"),
    (r"\boxed{B > A}", "B", "boxed"),
    ("[RESULT] A > B", "A", "result"),
    ("A > B", "A", "own_line"),
    ("Both are right.\n\n**A = B**", "C", "own_line"),
    ("B >> A\nResponse B has the facts.", "B", "relation"),
    ("Accuracy: A > B. Style: B > A. Final verdict: [[B]]", "B", "brackets"),  # what is weighed is no verdict
    ("A > B in accuracy.\nB > A in style.\n\nB", "B", "own_line"),
    # A label before a sign that makes no relation
    ("Choice: <A>", "A", "choice"),
    ("Choice: A</s>", "A", "choice"),
    ("Choice: A<|im_end|>", "A", "choice"),
    ("Choice: A => Response 1 is clearer.", "A", "choice"),
    ("Final verdict: A\n> Response 1 is clearer.", "A", "final"),
    # A label that ends its line, before a line that begins with a noun
    ("Choice: A\nResponse 1 is clearer.", "A", "choice"),
    ("Final verdict: B\nThe response is exact.", "B", "final"),
    # Small letters
    ("Output (a)", "A", "own_line"),
    ("(b)", "B", "own_line"),
    ("Choice: (b)\nOutput (b) is exact.", "B", "choice"),
    ("Therefore, Output (a) is better.", "A", "conclusion"),
    # Tags, keys and JSON
    ("<answer>A</answer>", "A", "tagged"),
    ("<answer>\nResponse 2\n</answer>", "B", "tagged"),
    ("<verdict>tie</verdict>", "C", "tagged"),
    ("Preferred: Response B", "B", "key"),
    ("Best answer: B", "B", "key"),
    ('{"better_answer": "B"}', "B", "key"),
    ('{"preference": 1}', "A", "json"),
    ('{"reason": "exact", "winner": "2"}', "B", "json"),
    ("Grade: B", "B", "own_line"),
    ("m", "A", "identifier"),
    ("M", "B", "identifier"),
    ('"M".', "B", "identifier"),
    # Conclusions
    ("The better response is B", "B", "conclusion"),
    ("The best answer is A, because it is exact.", "A", "conclusion"),
]
FAILURES = [
    ("", EMPTY),
    ("<think>[[A]]", UNFINISHED_THINKING),
    ("Final verdict: [[C]] for the second question, [[B]] for the entire conversation.", CONFLICTING),
    ("Choice: A\nReason: ...\nFinal verdict: B", CONFLICTING),
    ("[[A]] or [[B]]", CONFLICTING),
    ("[[A or B]]", CONFLICTING),
    ("Winner: A/B", CONFLICTING),
    ("A: The first is clear.\nB: The second is not.", CONFLICTING),
    ("Overall, Assistant A is better in tone, but Assistant B is better.", CONFLICTING),
    ("[[D]]", OUT_OF_RANGE),
    ("Choice: E", OUT_OF_RANGE),
    ("Final verdict: Response 3", OUT_OF_RANGE),
    ("Failed to obtain answer via API.", NO_SCORE),
    ("Assistant A is better at grammar. Assistant B has the facts. Both have their merits, it depends.", NO_SCORE),
    ("Assistant A is better in terms of style.", NO_SCORE),
    ("If the user wanted brevity, Assistant B would be better.", NO_SCORE),
    ("Assistant A is not better.", NO_SCORE),
    ("The matrix [[1, 2], [3, 4]] is right, and so is [[1]].", NO_SCORE),
    ("A better answer would name the year.", NO_SCORE),
    ("Assistant A's answer is longer.", NO_SCORE),
    ('"[[A]]" if assistant A is better, "[[B]]" if assistant B is better, and "[[C]]" for a tie.', ECHO),
    ('[RESULT] (Either "A" or "B")', ECHO),
    # Relations that name no winner, or two
    ("My final verdict is: A vs B", NO_SCORE),
    ("Final verdict: Response A vs. Response B: it is hard to say.", NO_SCORE),
    ("Winner: A >= B", NO_SCORE),
    ("Winner: Option A = 3", NO_SCORE),
    ("[[A>A]]", OUT_OF_RANGE),
    ("[[C>A]]", OUT_OF_RANGE),
    ("Verdict: A = B = C", OUT_OF_RANGE),
    ("Final verdict: A > B and B > A", CONFLICTING),
    ("Assistant A is significantly better: [[A>>B]]\nTie, relatively the same: [[A=B]]", CONFLICTING),
    ("A > B\nBut in the end:\nB", CONFLICTING),
    ("A > B: it is exact. But B is the one with style, and I like that.", NO_SCORE),
    ("Let A = 5 and B = 3, so A > B holds.", NO_SCORE),
    # Letters that number a list, or begin a sentence
    ("Criteria:\n(a) accuracy\n(b) depth\n(c) style", NO_SCORE),
    ("Final evaluation: (a) the facts are right; (b) the style is not.", NO_SCORE),
    ("The criteria are (a) accuracy and (b)", NO_SCORE),
    ("Choice: Output (a) or Output (b)", CONFLICTING),
    ("Best answer: A detailed summary of both", NO_SCORE),
    ("The better response is A much longer one", NO_SCORE),
    ("Response 1\nGrade: A\n\nGrade: B", NO_SCORE),
    # Numbers and names that are no verdict
    ('{"preference": 0}', OUT_OF_RANGE),
    ('{"score_1": 2, "score_2": 3}', NO_SCORE),
    ('{"winner": "model_b"}', NO_SCORE),
    ("I'm M.", NO_SCORE),
    ("The rope is 3 m", NO_SCORE),
    ("<answer>A or B</answer>", CONFLICTING),
    ("<answer>The first response is good.</answer>", NO_SCORE),
]


@pytest.mark.parametrize(("text", "label", "form"), WRITTEN)
def test_a_verdict_is_found_with_the_form_it_is_written_in(text, label, form):
    assert parse_verdict(text, THREE, tie=True)[:3] == (label, form, None)


@pytest.mark.parametrize(("text", "reason"), FAILURES)
def test_what_is_no_single_verdict_fails_with_a_reason(text, reason):
    choice = parse_verdict(text, THREE, tie=True)
    assert (choice.label, choice.reason) == (None, reason)


def test_a_tie_that_was_not_offered_is_out_of_range():
    for text in ("[[C]]", "Final verdict: tie", "Overall, both responses are equally good."):
        assert parse_verdict(text, ("A", "B")).reason == OUT_OF_RANGE
    assert parse_verdict("Summary #3 is best.", THREE).label == "C"  # of three candidates
    assert parse_verdict("Final verdict: tie", ("A", "B", "C", "D"), tie=True).label == "D"


def test_a_tie_in_a_relation_that_was_not_offered_is_out_of_range_and_no_win():
    assert parse_verdict("My final verdict is: [[A=B]]", ("A", "B")).reason == OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("A > B > C", "A"),
        ("[[C > A = B]]", "C"),
        ("[[A = B < C]]", "C"),
        ("[[A = B > C]]", CONFLICTING),
        ("[[A > B < C]]", CONFLICTING),
        ("[[C > A]]", OUT_OF_RANGE),
    ],
)
def test_a_relation_of_a_list_has_the_winner_of_all_candidates(text, outcome):
    choice = parse_verdict(text, THREE)
    assert (choice.label or choice.reason) == outcome


def test_the_first_verdict_is_that_of_the_two_published_forms_alone():
    assert first_verdict("[[C]] then [[B]]") == "C"
    assert first_verdict("Choice: B, or Choice: A") == "B"
    assert first_verdict("Final verdict: A. [[E]] Choice:A") is None
    assert first_verdict("<think>[[A]]</think>[[B]]") == "B"
    assert first_verdict(None) is first_verdict("<think>[[A]]") is None


def test_the_identifiers_m_name_the_first_and_the_second_of_two_only():
    assert parse_verdict("m", ("A", "B")).label == "A"
    assert parse_verdict("m", THREE).label is None
    assert parse_verdict("M", ("M", "N")).label == "M"


def test_a_verdict_before_the_cut_counts_and_a_remark_does_not():
    assert parse_verdict("Choice: A\nReason: Response 1 is", THREE, tie=True, truncated=True).label == "A"
    assert parse_verdict("Overall, Response 1 is better", THREE, tie=True, truncated=True).reason == TRUNCATED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B > A > C", "B>A>C"),
        ("[[B, A, C]]", "B>A>C"),
        ("Ranking: C, then A, then B", None),
        ("1. B\n2. C\n3. A", "B>C>A"),
        ("[Rank 1] C\n[Rank 2] Response A\n[Rank 3] B", "C>A>B"),
        ("Response 3 > Response 1 > Response 2", "C>A>B"),
        ("B > A = C", None),
        ("B > A", None),
        ("B > A > C. On reflection: A > B > C.", None),
        ("B is best.", None),
    ],
)
def test_a_ranking_names_each_candidate_once(text, expected):
    choice = parse_ranking(text, THREE)
    assert choice.label == expected
    assert (choice.reason is None) == (expected is not None)


@given(st.text(alphabet="AB12[]():. \n\"'/isbetter#Choice,<>-=tieResponsevm{}", max_size=120), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_label_or_a_reason(text, tie):
    choice = parse_verdict(text, THREE, tie=tie)
    assert (choice.label in THREE) != (choice.reason in REASONS)
    ranking = parse_ranking(text, THREE)
    assert (ranking.label is not None) != (ranking.reason in REASONS)


@pytest.mark.parametrize(
    "piece",
    [
        "[[",
        "Response 1 ",
        "A, ",
        "A > B > ",
        "A>B\n",
        "final verdict A>",
        "<answer>(",
        "final verdict is ",
        "therefore both ",
        "B: \n",
    ],
)
def test_time_is_linear_in_the_text(piece):
    assert is_linear(lambda text: parse_verdict(text, THREE, tie=True), piece)
    assert is_linear(lambda text: parse_ranking(text, THREE), piece)


# Of the recorded answers: label, form and reason. 19 answers of GPT-3.5 are not in the form that the prompt asks for.
RECORDED = {
    "pairwise/mtbench_gpt-4-0613_position": {
        ("B", "brackets"): 2135,
        ("A", "brackets"): 2059,
        ("C", "brackets"): 605,
        (CONFLICTING, "brackets"): 1,
    },
    "pairwise/mtbench_gpt-3.5-turbo-1106_position": {
        ("B", "brackets"): 2437,
        ("A", "brackets"): 2194,
        ("C", "brackets"): 150,
        ("A", "conclusion"): 9,
        (NO_SCORE, None): 6,
        ("B", "conclusion"): 3,
        ("C", "in_brackets"): 1,
    },
    "pairwise/devbench_gpt-4-0613_repetition": {("A", "choice"): 231, ("B", "choice"): 201},
    "summeval_pairwise/gpt-3.5-turbo-0301_relevance": {
        ("A", "own_line"): 1016,
        ("B", "own_line"): 848,
        ("A", "leading"): 204,
        ("C", "leading"): 49,
        ("B", "leading"): 46,
        ("C", "own_line"): 37,
    },
}


@pytest.mark.skipif("RUBRIC_ORDER_JUDGMENTS" not in os.environ, reason="needs the recorded judgments")
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers(name):
    path = Path(os.environ["RUBRIC_ORDER_JUDGMENTS"], f"{name}.jsonl.gz")
    found = collections.Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            choice = parse_verdict(record["response"], record["options"], tie=len(record["options"]) == 3)
            found[choice.label or choice.reason, choice.pattern] += 1
    assert found == RECORDED[name]
