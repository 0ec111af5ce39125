import errno
import json
import logging
import queue
import signal
from datetime import datetime

import pytest
from factories import complete_judge, questions, request, request_table

from rubric_order import probes
from rubric_order.base import signals
from rubric_order.base.errors import InputError
from rubric_order.judging import jobs, shard
from rubric_order.judging.engines import Resources, Response
from rubric_order.judging.store import Store
from rubric_order.planning.requests import namer


class CountingEngine:
    """Answers 3 to everything, from the last request to the first; fails after so many answers."""

    def __init__(self, *, fails_after=None, unanswered=()):
        self.asked = []
        self.closed = 0
        self.fails_after = fails_after
        self.unanswered = unanswered

    def answer(self, requests):
        requests = list(requests)
        self.asked += [request.request_id for request in requests]
        for done, each in enumerate(reversed(requests)):
            if done == self.fails_after:
                raise MemoryError("out of GPU memory")
            if each.prompt == "too long":
                yield Response(each.request_id, error="prompt_too_long: 9 tokens, the model takes 8")
            elif each.prompt == "busy":
                yield Response(each.request_id, error="rate_limited: 429 five times", attempts=5)
            elif each.request_id not in self.unanswered:
                yield Response(each.request_id, text="3", finish_reason="stop", prompt_tokens=10, cached_tokens=5)

    def describe(self):
        return {"engine": "counting", "engine_version": "1"}

    def close(self):
        self.closed += 1


def no_engine():
    raise AssertionError("an engine was started")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_responses_come_in_the_order_of_the_requests_with_what_gave_them(store):
    engine = CountingEngine()
    responses = shard.judge(request_table("c", "a", "b"), store, lambda: engine)
    assert responses["request_id"].tolist() == ["c", "a", "b"]
    assert responses["text"].tolist() == ["3", "3", "3"]
    assert engine.asked == ["c", "a", "b"]
    assert [json.loads(engine) for engine in responses["engine"]] == [{"engine": "counting", "engine_version": "1"}] * 3


def test_an_engine_gets_the_requests_as_they_stand_in_the_table(store):
    table = request_table("a", "b")
    assert list(shard.as_requests(table)) == [request("a", repeat=0), request("b", repeat=1)]
    table["questions"] = [[question._asdict() for question in questions(("plot", "style"))], table["questions"][1]]
    assert [request.names for request in shard.as_requests(table)] == [("plot", "style"), ()]


def test_no_engine_is_started_when_nothing_is_missing(store):
    shard.judge(request_table("a", "b"), store, CountingEngine)
    responses = shard.judge(request_table("b", "a"), store, no_engine)
    assert responses["request_id"].tolist() == ["b", "a"]


def test_no_engine_is_started_for_an_empty_shard(store):
    responses = shard.judge(request_table(), store, no_engine)
    assert responses.empty
    assert "option_logprobs" in responses.columns


def test_only_what_is_missing_is_asked(store):
    shard.judge(request_table("a", "b"), store, CountingEngine)
    engine = CountingEngine()
    responses = shard.judge(request_table("x", "a", "y", "b"), store, lambda: engine)
    assert engine.asked == ["x", "y"]
    assert responses["request_id"].tolist() == ["x", "a", "y", "b"]


def test_what_an_engine_answered_before_it_failed_is_kept_and_not_asked_again(store):
    wanted = request_table(*"abcdef")
    with pytest.raises(MemoryError, match="out of GPU memory"):
        shard.judge(wanted, store, lambda: CountingEngine(fails_after=4))
    assert sorted(store.read(list("abcdef"))["request_id"]) == ["c", "d", "e", "f"]
    engine = CountingEngine()
    responses = shard.judge(wanted, store, lambda: engine)
    assert engine.asked == ["a", "b"]
    assert responses["request_id"].tolist() == list("abcdef")


def test_an_interrupt_keeps_what_has_come(store):
    def responses():
        yield Response("a", text="1")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shard.keep(responses(), store, "{}")
    assert store.read(["a"])["text"].tolist() == ["1"]


def test_an_answer_that_says_why_there_is_none_is_kept_and_not_asked_again(store):
    wanted = request_table("a", "b").assign(prompt=["short", "too long"])
    shard.judge(wanted, store, CountingEngine)
    responses = shard.judge(wanted, store, no_engine)
    assert responses["error"].notna().tolist() == [False, True]
    assert responses["error"][1] == "prompt_too_long: 9 tokens, the model takes 8"


