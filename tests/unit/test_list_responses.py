"""The report of all shards of a judge on their answers."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest
from factories import complete_judge

from rubric_order.base import files, parquet
from rubric_order.base.errors import InputError
from rubric_order.jobs.list_responses import list_responses
from rubric_order.judging import answers


def responses(texts, errors=None):
    return pd.DataFrame(
        {
            "request_id": [f"r{k}" for k in range(len(texts))],
            "text": texts,
            "error": errors or [None] * len(texts),
            "finish_reason": "stop",
            "option_logprobs": [np.array([-0.5, -1.0 - k]) for k in range(len(texts))],
        }
    )


def written(folder, shard, *, studies, versions=None):
    parquet.write(responses(["4"]), folder / f"{shard}.parquet", studies=studies, versions=versions or {})


def digest(table):
    return answers.study_digests(table, ["s"] * len(table))["s"]["digest"]


def test_a_digest_depends_on_what_scores_depend_on_and_not_on_the_order_of_rows():
    table = responses(["4", "3", None])
    assert digest(table) == digest(table.iloc[::-1])
    assert digest(table) == digest(table.assign(model="another name", engine="{}"))
    changed = {
        "text": ["5", "3", None],
        "finish_reason": "length",
        "error": "timeout",
        "constrained_text": ["1", None, None],
        "option_logprobs": [np.array([-0.5, -1.0 - 2 * k]) for k in range(3)],
    }
    digests = {digest(table.assign(**{name: value})) for name, value in changed.items()}
    assert len(digests | {digest(table)}) == 6


def test_shards_add_up_to_what_one_shard_would_say(tmp_path):
    table, studies = responses(list("12345"), [None, None, "timeout", None, None]), list("sstst")
    for count, cuts in ((1, [0, 5]), (3, [0, 1, 3, 5])):
        for shard, (first, last) in enumerate(itertools.pairwise(cuts), start=1):
            said = answers.study_digests(table.iloc[first:last], studies[first:last])
            parquet.write(table.iloc[first:last], tmp_path / f"{count}/{shard}.parquet", studies=said)
    one = answers.joined([tmp_path / "1/1.parquet"])
    assert one == answers.joined([tmp_path / f"3/{shard}.parquet" for shard in (1, 2, 3)])
    assert {name: block["failed"] for name, block in one["studies"].items()} == {"s": 0, "t": 1}


def test_shards_of_different_versions_are_refused_with_one_line_unless_config_takes_them(tmp_path):
    for shard, version in ((1, "0.8"), (2, "0.9")):
        written(tmp_path, shard, studies={}, versions={"version of the engine": {version: 7}})
    with pytest.raises(
        InputError, match=r"several versions: version of the engine 0\.8 \(7\), 0\.9 \(7\); set accept_mixed"
    ):
        list_responses(tmp_path, 2, complete_judge(), tmp_path / "listed.json")
    list_responses(tmp_path, 1, complete_judge(), tmp_path / "listed.json")
    list_responses(tmp_path, 2, complete_judge(accept_mixed=True), tmp_path / "listed.json")
    told = files.read_json(tmp_path / "listed.json")
    assert told["versions"] == {"version of the engine": {"0.8": 7, "0.9": 7}}


@pytest.fixture
def made(tmp_path):
    """Scores, what the shards say of the answers that they were made from, and the response store."""
    kept = {"s": {"digest": 5, "failed": 0}, "t": {"digest": 6, "failed": 0}}
    listed, scores, store = tmp_path / "listed.json", tmp_path / "scores.parquet", tmp_path / "store"
    list_responses(tmp_path, 0, complete_judge(), listed)
    written(tmp_path, 1, studies=kept)
    list_responses(tmp_path, 1, complete_judge(), listed)
    plan = tmp_path / "plan.parquet"
    parquet.write(responses(["4"]), plan)
    parquet.write(responses(["4"]), scores, answers={"s": kept["s"]}, made_by="code")
    parquet.write(responses(["4"]), store / "a.parquet")
    return {"listed": listed, "scores": scores, "plan": plan, "studies": ["s"], "store": store, "made_by": "code"}


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ({"s": {"digest": 5, "failed": 0}}, True),
        ({"s": {"digest": 5, "failed": 0}, "added": {"digest": 9, "failed": 3}}, True),
        ({"s": {"digest": 7, "failed": 0}}, False),
        ({"s": {"digest": 5, "failed": 1}}, False),
        ({}, False),
    ],
)
def test_scores_are_up_to_date_while_the_answers_of_their_studies_stay(made, said, same):
    folder = made["listed"].parent
    written(folder, 1, studies=said)
    list_responses(folder, 1, complete_judge(), made["listed"])
    assert answers.unchanged(**made) is same


def test_scores_of_failed_requests_are_not_up_to_date_since_these_can_be_asked_again(made):
    folder, said = made["listed"].parent, {"s": {"digest": 5, "failed": 1}}
    written(folder, 1, studies=said)
    list_responses(folder, 1, complete_judge(), made["listed"])
    parquet.write(responses(["4"]), made["scores"], answers=said, made_by="code")
    assert not answers.unchanged(**made)


def test_scores_are_not_up_to_date_where_a_file_is_gone_or_older_or_anything_else_has_changed(made, tmp_path):
    assert answers.unchanged(**made)
    assert not answers.unchanged(**made | {"studies": ["s", "t"]})
    assert not answers.unchanged(**made | {"made_by": "other code"})
    for name in ("listed", "scores", "plan", "store"):
        assert not answers.unchanged(**made | {name: tmp_path / "none"})
    later = made["scores"].stat().st_mtime + 1
    os.utime(made["plan"], (later, later))
    assert not answers.unchanged(**made)
