"""The parser of several scores against forms of writing them, against text that no one wrote, and its own promises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.parsing.choices import (
    NO_SCORE,
    REASONS,
    numbers,
)
from rubric_order.parsing.several_scores import parse_scores

NAMES = ("Coherence", "Empathy", "Surprise")


def outcomes(answer, names=NAMES, *, n=5, truncated=False):
    choices = parse_scores(answer, names, numbers(n), truncated=truncated)
    return tuple(int(choice.label) if choice.label else choice.reason for choice in choices)


def test_lists_of_different_lengths_belong_to_no_criterion():
    assert outcomes('{"criteria": ["Coherence", "Empathy", "Surprise"], "scores": [4, 2]}')[:2] != (4, 2)


def test_the_number_of_the_next_line_is_no_score_of_a_criterion():
    answer = "Coherence: it flows well. 2\nEmpathy: 3\nSurprise: 4"
    assert outcomes(answer)[1:] == (3, 4)


@given(st.permutations(NAMES), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_scores_belong_to_names_in_whatever_order_they_come(order, scores):
    given_scores = dict(zip(order, scores, strict=True))
    expected = tuple(given_scores[name] for name in NAMES)
    assert outcomes("\n".join(f"[{name}] {score}" for name, score in given_scores.items())) == expected
    assert outcomes(json.dumps(given_scores)) == expected


WORDS = st.sampled_from(
    [
        *NAMES,
        "[Coherence]",
        "4",
        "3.5",
        "7",
        "four",
        "N",
        ":",
        "-",
        "\n",
        "[",
        "]",
        "{",
        '"',
        "|",
        "/5",
        "Score:",
        "is",
        "**",
        "1.",
        ",",
    ]
)


@given(st.one_of(st.text(), st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map("".join)))
def test_any_text_gives_a_score_on_the_scale_or_a_reason(text):
    for truncated in (False, True):
        for result in parse_scores(text, NAMES, numbers(5), truncated=truncated):
            assert (result.label is None) == (result.reason is not None)
            assert result.label is None or (result.label in numbers(5) and result.pattern)
            assert result.reason is None or result.reason in REASONS


@pytest.mark.parametrize(
    "piece",
    ["[Coherence] ", "Coherence: ", '{"', "[{", "Coherence (", "- ", "[[[", "Coherence is as to of ", "\n|", "a b "],
)
def test_a_long_answer_is_read_to_its_end(piece):
    # Reading that takes more than linear time would not end here.
    assert outcomes(piece * (300_000 // len(piece)) + "\n[Empathy] 3")[1] in (3, NO_SCORE)
