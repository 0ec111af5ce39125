import functools
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import request_table
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.base import parquet
from rubric_order.judging import shard
from rubric_order.judging.engines import Response
from rubric_order.judging.store import SCHEMA, Store
from rubric_order.scoring import scores
from rubric_order.scoring.scores import MISSING, read_requested

score_reads = functools.partial(scores.score_reads, probe="score_order")


def reads_of(*orderings):
    """One read per ordering, with request ids r0, r1, ..."""
    return pd.DataFrame(
        {
            "item_id": [f"i{k}" for k in range(len(orderings))],
            "n": [len(ordering) for ordering in orderings],
            "condition": "baseline",
            "ordering": [list(ordering) for ordering in orderings],
            "request_id": [f"r{k}" for k in range(len(orderings))],
        }
    )


def responses_of(**by_request):
    rows = [{"finish_reason": "stop", **values, "request_id": name} for name, values in by_request.items()]
    return pd.DataFrame(rows, columns=SCHEMA.names)


def logs(*probabilities):
    with np.errstate(divide="ignore"):
        return np.log(np.array(probabilities)).tolist()


def test_a_hand_worked_example():
    # Shown as 3, 1, 2; the judge writes 1, which stands at position 2. It gave the scores 1, 2, 3 the probabilities
    # 0.4, 0.2, 0.2: of 0.8 in all that is 1/2, 1/4, 1/4, so positions (of 3, 1, 2) have 1/4, 1/2, 1/4.
    responses = responses_of(r0={"text": "1", "option_logprobs": logs(0.4, 0.2, 0.2)})
    (row,) = score_reads(reads_of([3, 1, 2]), responses).to_dict("records")
    assert row["score"] == 1
    assert row["position"] == 2
    assert isinstance(row["pattern"], str)
    assert row["failure"] is None or pd.isna(row["failure"])
    assert row["option_mass"] == pytest.approx(0.8)
    assert row["expected_score"] == pytest.approx(0.5 * 1 + 0.25 * 2 + 0.25 * 3)
    assert row["position_probabilities"] == pytest.approx([0.25, 0.5, 0.25])


def test_feedback_has_a_score_and_a_position_and_no_probabilities():
    responses = responses_of(r0={"text": "Feedback: quite good. [RESULT] 4"})
    table = score_reads(reads_of([5, 4, 3, 2, 1]), responses)
    assert table["score"].tolist() == [4]
    assert table["position"].tolist() == [2]
    assert table[["expected_score", "option_mass", "position_probabilities"]].isna().all(axis=None)


def test_the_columns_are_those_of_the_reads_and_then_the_scores():
    table = score_reads(reads_of([1, 2]), responses_of(r0={"text": "2"}))
    assert table.columns.tolist() == [
        *("item_id", "n", "condition", "ordering", "request_id", "question", "score", "position", "pattern", "failure"),
        *("expected_score", "option_mass", "position_probabilities"),
    ]
    assert table["score"].dtype == table["position"].dtype == "Int8"


def test_reads_of_one_request_share_its_answer_and_reads_keep_their_order():
    reads = reads_of([1, 2, 3], [1, 2, 3], [3, 2, 1]).assign(request_id=["b", "b", "a"])
    table = score_reads(reads, responses_of(a={"text": "1"}, b={"text": "3"}))
    assert table["item_id"].tolist() == ["i0", "i1", "i2"]
    assert table["score"].tolist() == [3, 3, 1]
    assert table["position"].tolist() == [3, 3, 3]


def test_scales_are_parsed_each_by_its_own_size():
    table = score_reads(reads_of([1, 2], [1, 2, 3, 4]), responses_of(r0={"text": "3"}, r1={"text": "3"}))
    assert table["score"].isna().tolist() == [True, False]
    assert table["failure"][0] == "out_of_range"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (None, MISSING),
        ({"error": "prompt_too_long: 9 tokens, the model takes 8", "finish_reason": None}, "prompt_too_long"),
        ({"error": "timeout", "finish_reason": None}, "timeout"),
        ({"text": "I cannot say."}, "no_score"),
        ({"text": "3.5"}, "not_integer"),
        ({"text": "9"}, "out_of_range"),
        ({"text": "The response is", "finish_reason": "length"}, "truncated"),
        ({"text": ""}, "empty"),
        ({"text": None}, "empty"),
    ],
)
def test_a_read_without_a_score_has_a_reason_and_no_number(response, reason):
    responses = responses_of(other={"text": "5"}, **({} if response is None else {"r0": response}))
    table = score_reads(reads_of([1, 2, 3, 4, 5]), responses)
    assert table["failure"].tolist() == [reason]
    assert table[["score", "position", "expected_score", "option_mass", "position_probabilities"]].isna().all(axis=None)


def test_every_read_has_either_a_score_and_a_position_or_a_reason():
    reads = reads_of(*[[2, 1, 3]] * 4)
    table = score_reads(reads, responses_of(r0={"text": "3"}, r1={"text": "?"}, r3={"error": "broken"}))
    assert (table["score"].notna() == table["failure"].isna()).all()
    assert (table["score"].notna() == table["position"].notna()).all()
    assert table["failure"].notna().tolist() == [False, True, True, True]


def test_an_answer_is_parsed_with_the_prefix_it_was_made_to_begin_with():
    reads, responses = reads_of([1, 2, 3, 4, 5]), responses_of(r0={"text": "4, because of 2 faults"})
    assert score_reads(reads, responses, answer_prefix="Score: ")["score"].tolist() == [4]
    without = score_reads(reads, responses)["pattern"].tolist()
    assert score_reads(reads, responses, answer_prefix="Score: ")["pattern"].tolist() != without


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_an_answer_that_adds_nothing_to_its_prefix_is_empty_and_not_cut_off(text):
    reads, responses = reads_of([1, 2, 3]), responses_of(r0={"text": text})
    assert score_reads(reads, responses, answer_prefix="Score: ")["failure"].tolist() == ["empty"]
    cut = responses.assign(finish_reason="length")
    assert score_reads(reads, cut, answer_prefix="Score: ")["failure"].tolist() == ["truncated"]


