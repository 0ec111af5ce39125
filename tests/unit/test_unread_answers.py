"""Answers that cannot be read: what a server bills before a job stops, in each of the ways to ask."""

import itertools
import json
import logging
import re
import threading
from types import SimpleNamespace

import pytest
from endpoint import Reply, completion, running
from factories import ROOT, complete_judge, request, request_table
from typer.testing import CliRunner

import rubric_order as ro
from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.jobs.judge_shard import judge_shard
from rubric_order.jobs.pilot_judge import pilot_judge
from rubric_order.judging import shard
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
    script(paths, ["score_order"] * len(paths), judge=judge, gpus=0, **shard, **where)


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
        judge_shard(paths, ["score_order"], 1, 1, judge=judge, gpus=0, **where)
    assert f"read {MOST} of {MOST}" in caplog.text


def test_of_requests_in_batches_those_under_way_are_all_kept_and_no_further_one_is_sent():
    """A batch can take a day, so that there is no first round."""
    judge = complete_judge(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", batch=True)
    readable, asked = Readable(judge), [Asked(request(f"r{k}"), "score_order") for k in range(30)]
    sent = []

    def answer(requests):
        sent.append([each.request_id for each in requests])
        yield from (Response(name, text=UNREAD) for name in sent[-1])

    engine = SimpleNamespace(answer=answer, STREAMS=False)
    assert len(list(readable.counted(readable.ask(engine, [""] * 30, lambda places: [asked[k] for k in places])))) == 30
    readable.check()
    assert not list(readable.counted(readable.ask(engine, [""] * 5, lambda places: [asked[k] for k in places])))
    assert list(map(len, sent)) == [30]
    with pytest.raises(InputError, match="none of 30 answers can be read"):
        readable.check()


def test_beside_a_study_that_stops_the_others_are_asked_in_full_and_stored(tmp_path):
    def reply(call):
        return Reply(completion("[RESULT] 4" if call.prompt.startswith("good") else UNREAD, model="m"))

    with running(reply) as endpoint:
        for number in (120, 120):  # in one run; again nothing is asked
            with pytest.raises(InputError, match="none of 20 answers of study bad can be read"):
                job(judge_shard, endpoint.base_url, tmp_path, studies=["good", "bad"])
            assert len(endpoint.calls) == number
        texts = Store(tmp_path / "store").read(columns=["text"])["text"]
        assert texts.value_counts().to_dict() == {"[RESULT] 4": 100, UNREAD: LEAST}
        with pytest.raises(InputError, match="of study bad"):  # 20 unread answers hold back no study that is added
            job(judge_shard, endpoint.base_url, tmp_path, studies=["bad", "good", "good2"])
    assert len(endpoint.calls) == 220


@pytest.mark.parametrize("slow", [1, 19])
@pytest.mark.parametrize("here", [False, True], ids=["in a process of its own", "in this process"])
def test_slow_calls_hold_back_no_others_once_an_answer_was_read(slow, here, tmp_path):
    """The slow calls are answered when all others have been asked."""
    first, number = set(), 120 if here else 100

    def reply(call):
        if len(first) < slow:
            first.add(call.prompt)
        is_slow = call.prompt in first
        return Reply(
            completion("[RESULT] 4", model="m"),
            after=lambda: not is_slow or len(endpoint.calls) >= number or stuck.is_set(),
        )

    stuck = threading.Event()
    with running(reply) as endpoint:
        timer = threading.Timer(30, stuck.set)
        timer.start()
        if here:
            assert not message(probe, endpoint.base_url, tmp_path)
        else:
            job(judge_shard, endpoint.base_url, tmp_path)
        timer.cancel()
    assert not stuck.is_set()
    assert len(endpoint.calls) == number


def test_refusals_that_the_engine_holds_back_are_passed_on_before_a_wait(tmp_path):
    """After 12 unread answers the other 8 calls are refused: the job stops at 20, and waits for nothing."""

    def reply(call):
        refused = len(endpoint.calls) > 12
        return Reply({"error": {"message": "bad"}}, status=400) if refused else Reply(completion(UNREAD, model="m"))

    with running(reply) as endpoint, pytest.raises(InputError, match=MESSAGE):
        job(judge_shard, endpoint.base_url, tmp_path, concurrency=1)
    assert len(endpoint.calls) == LEAST


@pytest.mark.parametrize("known", [True, False], ids=["option probabilities", "without"])
def test_an_answer_with_option_probabilities_that_scores_are_made_of_counts_as_read(known):
    judge = complete_judge(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", answer_format="score")
    readable = Readable(judge)
    logprobs = [-3.0, -2.0, float("-inf"), -5.0, -6.0] if known else [float("-inf")] * 5
    for k in range(3):
        readable.count(Asked(request(f"r{k}"), "score_order"), Response(f"r{k}", text="The", option_logprobs=logprobs))
    readable.count(Asked(request("r4"), "score_order"), Response("r4", text="The", option_logprobs=[float("nan")] * 5))
    assert str(readable) == f"read {3 * known} of 4"


def test_stored_option_probabilities_count_as_read(tmp_path):
    """A judge that writes no score at all: 20 stored answers with option probabilities let the others be asked."""
    store, table = Store(tmp_path), request_table(*(f"r{k}" for k in range(40)), repeat=0)
    table["probe"] = "score_order"
    probabilities = [-3.0, -2.0, -4.0, -5.0, -6.0]
    judge = complete_judge(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", answer_format="score")

    class Engine(SimpleNamespace):
        STREAMS = False

        def describe(self):
            return {}

        def answer(self, requests):
            return (Response(each.request_id, text="The", option_logprobs=probabilities) for each in requests)

        def close(self):
            pass

    for part in (table[:20], table):
        shard.judge(part, store, Engine, readable=Readable(judge))
    assert len(store.read()) == 40


def test_where_asking_stops_the_last_line_has_the_true_count_and_the_message_says_how_to_ask_anew(tmp_path, caplog):
    """Only the unread answers are asked anew; they stay paid for, and no answer to another study goes."""
    caplog.set_level(logging.INFO)
    mended = threading.Event()

    def reply(call):
        return Reply(completion("[RESULT] 4" if mended.is_set() or call.prompt[0] == "g" else UNREAD, model="m"))

    with running(reply) as endpoint:
        for number in (120, 140):
            with pytest.raises(InputError, match=r"of study bad .* set retry_failed: true \(or .*to ask these anew"):
                job(judge_shard, endpoint.base_url, tmp_path, studies=["good", "bad"], retry_failed=number == 140)
            assert len(endpoint.calls) == number
        lines = [line for line in caplog.messages if line.startswith("asked")]
        assert lines[-1].startswith("asked 20 / 100 requests, read 100 of 120, 0 failed")
        mended.set()
        job(judge_shard, endpoint.base_url, tmp_path, studies=["good", "bad"], retry_failed=True)
    assert len(endpoint.calls) == 240
    store = Store(tmp_path / "store")
    assert store.read(columns=["text"])["text"].tolist() == ["[RESULT] 4"] * 200
    assert store.spent()["calls"] == 240


def test_the_use_of_calls_is_logged_once(tmp_path, caplog):
    """In this process, where the log of the engine is seen."""
    caplog.set_level(logging.INFO)
    with running(lambda call: Reply(completion("[RESULT] 4", model="m"))) as endpoint:
        assert not message(probe, endpoint.base_url, tmp_path)
    assert [line for line in caplog.messages if "calls and" in line] == [
        line for line in caplog.messages if line.startswith("120 calls and")
    ]
    assert len(endpoint.calls) == 120
