"""Answers that cannot be read: what a server bills before a job stops, in each of the ways to ask."""

import itertools
import json
import logging
import re
from types import SimpleNamespace

import pytest
from endpoint import Reply, completion, running
from factories import ROOT, complete_judge, request, request_table
from typer.testing import CliRunner

import judge_shard
import pilot_judge
import rubric_order as ro
from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.judging.engines import Response
from rubric_order.judging.readable import LEAST, MOST, Asked, Readable
from rubric_order.judging.store import Store

UNREAD = "The conversation needs no rating."
LEVELS = ["Rude.", "Cold.", "Correct.", "Friendly.", "Warm."]
MESSAGE = re.compile(
    r"none of 20 answers (of study \w+ )?can be read: one is 'The conversation needs no rating.' \(no_"
)
LOG = ROOT / "tests/data/logs/promptfoo.json"  # its answers are not kept


def program(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def certify(url, folder, *words):
    return program("certify", url, "--model", "m", "--groups", 2, "--folder", folder / "study", *words)


def certify_pilot(url, folder, *words):
    return certify(url, folder, "--pilot", *words)


def certify_adaptive(url, folder, *words):
    return certify(url, folder, "--adaptive", "--probe-groups", 0, *words)


def probe(url, folder, *words):
    (folder / "text.txt").write_text("Dear you.")
    levels = [word for text in LEVELS for word in ("--level", text)]
    address = ["--base-url", url, "--model", "m", "--strategy", "all"]
    return program("probe", folder / "text.txt", *levels, *address, *words)


def relog(url, folder, *words):
    return program("relog", LOG, "--yes", "--base-url", url, "--folder", folder / "study", *words)


def requests(folder, study="s", number=100):
    """File of requests of a study."""
    table = request_table(*(f"{study}{k:030x}" for k in range(number)), prompt=f"of {study}", repeat=0)
    path = folder / study / "judge.parquet"
    parquet.write(table.assign(prompt=[f"{study} {k}" for k in range(number)], unit_id=table["request_id"]), path)
    return path


def job(script, url, folder, *words, studies=("s",), **settings):
    how = {"engine": "openai", "model": "m", "base_url": url, "answer_format": "feedback", "answer_prefix": ""}
    judge = complete_judge(**how, accept_unread="--go-on" in words, **settings)
    paths = [requests(folder, study) for study in studies]
    where = {"model_folder": None, "weights": None, "store": folder / "store", "output": folder / "1.out"}
    shard = {"shard": 1, "shards": 1} if script is judge_shard else {}
    script.main(paths, ["score_order"] * len(paths), judge=judge, gpus=0, **shard, **where)


def workflow(url, folder, *words):
    job(judge_shard, url, folder, *words)


def workflow_pilot(url, folder, *words):
    job(pilot_judge, url, folder, *words)


# Each way, and the number of its requests.
WAYS = {
    certify: 80,
    certify_pilot: 80,
    certify_adaptive: 80,
    probe: 120,
    relog: 30,
    workflow: 100,
    workflow_pilot: 100,
}


def message(way, *arguments):
    """The message with which a way to ask ends; empty if it ends well."""
    try:
        done = way(*arguments)
    except InputError as error:
        return str(error)
    return str(done.exception or "") if done is not None else ""


@pytest.mark.parametrize(("way", "number"), WAYS.items(), ids=[way.__name__ for way in WAYS])
def test_a_server_bills_20_answers_that_cannot_be_read_and_go_on_asks_the_others(way, number, tmp_path):
    with running(lambda call: Reply(completion(UNREAD, model=call.body["model"]))) as endpoint:
        text = message(way, endpoint.base_url, tmp_path)
        assert MESSAGE.search(text), text
        assert "looked for one of 1, 2, 3, 4, 5. " in text
        assert "(--go-on)" in text
        assert len(endpoint.calls) == LEAST
        before = 0 if way is probe else LEAST  # a probe keeps nothing
        if before:
            assert MESSAGE.search(message(way, endpoint.base_url, tmp_path))
            assert len(endpoint.calls) == LEAST
        message(way, endpoint.base_url, tmp_path, "--go-on")
    assert len(endpoint.calls) == LEAST - before + number


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_is_called_20_times(is_async, tmp_path):
    calls = []

    def judge(prompt):
        calls.append(prompt)
        return UNREAD

    async def coroutine(prompt):
        return judge(prompt)

    items = [{"item": str(k), "text": f"Text {k}.", "instruction": "Write."} for k in range(10)]
    settings = {"rubric": {"question": "Is it polite?", "levels": LEVELS}, "folder": tmp_path, "version": "1"}
    for _ in range(2):
        with pytest.raises(InputError, match=MESSAGE):
            ro.study(coroutine if is_async else judge, items, **settings)
    assert len(calls) == LEAST
    reads = ro.study(coroutine if is_async else judge, items, **settings, accept_unread=True)
    assert len(calls) == len(reads) == 100
    assert set(reads["failure"]) == {"no_score"}


def test_one_study_of_several_stops_and_one_answer_that_is_read_is_enough(tmp_path):
    one_read = itertools.count()

    def reply(call):
        readable = call.prompt.startswith("good") or (call.prompt.startswith("once") and next(one_read) == 19)
        return Reply(completion("[RESULT] 4" if readable else UNREAD, model="m"))

    with running(reply) as endpoint:
        job(judge_shard, endpoint.base_url, tmp_path, studies=["good", "once"])
        assert len(endpoint.calls) == 200
        with pytest.raises(InputError, match="none of 20 answers of study bad can be read"):
            job(judge_shard, endpoint.base_url, tmp_path, studies=["good", "once", "bad"])
    assert len(endpoint.calls) == 220


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "error"])
def test_failures_for_good_count_and_those_that_may_pass_do_not(reason, tmp_path):
    """Of failures that may pass the answers are not known: all requests are asked."""
    replies = {
        "content_filter": Reply(completion(None, finish="content_filter", model="m")),
        "refusal": Reply(completion(None, refusal="No.", model="m")),
        "error": Reply({"error": {"message": "busy"}}, status=503),
    }
    with running(lambda call: replies[reason]) as endpoint:
        text = message(lambda *where: job(judge_shard, *where, max_attempts=1), endpoint.base_url, tmp_path)
    passing = reason == "error"
    assert ("may pass" if passing else f"can be read: one is {reason}") in text
    assert len(endpoint.calls) <= 50 + 32 if passing else len(endpoint.calls) == LEAST


