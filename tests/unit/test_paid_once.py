"""Judge jobs over an endpoint that are killed, told to end, or run beside each other: the server counts the calls."""

import collections
import errno
import functools
import importlib.metadata
import json
import os
import resource
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from decision_model import LEVELS, DecisionModel
from endpoint import Reply, completion, running
from factories import complete_judge, request_table
from processes import JOB_PATH, forked

from rubric_order.base import files, parquet, signals
from rubric_order.judging import open_calls, shard, starting
from rubric_order.judging.engines import Resources, Response
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store
from rubric_order.prompts.structured import Choice, Structured
from rubric_order.settings import judges

REQUESTS = 400
QUICK = {"max_attempts": 3, "backoff": {"first": 0.01, "longest": 0.05}}  # where a call is tried again
CONCURRENCY = 8
CHUNK_SECONDS = 0.2
SECONDS_A_CALL = 0.002  # the server does one thing at a time: 400 answers take about a second
FULL_BYTES = 100_000  # an answer can be longer than this

OPTIONS = tuple(Choice(str(k), LEVELS[k - 1]) for k in range(1, 6))


@pytest.fixture(autouse=True)
def library_of_this_project(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", JOB_PATH)


def run_job(folder, base_url, shard_number, shards, output, freed, max_tokens, kind):
    """One judge job, as the workflow runs it. Until the event `freed` its disk takes no file above `FULL_BYTES`."""
    from rubric_order.jobs.judge_shard import judge_shard

    signals.end_once()
    if freed is not None:
        shard.CHUNK_SECONDS = CHUNK_SECONDS
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_BYTES, most))
        lift = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        threading.Thread(target=lambda: freed.wait() and lift(), daemon=True).start()
    how = {"base_url": base_url, "concurrency": CONCURRENCY, **QUICK}
    if kind == "decisions":
        judge = judges.read({"engine": "decisions", "model": "a-model", **how})
    else:
        judge = complete_judge(engine="openai", model="a-model", answer_format="feedback", answer_prefix="", **how)
        judge = judge.changed(sampling=judge.sampling.changed(max_tokens=max_tokens))  # more than config takes
    paths = {"store": folder / "store", "output": folder / output, "model_folder": None, "weights": None}
    judge_shard([folder / "requests.parquet"], ["score_order"], shard_number, shards, judge, gpus=0, **paths)


class Jobs:
    """Jobs over the requests in a folder, and the calls that the server counted."""

    def __init__(self, folder, endpoint, kind="openai"):
        self.folder, self.endpoint, self.text, self.kind = folder, endpoint, "Fine.", kind
        self.started = []
        table = request_table(*(f"{k:032x}" for k in range(REQUESTS)), repeat=0)
        prompts = [f"prompt {k}" for k in range(REQUESTS)]
        if kind == "decisions":
            prompts = [Structured(text, "How good is it?", OPTIONS).encode() for text in prompts]
        table = table.assign(prompt=prompts, unit_id=[f"i{k}" for k in range(REQUESTS)])
        self.ids = table["request_id"].tolist()
        parquet.write(table, folder / "requests.parquet")

    def start(self, *, shard=1, shards=1, output="1.parquet", freed=None, max_tokens=1024):
        job = forked.Process(
            target=run_job,
            args=(self.folder, self.endpoint.base_url, shard, shards, output, freed, max_tokens, self.kind),
        )
        job.start()
        self.started.append(job)
        return job

    def wait_for_calls(self, number):
        while len(self.endpoint.calls) < number:
            alive = any(job.is_alive() for job in self.started)
            time.sleep(0.002)
            assert alive or len(self.endpoint.calls) >= number, "all jobs have ended"

    def asked(self):
        """The number of calls per prompt."""
        asked = (call.body["input"] if self.kind == "decisions" else call.prompt for call in self.endpoint.calls)
        return collections.Counter(asked)

    def answered(self):
        rows = Store(self.folder / "store").read(self.ids, ["text"])
        return int(rows["text"].notna().sum())

    def booked(self):
        return Store(self.folder / "store").spent()["calls"]


