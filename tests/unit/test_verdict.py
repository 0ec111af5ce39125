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
    NO_SCORE,
    REASONS,
)
from rubric_order.parsing.verdict import first_verdict, parse_ranking, parse_verdict

THREE = ("A", "B", "C")


def test_the_first_verdict_is_that_of_the_two_published_forms_alone():
    assert first_verdict("[[C]] then [[B]]") == "C"
    assert first_verdict("Choice: B, or Choice: A") == "B"
    assert first_verdict("Final verdict: A. [[E]] Choice:A") is None
    assert first_verdict("<think>[[A]]</think>[[B]]") == "B"
    assert first_verdict(None) is first_verdict("<think>[[A]]") is None


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