def test_failures_that_may_pass_are_no_answers_and_20_answers_are_billed_beside_them(tmp_path):
    seen = itertools.count()

    def reply(call):
        busy = next(seen) % 4 == 0 and len(endpoint.calls) <= LEAST
        return Reply({}, status=503) if busy else Reply(completion(UNREAD, model="m"))

    with running(reply) as endpoint, pytest.raises(InputError, match=MESSAGE):
        job(judge_shard, endpoint.base_url, tmp_path, max_attempts=1)
    assert len(endpoint.calls) == LEAST + 5
    assert Store(tmp_path / "store").read(columns=["text"])["text"].notna().sum() == LEAST


def test_a_pilot_and_the_progress_count_what_was_read(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    replies = itertools.cycle(["[RESULT] 4", UNREAD])
    with running(lambda call: Reply(completion(next(replies), model="m"))) as endpoint:
        workflow_pilot(endpoint.base_url, tmp_path)
        assert json.loads((tmp_path / "1.out").read_text()) == {
            "requests": 100,
            "failed": 0,
            "answers": 100,
            "read": 50,
        }
        assert "asked 100 / 100 requests in 0:00:0" in caplog.text
        assert ", read 50 of 100, 0 failed" in caplog.text
        done = certify_pilot(endpoint.base_url, tmp_path)
    assert "The pilot's 80 requests are answered, and the answers stay: read 40 of 80." in done.stderr


def test_a_study_whose_first_answers_are_read_is_counted_no_further(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    with running(lambda call: Reply(completion("[RESULT] 4", model="m"))) as endpoint:
        paths = [requests(tmp_path, number=MOST + 50)]
        how = {"engine": "openai", "model": "m", "base_url": endpoint.base_url, "answer_prefix": ""}
        where = {"model_folder": None, "weights": None, "store": tmp_path / "store", "output": tmp_path / "1.out"}
        judge = complete_judge(**how, answer_format="feedback")
        judge_shard.main(paths, ["score_order"], 1, 1, judge=judge, gpus=0, **where)
    assert f"read {MOST} of {MOST}" in caplog.text


def test_of_requests_in_batches_those_under_way_are_all_kept_and_no_further_one_is_sent():
    """A batch can take a day, so that there is no first round."""
    judge = complete_judge(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", batch=True)
    readable, asked = Readable(judge), [Asked(request(f"r{k}"), "score_order") for k in range(30)]
    engine = SimpleNamespace(answer=lambda requests: (Response(each.request_id, text=UNREAD) for each in requests))
    (places,) = readable.rounds([""] * 30)
    assert len(list(readable.counted(readable.ask(engine, [[asked[place] for place in places]])))) == 30
    readable.begin([""] * 5)
    with pytest.raises(InputError, match="none of 30 answers can be read"):
        next(readable.rounds([""] * 5))