@pytest.fixture
def jobs(tmp_path):
    def reply(call):
        time.sleep(SECONDS_A_CALL)
        return Reply(completion(f"{made.text} [RESULT] 4"))

    with running(reply) as endpoint:
        made = Jobs(tmp_path, endpoint)
        yield made


@pytest.fixture
def decisions(tmp_path):
    """Jobs of a decision model."""
    model = DecisionModel()

    def reply(call):
        time.sleep(SECONDS_A_CALL)
        return model(call)

    with running(reply) as endpoint:
        yield Jobs(tmp_path, endpoint, "decisions")


@pytest.mark.slow
def test_an_old_job_beside_a_new_run_of_two_shards_makes_each_call_once(jobs):
    old = jobs.start(output="old.parquet")
    jobs.wait_for_calls(20)
    new = [jobs.start(shard=k, shards=2, output=f"{k}.parquet") for k in (1, 2)]
    for job in (old, *new):
        job.join(600)
        assert job.exitcode == 0
    assert jobs.asked() == {f"prompt {k}": 1 for k in range(REQUESTS)}
    assert jobs.booked() == REQUESTS


def test_answers_without_a_number_of_tokens_are_kept_whatever_max_tokens_says(tmp_path):
    """A job is killed, and the next one begins: neither meets a number that the store cannot hold."""
    with running(lambda call: Reply(completion("Fine. [RESULT] 4", usage=None), delay=0.002)) as endpoint:
        jobs = Jobs(tmp_path, endpoint)
        job = jobs.start(max_tokens=10**30)
        jobs.wait_for_calls(100)
        kill(job)
        check_each_was_answered(jobs, jobs.start(max_tokens=10**30), kills=1)


def test_the_journal_of_another_version_costs_no_answer(jobs):
    """A killed job answered 300 of 400 requests; its lines have other fields, or lack some."""
    described = {"engine": "openai", "engine_version": importlib.metadata.version("openai"), "colour": "blue"}
    engine = json.dumps(described | {"base_url": jobs.endpoint.base_url})
    path = jobs.folder / "store/open_calls.jsonl"
    path.parent.mkdir(parents=True)
    lines = []
    for k, name in enumerate(jobs.ids[:300]):
        answer = {"request_id": name, "text": "Fine. [RESULT] 4", "attempts": 1}
        fields = [answer | {"tokens": 9, "mood": "good"}, {"text": "Fine. [RESULT] 4", "attempts": 1}, answer]
        lines += [as_line("call", engine, name, [1, 10**30 if k % 4 == 0 else 99, 0.0, "more"][: 3 + k % 2])]
        lines += [as_line("answer", engine, name, fields[k % 3])]
    path.write_text("\n".join(lines))
    job = jobs.start()
    job.join(600)
    assert (job.exitcode, jobs.answered(), jobs.booked()) == (0, REQUESTS, REQUESTS)
    assert jobs.asked() == {f"prompt {k}": 1 for k in range(300, REQUESTS)}
    assert open_calls.set_aside(path).read_text().count('"mood"') == 100


def test_an_endpoint_that_is_down_and_then_up_is_paid_for_once(jobs):
    address = jobs.endpoint.base_url
    jobs.endpoint.base_url = "http://127.0.0.1:1/v1"
    job = jobs.start()
    job.join(600)
    assert job.exitcode == 1
    assert (jobs.endpoint.calls, jobs.answered(), jobs.booked()) == ([], 0, 0)
    jobs.endpoint.base_url = address
    check_each_was_answered(jobs, jobs.start(), kills=0)


