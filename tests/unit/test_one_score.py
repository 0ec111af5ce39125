"""The parser against forms of writing a score, against text that no one wrote, and against answers that were read."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest
from growth import is_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_order.parsing.choices import (
    ECHO,
    OUT_OF_RANGE,
    REASONS,
    TRUNCATED,
    numbers,
)
from rubric_order.parsing.one_score import parse_score, strip_thinking

# Pieces of answers, from which to build text that no one wrote.
PIECES = [
    *("score", "final", "overall", "rating", "result", "[RESULT]", "\\boxed{", "a", "the", "not", "give", "it", "is"),
    *("of", "out of", "or", "to", "for", "on", "scale", "from being", "reference answer that", "perfect", "stars"),
    *("four", "one", "1", "3", "3.5", "-1", "11", "1,000", "4/5", "1-5", "1 to 5", "½", "%", "…", ":", "-", "(", ")"),
    *("[", "]", "*", "_", "<think>", "</think>", "<|end|>", "Score 1: x\n", "\n1. ", "\n", "\r\n", "\t", '"', "'"),
    *("|", ".", ",", "x", "=", "<", "(an integer number between 1 and 5)", "integer", "Please do not"),
]
MIXTURES = st.one_of(
    st.text(),
    st.lists(st.sampled_from(PIECES)).map(" ".join),
    st.lists(st.sampled_from(PIECES)).map("".join),
)
LABELS = st.sampled_from([None, "ABCDE"])


def read(text, n=5, *, labels=None, truncated=False):
    """The parser's outcome of an answer on the scale 1..n, or with labels of its own."""
    return parse_score(text, labels or numbers(n), truncated=truncated)


def outcome(text, n=5, *, labels=None, truncated=False):
    """The number of the score, or the reason why there is none."""
    choice = read(text, n, labels=labels, truncated=truncated)
    return choice.reason if choice.label is None else (labels or numbers(n)).index(choice.label) + 1


@pytest.mark.parametrize("n", range(2, 10))
def test_every_score_of_every_scale_is_found_and_the_next_number_is_off_it(n):
    for score in range(1, n + 1):
        for text in (
            f"Fine. [RESULT] {score}",
            f"Score: {score}/{n}",
            f"I'd give it a {score} out of {n}.",
            f"{score}",
        ):
            assert outcome(text, n=n) == score
    assert outcome(f"[RESULT] {n + 1}", n=n) == OUT_OF_RANGE
    assert outcome(f"[RESULT] (an integer number between 1 and {n})", n=n) == ECHO


@pytest.mark.parametrize("n", range(2, 10))
def test_numbers_in_another_order_are_the_same_labels(n):
    reversed_labels = tuple(reversed(numbers(n)))
    for label in numbers(n):
        assert parse_score(f"[RESULT] {label}", reversed_labels).label == label


def test_the_form_that_decided_is_named_also_where_it_gives_no_score():
    assert read("Score: 3. [RESULT] 4").pattern == "result"
    assert read("Score: 3.5").pattern == "score"
    assert read("A fair text.").pattern is None


def test_stripping_leaves_what_stands_around_the_thinking():
    assert strip_thinking("before <think>a</think>between<thought>b</thought> after") == "before between after"
    assert strip_thinking("opened by the template</think>after") == "after"
    assert strip_thinking("before <think>a") is None


@given(text=MIXTURES, n=st.integers(2, 9), labels=LABELS, truncated=st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_text_gives_either_a_score_on_the_scale_or_one_reason(text, n, labels, truncated):
    choice = read(text, n, labels=labels, truncated=truncated)
    if choice.label is None:
        assert choice.reason in REASONS
    else:
        assert choice.label in (labels or numbers(n))
        assert choice.reason is None
        assert choice.pattern is not None


@given(text=MIXTURES, labels=LABELS, blank=st.text(" \t\r\n"))
@settings(max_examples=300, deadline=None)
def test_blank_space_after_any_text_changes_nothing(text, labels, blank):
    assert read(text + blank, labels=labels) == read(text, labels=labels)


@given(
    feedback=st.lists(st.sampled_from([piece for piece in PIECES if "[" not in piece and "think" not in piece])),
    score=st.integers(1, 5),
)
@settings(max_examples=300, deadline=None)
def test_no_feedback_before_a_labelled_result_changes_its_score(feedback, score):
    assert outcome(f"{' '.join(feedback)}\n[RESULT] {score}") == score


@given(
    unit=st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join), end=st.sampled_from(["", "x", "("])
)
@settings(max_examples=25, deadline=None)
def test_time_is_linear_in_pieces_that_are_repeated(unit, end):
    for labels in (None, "ABCDE"):
        assert is_linear(lambda text, labels=labels: read(text, labels=labels), unit + " ", end=end)


@pytest.mark.parametrize(
    "unit", ["\n", " ", "\n(", "-\n", "<think>", "not a score ", "1", "1 to 5\n", "give the ", "_"]
)
@pytest.mark.parametrize("start", ["", "Score:", "I give it "])
def test_time_is_linear_in_repetition_that_makes_a_careless_pattern_slow(start, unit):
    for labels in (None, "ABCDE"):
        assert is_linear(lambda text, labels=labels: read(text, labels=labels), unit, start=start, end="x")


# Answers of real judges, which are not part of this repository.
SAMPLE = Path(__file__).parents[1] / "data" / "read_answers.csv"


@pytest.fixture(scope="module")
def judgments():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    return {path.name: parse_file(path) for path in sorted(Path(folder, "summeval").glob("*.jsonl.gz"))}


def parse_file(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        answers = [json.loads(line)["response"] for line in lines]
    return [outcome(answer, labels="ABCDE" if "_mcq" in path.name else None) for answer in answers]


def test_real_answers_are_parsed_as_a_person_read_them(judgments):
    with SAMPLE.open(encoding="utf-8", newline="") as rows:
        read = [(row["file"], int(row["line"]), row["score"], row["reason"]) for row in csv.DictReader(rows)]
    assert len(read) == 100
    wrong = []
    for file, line, score, reason in read:
        found = judgments[file][line - 1]
        if str(found) != (score or reason):
            wrong.append((file, line, score, reason, found))
    assert len(wrong) <= 1, wrong


def test_at_least_96_percent_of_the_real_answers_of_each_file_are_parsed(judgments):
    shares = {name: sum(isinstance(one, int) for one in parsed) / len(parsed) for name, parsed in judgments.items()}
    assert len(shares) == 3
    assert min(shares.values()) >= 0.96, shares


def test_a_number_after_the_last_sentence_of_a_cut_answer_is_no_score():
    assert parse_score("It fails on the sentence level. 5", numbers(5), truncated=True).reason == TRUNCATED