def test_an_option_without_any_chance_has_the_probability_zero():
    responses = responses_of(r0={"text": "1", "option_logprobs": logs(0.5, 0.0)})
    table = score_reads(reads_of([2, 1]), responses)
    assert table["position_probabilities"][0] == pytest.approx([0, 1])
    assert table["expected_score"].tolist() == [1.0]
    assert table["option_mass"].tolist() == [0.5]


def test_unknown_log_probabilities_are_no_probabilities_and_spoil_no_other_read():
    responses = responses_of(
        r0={"text": "1", "option_logprobs": [float("nan"), -1.0]},
        r1={"text": "1", "option_logprobs": logs(0.0, 0.0)},
        r2={"text": "1", "option_logprobs": logs(0.25, 0.75)},
        r3={"text": "1"},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = score_reads(reads_of(*[[1, 2]] * 4), responses)
    assert table["score"].tolist() == [1, 1, 1, 1]
    assert table["position_probabilities"].notna().tolist() == [False, False, True, False]
    assert table["expected_score"].tolist() == pytest.approx([np.nan, np.nan, 1.75, np.nan], nan_ok=True)
    assert table["option_mass"].tolist() == pytest.approx([np.nan, 0, 1, np.nan], nan_ok=True)


@st.composite
def soft_reads(draw):
    n = draw(st.integers(2, 9))
    ordering = draw(st.permutations(range(1, n + 1)))
    weights = draw(st.lists(st.floats(-30, 0), min_size=n, max_size=n))
    return n, ordering, weights


@given(soft_reads())
def test_probabilities_of_positions_are_those_of_the_scores_that_stand_there(read):
    n, ordering, weights = read
    table = score_reads(reads_of(ordering), responses_of(r0={"text": "1", "option_logprobs": weights}))
    shares = [np.exp(w) / sum(np.exp(v) for v in weights) for w in weights]
    probabilities = table["position_probabilities"][0]
    assert sum(probabilities) == pytest.approx(1)
    assert list(probabilities) == pytest.approx([shares[score - 1] for score in ordering])
    assert table["expected_score"][0] == pytest.approx(sum(k * share for k, share in enumerate(shares, start=1)))
    assert 1 - 1e-9 <= table["expected_score"][0] <= n + 1e-9


@given(st.integers(2, 9).flatmap(lambda n: st.tuples(st.permutations(range(1, n + 1)), st.integers(1, n))))
def test_the_selected_position_is_where_the_score_stands(read):
    ordering, score = read
    table = score_reads(reads_of(ordering), responses_of(r0={"text": str(score)}))
    assert ordering[table["position"][0] - 1] == table["score"][0] == score


def test_two_responses_to_one_request_are_a_defect():
    responses = pd.concat([responses_of(r0={"text": "1"}), responses_of(r0={"text": "2"})])
    with pytest.raises(pd.errors.MergeError):
        score_reads(reads_of([1, 2]), responses)


def test_responses_of_full_and_empty_shards_are_read_from_their_files(tmp_path):
    class Engine:
        def answer(self, requests):
            for request in requests:
                yield Response(request.request_id, text="2", finish_reason="stop", option_logprobs=logs(0.2, 0.8))

        def describe(self):
            return {}

        def close(self):
            pass

    store = Store(tmp_path / "store")
    requests = request_table("r0", "r1").assign(n=2, ordering=[[1, 2], [2, 1]])
    paths = []
    for number, block in enumerate((requests.iloc[:0], requests.iloc[:1], requests.iloc[1:], requests.iloc[:0])):
        responses = shard.judge(block, store, Engine)
        paths.append(tmp_path / f"{number}.parquet")
        parquet.write(responses, paths[-1])
    table = score_reads(reads_of([1, 2], [2, 1]), parquet.read(paths))
    assert table["score"].tolist() == [2, 2]
    assert table["position"].tolist() == [2, 1]
    assert table["expected_score"].tolist() == pytest.approx([1.8, 1.8])
    parquet.write(table, tmp_path / "scores.parquet")
    back = pd.read_parquet(tmp_path / "scores.parquet")
    assert [list(p) for p in back["position_probabilities"]] == [pytest.approx([0.2, 0.8]), pytest.approx([0.8, 0.2])]


def test_of_many_responses_those_of_a_study_are_read_with_the_row_groups_that_hold_them(tmp_path, monkeypatch):
    paths = [tmp_path / f"{shard}.parquet" for shard in (1, 2, 3)]
    for part, path in enumerate(paths):
        names = [f"{part}-{row:02d}" for row in range(20)]
        table = pa.table({"request_id": names, "text": [f"text {name}" for name in names], "engine": ["e"] * 20})
        parquet.write(parquet.split_row_groups(table, 4), path)
    read, groups = pq.ParquetFile.read_row_group, []
    monkeypatch.setattr(
        pq.ParquetFile, "read_row_group", lambda self, group, *rest: groups.append(group) or read(self, group, *rest)
    )
    found = read_requested(paths, ["2-19", "0-04", "0-07", "0-04", "none"])
    assert found.to_dict("list") == {
        "request_id": ["0-04", "0-07", "2-19"],
        "text": ["text 0-04", "text 0-07", "text 2-19"],
    }
    assert groups == [1, 4]
    assert read_requested(paths, ["none"]).columns.tolist() == ["request_id", "text"]