def test_two_signals_cost_no_call(jobs):
    """The first ends the job: it sends nothing more, waits for the answers under way, and stores all."""
    job = jobs.start()
    jobs.wait_for_calls(100)
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(job.pid, number)
    job.join(60)
    assert job.exitcode == 1
    sent = len(jobs.endpoint.calls)
    assert 100 <= sent < REQUESTS
    assert (jobs.answered(), jobs.booked()) == (sent, sent)
    again = jobs.start()
    again.join(120)
    assert (again.exitcode, jobs.answered()) == (0, REQUESTS)
    assert jobs.asked() == {f"prompt {k}": 1 for k in range(REQUESTS)}


def fill_the_disk(jobs):
    """A job that has made calls, and whose disk takes nothing more: Linux itself refuses to write."""
    freed = forked.Event()
    jobs.text = np.random.default_rng(0).bytes(FULL_BYTES).hex()
    job = jobs.start(freed=freed)
    jobs.wait_for_calls(1)
    time.sleep(2 * CHUNK_SECONDS)
    # The first answer that has come fills the disk: only calls that were under way are made beside it.
    assert jobs.answered() == 0
    assert len(jobs.endpoint.calls) <= CONCURRENCY
    return job, freed


def test_a_disk_that_is_full_for_a_while_costs_nothing(jobs):
    """The answers wait until there is room, and no call is sent meanwhile."""
    job, freed = fill_the_disk(jobs)
    freed.set()
    job.join(600)
    assert (job.exitcode, jobs.answered()) == (0, REQUESTS)
    assert jobs.asked() == {f"prompt {k}": 1 for k in range(REQUESTS)}
    assert jobs.booked() == REQUESTS


def kill(job):
    """Kill a job; one that has ended is no error."""
    job.kill()
    job.join(60)


@pytest.mark.slow
def test_a_disk_that_stays_full_costs_the_answers_that_wait(jobs):
    job, _ = fill_the_disk(jobs)
    kill(job)
    check_each_was_answered(jobs, jobs.start(), kills=1)


def kill_at(jobs, calls, seconds=0.0, *, shards=1):
    """Kill all jobs of a run some time after so many calls."""
    started = [jobs.start(shard=k, shards=shards, output=f"{k}.parquet") for k in range(1, shards + 1)]
    jobs.wait_for_calls(min(len(jobs.endpoint.calls) + calls, REQUESTS))
    time.sleep(seconds)
    for job in started:
        kill(job)


def check_each_was_answered(jobs, *last, kills):
    """Let the last jobs end: all is answered, and a kill costs the calls under way at most."""
    for job in last:
        job.join(600)
        assert job.exitcode == 0
    asked, most = jobs.asked(), kills * CONCURRENCY
    assert set(asked) == {f"prompt {k}" for k in range(REQUESTS)}
    assert jobs.answered() == REQUESTS
    # A call can be booked that a kill kept from being sent.
    assert REQUESTS <= sum(asked.values()) <= jobs.booked() <= REQUESTS + most
    assert not (jobs.folder / "store/open_calls.jsonl").exists()


@pytest.mark.slow
def test_a_decision_model_whose_job_is_killed_is_paid_for_the_calls_under_way(decisions, record_property):
    for wanted in (80, 80, 80, 40):
        kill_at(decisions, wanted)
    check_each_was_answered(decisions, decisions.start(), kills=4)
    sent = len(decisions.endpoint.calls)
    for name, value in {"sent": sent, "booked": decisions.booked(), "answered": decisions.answered()}.items():
        record_property(name, value)
    rows = Store(decisions.folder / "store").read(decisions.ids, ["option_logprobs", "text"])
    assert rows["option_logprobs"].map(len).eq(5).all()
    for row in rows.itertuples():
        listed = [entry["probability"] for entry in json.loads(row.text)["answers"][0]["probabilities"][::-1]]
        assert np.exp(row.option_logprobs) == pytest.approx(listed)