def test_a_failure_that_may_pass_ends_the_job_with_one_error_and_is_asked_again(store):
    busy = request_table("a", "b", "c").assign(prompt=["short", "busy", "busy"])
    engine = CountingEngine()
    with pytest.raises(InputError, match=r"2 of 3 requests failed for reasons that may pass \(2 rate_limited\)"):
        shard.judge(busy, store, lambda: engine)
    assert engine.closed == 1
    again = CountingEngine()
    responses = shard.judge(busy.assign(prompt="short"), store, lambda: again)
    assert again.asked == ["b", "c"]
    assert responses["text"].tolist() == ["3", "3", "3"]


def test_a_second_request_that_failed_for_what_may_pass_is_asked_again(store):
    first = request_table("a", "b")

    def seconds(requests, done):
        return request_table("a2", "b2", prompt=["busy", "short"]).assign(first_id=["a", "b"])

    with pytest.raises(InputError, match=r"1 of 4 requests failed .*\(1 rate_limited\)"):
        shard.judge(first, store, CountingEngine, second_requests=seconds)
    accepted = shard.judge(first, store, CountingEngine, second_requests=seconds, accept_failures=True)
    assert accepted["constrained_text"].fillna("none").tolist() == ["none", "3"]

    def later(requests, done):
        return seconds(requests, done).assign(prompt="short")

    engine = CountingEngine()
    assert shard.judge(first, store, lambda: engine, second_requests=later)["constrained_text"].tolist() == ["3"] * 2
    assert engine.asked == ["a2"]


def test_failures_that_may_pass_are_final_where_config_says_so(store):
    busy = request_table("a", "b").assign(prompt=["short", "busy"])
    responses = shard.judge(busy, store, CountingEngine, accept_failures=True)
    assert responses["error"].tolist()[1] == "rate_limited: 429 five times"


def test_what_failed_for_good_is_asked_again_only_where_config_says_so(store):
    wanted = request_table("a", "b").assign(prompt=["short", "too long"])
    shard.judge(wanted, store, CountingEngine)
    engine = CountingEngine()
    responses = shard.judge(wanted.assign(prompt="short"), store, lambda: engine, retry_failed=True)
    assert engine.asked == ["b"]
    assert responses["text"].tolist() == ["3", "3"]


def test_how_an_answer_was_got_is_kept_in_the_store_and_left_out_of_the_responses(store):
    responses = shard.judge(request_table("a"), store, CountingEngine)
    assert not {"cached_tokens", "attempts", "cost"} & set(responses)
    assert store.read(["a"])["cached_tokens"].tolist() == [5]


def test_an_engine_is_closed_when_it_fails(store):
    engine = CountingEngine(fails_after=1)
    with pytest.raises(MemoryError):
        shard.judge(request_table("a", "b"), store, lambda: engine)
    assert engine.closed == 1


def test_an_engine_that_leaves_a_request_out_is_a_defect(store):
    with pytest.raises(RuntimeError, match="1 requests were not answered"):
        shard.judge(request_table("a", "b", "c"), store, lambda: CountingEngine(unanswered={"b"}))
    assert sorted(store.read(["a", "b", "c"])["request_id"]) == ["a", "c"]


def test_responses_are_on_disk_in_chunks_while_the_engine_goes_on(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 3)
    kept = []

    def responses():
        for number in range(7):
            kept.append(len(store.read(map(str, range(7)))))
            yield Response(str(number), text="1")

    shard.keep(responses(), store, "{}")
    assert kept == [0, 0, 0, 3, 3, 3, 6]
    assert len(store.read(map(str, range(7)))) == 7


class HandingOn(CountingEngine):
    """Has three more answers at hand where it is told to stop."""

    def answer(self, requests):
        try:
            yield from (Response(request.request_id, text="1") for request in requests)
        except SystemExit:
            for name in "xyz":
                yield Response(name, text="1")
            raise


