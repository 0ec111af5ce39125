"""Recorded comparisons of any benchmark: what winners and written labels stand for, and what is wrong with records."""

import re

import pandas as pd
import pytest
from recorded_answers import any_benchmark, comparison, write

from rubric_order.base.errors import InputError
from rubric_order.datasets import prepare
from rubric_order.datasets import read as read_items
from rubric_order.intake import choices
from rubric_order.intake.recorded import discovery
from rubric_order.intake.recorded import plans as reads
from rubric_order.scoring.scores import score_reads

LABELS = {"1": "A", "2": "B", "0": "tie"}


def scored(tmp_path, *records, labels=None):
    """Chosen place of each record, 0 for a tie; and its plan and responses."""
    path = write(tmp_path / "a.jsonl", *records)
    read = reads.read(path, labels=labels)
    plan = reads.plan_comparisons(read, study="s", judge_id="j", dataset="d")
    responses = reads.responses(read)
    scores = score_reads(plan, responses, probe="pair_order")
    by_request = dict(zip(plan["request_id"], scores["position"], strict=True))
    return [by_request[name] for name in read["request_id"]], plan, responses


@pytest.mark.parametrize(
    ("winner", "place"),
    [("A", 1), ("b", 2), ("x", 1), ("Y", 2), ("model_b", 2), ("2", 2), ("first", 1), ("tie", 0), ("tie (bothbad)", 0)],
)
def test_a_winner_is_a_place_a_name_or_a_tie(tmp_path, winner, place):
    (found,), _, responses = scored(tmp_path, any_benchmark(winner=winner, response=None))
    assert found == place
    assert responses["reasoning"].tolist() == [winner]


def test_a_winner_goes_before_the_answer_beside_it_which_is_kept(tmp_path):
    (found,), _, responses = scored(tmp_path, any_benchmark(winner="y", response="Long words. [[A]]"))
    assert found == 2
    assert responses["text"].tolist() == ["B"]
    assert responses["reasoning"].tolist() == ["Long words. [[A]]"]


@pytest.mark.parametrize("field", [{"first": "y"}, {"shown_first": "answer_b"}])
def test_a_field_that_says_that_the_second_was_shown_first_is_an_error(tmp_path, field):
    with pytest.raises(InputError, match="answer_a is taken for the answer that was shown first"):
        scored(tmp_path, any_benchmark() | field)
    assert scored(tmp_path, any_benchmark() | {"first": "x"})[0] == scored(tmp_path, any_benchmark())[0]


def test_no_winner_is_a_failure_and_never_a_choice(tmp_path):
    places, _, _ = scored(tmp_path, any_benchmark(winner="none", response=None), any_benchmark(question_id="8"))
    assert pd.isna(places[0])
    assert places[1] == 1


@pytest.mark.parametrize(("response", "place"), [("1", 1), (" 2 ", 2), ("0", 0)])
def test_a_map_says_what_written_labels_stand_for(tmp_path, response, place):
    record = any_benchmark(response=response)
    assert scored(tmp_path, record | {"options": LABELS})[0] == [place]
    assert scored(tmp_path, record, labels=LABELS)[0] == [place]
    other = {"1": "B", "2": "A", "0": "tie"}  # that of the record goes before the judge's
    assert scored(tmp_path, record | {"options": other}, labels=LABELS)[0] == [{1: 2, 2: 1, 0: 0}[place]]


def test_labels_that_are_letters_are_read_in_answers_of_several_words(tmp_path):
    options = {"X": "A", "Y": "B"}
    places, plan, responses = scored(tmp_path, any_benchmark(response="I weigh both. [[Y]]", options=options))
    assert places == [2]
    assert plan["labels"].tolist() == [["A", "B"]]  # no label of the map is a tie
    assert responses["reasoning"].tolist() == ["I weigh both. [[Y]]"]


def test_a_map_can_name_candidates_so_that_the_order_does_not_matter(tmp_path):
    options = {"x is better": "x", "y is better": "y"}
    one = any_benchmark(response="y is better", options=options)
    other = any_benchmark(response="y is better", options=options, answer_a="y", answer_b="x")
    places, plan, _ = scored(tmp_path, one, other)
    assert places == [2, 1]
    assert plan["unit_id"].nunique() == 1
    assert plan["ordering"].tolist() == [[1, 2], [2, 1]]


def test_lengths_benchmark_group_and_repeats_reach_the_plan(tmp_path):
    one = any_benchmark(lengths=[10, 30], group="page", task="writing", repetition=3, question_id=7)
    other = any_benchmark(lengths=[30, 10], group="page", task="writing", answer_a="y", answer_b="x")
    _, plan, _ = scored(tmp_path, one, other)
    assert plan["lengths"].map(list).tolist() == [[10, 30], [10, 30]]
    assert set(plan["source_id"]) == {"page"}
    assert set(plan["group_id"]) == {"7"}
    assert set(plan["task"]) == set(plan["criterion"]) == {"writing"}
    assert sorted(plan["repeat"]) == [0, 3]


