"""Answers that are JSON with named fields, to prompts that ask one thing and to prompts that ask several."""

import json

import pandas as pd
import pytest
from factories import complete_judge
from hypothesis import given
from hypothesis import strategies as st
from test_scales import PROMPTS, planned_on

from rubric_order import probes
from rubric_order.parsing import several_scores
from rubric_order.parsing.choices import CONFLICTING, NO_SCORE, NOT_INTEGER, OUT_OF_RANGE, numbers
from rubric_order.scoring.scores import score_reads

TEN = numbers(10)

# An answer about coherence, on a scale of 1 to 10, and its score or the reason why there is none.
ONE = [
    ('{"coherence": 7}', 7),
    ('{"coherence": 10, "fluency": 8}', 10),
    ('{"coherence": {"score": 7}, "fluency": {"score": 8}}', 7),
    ('{"reasoning": "Rating: 3 for style. I give it a 4.", "coherence": 7}', 7),
    ('{"scores": {"coherence": 1, "fluency": 10}}', 1),
    ('{"Coherence_Score": "7/10"}', 7),
    ('{"coherenceRating": 7}', 7),
    ('Here it is:\n```json\n{"coherence": {"reason": "ok", "value": 10}}\n```', 10),
    ('<think>{"coherence": 2}</think>{"coherence": 9}', 9),
    ('[{"criterion": "fluency", "score": 8}, {"criterion": "coherence", "score": 10}]', 10),
    ('{"quality": 10}', 10),
    ('{"score": 10}', 10),
    ('{"reasoning": "Score: 3 for style, score: 4 for wit", "score": 9}', 9),
    ('```\n{"rating_out_of_ten": 6}\n```', 6),
    ('{"coherence": 11}', OUT_OF_RANGE),
    ('{"coherence": 0}', OUT_OF_RANGE),
    ('{"coherence": 7.5}', NOT_INTEGER),
    ('{"coherence": 7, "coherence": 8}', CONFLICTING),
    ('{"verdict": "good", "confidence": 9}', NO_SCORE),
    ('{"fluency": 7, "confidence": 9}', NO_SCORE),
    ('{"coherence": null}', NO_SCORE),
    ('{"coherence": true}', NO_SCORE),
    ('{"coherence": [7, 8]}', NO_SCORE),
]  # fmt: skip


# What a prompt without JSON asks for stands beside it, or in it: in the second case the field decides.
BESIDE = [
    ('It is good.\n{"coherence": 3}\n[RESULT] 4', 4),
    ('The reply says {"coherence": 9}, which is no answer. [RESULT] 2', 2),
    ('{"coherence": 4}\n\nScore: 4', 4),
    ('Feedback: {"coherence": 11} [RESULT] 5', 5),
    ('{"feedback": "Sound. [RESULT] 4", "coherence": 7}', 7),
    ('Here it is:\n{"coherence": 7}\nI hope that helps.', 7),
]


@pytest.mark.parametrize(("text", "expected"), ONE + BESIDE)
def test_a_study_of_one_score_reads_the_field_of_its_criterion(text, expected):
    reads = pd.DataFrame(
        {
            "n": [10],
            "condition": ["baseline"],
            "criterion": ["coherence"],
            "ordering": [list(range(1, 11))],
            "request_id": ["a"],
        }
    )
    response = {"request_id": "a", "text": text, "error": None, "finish_reason": "stop", "option_logprobs": None}
    (row,) = score_reads(reads, pd.DataFrame([response]), probe="score_order").to_dict("records")
    given = row["failure"] if pd.isna(row["score"]) else row["score"]
    assert given == expected
    assert row["question"] == ""


# An answer about coherence, plain language and fluency.
SEVERAL = [
    ('{"coherence": 7, "plain_language": 10, "fluency": 1}', (7, 10, 1)),
    ('{"Coherence": "7", "plainLanguage": "10/10", "fluency_score": 1}', (7, 10, 1)),
    ('{"coherence": {"reasoning": "Not a 3.", "score": 7}, "plain language": {"score": 10}, "fluency": 1}', (7, 10, 1)),
    ('Sure.\n```json\n{"scores": {"coherence": 7, "plain_language": 10, "fluency": 1}}\n```', (7, 10, 1)),
    ('{"evaluation": [{"name": "fluency", "score": 1}, {"name": "coherence", "score": 7}]}', (7, NO_SCORE, 1)),
    ('{"fluency": 1, "overall": 9, "coherence": 11, "plain_language": 9.5}', (OUT_OF_RANGE, NOT_INTEGER, 1)),
]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_a_study_of_several_scores_reads_the_field_of_each(text, expected):
    given = several_scores.parse_scores(text, ["Coherence", "Plain language", "Fluency"], TEN)
    assert tuple(choice.reason or int(choice.label) for choice in given) == expected


@given(st.text(max_size=60), st.sampled_from(["", "coherence", "a b"]))
def test_no_text_is_an_error(text, name):
    for answer in (text, json.dumps({name: text}), f'{{"{name}": {text}}}'):
        several_scores.parse_field(answer, name, TEN)
        several_scores.parse_object(answer, TEN)
    assert several_scores.parse_field(text, name, "ABC") is None
    assert several_scores.parse_object(text, "ABC") is None


def test_the_requests_of_a_study_name_no_criterion():
    """Names of questions are part of files of requests, which are as they were."""
    reads, requests = planned_on("score_order", 1, 10, PROMPTS["score_order"], complete_judge())
    assert {question["name"] for row in requests["questions"] for question in row} == {""}
    assert {question.name for (question,) in probes.load("score_order").questions(reads)} == {"coherence"}