@pytest.mark.parametrize("shards", [(1, 1, 1), pytest.param((1, 2, 3), marks=pytest.mark.slow)])
def test_a_kill_costs_the_calls_under_way_whatever_the_shards(jobs, shards):
    """Killed after 200 calls, and again after 150 more: a job that had kept nothing would make them anew."""
    *numbers, last = shards
    for number, wanted in zip(numbers, (200, 150), strict=True):
        kill_at(jobs, wanted, shards=number)
    ends = [jobs.start(shard=k, shards=last, output=f"{k}.parquet") for k in range(1, last + 1)]
    check_each_was_answered(jobs, *ends, kills=len(numbers))


@pytest.mark.slow
def test_a_job_that_is_killed_again_and_again_pays_for_the_calls_under_way(jobs):
    """So does a machine that stops, or a scheduler that kills a job."""
    rng, kills = np.random.default_rng(20), 8
    for calls, seconds in zip(rng.integers(1, 60, kills).tolist(), rng.uniform(0, 0.05, kills), strict=True):
        kill_at(jobs, calls, seconds)
    check_each_was_answered(jobs, jobs.start(), kills=kills)


def test_a_job_may_open_as_many_files_as_the_system_lets_it(tmp_path):
    """A call takes one: 2,000 can be under way where a process may open 1,024 by default."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    judge = complete_judge(engine="openai", base_url="http://127.0.0.1:9/v1", model="m")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(least, most) // 2, most))
    try:
        with starting.Starter(judge, Store(tmp_path), Resources()) as start:
            start().close()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))


def test_a_call_is_on_disk_before_it_is_sent_and_counts_until_its_answer_is_stored(tmp_path):
    store, path = Store(tmp_path), tmp_path / "open_calls.jsonl"
    calls = open_calls.OpenCalls(path, "run 1")
    for name in ("a", "b", "b", "c"):
        assert calls.add(name, Amount(1, 100, 0.5))
    store.append([Response("a", text="4", attempts=1, tokens=70, cost=0.2)], engine="run 1")
    store.append([Response("c", error="timeout", attempts=1, tokens=9, cost=0.1)], engine="run 0")
    open_calls.book(path, store)
    assert store.spent() == {"calls": 5, "tokens": 70 + 9 + 300, "cost": pytest.approx(1.8)}
    assert store.read(["b"])["error"].tolist() == ["stopped: the job ended before the answer was stored"]
    assert not path.exists()
    open_calls.book(path, store)
    assert store.spent()["calls"] == 5


def test_an_answer_that_has_come_is_stored_after_a_kill_just_as_it_came(tmp_path):
    whole = Response(
        "a",
        text="Fine \ud800 \u2028 [RESULT] 4",
        finish_reason="stop",
        prompt_tokens=7,
        completion_tokens=3,
        cached_tokens=0,
        option_logprobs=[-0.1, -np.inf, np.float64(-2.3000000000000003)],
        option_token=2,
        reasoning="because\n",
        attempts=2,
        tokens=10,
        cost=0.1,
        model="a-model",
    )
    failed = Response("b", error="timeout: no answer", attempts=1, tokens=9, cost=0.3)
    path = tmp_path / "open_calls.jsonl"
    killed = open_calls.OpenCalls(path, "run 1")
    for name in ("a", "a", "b", "c"):
        assert killed.add(name, Amount(1, 100, 0.5))
    for response in (whole, failed):
        killed.answered(response)
    with open(path, "a") as file:
        file.write('\n["answer", "run 1", "c", {"request_id": "c", "text": "cut')
    store, direct = Store(tmp_path / "store"), Store(tmp_path / "direct")
    open_calls.book(path, store)
    direct.append([whole, failed], engine="run 1")
    pd.testing.assert_frame_equal(store.read(["a", "b"]), direct.read(["a", "b"]))
    assert store.spent() == {"calls": 4, "tokens": 10 + 9 + 100, "cost": pytest.approx(0.9)}
    assert store.read(["c"])["error"].tolist() == ["stopped: the job ended before the answer was stored"]
    assert not path.exists()


def test_a_flipped_bit_makes_no_other_answer_and_stops_no_job(tmp_path):
    path = tmp_path / "open_calls.jsonl"
    killed = open_calls.OpenCalls(path, "run 1")
    assert killed.add("a", Amount(1, 100, 0.5))
    killed.answered(Response("a", text="[RESULT] 4", attempts=1, tokens=9, option_logprobs=[-0.5, -1.25]))
    sound, read = path.read_bytes(), []
    whole = [list(open_calls._lines(path, answers=answers)) for answers in (False, True)]
    for bit in range(8 * len(sound)):
        flipped = bytearray(sound)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        read += [
            [found, kept]
            for kept, answers in zip(whole, (False, True), strict=True)
            if (found := list(open_calls._lines(path, answers=answers)))
        ]
    assert len(read) >= 8 * len(sound), "a flip spoils its own line alone"
    assert all(found == kept for found, kept in read)


def as_line(*entry):
    """A line of a file of open calls, as any version writes it."""
    return json.dumps([*entry, open_calls._digest(list(entry))]) + "\n"


def test_what_cannot_be_booked_is_kept_aside_and_stops_no_job(tmp_path, caplog):
    path, store = tmp_path / "open_calls.jsonl", Store(tmp_path / "store")
    lines = {
        "huge call": as_line("call", "run 1", "a", [1, 10**30, 0.0]),
        "call": as_line("call", "run 1", "b", [1, 7, 0.0]),
        "answer with another field": as_line(
            "answer", "run 1", "b", {"request_id": "b", "text": "4", "attempts": 1, "tokens": 7, "mood": "good"}
        ),
        "call with another number": as_line("call", "run 1", "c", [1, 5, 0.5, 9]),
        "call of another form": as_line("call", "run 1", "d", {"calls": 1}),
        "call whose answer is too large": as_line("call", "run 1", "e", [1, 10**30, 0.0]),
        "answer that is too large": as_line(
            "answer", "run 1", "e", {"request_id": "e", "text": "5", "attempts": 1, "tokens": 10**30}
        ),
        "call whose answer is none": as_line("call", "run 1", "f", [1, 3, 0.0]),
        "answer that is none": as_line("answer", "run 1", "f", {"request_id": "f", "text": {"score": 5}}),
        "another kind": as_line("price", "run 1", "f", [1]),
    }
    path.write_text("".join(f"\n{line}" for line in lines.values()))
    open_calls.book(path, store)
    rows = store.read(list("abcdef"), ["text", "attempts", "tokens"]).set_index("request_id")
    assert rows["text"].dropna().to_dict() == {"b": "4", "e": "5"}
    assert rows["attempts"].tolist() == [1] * 6
    assert rows["tokens"].tolist() == [open_calls.MOST_STORED, 7, 5, 0, open_calls.MOST_STORED, 3]
    assert not path.exists()
    aside = [name for name, line in lines.items() if line in open_calls.set_aside(path).read_text()]
    assert aside == [
        name for name in lines if name not in ("call", "call with another number", "call whose answer is none")
    ]
    (warning,) = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert warning.endswith(f"7 lines cannot be booked as they are, and are kept in {open_calls.set_aside(path)}")
    open_calls.book(path, store)
    assert store.spent()["calls"] == 6


def test_a_call_that_was_never_sent_is_taken_back(tmp_path):
    path, store = tmp_path / "open_calls.jsonl", Store(tmp_path / "store")
    calls = open_calls.OpenCalls(path, "run 1")
    for name in ("a", "a", "b"):
        calls.add(name, Amount(1, 100, 0.5))
    calls.unsent("a", Amount(1, 100, 0.5))
    calls.unsent("b", Amount(1, 100, 0.5))
    open_calls.book(path, store)
    assert store.spent() == {"calls": 1, "tokens": 100, "cost": 0.5}


def test_calls_and_answers_are_counted_where_the_log_says_how_many(tmp_path, caplog):
    caplog.set_level("INFO")
    path, store = tmp_path / "open_calls.jsonl", Store(tmp_path / "store")
    killed = open_calls.OpenCalls(path, "run 1")
    for name in ("a", "b", "b", "c"):
        assert killed.add(name, Amount(1, 5, 0.0))
    killed.answered(Response("a", text="4", attempts=1))
    open_calls.book(path, store)
    assert caplog.messages == [
        "1 answers of a job that ended early are stored",
        "3 calls of a job that ended early count as spent",
    ]


def test_a_call_is_written_through_to_the_disk_before_it_is_sent(tmp_path, monkeypatch):
    path, synced = tmp_path / "open_calls.jsonl", []
    monkeypatch.setattr(open_calls.os, "fsync", lambda file: synced.append(path.read_text().count('"b"')))
    assert open_calls.OpenCalls(path, "run 1").add("b", Amount(1, 5, 0.0))
    assert synced == [1]


def test_a_line_that_was_cut_is_no_call_and_spoils_no_other(tmp_path):
    path = tmp_path / "open_calls.jsonl"
    path.write_bytes(b'\n["call", "run 1", "a", [1, 10')
    open_calls.OpenCalls(path, "run 2").add("b", Amount(1, 5, 0.0))
    store = Store(tmp_path)
    open_calls.book(path, store)
    assert store.spent() == {"calls": 1, "tokens": 5, "cost": 0.0}


def test_no_call_is_sent_while_the_disk_is_full(monkeypatch, tmp_path):
    calls = open_calls.OpenCalls(tmp_path / "nothing" / "open_calls.jsonl", "run 1")
    with pytest.raises(open_calls.InputError, match=r"open_calls.jsonl: No such file or directory; no call is sent$"):
        calls.add("a", Amount(1))
    calls.path = "/dev/full"
    assert not calls.add("a", Amount(1))
    with monkeypatch.context() as patch:
        patch.setattr(open_calls, "FULL_SECONDS", 0.0)
        with pytest.raises(open_calls.InputError, match=r"the disk is full, and no call is sent; make room and run"):
            calls.add("a", Amount(1))
    calls.answered(Response("b", text="4", attempts=1))
    calls.path = tmp_path / "open_calls.jsonl"
    assert calls.add("a", Amount(1))
    written = [json.loads(line) for line in calls.path.read_text().splitlines() if line]
    assert [name for _, _, name, *_ in written] == ["b", "a"], "the answer that had to wait comes before the call"
    assert calls.add("c", Amount(1))
    assert calls.path.read_text().count('"b"') == 2, "once as the request, once in its response"


def test_a_disk_that_is_full_at_the_end_leaves_the_calls_to_the_next_job(monkeypatch, tmp_path, caplog):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    judge = complete_judge(engine="openai", base_url="http://127.0.0.1:9/v1", model="m")
    with starting.Starter(judge, Store(tmp_path), Resources()) as start:
        start._turn()
        (tmp_path / "open_calls.jsonl").touch()
        monkeypatch.setattr(open_calls, "book", full)
        monkeypatch.setattr(os, "ftruncate", full)  # of a lock file
        monkeypatch.setattr(Path, "unlink", full)
    assert "the next job stores its answers" in caplog.messages[-1]
    assert (tmp_path / "open_calls.jsonl").exists()
    monkeypatch.undo()
    with starting.Starter(judge, Store(tmp_path), Resources()) as start:
        start._turn()
    assert not (tmp_path / "open_calls.jsonl").exists()


def test_leftovers_of_killed_jobs_are_removed_and_files_that_are_being_written_are_not(tmp_path):
    for name in (".abc-k3j4h5g6.parquet", ".abc-x1x2x3x4.parquet", "abc.parquet", ".1.parquet.lock"):
        (tmp_path / name).touch()
    old = time.time() - 2 * files.LEFT_SECONDS
    for name in (".abc-k3j4h5g6.parquet", "abc.parquet", ".1.parquet.lock"):
        os.utime(tmp_path / name, (old, old))
    files.remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".1.parquet.lock",
        ".abc-x1x2x3x4.parquet",
        "abc.parquet",
    ]