def test_what_was_read_before_is_read_as_before(tmp_path):
    path = write(tmp_path / "a.jsonl", comparison())
    (record,) = reads.read(path).to_dict("records")
    assert (record["format"], record["written"]) == ("pairwise", None)
    assert record["request_id"] == "128e95e2381b0d9d1607c4985ce6c843"  # as before there was another format


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"winner": "z", "response": None}, "field 'winner': expected A, B, tie, none, x, y, or a label of 'options'"),
        ({"response": None}, "expected field 'response' or 'winner', found neither"),
        ({"answer_b": "x"}, "field 'answer_b': expected another one than answer_a, found 'x' twice"),
        ({"options": {"1": "C"}}, "label '1': expected one of A, B, first, second, tie, none, x, y, found 'C'"),
        ({"options": {"1": 2}}, "field 'options': expected letters, or a map from written labels"),
        ({"options": {}}, "field 'options': expected letters, or a map from written labels"),
        ({"options": ["A", "B"], "winner": "tie"}, "field 'winner': expected A, B"),
        ({"lengths": [1, 2, 3]}, "field 'lengths': expected 2 for 2 answers, found 3"),
        ({"lengths": "12"}, "field 'lengths': expected a list of numbers"),
        ({"answers": ["x", "y", "x"]}, "field 'answers': expected different names"),
        ({"answers": ["x"]}, "field 'answers': expected a list of 2 to 9 names"),
        ({"answers": ["x", "y", "z"], "options": ["A", "B"]}, "field 'options': expected 3 for 3 answers, found 2"),
        ({"winner": "3", "response": None}, "field 'winner': expected A, B"),
        ({"question_id": 1.5}, "field 'question_id': expected a whole number from 0"),
        ({"answer_b": None}, "field 'answer_b' is missing"),
    ],
)
def test_a_wrong_record_is_one_line_with_its_place(tmp_path, changes, message):
    path = write(tmp_path / "a.jsonl", any_benchmark(question_id="6"), any_benchmark(**changes))
    with pytest.raises(InputError, match=re.escape(f"a.jsonl: line 2: {message}")) as error:
        reads.read(path)
    assert "\n" not in str(error.value)


def listed(*shown, **changes):
    return any_benchmark(answers=[*shown], answer_a=None, answer_b=None, **changes)


def test_lists_become_reads_of_candidates_in_alphabetical_order(tmp_path):
    shown = [("z", "x", "y"), ("x", "y", "z"), ("y", "z", "x")]
    records = [listed(*names, response="[[A]]", lengths=[len(names[0]), 5, 6]) for names in shown]
    records += [listed("x", "y", "z", winner="z", response=None, repetition=1), any_benchmark()]
    read = reads.read(write(tmp_path / "a.jsonl", *records))
    plan = reads.plan_comparisons(read, study="s", judge_id="j", dataset="d", probe="list_order")
    assert plan["candidates"].map(list).tolist() == [["x", "y", "z"]] * 4
    assert plan["ordering"].map(list).tolist() == [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3]]
    assert plan["lengths"].iloc[2] == [5, 6, 1]  # of x, y, z
    scores = score_reads(plan, reads.responses(read), probe="list_order")
    assert scores["score"].tolist() == [1, 2, 3, 3]
    assert scores["position"].tolist() == [1, 1, 1, 3]
    assert set(plan["n"]) == {3}
    assert len(reads.plan_comparisons(read, study="s", judge_id="j", dataset="d")) == 1  # the pair
    with pytest.raises(InputError, match="judge j: no recorded answer compares two candidates"):
        reads.plan_comparisons(read.iloc[:3], study="s", judge_id="j", dataset="d")


def test_a_folder_of_them_is_found_and_each_dataset_takes_its_benchmark(tmp_path):
    records = [any_benchmark(), any_benchmark(benchmark="Other"), any_benchmark(benchmark=None, judge=None)]
    path = write(tmp_path / "a.jsonl", *records)
    judges = discovery.discover(tmp_path)
    assert {name: (judge["compares"], judge["adapters"]) for name, judge in judges.items()} == {
        "a": (True, ["recorded"]),
        "gpt_4": (True, ["recorded"]),
    }
    read = reads.read(path)
    assert len(reads.about(read, "recorded")) == 3
    assert len(reads.about(read, "recorded", "Arena")) == 1
    assert len(reads.about(read, "mtbench_pairs")) == 0
    with pytest.raises(
        InputError, match="no recorded comparison is of benchmark 'Arina'; found Arena, Other, recorded"
    ):
        reads.about(read, "recorded", "Arina")


def test_texts_of_such_a_dataset_are_not_made_up():
    with pytest.raises(InputError, match="adapter 'recorded': recorded comparisons have no texts"):
        prepare("d", read_items("recorded", {}, {"benchmark": "Arena"}))


def test_letters_have_one_more_where_a_tie_is_offered():
    assert choices.letter("tie", ["x", "y"], ["A", "B"]) is None