@pytest.mark.parametrize("before", [True, False], ids=["before the file is there", "after"])
def test_a_signal_while_the_store_is_written_loses_nothing_that_has_come(store, monkeypatch, before):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 2)
    append, told = store.append, []

    def append_and_be_told_to_stop(rows, **engine):
        if not before:
            append(rows, **engine)
        if not told:
            told.append(signal.raise_signal(signal.SIGUSR1))
        if before:
            append(rows, **engine)

    def leave(*_):
        told.append("by the handler")
        raise SystemExit("ended on request")

    monkeypatch.setattr(store, "append", append_and_be_told_to_stop)
    previous = signal.signal(signal.SIGUSR1, leave)
    try:
        with pytest.raises(SystemExit, match="ended on request"):
            shard.judge(request_table(*"abcdef"), store, HandingOn)
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert sorted(store.read()["request_id"]) == [*"ab", *"xyz"]


def test_answers_are_on_disk_after_the_time_of_a_chunk_though_the_engine_stalls(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_SECONDS", 0.02)
    append, written = store.append, queue.SimpleQueue()
    monkeypatch.setattr(store, "append", lambda rows, **engine: (append(rows, **engine), written.put(len(rows))))

    def responses():
        yield Response("0", text="1")
        yield Response("1", text="2")
        while len(store.read(["0", "1"])) < 2:
            written.get()  # the next write by time; a job that writes none hangs here
        yield Response("2", text="3")

    shard.keep(responses(), store, "{}")
    assert store.read(map(str, range(3)))["text"].tolist() == ["1", "2", "3"]


class FullDisk:
    """Takes the place of `Store.append`, and takes nothing for a while."""

    def __init__(self, store, fails):
        self.append, self.fails, self.written = store.append, fails, queue.SimpleQueue()

    def __call__(self, rows, **engine):
        if rows and self.fails:
            self.fails -= 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.append(rows, **engine)
        self.written.put(len(rows))


def test_a_disk_that_is_full_for_a_while_ends_neither_timed_saving_nor_the_job(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_SECONDS", 0.01)
    full = FullDisk(store, fails=3)
    monkeypatch.setattr(store, "append", full)

    def responses():
        yield Response("0", text="1")
        while not len(store.read(["0"])):  # written by time, after the disk was full
            full.written.get()
        yield Response("1", text="2")

    shard.keep(responses(), store, "{}")
    assert full.fails == 0
    assert store.read(["0", "1"])["text"].tolist() == ["1", "2"]


def test_a_job_at_its_end_waits_for_a_disk_that_is_full(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 2)
    monkeypatch.setattr(shard, "LAST_SECONDS", 5.0)
    monkeypatch.setattr(store, "append", FullDisk(store, fails=3))
    responses = shard.judge(request_table(*"abcd"), store, CountingEngine)
    assert responses["text"].notna().all()


def test_a_store_that_cannot_be_written_ends_the_job_with_one_line(store, monkeypatch):
    monkeypatch.setattr(shard, "LAST_SECONDS", 0.01)
    monkeypatch.setattr(store, "append", FullDisk(store, fails=10**6))
    with pytest.raises(InputError, match=r"the last answers cannot be written; the log says why$"):
        shard.keep(iter([Response("0", text="1")]), store, "{}")


def test_a_judge_that_goes_on_though_nothing_can_be_written_is_stopped(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 2)
    monkeypatch.setattr(store, "append", FullDisk(store, fails=3))
    taken = []
    with pytest.raises(InputError, match="8 answers cannot be written"):
        shard.keep((taken.append(k) or Response(str(k), text="1") for k in range(1000)), store, "{}")
    assert len(taken) == len(store.read(map(str, range(1000)))) == 8


def test_an_engine_has_ended_when_a_job_ends_since_nothing_can_be_written(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 1)
    monkeypatch.setattr(shard, "LAST_SECONDS", 0.01)
    monkeypatch.setattr(store, "append", FullDisk(store, fails=10**6))
    happened = []

    class Engine(CountingEngine):
        def answer(self, requests):
            try:
                yield from (Response(request.request_id, text="1") for request in requests)
            finally:
                happened.append("no more answers")

        def close(self):
            happened.append("closed")

    engine = Engine()
    with pytest.raises(InputError, match="cannot be written"):
        shard.judge(request_table(*"abcdefgh"), store, lambda: engine)
    assert happened == ["no more answers", "closed"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_during_the_last_write_lose_nothing(store, monkeypatch, number):
    """The first one ends the job; a second and a third come while its answers are written."""
    previous = {each: signal.getsignal(each) for each in signals.ENDING}
    signals.end_once()
    append = store.append

    def append_among_signals(rows, **engine):
        signal.raise_signal(signal.SIGTERM)
        append(rows, **engine)
        signal.raise_signal(number)

    def responses():
        yield from (Response(str(k), text="1") for k in range(5))
        signal.raise_signal(number)
        yield Response("never", text="1")

    monkeypatch.setattr(store, "append", append_among_signals)
    try:
        with pytest.raises((SystemExit, KeyboardInterrupt)):
            shard.keep(responses(), store, "{}")
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)
    assert len(store.read(map(str, range(5)))) == 5


def test_a_job_that_waits_for_its_engine_asks_only_what_is_missing_then(store):
    """As over an endpoint, whose jobs take turns: the one before may have asked the same."""
    engine = CountingEngine()

    def wait_for_another_job():
        store.append([Response("a", text="1"), Response("b", text="2")], engine="{}")
        return engine

    responses = shard.judge(request_table("a", "b", "c"), store, wait_for_another_job)
    assert engine.asked == ["c"]
    assert responses["text"].tolist()[:2] == ["1", "2"]


def test_a_run_joins_its_chunks_into_one_file(store, monkeypatch):
    monkeypatch.setattr(shard, "CHUNK_REQUESTS", 2)
    shard.judge(request_table(*"abcdefg"), store, CountingEngine)
    assert len(list(store.folder.glob("*.parquet"))) == 1


def test_a_run_leaves_a_note_of_what_was_answered_in_what_time(store):
    shard.judge(request_table("a", "b", "c").assign(prompt=["short", "too long", "short"]), store, CountingEngine)
    (run,) = store.runs()
    assert run.pop("seconds") >= 0
    assert datetime.fromisoformat(run.pop("ended"))
    assert json.loads(run.pop("engine"))["engine"] == "counting"
    assert [counts for _, *counts in run.pop("marks")] == [[1, 5], [2, 5], [3, 10]]  # one failed
    counts = {"prompt_tokens": 20, "cached_tokens": 10, "completion_tokens": 0}
    assert run == {"requests": 3, "failed": 1, **counts}
    shard.judge(request_table("a", "c"), store, no_engine)
    assert len(store.runs()) == 1


def test_a_run_that_is_cut_short_leaves_a_note_of_what_it_did(store):
    with pytest.raises(MemoryError):
        shard.judge(request_table(*"abcdef"), store, lambda: CountingEngine(fails_after=4))
    assert [run["requests"] for run in store.runs()] == [4]


def test_the_log_says_what_was_known_and_how_far_it_is(store, caplog):
    caplog.set_level(logging.INFO)
    shard.judge(request_table("a"), store, CountingEngine)
    caplog.clear()
    shard.judge(request_table("a", "b", "c").assign(prompt=["short", "short", "too long"]), store, CountingEngine)
    assert caplog.messages[0] == "3 requests: 1 answered before, 2 to judge"
    assert caplog.messages[-2] == "asked 2 / 2 requests in 0:00:00, 1 failed, 50% of prompt tokens from cache"
    assert caplog.messages[-1] == "1 of 3 requests failed: 1 prompt_too_long: 9 tokens, the model takes 8"


@pytest.mark.parametrize(("end", "warns"), [("\n\n", True), ("\n", True), (" ", False)])
def test_where_blank_lines_at_the_end_alone_make_prompts_new_the_job_warns(store, caplog, end, warns):
    quick = {"max_attempts": 1, "backoff": {"first": 0.001, "longest": 0.01}}
    judge = complete_judge(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", **quick)
    name = namer(judge, 5, probes.load("score_order"))

    def table(end):
        rows = request_table(*(f"r{k}" for k in range(40)), repeat=0).assign(probe="score_order")
        rows["prompt"] = [f"prompt {k}{end}" for k in range(40)]
        return rows.assign(request_id=[name(prompt.encode(), 0) for prompt in rows["prompt"]])

    store.append([Response(request_id, text="[RESULT] 3", attempts=1) for request_id in table("")["request_id"]])
    jobs.respond(table(""), judge, store, Resources())
    assert "blank lines" not in caplog.text
    with pytest.raises(InputError, match="connection"):
        jobs.respond(table(end), judge, store, Resources())
    assert ("those of 40 requests in blank lines at their end alone" in caplog.text) == warns
