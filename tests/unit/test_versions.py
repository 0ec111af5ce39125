import json

import pandas as pd
import pytest
from factories import request_table

from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.judging import shard, status, versions
from rubric_order.judging.engines import Response
from rubric_order.judging.store import Store
from rubric_order.tables import judge_status

OLD = {"engine": "vllm", "engine_version": "0.8", "model_revision": "abc", "weights": None}


def answers(*told):
    rows = [(json.dumps(engine), model) for engine, model in told]
    return pd.DataFrame(rows, columns=["engine", "model"])


@pytest.mark.parametrize(
    ("one", "other", "mixed"),
    [
        (OLD, OLD | {"engine_version": "0.9"}, "version of the engine 0.8 (2), 0.9 (1)"),
        (OLD, OLD | {"model_revision": "def"}, "revision abc (2), def (1)"),
        (OLD | {"weights": "x"}, OLD | {"weights": "y"}, "weights x (2), y (1)"),
        ({"server_version": "1"}, {"server_version": "2"}, "version of the server 1 (2), 2 (1)"),
        ({"base_url": "http://a/v1"}, {"base_url": "http://b/v1"}, "base_url http://a/v1 (2), http://b/v1 (1)"),
    ],
)
def test_a_mix_is_refused_with_one_line_that_says_what_is_mixed(one, other, mixed):
    table = answers((one, None), (one, None), (other, None))
    with pytest.raises(InputError) as error:
        versions.check(table)
    assert str(error.value).startswith(
        f"judge: the answers come from several versions: {mixed}; set accept_mixed: true"
    )
    versions.check(answers((one, None), (one, None)))


def test_a_model_that_changes_behind_its_name_is_seen():
    table = answers(({}, "gpt-2025-01-01"), ({}, "gpt"), ({}, "gpt-2025-08-07"))
    assert versions.listed(table, names={"gpt"}) == "version of the model gpt-2025-01-01 (1), gpt-2025-08-07 (1)"
    assert versions.listed(table.iloc[:2], names={"gpt"}) == ""


def test_what_changes_no_answer_is_no_mix():
    one = {"engine": "openai", "engine_version": "1.0", "started": "2026-01-01", "base_url": "http://a/v1"}
    versions.check(answers((one, None), (one | {"engine_version": "2.0", "started": "2026-01-02"}, None)))


class Engine:
    """Version 0.9 of an engine."""

    asked = 0

    def answer(self, requests):
        for request in requests:
            Engine.asked += 1
            yield Response(request.request_id, text="4")

    def describe(self):
        return OLD | {"engine_version": "0.9"}

    def close(self):
        pass


def test_nothing_is_asked_where_it_would_be_mixed_and_a_failure_is_no_answer(tmp_path):
    store, requests = Store(tmp_path), request_table("a", "b", "c")
    store.append([Response("a", error="timeout: 60 s")], engine=json.dumps(OLD | {"engine_version": "0.7"}))
    store.append([Response("b", text="4")], engine=json.dumps(OLD))
    Engine.asked = 0
    with pytest.raises(InputError, match=r"version of the engine 0\.8 \(1\), 0\.9 \(1\)"):
        shard.judge(requests, store, Engine, refuse_mixed=versions.check)
    assert Engine.asked == 0
    assert shard.judge(requests, store, Engine)["text"].tolist() == ["4"] * 3


def test_the_status_of_a_judge_lists_what_is_mixed(tmp_path):
    store = Store(tmp_path / "store")
    store.append([Response("a", text="4")], engine=json.dumps(OLD))
    store.append([Response("b", text="4")], engine=json.dumps(OLD | {"engine_version": "0.9"}))
    paths = {}
    for study, names in (("s", ["a"]), ("t", ["b"])):
        paths[study] = tmp_path / f"{study}.parquet"
        parquet.write(pd.DataFrame({"request_id": names}), paths[study])
    table = status.judge_status(paths, store)
    assert table["mixed"].tolist() == ["", "", "version of the engine 0.8 (1), 0.9 (1)"]
    printed = judge_status.TABLE.printout(judge_status.TABLE.table({"j": table}, {"j": ""}))
    assert printed["Answers of several"].iloc[-1] == "version of the engine 0.8 (1), 0.9 (1)"
    alone = judge_status.TABLE.printout(
        judge_status.TABLE.table({"j": status.judge_status({"s": paths["s"]}, store)}, {"j": ""})
    )
    assert "Answers of several" not in alone
